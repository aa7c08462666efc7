//! The cost of model calls: reserved before a call, counted after it.
//!
//! The store sums and compares. It does not interpret scopes, determine the day, estimate usage or compute
//! prices. The only scope that it interprets is that of a [run](run_scope): its sum is stored in the row of
//! the run whenever the run ends.

use deft_model::{RunId, SpendSubject, Usage, Usd};
use jiff::{SignedDuration, Timestamp};

use crate::{Answer, Lease};

/// Storage of budgets. See [`Store`](crate::Store) for the rules that all methods follow.
///
/// A model call is reserved with [`reserve`](Self::reserve), made, and then recorded in a batch of its run:
/// [`Write::Spend`](crate::Write::Spend) replaces the reservation by the actual usage,
/// [`Write::Unreserve`](crate::Write::Unreserve) releases it.
///
/// A reservation belongs to the lease it was made under, and ends with it: when the run parks, finishes, or
/// is taken from an owner that is dead or late. So a crash leaves no reservation behind. But the provider
/// may charge for a call whose process died: for each reservation of a dead or late owner its [`Estimate`]
/// is spent, and the sums report the estimated part.
///
/// A reservation never makes the sum of spent and reserved amounts exceed the limit of a scope, however many
/// callers reserve at once. A call that used more than its reservation is counted in full: a scope is
/// overspent by at most that difference, summed over the calls that were in flight when its limit was
/// reached.
pub trait Ledger: Send + Sync {
    /// Reserves for one call in every scope or in none, if the lease is still valid.
    ///
    /// Refused if in any scope the spent, reserved and requested amounts together exceed a limit. A second
    /// reservation under the same key of the run replaces the first, which is left out of the sum; if
    /// refused, the first stays. Scopes without limits are counted too.
    fn reserve(&self, lease: &Lease, request: Reserve) -> Answer<'_, ReservationResult>;

    /// Returns the spent and reserved amounts of the scopes that match, sorted by scope.
    fn list_spent(&self, filter: SpentFilter) -> Answer<'_, Vec<SpentRow>>;

    /// Returns the usage of an agent from the bucket that contains `from`, oldest first.
    fn usage_since(&self, agent: &str, from: Timestamp) -> Answer<'_, Vec<UsageRow>>;

    /// Deletes scopes with no spending since `before`, and buckets that ended by then. Returns how many.
    /// Reservations stay.
    fn forget_spent(&self, before: Timestamp) -> Answer<'_, u64>;
}

/// The length of a bucket of usage, in seconds.
const BUCKET: i64 = 600;

/// Returns the start of the ten-minute bucket that contains `at`.
pub fn bucket(at: Timestamp) -> Timestamp {
    let second = at.as_second() - i64::from(at.subsec_nanosecond() < 0);
    Timestamp::from_second(second.div_euclid(BUCKET) * BUCKET).unwrap_or(Timestamp::MIN)
}

/// Returns the end of a bucket.
pub fn bucket_end(bucket: Timestamp) -> Timestamp {
    let length = SignedDuration::from_secs(BUCKET);
    bucket.checked_add(length).unwrap_or(Timestamp::MAX)
}

/// Caps an amount of tokens or millionths of a dollar. The cap of 2^40, a trillion tokens or a million
/// dollars, is more than one call can use, and keeps sums far from overflow.
pub fn amount(number: u64) -> u64 {
    number.min(1 << 40)
}

/// A request to reserve for a model call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reserve {
    /// Identifies the call within its run: step and turn.
    pub key: String,
    /// The scopes that the call counts against. A scope named twice counts once, and both limits apply.
    pub scopes: Vec<Limit>,
    /// Maximum number of tokens that the call may use, input and output.
    pub tokens: u64,
    /// Maximum cost, in millionths of a US dollar.
    pub micros: u64,
    /// The usage to record if the process dies during the call.
    pub estimate: Estimate,
    /// When it is reserved.
    pub at: Timestamp,
}

/// The estimated usage of a call with an unknown result.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct Estimate {
    /// The calling agent, for [`Ledger::usage_since`].
    pub agent: String,
    /// Input tokens.
    pub tokens: u64,
    /// Their cost, in millionths of a US dollar.
    pub micros: u64,
}

/// A scope, such as a run or an agent on one day, and its limits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Limit {
    /// The name of the scope, such as `run:run_x`, `skill:mail@2026-11-15` or `all@2026-11-15`.
    pub scope: String,
    /// Maximum number of tokens.
    pub tokens: Option<u64>,
    /// Maximum cost, in millionths of a US dollar.
    pub micros: Option<u64>,
}

/// The result of a [`Reserve`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ReservationResult {
    /// The call may be made.
    Granted,
    /// The call exceeds a limit; nothing was changed.
    Refused(Refusal),
}

/// The first scope whose limit would be exceeded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// The scope.
    pub scope: String,
    /// Its token limit.
    pub limit_tokens: Option<u64>,
    /// Its cost limit, in millionths of a US dollar.
    pub limit_micros: Option<u64>,
    /// Spent tokens.
    pub spent_tokens: u64,
    /// Spent cost, in millionths of a US dollar.
    pub spent_micros: u64,
    /// Tokens reserved by other calls.
    pub reserved_tokens: u64,
    /// Cost reserved by other calls, in millionths of a US dollar.
    pub reserved_micros: u64,
}

/// The spent and reserved amounts of one scope.
pub struct Balance {
    /// Spent tokens and millionths of a dollar.
    pub spent: (u64, u64),
    /// Tokens and millionths of a dollar reserved by other calls.
    pub reserved: (u64, u64),
}

impl Balance {
    /// Returns the refusal if the request exceeds the limit, or `None` if it fits.
    pub fn refuse(&self, limit: &Limit, request: &Reserve) -> Option<Refusal> {
        let over = |limit: Option<u64>, spent: u64, reserved: u64, wanted: u64| {
            let sum = spent
                .saturating_add(reserved)
                .saturating_add(amount(wanted));
            limit.is_some_and(|limit| sum > limit)
        };
        let tokens = over(limit.tokens, self.spent.0, self.reserved.0, request.tokens);
        let micros = over(limit.micros, self.spent.1, self.reserved.1, request.micros);
        (tokens || micros).then(|| Refusal {
            scope: limit.scope.clone(),
            limit_tokens: limit.tokens,
            limit_micros: limit.micros,
            spent_tokens: self.spent.0,
            spent_micros: self.spent.1,
            reserved_tokens: self.reserved.0,
            reserved_micros: self.reserved.1,
        })
    }
}

/// The usage of a call. A key of a run is counted once, the first time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Spend {
    /// The key of the reservation.
    pub key: String,
    /// The scopes that the call counts against; a scope named twice counts once.
    pub scopes: Vec<String>,
    /// Input tokens.
    pub tokens_in: u64,
    /// Output tokens.
    pub tokens_out: u64,
    /// The cost, in millionths of a US dollar.
    pub micros: u64,
    /// The number of requests.
    pub calls: u64,
    /// The calling agent, for [`Ledger::usage_since`].
    pub agent: String,
    /// When the call ended.
    pub at: Timestamp,
}

/// A filter for scopes; all given conditions must match.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct SpentFilter {
    /// Only this scope.
    pub scope: Option<String>,
    /// Only scopes with this prefix, such as `skill:`.
    pub prefix: Option<String>,
    /// Only scopes with this suffix, such as `@2026-11-15`.
    pub suffix: Option<String>,
}

impl SpentFilter {
    /// Whether `scope` matches the filter.
    pub fn fits(&self, scope: &str) -> bool {
        let is = |request: &Option<String>, fits: fn(&str, &str) -> bool| {
            request
                .as_deref()
                .is_none_or(|request| fits(scope, request))
        };
        is(&self.scope, |scope, request| scope == request)
            && is(&self.prefix, |scope, request| scope.starts_with(request))
            && is(&self.suffix, |scope, request| scope.ends_with(request))
    }
}

/// The totals of a scope.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct SpentRow {
    /// The name of the scope.
    pub scope: String,
    /// Input tokens.
    pub tokens_in: u64,
    /// Output tokens.
    pub tokens_out: u64,
    /// The cost, in millionths of a US dollar.
    pub micros: u64,
    /// The number of requests.
    pub calls: u64,
    /// The number of estimated tokens, of requests interrupted by a crash.
    pub estimated_tokens: u64,
    /// The estimated part of the cost, in millionths of a US dollar.
    pub estimated_micros: u64,
    /// The number of requests interrupted by a crash.
    pub estimated_calls: u64,
    /// Tokens reserved by calls in flight.
    pub reserved_tokens: u64,
    /// Cost reserved by calls in flight, in millionths of a US dollar.
    pub reserved_micros: u64,
}

/// Returns the scope of a run. It includes the spending of skills that the run starts as nested runs.
pub fn run_scope(run: &RunId) -> String {
    SpendSubject::Run(run.to_string()).to_string()
}

impl SpentRow {
    /// Returns the usage so far.
    pub fn usage(&self) -> Usage {
        Usage {
            input_tokens: self.tokens_in,
            output_tokens: self.tokens_out,
            cost_usd: Usd::from_micros(self.micros),
            llm_calls: self.calls,
            estimated_calls: self.estimated_calls,
        }
    }

    /// Returns the usage as JSON for the row of a run, or `None` if the run made no model call.
    pub fn document(&self) -> Option<String> {
        let asked = self.calls > 0;
        asked.then(|| serde_json::to_string(&self.usage()).ok())?
    }
}

/// The usage of an agent in one bucket of ten minutes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UsageRow {
    /// The start of the bucket.
    pub bucket: Timestamp,
    /// Tokens, input and output.
    pub tokens: u64,
    /// The cost, in millionths of a US dollar.
    pub micros: u64,
    /// The number of requests.
    pub calls: u64,
}
