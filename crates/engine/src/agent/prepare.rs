//! What an agent begins with: its model, its prompt, its tools, and what was said before.

use std::collections::BTreeMap;
use std::sync::Arc;

use deft_agent::prompt::{Caps, PlaybookText, PromptInput, assemble};
use deft_agent::{Limits, Mode, Offer, Setup};
use deft_model::{Agent, AgentMode, Body, Failure, FailureClass, RunId};
use deft_registry::{Snapshot, State, discovery};
use deft_store::{FactFilter, NewConversation, RunRow};
use deft_workflow::Path;

use super::say::conversation_of;
use super::tools::{BY_AGENT, DISPATCH_AGENT, GET_SKILL, SKILL, SKILL_RUN, USE_SKILL};
use super::{Brief, offers};
use crate::engine::Inner;
use crate::perform::Performer;
use crate::{Engine, Error};

/// Tools with which an agent would make things happen later.
const SCHEDULING: [&str; 3] = ["memory_store_skill", "memory_update_skill", "queue_task"];

/// Tools with which commands are called; who writes commands needs none of them.
pub(super) const FOR_COMMANDS: [&str; 2] = [USE_SKILL, GET_SKILL];

/// How many facts a chat is told.
const MOST_FACTS: u32 = 20;

/// How long the list of skills in the `skill` tool may be.
const SKILL_TOOL_CHARS: usize = 12_000;

/// A rough share of the context of a model that the prompt may take: characters per token, and a
/// half for everything else.
const CHARS_PER_TOKEN: u64 = 3;

/// An agent and its model.
pub(super) struct Voice {
    agent: Agent,
    pub(super) model: String,
    pub(super) mode: Mode,
    caps: Caps,
}

/// What an agent may use.
struct Reach {
    tools: Vec<Offer>,
    skills: Option<Vec<String>>,
    left_out: usize,
}

impl Performer {
    /// What the agent of a step begins with.
    pub(crate) async fn prepare(self, brief: Brief) -> Result<Box<Setup>, Failure> {
        let engine = Engine {
            inner: Arc::clone(&self.engine),
        };
        let setup = match conversation_of(&brief.run) {
            Some(conversation) => engine.chat_setup(&brief, &conversation).await,
            None => engine.skill_setup(&brief).await,
        };
        setup.map(Box::new)
    }
}

impl Engine {
    /// A skill that fired: exactly its tools, and its text as the task.
    async fn skill_setup(&self, brief: &Brief) -> Result<Setup, Failure> {
        let inner = &self.inner;
        let (skill, revision) = (&brief.step.skill, &brief.step.revision);
        let pinned = inner.pinned(skill, revision).await;
        let pinned = pinned.map_err(|error| failed(&error))?;
        let policy = &pinned.skill.policy;
        let voice = inner.voice(&policy.agent_id)?;
        let snapshot = inner.parts.skills.snapshot();
        let mut reach = inner.exact_reach(&voice, brief, &snapshot)?;
        let run = &brief.run;
        inner.forbid_schedules(&voice, run, &mut reach).await?;
        let specs: Vec<_> = reach.tools.iter().map(|offer| offer.spec.clone()).collect();
        let prompt = assemble(
            &PromptInput {
                own: &voice.agent.prompt.read(),
                mode: voice.mode,
                tools: &specs,
                now: &inner.time_in_words(),
                attended: false,
                ..PromptInput::default()
            },
            &voice.caps,
        );
        let conversation = inner.skill_conversation(&brief.run, &brief.path, &pinned.skill.name);
        let conversation = conversation.await.map_err(|error| failed(&error))?;
        Ok(Setup {
            agent: voice.agent.id.clone(),
            model: voice.model,
            mode: voice.mode,
            system: prompt.parts.into(),
            conversation: Some(conversation),
            history: Arc::default(),
            task: brief.instructions.clone(),
            tools: reach.tools,
            skills: reach.skills,
            must_call: brief.step.must_call.clone(),
            limits: inner.limits(brief.step.max_steps.unwrap_or(policy.max_steps)),
        })
    }

    /// A message of a person: what the agent may use, playbooks, memory, and what was said before.
    pub(crate) async fn chat_setup(
        &self,
        brief: &Brief,
        conversation: &str,
    ) -> Result<Setup, Failure> {
        let steps = brief.step.max_steps;
        let agent = &brief.run.agent_id;
        let setup = self.chat_preview(agent, &brief.instructions, conversation);
        let mut setup = setup.await?;
        setup.limits.max_steps = steps.unwrap_or(setup.limits.max_steps);
        Ok(setup)
    }

    /// What an agent would be told in a conversation.
    pub(crate) async fn chat_preview(
        &self,
        agent: &str,
        message: &str,
        conversation: &str,
    ) -> Result<Setup, Failure> {
        let inner = &self.inner;
        let voice = inner.voice(agent)?;
        let snapshot = self.all_skills().await;
        let classified = self.playbooks(message).await;
        let forced: Vec<String> = classified.tools().into_iter().map(str::to_owned).collect();
        // A server that has not been asked yet may have what is needed.
        drop(inner.parts.router.listed().await);
        let reach = inner.chat_reach(&voice, &snapshot, &forced);
        let specs: Vec<_> = reach.tools.iter().map(|offer| offer.spec.clone()).collect();
        let texts: Vec<(String, String, String)> = classified
            .matched
            .iter()
            .filter_map(|found| {
                let skill = &snapshot.find(&found.id)?.skill;
                let text = skill.text()?.read().into_owned();
                Some((found.id.clone(), found.why(), text))
            })
            .collect();
        let playbooks: Vec<PlaybookText<'_>> = texts
            .iter()
            .map(|(id, why, text)| PlaybookText { id, why, text })
            .collect();
        let also: Vec<String> = classified.left_out.iter().map(|it| it.id.clone()).collect();
        let (domains, skills) = (
            discovery::domain_entries(&snapshot, &voice.agent),
            discovery::skill_entries(&snapshot, &voice.agent),
        );
        let commands = discovery::command_entries(&snapshot, &voice.agent, &BTreeMap::new());
        let facts = self.facts_for_prompt().await;
        let prompt = assemble(
            &PromptInput {
                own: &voice.agent.prompt.read(),
                mode: voice.mode,
                domains: &domains,
                commands: &commands,
                tools: &specs,
                skills: &skills,
                message,
                playbooks: &playbooks,
                also_matched: &also,
                facts: &facts,
                now: &inner.time_in_words(),
                attended: true,
                ..PromptInput::default()
            },
            &voice.caps,
        );
        let budget = inner.options.agent.history_tokens;
        let history = inner.history(conversation, budget).await;
        let (reference, history) = history.map_err(|error| failed(&error))?;
        if reach.left_out > 0 {
            tracing::warn!(
                left_out = reach.left_out,
                "tools do not fit and are not offered"
            );
        }
        Ok(Setup {
            agent: voice.agent.id.clone(),
            model: voice.model,
            mode: voice.mode,
            system: prompt.parts.into(),
            conversation: Some(reference),
            history,
            task: message.to_owned(),
            tools: reach.tools,
            skills: reach.skills,
            must_call: Vec::new(),
            limits: inner.limits(inner.options.agent.max_steps),
        })
    }

    async fn facts_for_prompt(&self) -> Vec<String> {
        let filter = FactFilter {
            limit: Some(MOST_FACTS),
            ..FactFilter::default()
        };
        let facts = self.store().facts(filter).await.unwrap_or_default();
        let told = facts.into_iter().filter(|row| row.fact.category != "error");
        told.map(|row| row.fact.text).collect()
    }
}

impl Inner {
    /// An agent and the model that speaks for it.
    pub(super) fn voice(&self, agent_id: &str) -> Result<Voice, Failure> {
        let agent = match self.agent_definition(agent_id) {
            Some(agent) => agent,
            // What a broken file says may be a limit; nothing stands in for it.
            None if self.is_broken_agent(agent_id) => return Err(broken_agent(agent_id)),
            None => Agent::new(agent_id),
        };
        let model = self.model_of(&agent)?;
        let options = self.parts.models.options(&model);
        let calls_tools = options.is_none_or(|options| options.tools);
        let context = options.and_then(|options| options.context_tokens);
        let chars = context.map_or(u64::MAX, |tokens| tokens * CHARS_PER_TOKEN / 2);
        Ok(Voice {
            mode: match (agent.mode, calls_tools) {
                (AgentMode::Tools, _) | (AgentMode::Auto, true) => Mode::Tools,
                (AgentMode::Cmd, _) | (AgentMode::Auto, false) => Mode::Cmd,
            },
            agent,
            model,
            caps: Caps::default().within(usize::try_from(chars).unwrap_or(usize::MAX)),
        })
    }

    /// The model of an agent: the one it names, the configured one, or the only one.
    fn model_of(&self, agent: &Agent) -> Result<String, Failure> {
        let models = &self.parts.models;
        let configured = self.options.agent.llm.as_deref();
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
    pub(crate) fn agent_definition(&self, id: &str) -> Option<Agent> {
        let snapshot = self.parts.skills.snapshot();
        snapshot.agent(id).map(|loaded| loaded.agent.clone())
    }

    fn is_broken_agent(&self, id: &str) -> bool {
        let file = std::path::Path::new(id).join("AGENT.md");
        let snapshot = self.parts.skills.snapshot();
        let mut files = snapshot.files().iter();
        files.any(|report| {
            matches!(report.state, State::Broken { .. }) && report.path.ends_with(&file)
        })
    }

    fn limits(&self, max_steps: u32) -> Limits {
        Limits {
            max_steps,
            max_depth: self.options.agent.max_depth,
            fan_out: self.options.agent.fan_out,
            ..Limits::default()
        }
    }

    /// Exactly the tools of a step, and the skills that a page refers to.
    fn exact_reach(
        &self,
        voice: &Voice,
        brief: &Brief,
        snapshot: &Snapshot,
    ) -> Result<Reach, Failure> {
        let approve = self.approvals(&voice.agent);
        let router = &self.parts.router;
        let mut names = brief.step.tools.clone();
        let skills = mentioned(snapshot, &brief.step.skill, &brief.instructions);
        // Whoever is given a way to run skills by name may run them all.
        let any = |tool: &String| tool == USE_SKILL || tool == SKILL_RUN;
        let all = names.iter().any(any);
        if !skills.is_empty() && voice.mode == Mode::Tools {
            names.extend(FOR_COMMANDS.map(str::to_owned));
        }
        Ok(Reach {
            tools: offers::exactly(router, &names, &approve)?,
            skills: (!all).then_some(skills),
            left_out: 0,
        })
    }

    fn chat_reach(&self, voice: &Voice, snapshot: &Snapshot, forced: &[String]) -> Reach {
        let agent = &voice.agent;
        let patterns = agent.tools.as_ref().unwrap_or(&self.options.agent.tools);
        let mut patterns: Vec<String> = patterns.clone();
        let own: &[&str] = if agent.allow_skills {
            &[SKILL, GET_SKILL, USE_SKILL, SKILL_RUN, DISPATCH_AGENT]
        } else {
            &[]
        };
        patterns.retain(|pattern| !own.contains(&pattern.as_str()));
        let mut first: Vec<String> = forced.to_vec();
        first.extend(own.iter().map(|&name| name.to_owned()));
        let approve = self.approvals(agent);
        let router = &self.parts.router;
        let (mut tools, left_out) = offers::matching(router, &patterns, &first, &approve);
        if !agent.allow_skills {
            tools.retain(|offer| !super::AGENT_TOOLS.contains(&offer.tool.as_str()));
        }
        if voice.mode == Mode::Cmd {
            tools.retain(|offer| !FOR_COMMANDS.contains(&offer.tool.as_str()));
        }
        offer_skill_tool(&mut tools, snapshot, agent);
        let skills = agent.skills.as_ref().map(|_| {
            let all = snapshot.skills().map(|loaded| &loaded.skill);
            all.filter(|skill| agent.may_use_skill(skill.id.as_str(), skill.domain.as_deref()))
                .map(|skill| skill.id.to_string())
                .collect()
        });
        Reach {
            tools,
            skills: if agent.allow_skills {
                skills
            } else {
                Some(Vec::new())
            },
            left_out,
        }
    }

    fn approvals(&self, agent: &Agent) -> Vec<String> {
        let mut approve = self.options.agent.approve.clone();
        approve.extend(agent.approve.iter().cloned());
        approve
    }

    /// What fires by itself may not make more things fire by themselves, unless it was allowed to.
    async fn forbid_schedules(
        &self,
        voice: &Voice,
        run: &RunRow,
        reach: &mut Reach,
    ) -> Result<(), Failure> {
        let allowed = voice.agent.may_schedule || self.options.agent.may_schedule;
        let schedules = |offer: &Offer| SCHEDULING.contains(&offer.tool.as_str());
        if allowed || !reach.tools.iter().any(schedules) || !self.fired_by_itself(run).await {
            return Ok(());
        }
        reach.tools.retain(|offer| !schedules(offer));
        if reach.tools.is_empty() {
            return Err(may_not_schedule());
        }
        Ok(())
    }

    /// Whether a run comes from a schedule, be it by way of other agents: their calls are its key.
    async fn fired_by_itself(&self, run: &RunRow) -> bool {
        let mut run = run.clone();
        loop {
            if run.slot.is_some() {
                return true;
            }
            let key = run.key.as_deref().filter(|_| run.cause == BY_AGENT);
            let Some((above, _)) = key.and_then(|key| key.split_once('/')) else {
                return false;
            };
            match self.parts.store.run(&RunId::new(above)).await {
                Ok(Some(above)) => run = above,
                // Whoever cannot be found may have been anybody.
                _ => return true,
            }
        }
    }

    pub(super) fn time_in_words(&self) -> String {
        let now = self.now().to_zoned(self.host_zone());
        now.strftime("%A, %Y-%m-%d %H:%M %:z (%Q)").to_string()
    }

    /// A fired skill has a conversation of its own (S2.35), named after its run.
    async fn skill_conversation(
        &self,
        run: &RunRow,
        path: &Path,
        title: &str,
    ) -> Result<deft_agent::ConversationRef, Error> {
        let mark = crate::ask::hex(format!("{}\n{path}", run.id).as_bytes());
        let new = NewConversation {
            id: format!("conv_{}", &mark[..24]),
            agent: run.agent_id.clone(),
            channel: format!("skill:{}", run.skill),
            title: title.to_owned(),
            run: Some(run.id.clone()),
            at: self.now(),
        };
        let row = self.parts.store.open_conversation(new).await?;
        Ok(deft_agent::ConversationRef {
            id: row.id,
            from: 1,
            upto: 0,
        })
    }
}

/// The `skill` tool lists what can be loaded (S4.11); with nothing to load it is not there (S4.14).
fn offer_skill_tool(tools: &mut Vec<Offer>, snapshot: &Snapshot, agent: &Agent) {
    let Some(at) = tools.iter().position(|offer| offer.tool == SKILL) else {
        return;
    };
    match discovery::skill_tool_spec(snapshot, agent, SKILL_TOOL_CHARS) {
        Some(spec) => tools[at].spec = spec,
        None => drop(tools.remove(at)),
    }
}

/// The skills that a page without a handler refers to by name (S2.8): they are what it may use.
fn mentioned(snapshot: &Snapshot, skill: &str, text: &str) -> Vec<String> {
    let is_page = snapshot
        .find(skill)
        .is_some_and(|loaded| matches!(loaded.skill.body, Body::Manual { handler: None, .. }));
    if !is_page {
        return Vec::new();
    }
    let word = |c: char| !(c.is_alphanumeric() || matches!(c, '.' | '_' | '-'));
    let words: std::collections::HashSet<&str> = text
        .split(word)
        .map(|word| word.trim_matches('.'))
        .collect();
    let all = snapshot.skills().map(|loaded| loaded.skill.id.as_str());
    all.filter(|id| *id != skill && words.contains(id))
        .map(str::to_owned)
        .collect()
}

fn failed(error: &Error) -> Failure {
    let mut failure = Failure::new(FailureClass::Other, error.to_string());
    failure.hint = error.hint();
    failure
}

fn no_model() -> Failure {
    Failure::new(FailureClass::Invalid, "no model is configured")
        .hint("this step needs one: add an `[llm.NAME]` section to config.toml")
}

fn unknown_model(model: &str, whose: &str) -> Failure {
    Failure::new(
        FailureClass::Invalid,
        format!("there is no model `{model}`, which `{whose}` names"),
    )
    .hint("`deft config show` lists the `[llm.NAME]` sections")
}

fn broken_agent(id: &str) -> Failure {
    Failure::new(
        FailureClass::Invalid,
        format!("the AGENT.md of agent `{id}` is broken"),
    )
    .hint("`deft skills doctor` says what is wrong with it")
}

fn may_not_schedule() -> Failure {
    Failure::new(
        FailureClass::Invalid,
        "what fires by itself may not store schedules, and the skill has no other tools",
    )
    .hint("`may_schedule: true` in the AGENT.md of its agent allows it")
}
