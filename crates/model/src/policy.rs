//! How a skill may run: effects, healing, limits, budgets and notices.

use std::sync::Arc;
use std::time::Duration;

use serde::Serialize;
use serde_json::{Value, json};

use crate::choice::choice;
use crate::{Authority, DEFAULT_AGENT, Object};

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
    /// Whether other programs are offered it as a tool of its own.
    pub expose: bool,
    /// The rights of the agent that stored it. No text of a skill can say this: the engine sets it.
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
    /// The keys and values of a file that say it. What has its default is left out, and rights that no file can say.
    pub fn entries(&self) -> Vec<(&'static str, Value)> {
        // Written out, so that a new field does not compile before it is written to files.
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
            ("enabled", differing(enabled, &default.enabled)),
            ("agent_id", differing(agent_id, &default.agent_id)),
            ("max_steps", differing(max_steps, &default.max_steps)),
            (
                "notify_on_completion",
                differing(notify_on_completion, &default.notify_on_completion),
            ),
            (
                "notify_interval_minutes",
                differing(notify_interval_minutes, &default.notify_interval_minutes),
            ),
            ("effects", differing(effects, &None)),
            ("heal", (!heal.is_empty()).then(|| Heal::list(heal))),
            ("max_heals", differing(max_heals, &default.max_heals)),
            ("expect", expect.as_ref().map(Expect::value)),
            ("budget", budget.as_ref().map(Budget::value)),
            ("misfire", differing(misfire, &default.misfire)),
            ("misfire_window", window.map(seconds)),
            ("overlap", differing(overlap, &None)),
            ("preflight", preflight.clone()),
            ("timezone", differing(timezone, &None)),
            ("timeout", timeout.map(seconds)),
            ("concurrency", differing(concurrency, &None)),
            ("secrets", differing(secrets, &default.secrets)),
            ("tests", differing(tests, &default.tests)),
            ("expose", differing(expose, &default.expose)),
        ];
        let given = |(key, value): (_, Option<Value>)| Some((key, value?));
        all.into_iter().filter_map(given).collect()
    }
}

/// A value that is not the default.
fn differing<T: PartialEq + Serialize>(value: &T, default: &T) -> Option<Value> {
    (value != default).then(|| json!(value))
}

/// A length of time as files have it: in seconds.
pub fn seconds(duration: Duration) -> Value {
    if duration.subsec_nanos() == 0 {
        json!(duration.as_secs())
    } else {
        json!(duration.as_secs_f64())
    }
}

/// The entries that say something.
fn object<const N: usize>(entries: [(&str, Option<Value>); N]) -> Value {
    let given = entries.into_iter();
    let given = given.filter_map(|(key, value)| Some((key.to_owned(), value?)));
    Value::Object(given.collect::<Object>())
}

impl Heal {
    /// Remedies as the value of a key of a file.
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
    /// The value of its key in a file.
    pub fn value(&self) -> Value {
        object([
            ("called", differing(&self.called, &Vec::new())),
            ("that", differing(&self.that, &None)),
            ("schema", self.schema.clone()),
        ])
    }
}

impl Budget {
    /// The value of its key in a file.
    pub fn value(&self) -> Value {
        object([
            ("tokens", differing(&self.tokens, &None)),
            ("cost_usd", differing(&self.cost_usd, &None)),
            ("per", Some(json!(self.per))),
            ("on_exhausted", Some(json!(self.on_exhausted))),
        ])
    }
}
