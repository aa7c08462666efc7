//! What models cost: reserved before a call, counted after it.
//!
//! The store adds up and compares. It does not know what a scope means, which day it is or what a
//! call will use, and prices nothing. The one scope that it knows is that of a [run](run_scope): its
//! sum is what the row of the run says when that ends, however it does.

use deft_model::{RunId, SpendSubject, Usage, Usd};
use jiff::{SignedDuration, Timestamp};

use crate::{Answer, Lease};

/// Where budgets are kept. See [`Store`](crate::Store) for what holds for every method.
///
/// A call of a model is reserved for with [`reserve`](Self::reserve), made, and then settled in a
/// batch of its run: [`Write::Spend`](crate::Write::Spend) puts what was used in the place of what
/// was reserved, [`Write::Unreserve`](crate::Write::Unreserve) gives it back.
///
/// What is reserved belongs to the lease it was reserved under, and goes when that does: when the
/// run parks, finishes, or is taken from an owner that is dead or late. So a crash holds nothing. But
/// the provider may charge for a call whose process died: for each reservation of a dead or late
/// owner its [`Estimate`] is spent, and the sums say how much of them is estimated.
///
/// A reservation never makes the sum of spent and reserved amounts exceed the limit of a scope, however
/// many callers reserve at once. A call that used more than was reserved for it is counted in full: a scope
/// is overspent by at most that difference, summed over the calls that were in flight when its
/// limit was reached.
pub trait Ledger: Send + Sync {
    /// Reserves for one call in every scope or in none, if the lease still holds.
    ///
    /// Refused if in any scope what was spent, what is reserved and what is wanted are together more
    /// than a limit. The same key of the run again replaces what was reserved under it, and counts
    /// without that; refused, it leaves it. A scope without limits is counted too.
    fn reserve(&self, lease: &Lease, wish: Reserve) -> Answer<'_, ReservationResult>;

    /// What was spent and what is reserved, in the order of scopes.
    fn spent(&self, filter: SpentFilter) -> Answer<'_, Vec<SpentRow>>;

    /// What an agent used since the bucket in which `from` is, oldest first.
    fn usage_since(&self, agent: &str, from: Timestamp) -> Answer<'_, Vec<UsageRow>>;

    /// Forgets scopes in which nothing was spent since `before`, and buckets that ended by then.
    /// Says how many. What is reserved stays.
    fn forget_spent(&self, before: Timestamp) -> Answer<'_, u64>;
}

/// How long a bucket of usage is, in seconds.
const BUCKET: i64 = 600;

/// The beginning of the ten minutes in which an instant is.
pub fn bucket(at: Timestamp) -> Timestamp {
    let second = at.as_second() - i64::from(at.subsec_nanosecond() < 0);
    Timestamp::from_second(second.div_euclid(BUCKET) * BUCKET).unwrap_or(Timestamp::MIN)
}

/// The end of a bucket.
pub fn bucket_end(bucket: Timestamp) -> Timestamp {
    let length = SignedDuration::from_secs(BUCKET);
    bucket.checked_add(length).unwrap_or(Timestamp::MAX)
}

/// An amount as it is counted. A trillion tokens or a million dollars are more than one call can
/// use, and sums of them stay far away from where numbers end.
pub fn amount(number: u64) -> u64 {
    number.min(1 << 40)
}

/// The wish to call a model.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reserve {
    /// Names the call within its run: where and which turn.
    pub key: String,
    /// What it counts against. One that is named twice counts once, and both limits hold.
    pub scopes: Vec<Limit>,
    /// The most tokens it may use, in and out.
    pub tokens: u64,
    /// The most it may cost, in millionths of a US dollar.
    pub micros: u64,
    /// What is counted if the process dies during the call.
    pub estimate: Estimate,
    /// When.
    pub at: Timestamp,
}

/// The estimated usage of a call whose end is unknown.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct Estimate {
    /// Who asked, for [`Ledger::usage_since`].
    pub agent: String,
    /// Tokens that the model read.
    pub tokens: u64,
    /// What that cost, in millionths of a US dollar.
    pub micros: u64,
}

/// Something that has a budget, such as a run, or an agent on a day.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Limit {
    /// Its name, such as `run:run_x`, `skill:mail@2026-11-15` or `all@2026-11-15`.
    pub scope: String,
    /// The most tokens.
    pub tokens: Option<u64>,
    /// The most money, in millionths of a US dollar.
    pub micros: Option<u64>,
}

/// The result of a [`Reserve`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ReservationResult {
    /// The call may be made.
    Granted,
    /// It may not; nothing was changed.
    Refused(Refusal),
}

/// The first scope that has no room.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// The scope.
    pub scope: String,
    /// Its limit of tokens.
    pub limit_tokens: Option<u64>,
    /// Its limit of money.
    pub limit_micros: Option<u64>,
    /// Tokens that were spent.
    pub spent_tokens: u64,
    /// Money that was spent.
    pub spent_micros: u64,
    /// Tokens that other calls may still use.
    pub reserved_tokens: u64,
    /// Money that other calls may still cost.
    pub reserved_micros: u64,
}

/// What stands in the way of a wish in one scope.
pub struct Balance {
    /// Tokens and micros that were spent.
    pub spent: (u64, u64),
    /// Tokens and micros that other calls reserved.
    pub reserved: (u64, u64),
}

impl Balance {
    /// The reason why there is no room for a wish.
    pub fn refuse(&self, limit: &Limit, wish: &Reserve) -> Option<Refusal> {
        let over = |limit: Option<u64>, spent: u64, reserved: u64, wanted: u64| {
            let sum = spent
                .saturating_add(reserved)
                .saturating_add(amount(wanted));
            limit.is_some_and(|limit| sum > limit)
        };
        let tokens = over(limit.tokens, self.spent.0, self.reserved.0, wish.tokens);
        let micros = over(limit.micros, self.spent.1, self.reserved.1, wish.micros);
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

/// What a call has used. The same key of a run is counted once, the first time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Spend {
    /// The key under which it was reserved.
    pub key: String,
    /// What it counts against; a scope that is named twice counts once.
    pub scopes: Vec<String>,
    /// Tokens that the model read.
    pub tokens_in: u64,
    /// Tokens that it wrote.
    pub tokens_out: u64,
    /// What it cost, in millionths of a US dollar.
    pub micros: u64,
    /// How many requests it took.
    pub calls: u64,
    /// Who asked, for [`Ledger::usage_since`].
    pub agent: String,
    /// When.
    pub at: Timestamp,
}

/// Which scopes to list; everything that is given must fit.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct SpentFilter {
    /// This one.
    pub scope: Option<String>,
    /// Whose name begins so, such as `skill:`.
    pub prefix: Option<String>,
    /// Whose name ends so, such as `@2026-11-15`.
    pub suffix: Option<String>,
}

impl SpentFilter {
    /// Whether a scope is wanted.
    pub fn fits(&self, scope: &str) -> bool {
        let is = |wish: &Option<String>, fits: fn(&str, &str) -> bool| {
            wish.as_deref().is_none_or(|wish| fits(scope, wish))
        };
        is(&self.scope, |scope, wish| scope == wish)
            && is(&self.prefix, |scope, wish| scope.starts_with(wish))
            && is(&self.suffix, |scope, wish| scope.ends_with(wish))
    }
}

/// How a scope stands.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct SpentRow {
    /// Its name.
    pub scope: String,
    /// Tokens that models read.
    pub tokens_in: u64,
    /// Tokens that they wrote.
    pub tokens_out: u64,
    /// What it cost, in millionths of a US dollar.
    pub micros: u64,
    /// How many requests there were.
    pub calls: u64,
    /// How many of the tokens are estimated, because a crash interrupted their requests.
    pub estimated_tokens: u64,
    /// How much of the cost is estimated.
    pub estimated_micros: u64,
    /// How many of the requests were interrupted by a crash.
    pub estimated_calls: u64,
    /// Tokens that calls in flight may still use.
    pub reserved_tokens: u64,
    /// Money that they may still cost.
    pub reserved_micros: u64,
}

/// The scope of a run. What skills spend that it runs as runs of their own counts there too.
pub fn run_scope(run: &RunId) -> String {
    SpendSubject::Run(run.to_string()).to_string()
}

impl SpentRow {
    /// What was used so far.
    pub fn usage(&self) -> Usage {
        Usage {
            input_tokens: self.tokens_in,
            output_tokens: self.tokens_out,
            cost_usd: Usd::from_micros(self.micros),
            llm_calls: self.calls,
            estimated_calls: self.estimated_calls,
        }
    }

    /// What was used, as the row of a run says it; a run that asked no model says nothing.
    pub fn document(&self) -> Option<String> {
        let asked = self.calls > 0;
        asked.then(|| serde_json::to_string(&self.usage()).ok())?
    }
}

/// What an agent used in ten minutes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UsageRow {
    /// When they began.
    pub bucket: Timestamp,
    /// Tokens, in and out.
    pub tokens: u64,
    /// Money, in millionths of a US dollar.
    pub micros: u64,
    /// How many requests.
    pub calls: u64,
}
