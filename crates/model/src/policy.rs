//! The policy of a skill: effects, healing, limits, budgets and notices.

use std::sync::Arc;
use std::time::Duration;

use serde::Serialize;
use serde_json::{Value, json};

use crate::choice::choice;
use crate::{Authority, DEFAULT_AGENT, Object};

choice! {
    /// The effects of repeating a call.
    Effects {
        /// The call changes nothing outside deft.
        None = "none",
        /// Repeating the call has no further effect.
        Idempotent = "idempotent",
        /// The call must not be repeated without asking.
        Once = "once",
    }
}

choice! {
    /// The kind of a failure (X18).
    FailureClass {
        /// The other side is unreachable.
        Network = "network",
        /// The other side rejected the credentials.
        Auth = "auth",
        /// A quota of the other side is used up.
        Quota = "quota",
        /// The requested thing does not exist.
        NotFound = "not_found",
        /// The operation took too long.
        Timeout = "timeout",
        /// The input is invalid.
        Invalid = "invalid",
        /// A limit of deft on steps, loops or sizes.
        Limit = "limit",
        /// Stopped by a person or another part of deft.
        Cancelled = "cancelled",
        /// A budget is exhausted.
        Budget = "budget",
        /// Cut off, for example by a crash; the call may have taken effect.
        Interrupted = "interrupted",
        /// Any other failure.
        Other = "other",
    }
}

choice! {
    /// The rule for slots that passed while deft was not running (X3).
    Misfire {
        /// One run for all missed slots.
        Once = "once",
        /// No run.
        Skip = "skip",
        /// One run for each missed slot.
        All = "all",
    }
}

choice! {
    /// The rule for a slot that comes while the skill still runs.
    Overlap {
        /// Skip the new run.
        Skip = "skip",
        /// Queue the new run.
        Queue = "queue",
        /// Cancel the old run.
        CancelOther = "cancel_other",
        /// Run both.
        Allow = "allow",
    }
}

choice! {
    /// The period of a budget.
    BudgetPeriod {
        /// A single run.
        Run = "run",
        /// A day in the skill's time zone.
        Day = "day",
    }
}

choice! {
    /// The reaction to an exhausted budget.
    ExhaustedAction {
        /// Pause the skill.
        Pause = "pause",
        /// Skip the run.
        Skip = "skip",
        /// Ask a person.
        Ask = "ask",
    }
}

choice! {
    /// Why a skill is disabled (X1). Only `missing_tools` may be cleared without a person.
    DisabledReason {
        /// A person or an assistant disabled the skill.
        User = "user",
        /// The skill failed too often in a row.
        Failures = "failures",
        /// Required tools are missing.
        MissingTools = "missing_tools",
        /// The file of the skill was removed.
        FileRemoved = "file_removed",
        /// A one-time skill has fired.
        OneShotDone = "one_shot_done",
        /// The budget of the skill is exhausted.
        Budget = "budget",
        /// An assistant deleted the skill; its file still exists.
        Deleted = "deleted",
    }
}

/// A heal rule: a tool call that repairs a failure before the failed call is retried.
#[derive(Clone, Debug, PartialEq)]
pub struct Heal {
    /// The failure classes that the rule applies to.
    pub when: Vec<FailureClass>,
    /// The tool to call.
    pub tool: String,
    /// The arguments; texts may be templates.
    pub args: Value,
}

/// Conditions that a run must fulfil to count as a success.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct Expect {
    /// Tools that must have succeeded.
    pub called: Vec<String>,
    /// A condition on the outputs.
    pub that: Option<String>,
    /// A JSON Schema of the answer.
    pub schema: Option<Value>,
}

/// A hard limit on what a skill may spend on models.
#[derive(Clone, Debug, PartialEq)]
pub struct Budget {
    /// Limit on the sum of input and output tokens.
    pub tokens: Option<u64>,
    /// Limit on the cost, in US dollars.
    pub cost_usd: Option<f64>,
    /// The period over which both limits count.
    pub per: BudgetPeriod,
    /// The reaction to reaching a limit.
    pub on_exhausted: ExhaustedAction,
}

/// Limits and reactions of a skill: everything about a run except its body.
#[derive(Clone, Debug, PartialEq)]
pub struct Policy {
    /// Whether triggers may fire the skill.
    pub enabled: bool,
    /// The agent that owns the skill and that it runs as (X6).
    pub agent_id: String,
    /// Maximum number of turns of a model (S0.5).
    pub max_steps: u32,
    /// Whether finished runs are reported (S0.6).
    pub notify_on_completion: bool,
    /// Minimum time between reports; zero means the host's default.
    pub notify_interval_minutes: u32,
    /// The effects of repeating a call, for steps that do not set their own.
    pub effects: Option<Effects>,
    /// Heal rules for every step.
    pub heal: Vec<Heal>,
    /// Maximum number of heals per run.
    pub max_heals: u32,
    /// Conditions for a success.
    pub expect: Option<Expect>,
    /// Limit on the cost of models.
    pub budget: Option<Budget>,
    /// The rule for missed slots.
    pub misfire: Misfire,
    /// The age up to which missed slots are still run.
    pub misfire_window: Duration,
    /// The rule for overlapping runs; `None` lets the cause of the fire decide.
    pub overlap: Option<Overlap>,
    /// A check before each run that needs no model call.
    pub preflight: Option<Value>,
    /// The time zone of days and times; `None` means the host's.
    pub timezone: Option<String>,
    /// Maximum duration of a run.
    pub timeout: Option<Duration>,
    /// Maximum number of simultaneous runs.
    pub concurrency: Option<u32>,
    /// Names of the secrets that may be passed to tools.
    pub secrets: Vec<String>,
    /// Test cases; reserved for a later version.
    pub tests: Vec<Value>,
    /// Whether the skill is offered to other programs as a separate tool.
    pub expose: bool,
    /// The rights of the agent that stored the skill. Set by the engine; no skill file can set it.
    pub authority: Option<Arc<Authority>>,
}

impl Default for Policy {
    fn default() -> Self {
        Self {
            enabled: true,
            agent_id: DEFAULT_AGENT.to_owned(),
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
            expose: false,
            authority: None,
        }
    }
}

impl Policy {
    /// Returns the keys and values that a file needs for this policy, without defaults and without
    /// `authority`, which no file can set.
    pub fn entries(&self) -> Vec<(&'static str, Value)> {
        // Destructured, so that a new field does not compile until it is written to files.
        let Self {
            enabled,
            agent_id,
            max_steps,
            notify_on_completion,
            notify_interval_minutes,
            effects,
            heal,
            max_heals,
            expect,
            budget,
            misfire,
            misfire_window,
            overlap,
            preflight,
            timezone,
            timeout,
            concurrency,
            secrets,
            tests,
            expose,
            authority: _,
        } = self;
        let default = Self::default();
        let window = Some(*misfire_window).filter(|window| *window != default.misfire_window);
        let all = [
            ("enabled", unless_default(enabled, &default.enabled)),
            ("agent_id", unless_default(agent_id, &default.agent_id)),
            ("max_steps", unless_default(max_steps, &default.max_steps)),
            (
                "notify_on_completion",
                unless_default(notify_on_completion, &default.notify_on_completion),
            ),
            (
                "notify_interval_minutes",
                unless_default(notify_interval_minutes, &default.notify_interval_minutes),
            ),
            ("effects", unless_default(effects, &None)),
            ("heal", (!heal.is_empty()).then(|| Heal::list(heal))),
            ("max_heals", unless_default(max_heals, &default.max_heals)),
            ("expect", expect.as_ref().map(Expect::value)),
            ("budget", budget.as_ref().map(Budget::value)),
            ("misfire", unless_default(misfire, &default.misfire)),
            ("misfire_window", window.map(seconds)),
            ("overlap", unless_default(overlap, &None)),
            ("preflight", preflight.clone()),
            ("timezone", unless_default(timezone, &None)),
            ("timeout", timeout.map(seconds)),
            ("concurrency", unless_default(concurrency, &None)),
            ("secrets", unless_default(secrets, &default.secrets)),
            ("tests", unless_default(tests, &default.tests)),
            ("expose", unless_default(expose, &default.expose)),
        ];
        let given = |(key, value): (_, Option<Value>)| Some((key, value?));
        all.into_iter().filter_map(given).collect()
    }
}

/// Returns `value` as JSON unless it equals `default`.
fn unless_default<T: PartialEq + Serialize>(value: &T, default: &T) -> Option<Value> {
    (value != default).then(|| json!(value))
}

/// Returns a duration in the form used in files: in seconds.
pub fn seconds(duration: Duration) -> Value {
    if duration.subsec_nanos() == 0 {
        json!(duration.as_secs())
    } else {
        json!(duration.as_secs_f64())
    }
}

/// Builds an object from the entries that have a value.
fn object<const N: usize>(entries: [(&str, Option<Value>); N]) -> Value {
    let given = entries.into_iter();
    let given = given.filter_map(|(key, value)| Some((key.to_owned(), value?)));
    Value::Object(given.collect::<Object>())
}

impl Heal {
    /// Returns heal rules in the form used in files.
    pub fn list(heals: &[Self]) -> Value {
        heals.iter().map(Self::value).collect()
    }

    fn value(&self) -> Value {
        let args = Some(&self.args).filter(|args| !args.is_null());
        object([
            ("when", (!self.when.is_empty()).then(|| json!(self.when))),
            ("tool", Some(json!(self.tool))),
            ("args", args.cloned()),
        ])
    }
}

impl Expect {
    /// Returns the value for the `expect` key of a file.
    pub fn value(&self) -> Value {
        object([
            ("called", unless_default(&self.called, &Vec::new())),
            ("that", unless_default(&self.that, &None)),
            ("schema", self.schema.clone()),
        ])
    }
}

impl Budget {
    /// Returns the value for the `budget` key of a file.
    pub fn value(&self) -> Value {
        object([
            ("tokens", unless_default(&self.tokens, &None)),
            ("cost_usd", unless_default(&self.cost_usd, &None)),
            ("per", Some(json!(self.per))),
            ("on_exhausted", Some(json!(self.on_exhausted))),
        ])
    }
}
