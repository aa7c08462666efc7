//! Twenty runs share one budget: no sequence of calls overspends it.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use deft_model::WaitKind;
use deft_store::WaitReason;
use deft_store::{
    Batch, Claim, Estimate, Lease, Limit, ReservationResult, Reserve, RunState, Spend, SpentFilter,
    SpentRow, Sqlite, SqliteOptions, Store, Write,
};
use deft_store_testkit::Memory;
use proptest::prelude::*;

use crate::support::{at, claim_request, start};

const RUNS: usize = 20;
const LIMIT: u64 = 500;
const SCOPE: &str = "all@2026-11-15";

/// How a call with a reservation ends.
#[derive(Clone, Copy, Debug)]
enum End {
    /// Recorded with `more` tokens more (or less) than reserved; `twice` records it twice.
    Record { more: i64, twice: bool },
    /// The call got no reply; the reservation is released.
    Unreserve,
    /// Reserved again under the same key, and then recorded.
    Again { tokens: u64 },
    /// The driver dies and another one takes over.
    Crash,
    /// The run parks and continues later.
    Park,
}

type Script = Vec<(u64, End)>;

/// Generates scripts for all runs; their calls use at most `most` tokens more than reserved.
fn scripts(most: i64) -> impl Strategy<Value = Vec<Script>> {
    let end = prop_oneof![
        4 => (-20..=most, any::<bool>()).prop_map(|(more, twice)| End::Record { more, twice }),
        2 => Just(End::Unreserve),
        1 => (1..60_u64).prop_map(|tokens| End::Again { tokens }),
        1 => Just(End::Crash),
        1 => Just(End::Park),
    ];
    let script = prop::collection::vec((1..60_u64, end), 1..8);
    prop::collection::vec(script, RUNS)
}

struct Runner {
    store: Arc<dyn Store>,
    lease: Lease,
    /// Recorded usage of all calls of all runs.
    used: Arc<AtomicU64>,
    /// The upper limit for spent plus reserved tokens.
    most: u64,
}

impl Runner {
    async fn go(mut self, script: Script) {
        for (turn, (tokens, end)) in script.into_iter().enumerate() {
            let key = format!("turn {turn}");
            if self.reserve(&key, tokens).await {
                self.check().await;
                self.end(&key, tokens, end).await;
            }
            self.check().await;
        }
    }

    async fn reserve(&self, key: &str, tokens: u64) -> bool {
        let request = Reserve {
            key: key.to_owned(),
            scopes: vec![Limit {
                scope: SCOPE.to_owned(),
                tokens: Some(LIMIT),
                micros: None,
            }],
            tokens,
            micros: 0,
            estimate: Estimate::default(),
            at: at(1),
        };
        let answer = self.store.reserve(&self.lease, request).await.unwrap();
        answer == ReservationResult::Granted
    }

    async fn end(&mut self, key: &str, tokens: u64, end: End) {
        match end {
            End::Record { more, twice } => {
                let used = tokens.saturating_add_signed(more);
                self.record_spend(key, used).await;
                if twice {
                    self.append(Write::Spend(spend(key, used))).await;
                }
            }
            End::Unreserve => {
                let key = key.to_owned();
                self.append(Write::Unreserve { key }).await;
            }
            End::Again { tokens: more } => {
                let most = if self.reserve(key, more).await {
                    more
                } else {
                    tokens
                };
                self.record_spend(key, most).await;
            }
            End::Crash => {
                let dead = vec![self.lease.owner.clone()];
                self.store.release(dead, at(0)).await.unwrap();
                self.claim().await;
            }
            End::Park => {
                let park = RunState::Park {
                    wake_at: Some(at(2)),
                    waiting_for: WaitReason {
                        kind: WaitKind::Time,
                        text: "time".to_owned(),
                    },
                };
                let nothing = Batch {
                    then: park,
                    ..Batch::default()
                };
                self.store.append(&self.lease, nothing).await.unwrap();
                self.claim().await;
            }
        }
    }

    async fn record_spend(&self, key: &str, used: u64) {
        self.used.fetch_add(used, Ordering::SeqCst);
        self.append(Write::Spend(spend(key, used))).await;
    }

    async fn append(&self, write: Write) {
        let batch = Batch {
            writes: vec![write],
            ..Batch::default()
        };
        self.store.append(&self.lease, batch).await.unwrap();
    }

    /// Claims the lease again, for a separate owner per run, so that a crash affects only one run.
    async fn claim(&mut self) {
        let claim = Claim {
            only: Some(self.lease.run.clone()),
            ..claim_request(self.lease.run.as_str())
        };
        self.lease = self.store.claim(claim).await.unwrap().unwrap().lease;
    }

    async fn check(&self) {
        let row = list_spent(&*self.store).await;
        let sum = row.tokens_in + row.tokens_out + row.reserved_tokens;
        assert!(sum <= self.most, "{row:?} with at most {}", self.most);
    }
}

fn spend(key: &str, tokens: u64) -> Spend {
    Spend {
        key: key.to_owned(),
        scopes: vec![SCOPE.to_owned()],
        tokens_in: tokens,
        tokens_out: 0,
        micros: 0,
        calls: 1,
        agent: "main".to_owned(),
        at: at(1),
    }
}

async fn list_spent(store: &dyn Store) -> SpentRow {
    let filter = SpentFilter {
        scope: Some(SCOPE.to_owned()),
        ..SpentFilter::default()
    };
    let mut rows = store.list_spent(filter).await.unwrap();
    rows.pop().unwrap_or_default()
}

/// Starts all runs at once. A call may use up to `over` tokens more than reserved, and each run has one call
/// in flight, so the budget is overspent by at most `over` per run.
async fn race(store: Arc<dyn Store>, scripts: Vec<Script>, over: u64) {
    let used = Arc::new(AtomicU64::new(0));
    let mut runners = Vec::new();
    let most = LIMIT + over * scripts.len() as u64;
    for n in 0..scripts.len() {
        let lease = start(&*store, &format!("r{n}")).await;
        let store = Arc::clone(&store);
        let used = Arc::clone(&used);
        let mut runner = Runner {
            store,
            lease,
            used,
            most,
        };
        // Gives every run its own owner, so that owners can die separately.
        runner.end("", 0, End::Park).await;
        runners.push(runner);
    }
    let runs = runners.into_iter().zip(scripts);
    let tasks: Vec<_> = runs
        .map(|(runner, script)| tokio::spawn(runner.go(script)))
        .collect();
    for task in tasks {
        task.await.unwrap();
    }
    let row = list_spent(&*store).await;
    assert_eq!(row.tokens_in, used.load(Ordering::SeqCst));
    assert_eq!(row.reserved_tokens, 0);
    let usage = store.usage_since("main", at(0)).await.unwrap();
    let tokens: u64 = usage.iter().map(|row| row.tokens).sum();
    assert_eq!(tokens, row.tokens_in);
}

fn races(scripts: Vec<Script>, over: u64) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("deft.db");
    let rt = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(4)
        .build()
        .unwrap();
    let sqlite = Sqlite::open(&path, &SqliteOptions::default()).unwrap();
    rt.block_on(race(Arc::new(Memory::new()), scripts.clone(), over));
    rt.block_on(race(Arc::new(sqlite), scripts, over));
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 6, failure_persistence: None, ..ProptestConfig::default() })]

    /// Calls that stay within their reservations never exceed the limit at any instant.
    #[test]
    fn a_budget_is_never_overspent(scripts in scripts(0)) {
        races(scripts, 0);
    }

    /// Calls that use more than reserved exceed the limit by at most that much, once per run.
    #[test]
    fn a_budget_is_overspent_by_calls_in_flight_only(scripts in scripts(15)) {
        races(scripts, 15);
    }
}
