//! Chooses the model of an agent, and computes the limits of its prompts.

use deft_agent::Mode;
use deft_agent::prompt::Caps;
use deft_base::Error;
use deft_model::{Agent, AgentMode, Failure, FailureClass, Outage, nearest};
use deft_registry::State;
use deft_skillfile::Severity;

use crate::Agents;

/// Approximate number of characters per token, as in `estimate_tokens`.
const CHARS_PER_TOKEN: u64 = 3;

/// Approximate length of the fixed texts of a prompt, in characters.
const FIXED: u64 = 2_000;

/// An agent and its model.
pub(super) struct ChosenModel {
    pub(crate) agent: Agent,
    pub(crate) model: String,
    pub(crate) mode: Mode,
    pub(crate) caps: Caps,
    /// Maximum number of tokens of the descriptions of tools.
    pub(crate) tool_tokens: u64,
    /// Maximum number of tokens of a request, if known.
    pub(crate) context: Option<u64>,
}

impl ChosenModel {
    /// Returns the maximum length of the list of skills in the `skill` tool: half of the room for tools.
    pub(super) fn skill_chars(&self, most: usize) -> usize {
        let chars = self.tool_tokens.saturating_mul(CHARS_PER_TOKEN) / 2;
        usize::try_from(chars).unwrap_or(usize::MAX).min(most)
    }
}

impl Agents {
    /// Returns an agent and its model.
    pub(crate) fn choose_model(&self, agent_id: &str) -> Result<ChosenModel, Failure> {
        self.choose_model_for_chat(agent_id, None)
    }

    /// Like [`choose_model`](Self::choose_model), with a model that a person chose.
    pub(crate) fn choose_model_for_chat(
        &self,
        agent_id: &str,
        model: Option<&str>,
    ) -> Result<ChosenModel, Failure> {
        let agent = self.agent_or_default(agent_id)?;
        let model = match model {
            Some(name) if self.models().options(name).is_some() => name.to_owned(),
            Some(name) => return Err(unknown_model(name, "this chat")),
            None => self.model_of(&agent)?,
        };
        Ok(self.with_limits(agent, model))
    }

    /// Returns the model of an agent, or of the default agent.
    pub fn model_for(&self, agent: Option<&str>) -> Result<String, Failure> {
        let agent = agent.unwrap_or(&self.options.default);
        self.choose_model(agent).map(|chosen| chosen.model)
    }

    /// Like [`choose_model`](Self::choose_model), for a fired skill. A missing model is like a missing tool: the skill is
    /// not at fault, and the run waits for it.
    pub(super) fn choose_model_for_run(&self, agent_id: &str) -> Result<ChosenModel, Failure> {
        let agent = self.agent_or_default(agent_id)?;
        let model = self.model_of(&agent).map_err(Failure::mark_blocked)?;
        Ok(self.with_limits(agent, model))
    }

    /// Checks that an agent, or the default agent, has a model.
    pub fn check_model(&self, agent: Option<&str>) -> Result<(), Failure> {
        let agent = agent.unwrap_or(&self.options.default);
        self.choose_model(agent).map(drop)
    }

    /// Whether a skill of this agent has a model.
    pub fn has_model(&self, agent_id: &str) -> bool {
        self.choose_model_for_run(agent_id).is_ok()
    }

    fn agent_or_default(&self, agent_id: &str) -> Result<Agent, Failure> {
        match self.agent_definition(agent_id) {
            Some(agent) => Ok(agent),
            // A broken file may contain a restriction, so no default replaces it.
            None => self
                .broken_agent(agent_id)
                .map_or_else(|| Ok(Agent::new(agent_id)), Err),
        }
    }

    fn with_limits(&self, agent: Agent, model: String) -> ChosenModel {
        let models = self.models();
        let options = models.options(&model);
        let calls_tools = options.is_none_or(|options| options.tools);
        let context = options.and_then(|options| options.context_tokens);
        // Two fifths are for the prompt, a quarter for tools, at most an eighth for the answer, and the rest
        // for the history.
        let chars = context.map_or(u64::MAX, |tokens| {
            (tokens.saturating_mul(CHARS_PER_TOKEN) * 2 / 5).saturating_sub(FIXED)
        });
        ChosenModel {
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

    /// Returns the maximum number of tokens of a request to a model, if known.
    pub(super) fn context_of(&self, model: &str) -> Option<u64> {
        let models = self.models();
        models.options(model).and_then(question_tokens)
    }

    /// Returns the model of an agent: the one it names, the configured one, or the only one.
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
                None => Err(unknown_model(model, &format!("agent `{}`", agent.id))),
            };
        }
        match (configured, models.list()) {
            (Some(name), _) if models.options(name).is_some() => Ok(name.to_owned()),
            (Some(name), _) => Err(unknown_model(name, "the setting `agent.llm`")),
            (None, [only]) => Ok(only.name.clone()),
            (None, []) => Err(no_model()),
            (None, _) => Err(Failure::new(
                FailureClass::Invalid,
                "several models are configured, but `agent.llm` does not select one",
            )
            .hint("set `[agent] llm = \"NAME\"` in config.toml")),
        }
    }

    /// Returns an agent as defined by its file, or a built-in one.
    pub fn agent_definition(&self, id: &str) -> Option<Agent> {
        let snapshot = self.library.snapshot();
        snapshot.agent(id).map(|loaded| loaded.agent.clone())
    }

    /// Returns the error for an agent that does not exist or whose file is broken.
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

    /// Returns the problem in the file of an agent, if the file is broken.
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
                .hint("`deft skills doctor` shows where and what to do"),
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

/// Returns the maximum number of tokens of a request to a model, leaving room for the answer.
fn question_tokens(options: &deft_llm::ModelOptions) -> Option<u64> {
    let tokens = options.context_tokens?;
    Some(tokens - u64::from(options.max_tokens).min(tokens / 8))
}

fn no_model() -> Failure {
    Failure::new(FailureClass::Invalid, "no model is configured")
        .hint("`deft setup` connects one")
        .outage(Outage::NoModel)
}

fn unknown_model(model: &str, named_by: &str) -> Failure {
    Failure::new(
        FailureClass::Invalid,
        format!("unknown model `{model}`, which {named_by} selects"),
    )
    .hint("`deft config show` lists the `[llm.NAME]` sections")
}
