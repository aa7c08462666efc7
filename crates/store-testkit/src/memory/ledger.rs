//! Reservations and spending.

use std::collections::{BTreeMap, HashSet};

use deft_model::{RunId, RunStatus};
use jiff::Timestamp;

use super::State;
use deft_store::backend::{Balance, amount, bucket_end};
use deft_store::{
    Error, Estimate, Lease, ReservationResult, Reserve, Spend, SpentFilter, SpentRow, UsageRow,
    bucket, run_scope,
};

/// The number of a run and the key of one of its calls.
type CallKey = (usize, String);

#[derive(Default)]
pub(super) struct Books {
    reserved: BTreeMap<CallKey, Reservation>,
    counted: HashSet<CallKey>,
    /// The totals of scopes, with the instant of the last spending.
    spent: BTreeMap<String, (SpentRow, Timestamp)>,
    usage: BTreeMap<(String, Timestamp), UsageRow>,
}

struct Reservation {
    scopes: Vec<String>,
    tokens: u64,
    micros: u64,
    estimate: Estimate,
}

impl State {
    pub(super) fn reserve(
        &mut self,
        lease: &Lease,
        request: Reserve,
    ) -> Result<ReservationResult, Error> {
        let held = |n: &usize| {
            let run = &self.runs[*n];
            run.row.status == RunStatus::Running && run.token == lease.token
        };
        let n = self.find(&lease.run).filter(held);
        let n = n.ok_or_else(|| Error::fenced_error(&lease.run))?;
        Ok(self.books.reserve(n, request))
    }
}

impl Books {
    fn reserve(&mut self, n: usize, request: Reserve) -> ReservationResult {
        let key = (n, request.key.clone());
        for limit in &request.scopes {
            let balance = self.balance(&limit.scope, &key);
            if let Some(refusal) = balance.refuse(limit, &request) {
                return ReservationResult::Refused(refusal);
            }
        }
        let scopes = request.scopes.into_iter().map(|limit| limit.scope);
        let reservation = Reservation {
            scopes: once(scopes),
            tokens: amount(request.tokens),
            micros: amount(request.micros),
            estimate: request.estimate,
        };
        self.reserved.insert(key, reservation);
        ReservationResult::Granted
    }

    /// Returns the balance of a scope without the reservation under the key `but`.
    fn balance(&self, scope: &str, but: &CallKey) -> Balance {
        let others = self.reserved.iter().filter(|(key, _)| *key != but);
        let here = |row: &&Reservation| row.scopes.iter().any(|name| name == scope);
        let others = others.map(|(_, row)| row).filter(here);
        let spent = self.spent.get(scope).map(|(row, _)| row);
        Balance {
            spent: spent.map_or((0, 0), |row| (row.tokens_in + row.tokens_out, row.micros)),
            reserved: others.fold((0, 0), |(tokens, micros), row| {
                (tokens + row.tokens, micros + row.micros)
            }),
        }
    }

    pub(super) fn spend(&mut self, n: usize, spend: Spend) {
        self.reserved.remove(&(n, spend.key.clone()));
        self.count(n, spend, false);
    }

    /// Replaces the reservations of a run by their estimates, because its owner is dead or late.
    pub(super) fn spend_estimates(&mut self, n: usize, at: Timestamp) {
        let lost: Vec<(CallKey, Reservation)> = self
            .reserved
            .extract_if(.., |(run, _), _| *run == n)
            .collect();
        // No backend stores a reservation without scopes.
        let counts = |(_, reservation): &(CallKey, Reservation)| !reservation.scopes.is_empty();
        for ((_, key), reservation) in lost.into_iter().filter(counts) {
            let Estimate {
                agent,
                tokens,
                micros,
            } = reservation.estimate;
            let spend = Spend {
                key: format!("{key} interrupted at {at}"),
                scopes: reservation.scopes,
                tokens_in: tokens,
                tokens_out: 0,
                micros,
                calls: 1,
                agent,
                at,
            };
            self.count(n, spend, true);
        }
    }

    fn count(&mut self, n: usize, spend: Spend, estimated: bool) {
        if !self.counted.insert((n, spend.key)) {
            return;
        }
        let [tokens_in, tokens_out] = [spend.tokens_in, spend.tokens_out].map(amount);
        let [micros, calls] = [spend.micros, spend.calls].map(amount);
        for scope in once(spend.scopes) {
            let empty = SpentRow {
                scope: scope.clone(),
                ..SpentRow::default()
            };
            let (row, at) = self.spent.entry(scope).or_insert((empty, spend.at));
            row.tokens_in += tokens_in;
            row.tokens_out += tokens_out;
            row.micros += micros;
            row.calls += calls;
            if estimated {
                row.estimated_tokens += tokens_in + tokens_out;
                row.estimated_micros += micros;
                row.estimated_calls += calls;
            }
            *at = spend.at.max(*at);
        }
        let bucket = bucket(spend.at);
        let usage = self.usage.entry((spend.agent, bucket));
        let usage = usage.or_insert(UsageRow {
            bucket,
            tokens: 0,
            micros: 0,
            calls: 0,
        });
        usage.tokens += tokens_in + tokens_out;
        usage.micros += micros;
        usage.calls += calls;
    }

    pub(super) fn unreserve(&mut self, n: usize, key: String) {
        self.reserved.remove(&(n, key));
    }

    /// Deletes the reservations of a run whose lease has ended.
    pub(super) fn release(&mut self, n: usize) {
        self.reserved.retain(|(run, _), _| *run != n);
    }

    /// Returns the usage of a run for its row.
    pub(super) fn of_run(&self, run: &RunId) -> Option<String> {
        let (row, _) = self.spent.get(&run_scope(run))?;
        row.document()
    }

    /// Deletes the counted keys of a run that is deleted.
    pub(super) fn forget_run(&mut self, n: usize) {
        self.counted.retain(|(run, _)| *run != n);
    }

    pub(super) fn list_spent(&self, filter: &SpentFilter) -> Vec<SpentRow> {
        let spent = self.spent.iter();
        let mut rows: BTreeMap<&str, SpentRow> = spent
            .map(|(scope, (row, _))| (scope.as_str(), row.clone()))
            .collect();
        for reservation in self.reserved.values() {
            for scope in &reservation.scopes {
                let row = rows.entry(scope).or_default();
                row.scope.clone_from(scope);
                row.reserved_tokens += reservation.tokens;
                row.reserved_micros += reservation.micros;
            }
        }
        let wanted = rows.into_values().filter(|row| filter.fits(&row.scope));
        wanted.collect()
    }

    pub(super) fn usage_since(&self, agent: &str, from: Timestamp) -> Vec<UsageRow> {
        let from = (agent.to_owned(), bucket(from));
        let since = self.usage.range(from..);
        let since = since.take_while(|((whose, _), _)| whose == agent);
        since.map(|(_, row)| row.clone()).collect()
    }

    pub(super) fn forget(&mut self, before: Timestamp) -> u64 {
        let rows = |books: &Self| (books.spent.len() + books.usage.len()) as u64;
        let all = rows(self);
        self.spent.retain(|_, (_, at)| *at >= before);
        self.usage
            .retain(|(_, bucket), _| bucket_end(*bucket) > before);
        all - rows(self)
    }
}

/// Sorts and deduplicates names.
fn once(scopes: impl IntoIterator<Item = String>) -> Vec<String> {
    let mut scopes: Vec<String> = scopes.into_iter().collect();
    scopes.sort_unstable();
    scopes.dedup();
    scopes
}
