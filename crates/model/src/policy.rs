//! How a skill may run: effects, healing, limits, budgets and notices.

use std::sync::Arc;
use std::time::Duration;

use serde_json::Value;

use crate::Authority;
use crate::choice::choice;

choice! {
    /// What repeating a call would do.
    Effects {
        /// Nothing outside changes.
        None = "none",
        /// Repeating it changes nothing more.
        Idempotent = "idempotent",
        /// It must not be repeated unasked.
        Once = "once",
    }
}

choice! {
    /// Why something failed (X18).
    FailureClass {
        /// The other side could not be reached.
        Network = "network",
        /// The other side refused who we are.
        Auth = "auth",
        /// A quota of the other side is used up.
        Quota = "quota",
        /// What was asked for does not exist.
        NotFound = "not_found",
        /// It took too long.
        Timeout = "timeout",
        /// What was given is wrong.
        Invalid = "invalid",
        /// A step, loop or size limit of ours.
        Limit = "limit",
        /// A person or another part of deft stopped it.
        Cancelled = "cancelled",
        /// A budget is spent.
        Budget = "budget",
        /// It was cut off and may have happened.
        Interrupted = "interrupted",
        /// None of these.
        Other = "other",
    }
}

choice! {
    /// What happens to slots that could not run in time (X3).
    Misfire {
        /// One run for the whole stretch.
        Once = "once",
        /// None.
        Skip = "skip",
        /// One run for each slot.
        All = "all",
    }
}

choice! {
    /// What happens when a run of the same skill is still going.
    Overlap {
        /// The new one is skipped.
        Skip = "skip",
        /// The new one waits.
        Queue = "queue",
        /// The old one is cancelled.
        CancelOther = "cancel_other",
        /// Both run.
        Allow = "allow",
    }
}

choice! {
    /// What a budget is counted over.
    BudgetPeriod {
        /// A single run.
        Run = "run",
        /// A day in the skill's zone.
        Day = "day",
    }
}

choice! {
    /// What happens when a budget is spent.
    ExhaustedAction {
        /// The skill is paused.
        Pause = "pause",
        /// The run is skipped.
        Skip = "skip",
        /// A person is asked.
        Ask = "ask",
    }
}

choice! {
    /// Why a skill does not fire (X1). Only `missing_tools` may be cleared without a person.
    DisabledReason {
        /// A person or an assistant switched it off.
        User = "user",
        /// It failed too often in a row.
        Failures = "failures",
        /// Tools that it needs are not there.
        MissingTools = "missing_tools",
        /// Its file was removed.
        FileRemoved = "file_removed",
        /// It was to fire once and did.
        OneShotDone = "one_shot_done",
        /// Its budget is spent.
        Budget = "budget",
        /// An assistant deleted it; its file is still there.
        Deleted = "deleted",
    }
}

/// A remedy that is tried before a failed call is retried.
#[derive(Clone, Debug, PartialEq)]
pub struct Heal {
    /// The failures it answers to.
    pub when: Vec<FailureClass>,
    /// The tool that mends.
    pub tool: String,
    /// Its arguments; texts may be templates.
    pub args: Value,
}

/// What must be true before a run may call itself a success.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct Expect {
    /// Tools that must have succeeded.
    pub called: Vec<String>,
    /// A condition over the outputs.
    pub that: Option<String>,
    /// A JSON Schema for the answer.
    pub schema: Option<Value>,
}

/// A hard limit on what a skill may spend on models.
#[derive(Clone, Debug, PartialEq)]
pub struct Budget {
    /// Tokens, in and out together.
    pub tokens: Option<u64>,
    /// Money.
    pub cost_usd: Option<f64>,
    /// What both are counted over.
    pub per: BudgetPeriod,
    /// What happens when they are spent.
    pub on_exhausted: ExhaustedAction,
}

/// Everything about a run that is not its body.
#[derive(Clone, Debug, PartialEq)]
pub struct Policy {
    /// Whether triggers may fire it at all.
    pub enabled: bool,
    /// The agent that it belongs to and runs as (X6).
    pub agent_id: String,
    /// The most turns a model may take (S0.5).
    pub max_steps: u32,
    /// Whether a finished run is reported (S0.6).
    pub notify_on_completion: bool,
    /// The least time between reports; zero means the host's default.
    pub notify_interval_minutes: u32,
    /// What repeating its calls would do, where a step does not say.
    pub effects: Option<Effects>,
    /// Remedies for every step.
    pub heal: Vec<Heal>,
    /// How many remedies a run may take.
    pub max_heals: u32,
    /// Post-conditions.
    pub expect: Option<Expect>,
    /// What models may cost.
    pub budget: Option<Budget>,
    /// What happens to late slots.
    pub misfire: Misfire,
    /// How late is too late.
    pub misfire_window: Duration,
    /// What happens when runs meet; unset means the cause decides.
    pub overlap: Option<Overlap>,
    /// A check before the run that costs no model call.
    pub preflight: Option<Value>,
    /// The zone of its days and times; the host's when absent.
    pub timezone: Option<String>,
    /// The longest a run may take.
    pub timeout: Option<Duration>,
    /// How many runs of it may go at once.
    pub concurrency: Option<u32>,
    /// Names of secrets that its tools may be given.
    pub secrets: Vec<String>,
    /// Cases for `deft skills test`.
    pub tests: Vec<Value>,
    /// The rights of the agent that stored it. No text of a skill can say this: the engine sets it.
    pub authority: Option<Arc<Authority>>,
}

impl Default for Policy {
    fn default() -> Self {
        Self {
            enabled: true,
            agent_id: "thinker".to_owned(),
            max_steps: 10,
            notify_on_completion: true,
            notify_interval_minutes: 0,
            effects: None,
            heal: Vec::new(),
            max_heals: 3,
            expect: None,
            budget: None,
            misfire: Misfire::Once,
            misfire_window: Duration::from_hours(24),
            overlap: None,
            preflight: None,
            timezone: None,
            timeout: None,
            concurrency: None,
            secrets: Vec::new(),
            tests: Vec::new(),
            authority: None,
        }
    }
}
