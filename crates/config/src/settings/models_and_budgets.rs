//! The sections for models, agents and budgets: `[llm.NAME]`, `[agent]` and `[budget]`.
//!
//! The section of a model may be incomplete, because settings are made one at a time. A missing setting or
//! API key is reported by `deft doctor` and when the model is used; other commands work.
//!
//! Not here: requests to models, and counting their usage.

use std::collections::BTreeMap;
use std::time::Duration;

use deft_engine::{AgentOptions, Budgets, DayBudget};
use deft_llm::{ModelOptions, Price, ProviderKind};
use deft_model::{
    Agent, Choice as _, DEFAULT_AGENT, ExhaustedAction, Failure, FailureClass, Object,
};
use deft_tools::SecretSource;
use serde_json::{Map, Value};

use super::read::{Reader, length, texts};

/// An `[llm.NAME]` section, without its API key.
#[derive(Clone, Debug, PartialEq)]
pub struct ModelConfig {
    /// The name in the configuration.
    pub name: String,
    /// The fields as they were given.
    fields: Map<String, Value>,
}

/// Default maximum number of tokens in an answer.
const MAX_TOKENS: u32 = 4096;

impl ModelConfig {
    /// Returns the provider's name for the model.
    pub fn model(&self) -> Option<String> {
        self.text("model")
    }

    /// Returns the options for requests to the model, or why they are incomplete.
    pub fn options(&self, secrets: &dyn SecretSource) -> Result<ModelOptions, Failure> {
        let provider = self.text("provider");
        let provider = provider.as_deref().and_then(ProviderKind::from_word);
        let provider =
            provider.ok_or_else(|| self.lacks("provider", ProviderKind::OpenAi.word()))?;
        let model = self.text("model").filter(|model| !model.is_empty());
        let model = model.ok_or_else(|| self.lacks("model", "MODEL"))?;
        let api_key = match self.text("api_key") {
            Some(reference) => Some(self.key(&reference, secrets)?),
            None => None,
        };
        Ok(ModelOptions {
            name: self.name.clone(),
            provider,
            model,
            base_url: self.text("base_url"),
            api_key,
            tools: self.field("tools").and_then(Value::as_bool).unwrap_or(true),
            max_tokens: self.count("max_tokens").unwrap_or(MAX_TOKENS),
            context_tokens: self.field("context_tokens").and_then(Value::as_u64),
            temperature: self.decimal("temperature"),
            timeout: self
                .field("timeout")
                .and_then(length)
                .unwrap_or(Duration::from_mins(2)),
            retries: self.count("retries").unwrap_or(2),
            fallback: self.field("fallback").map(texts).unwrap_or_default(),
            concurrency: self
                .count("concurrency")
                .and_then(|most| usize::try_from(most).ok())
                .unwrap_or(4),
            price: self.price(provider),
            extra: self.extra(),
        })
    }

    fn field(&self, name: &str) -> Option<&Value> {
        self.fields.get(name)
    }

    fn text(&self, name: &str) -> Option<String> {
        self.field(name)?.as_str().map(str::to_owned)
    }

    fn decimal(&self, name: &str) -> Option<f64> {
        self.field(name)?.as_f64()
    }

    /// Returns a count; a value above `u32::MAX` becomes `u32::MAX`.
    fn count(&self, name: &str) -> Option<u32> {
        let count = self.field(name)?.as_u64()?;
        Some(u32::try_from(count).unwrap_or(u32::MAX))
    }

    /// Whether the configuration has a price for it.
    pub fn is_priced(&self) -> bool {
        ["price_input", "price_output"]
            .iter()
            .any(|name| self.decimal(name).is_some())
    }

    /// Returns the price if one is configured. Missing parts of it cost nothing.
    fn price(&self, provider: ProviderKind) -> Option<Price> {
        let (input, output) = (self.decimal("price_input"), self.decimal("price_output"));
        self.is_priced().then(|| Price {
            input: input.unwrap_or_default(),
            cached: self.decimal("price_cached"),
            cache_write: Some(
                self.decimal("price_cache_write")
                    .unwrap_or_else(|| input.unwrap_or_default() * provider.cache_write_factor()),
            ),
            output: output.unwrap_or_default(),
        })
    }

    fn extra(&self) -> Object {
        match self.field("extra") {
            Some(Value::Object(extra)) => extra.clone(),
            _ => Object::new(),
        }
    }

    fn key(&self, reference: &str, secrets: &dyn SecretSource) -> Result<String, Failure> {
        let secret = secrets.secret(reference).map_err(|reason| {
            let name = &self.name;
            let message = format!("it has no key: `{reference}` is not available: {reason}");
            let hint = format!("set it, or change `llm.{name}.api_key`");
            Failure::new(FailureClass::Auth, message)
                .hint(hint)
                .mark_blocked()
        })?;
        Ok(secret.expose().to_owned())
    }

    fn lacks(&self, key: &str, example: &str) -> Failure {
        let name = &self.name;
        let message = format!("it is not complete: `llm.{name}.{key}` is not set");
        Failure::new(FailureClass::Invalid, message)
            .hint(format!("`deft config set llm.{name}.{key} {example}`"))
            .mark_blocked()
    }
}

/// The `[budget]` section.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct BudgetConfig {
    /// The limits for all models and agents together.
    pub all: Allowance,
    /// The limits per agent.
    pub agents: BTreeMap<String, Watch>,
}

/// Limits per day.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Allowance {
    /// Tokens of models.
    pub tokens_per_day: Option<u64>,
    /// US dollars.
    pub usd_per_day: Option<f64>,
    /// The action when a limit is reached.
    pub on_exhausted: ExhaustedAction,
}

impl Default for Allowance {
    fn default() -> Self {
        Self {
            tokens_per_day: None,
            usd_per_day: None,
            on_exhausted: ExhaustedAction::Pause,
        }
    }
}

/// The limits of an agent, and the thresholds of unusual spending.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Watch {
    pub limits: Allowance,
    /// Tokens per hour.
    pub spike_tokens: Option<u64>,
    /// Multiple of the agent's usual tokens per hour.
    pub spike_factor: Option<f64>,
}

impl BudgetConfig {
    /// Converts the section into the budgets of the engine.
    pub fn budgets(&self) -> Budgets {
        let day = |limits: &Allowance| DayBudget {
            tokens: limits.tokens_per_day,
            usd: limits.usd_per_day,
            on_exhausted: limits.on_exhausted,
            ..DayBudget::default()
        };
        let watched = self.agents.iter().map(|(name, watch)| {
            let budget = DayBudget {
                spike_tokens: watch.spike_tokens,
                spike_factor: watch.spike_factor,
                ..day(&watch.limits)
            };
            (name.clone(), budget)
        });
        Budgets {
            all: day(&self.all),
            agents: watched.collect(),
        }
    }
}

impl Reader<'_> {
    pub(super) fn models(&self) -> Vec<ModelConfig> {
        let model = |(name, fields)| ModelConfig { name, fields };
        self.named_tables(&["llm"]).into_iter().map(model).collect()
    }

    /// Reads the `[agent]` section, and settings of other sections that apply to agents.
    pub(super) fn agent(&self) -> AgentOptions {
        let list = |key, usual: &str| self.list(key).unwrap_or_else(|| vec![usual.to_owned()]);
        let count = |key, usual| {
            let given = self.number(key);
            given.map_or(usual, |count| u32::try_from(count).unwrap_or(u32::MAX))
        };
        AgentOptions {
            default: self
                .text("agent.default")
                .unwrap_or_else(|| DEFAULT_AGENT.to_owned()),
            llm: self.text("agent.llm"),
            approve: list("agent.approve", "destructive"),
            tools: list("agent.tools", Agent::NEEDED),
            offer_tokens: self.number("agent.offer_tokens").unwrap_or(1000),
            user: self.text("agent.user").unwrap_or_default(),
            max_steps: count("agent.max_steps", 10),
            max_calls: count("agent.max_calls", 100),
            may_schedule: self.truth("agent.may_schedule").unwrap_or_default(),
            max_depth: count("agent.max_depth", 2),
            fan_out: count("agent.fan_out", 4),
            history_tokens: self.number("chat.history_tokens").unwrap_or(12_000),
            budgets: self.budget().budgets(),
        }
    }

    pub(super) fn budget(&self) -> BudgetConfig {
        let word = self.text("budget.on_exhausted");
        let all = Allowance {
            tokens_per_day: self.number("budget.tokens_per_day"),
            usd_per_day: self.decimal("budget.usd_per_day"),
            on_exhausted: word
                .and_then(|word| ExhaustedAction::from_word(&word))
                .unwrap_or(ExhaustedAction::Pause),
        };
        let agents = self.named_tables(&["budget", "agents"]).into_iter();
        let agents = agents.map(|(name, fields)| (name, watch(&fields, all.on_exhausted)));
        BudgetConfig {
            all,
            agents: agents.collect(),
        }
    }
}

fn watch(fields: &Map<String, Value>, usual: ExhaustedAction) -> Watch {
    let count = |name| fields.get(name).and_then(Value::as_u64);
    let decimal = |name| fields.get(name).and_then(Value::as_f64);
    let word = fields.get("on_exhausted").and_then(Value::as_str);
    Watch {
        limits: Allowance {
            tokens_per_day: count("tokens_per_day"),
            usd_per_day: decimal("usd_per_day"),
            on_exhausted: word.and_then(ExhaustedAction::from_word).unwrap_or(usual),
        },
        spike_tokens: count("spike_tokens"),
        spike_factor: decimal("spike_factor"),
    }
}
