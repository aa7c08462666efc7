//! Who speaks: an agent, its model, and how much that has room for.

use deft_agent::Mode;
use deft_agent::prompt::Caps;
use deft_base::Error;
use deft_model::{Agent, AgentMode, Failure, FailureClass, Outage, nearest};
use deft_registry::State;
use deft_skillfile::Severity;

use crate::Agents;

/// A rough count of the characters of a token, as `estimate_tokens` has it.
const CHARS_PER_TOKEN: u64 = 3;

/// About what the fixed texts of a prompt take, in characters.
const FIXED: u64 = 2_000;

/// An agent and its model.
pub(super) struct Voice {
    pub(crate) agent: Agent,
    pub(crate) model: String,
    pub(crate) mode: Mode,
    pub(crate) caps: Caps,
    /// How many tokens the descriptions of tools may take.
    pub(crate) tool_tokens: u64,
    /// How many tokens a question may take, if that is known.
    pub(crate) context: Option<u64>,
}

impl Voice {
    /// How long the list of skills in the `skill` tool may be: half of what tools may take.
    pub(super) fn skill_chars(&self, most: usize) -> usize {
        let chars = self.tool_tokens.saturating_mul(CHARS_PER_TOKEN) / 2;
        usize::try_from(chars).unwrap_or(usize::MAX).min(most)
    }
}

impl Agents {
    /// An agent and the model that speaks for it.
    pub(crate) fn voice(&self, agent_id: &str) -> Result<Voice, Failure> {
        self.chat_voice(agent_id, None)
    }

    /// The same with a model that a person chose.
    pub(crate) fn chat_voice(&self, agent_id: &str, model: Option<&str>) -> Result<Voice, Failure> {
        let agent = self.speaker(agent_id)?;
        let model = match model {
            Some(name) if self.models().options(name).is_some() => name.to_owned(),
            Some(name) => return Err(unknown_model(name, "the chat")),
            None => self.model_of(&agent)?,
        };
        Ok(self.voice_of(agent, model))
    }

    /// The model that answers for an agent, or for the default one.
    pub fn model_for(&self, agent: Option<&str>) -> Result<String, Failure> {
        let agent = agent.unwrap_or(&self.options.default);
        self.voice(agent).map(|voice| voice.model)
    }

    /// The same for a skill that fired. A model that is not there is like a tool that is not
    /// there: no fault of the skill, and something to wait for.
    pub(super) fn fired_voice(&self, agent_id: &str) -> Result<Voice, Failure> {
        let agent = self.speaker(agent_id)?;
        let model = self.model_of(&agent).map_err(Failure::blocked)?;
        Ok(self.voice_of(agent, model))
    }

    /// Why no model speaks for an agent, or for the default one, if none does.
    pub fn check_model(&self, agent: Option<&str>) -> Result<(), Failure> {
        let agent = agent.unwrap_or(&self.options.default);
        self.voice(agent).map(drop)
    }

    /// Whether there is a model for a skill of this agent.
    pub fn has_model(&self, agent_id: &str) -> bool {
        self.fired_voice(agent_id).is_ok()
    }

    fn speaker(&self, agent_id: &str) -> Result<Agent, Failure> {
        match self.agent_definition(agent_id) {
            Some(agent) => Ok(agent),
            // What a broken file says may be a limit; nothing stands in for it.
            None => self
                .broken_agent(agent_id)
                .map_or_else(|| Ok(Agent::new(agent_id)), Err),
        }
    }

    fn voice_of(&self, agent: Agent, model: String) -> Voice {
        let models = self.models();
        let options = models.options(&model);
        let calls_tools = options.is_none_or(|options| options.tools);
        let context = options.and_then(|options| options.context_tokens);
        // Two fifths for the prompt, a quarter for tools, an eighth at most for the answer; what is
        // left is for what was said.
        let chars = context.map_or(u64::MAX, |tokens| {
            (tokens.saturating_mul(CHARS_PER_TOKEN) * 2 / 5).saturating_sub(FIXED)
        });
        Voice {
            mode: match (agent.mode, calls_tools) {
                (AgentMode::Tools, _) | (AgentMode::Auto, true) => Mode::Tools,
                (AgentMode::Cmd, _) | (AgentMode::Auto, false) => Mode::Cmd,
            },
            agent,
            model,
            tool_tokens: context.map_or(u64::MAX, |tokens| tokens / 4),
            context: options.and_then(question_tokens),
            caps: Caps::default().within(usize::try_from(chars).unwrap_or(usize::MAX)),
        }
    }

    /// How many tokens a question to a model may take, if that is known.
    pub(super) fn context_of(&self, model: &str) -> Option<u64> {
        let models = self.models();
        models.options(model).and_then(question_tokens)
    }

    /// The model of an agent: the one it names, the configured one, or the only one.
    pub(super) fn model_of(&self, agent: &Agent) -> Result<String, Failure> {
        let models = self.models();
        let configured = self.options.llm.as_deref();
        if let Some(model) = &agent.model {
            let fits = |options: &&deft_llm::ModelOptions| {
                let provider = agent.provider.as_deref();
                let same = provider.is_none_or(|name| options.provider.word() == name);
                same && (options.name == *model || options.model == *model)
            };
            return match models.list().iter().find(fits) {
                Some(options) => Ok(options.name.clone()),
                None => Err(unknown_model(model, &agent.id)),
            };
        }
        match (configured, models.list()) {
            (Some(name), _) if models.options(name).is_some() => Ok(name.to_owned()),
            (Some(name), _) => Err(unknown_model(name, "[agent] llm")),
            (None, [only]) => Ok(only.name.clone()),
            (None, []) => Err(no_model()),
            (None, _) => Err(Failure::new(
                FailureClass::Invalid,
                "there are several models and nothing says which one speaks",
            )
            .hint("set `[agent] llm = \"NAME\"` in config.toml")),
        }
    }

    /// An agent by its name, as its file defines it, or the one that is always there.
    pub fn agent_definition(&self, id: &str) -> Option<Agent> {
        let snapshot = self.library.snapshot();
        snapshot.agent(id).map(|loaded| loaded.agent.clone())
    }

    /// Why there is no such agent: its file is broken, or there is none.
    pub fn no_agent(&self, id: &str) -> Error {
        if let Some(broken) = self.broken_agent(id) {
            return Error::Agent(broken);
        }
        let snapshot = self.library.snapshot();
        let names = snapshot.agents().map(|loaded| loaded.agent.id.as_str());
        Error::UnknownAgent {
            name: id.to_owned(),
            near: nearest(id, names).map(str::to_owned),
        }
    }

    /// What is wrong with the file of an agent, if it is broken.
    fn broken_agent(&self, id: &str) -> Option<Failure> {
        let file = std::path::Path::new(id).join("AGENT.md");
        let snapshot = self.library.snapshot();
        let mut files = snapshot.files().iter();
        let report = files.find(|report| {
            matches!(report.state, State::Broken { .. }) && report.path.ends_with(&file)
        })?;
        let mut problems = report.diagnostics.iter();
        let why = problems.find(|problem| problem.severity == Severity::Error);
        let why = why.map_or(String::new(), |problem| format!(": {}", problem.message));
        let message = format!("the AGENT.md of agent `{id}` is broken{why}");
        Some(
            Failure::new(FailureClass::Invalid, message)
                .hint("`deft skills doctor` says where and what to do"),
        )
    }

    pub(super) fn approvals(&self, agent: &Agent) -> Vec<String> {
        let mut approve = self.options.approve.clone();
        for pattern in &agent.approve {
            if !approve.contains(pattern) {
                approve.push(pattern.clone());
            }
        }
        approve
    }
}

/// How many tokens a question to a model may take, so that there is room for the answer.
fn question_tokens(options: &deft_llm::ModelOptions) -> Option<u64> {
    let tokens = options.context_tokens?;
    Some(tokens - u64::from(options.max_tokens).min(tokens / 8))
}

fn no_model() -> Failure {
    Failure::new(FailureClass::Invalid, "no model is configured")
        .hint("`deft setup` connects one")
        .outage(Outage::NoModel)
}

fn unknown_model(model: &str, whose: &str) -> Failure {
    Failure::new(
        FailureClass::Invalid,
        format!("unknown model `{model}`, which `{whose}` names"),
    )
    .hint("`deft config show` lists the `[llm.NAME]` sections")
}
