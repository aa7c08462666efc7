//! The setup of an agent: its model, its prompt, its tools and its history.

use std::sync::Arc;

use deft_agent::prompt::{PromptInput, assemble};
use deft_agent::{Limits, Mode, Offer, Setup};
use deft_base::{Error, run_inputs};
use deft_command::fill_page;
use deft_library::denied_failure;
use deft_model::{Agent, Authority, Body, Cause, Digest, Failure, FailureClass, RunId, Skill};
use deft_registry::Snapshot;
use deft_store::{NewConversation, RunRow};
use deft_workflow::Path;

use crate::allowed_tools::AllowedTools;
use crate::chat_run::conversation_of;
use crate::dispatch_run::dispatched_skills;
use crate::model_choice::ChosenModel;
use crate::tool_names::{FOR_COMMANDS, RecordTool, SKILL_RUN, USE_SKILL};
use crate::{Agents, Brief, offers};

impl Agents {
    /// Returns the setup of the agent of a step.
    pub async fn setup(&self, brief: &Brief) -> Result<Box<Setup>, Failure> {
        self.router.refresh().await;
        let conversation = conversation_of(&brief.run).map_err(|error| failure_of_error(&error))?;
        let setup = match conversation {
            Some(conversation) => self.chat_setup(brief, &conversation).await,
            None => self.skill_setup(brief).await,
        };
        setup.map(Box::new)
    }

    /// Returns the setup for a fired skill: exactly its tools, and its text as the task.
    async fn skill_setup(&self, brief: &Brief) -> Result<Setup, Failure> {
        let (skill, revision) = (&brief.step.skill, &brief.step.revision);
        let pinned = self.library.find_pinned(skill, revision).await;
        let pinned = pinned.map_err(|error| failure_of_error(&error))?;
        let policy = &pinned.skill.policy;
        let chosen = self.choose_model_for_run(&policy.agent_id)?;
        let snapshot = self.library.snapshot();
        let mut allowed = self.tools_for_run(&chosen, brief, &snapshot)?;
        let run = &brief.run;
        let may_schedule = self.may_schedule(&chosen, brief).await?;
        if !may_schedule {
            forbid_schedules(&mut allowed)?;
        }
        let authority = self.authority_of(&chosen.agent, &allowed, may_schedule, brief);
        only_allowed(&allowed, &authority)?;
        let specs: Vec<_> = allowed
            .tools
            .iter()
            .map(|offer| offer.spec.clone())
            .collect();
        let prompt = assemble(
            &PromptInput {
                own: &chosen.agent.prompt.read(),
                mode: chosen.mode,
                tools: &specs,
                task: &self.fire_context(run, &pinned.skill),
                now: &self.time_in_words(),
                attended: false,
                ..PromptInput::default()
            },
            &chosen.caps,
        );
        let conversation = self.skill_conversation(&brief.run, &brief.path, &pinned.skill.name);
        let conversation = conversation
            .await
            .map_err(|error| failure_of_error(&error))?;
        Ok(Setup {
            agent: chosen.agent.id.clone(),
            model: chosen.model,
            mode: chosen.mode,
            system: prompt.parts.into(),
            conversation: Some(conversation),
            history: Arc::default(),
            task: self
                .task_of(brief, &pinned.skill)
                .map_err(|error| failure_of_error(&error))?,
            tools: allowed.tools,
            shelf: allowed.shelf,
            skills: allowed.skills,
            must_call: brief.step.must_call.clone(),
            limits: Limits {
                max_calls: self.options.max_calls,
                ..self.limits(
                    brief.step.max_steps.unwrap_or(policy.max_steps),
                    chosen.context,
                )
            },
            authority,
        })
    }
}

impl Agents {
    pub(super) fn limits(&self, max_steps: u32, context: Option<u64>) -> Limits {
        Limits {
            max_steps,
            max_depth: self.options.max_depth,
            fan_out: self.options.fan_out,
            context,
            max_calls: self.options.max_calls,
            ..Limits::default()
        }
    }

    /// Returns the task of an agent. In a page, dates and the inputs of the run are filled in (S2.9).
    fn task_of(&self, brief: &Brief, skill: &Skill) -> Result<String, Error> {
        let text = &brief.instructions;
        if !matches!(skill.body, Body::Manual { .. }) {
            return Ok(text.clone());
        }
        let run = &brief.run;
        let inputs = run_inputs(run)?;
        let start = run.started_at.unwrap_or(run.admitted_at);
        let start = start.to_zoned(self.base.host_zone());
        Ok(fill_page(text, &start, &inputs).into_owned())
    }

    /// Returns exactly the tools of a step, and the skills that a page refers to.
    fn tools_for_run(
        &self,
        chosen: &ChosenModel,
        brief: &Brief,
        snapshot: &Snapshot,
    ) -> Result<AllowedTools, Failure> {
        let mut approve = self.approvals(&chosen.agent);
        if let Some(authority) = &brief.authority {
            approve.extend(authority.approve.iter().cloned());
        }
        let router = &self.router;
        let mut names = brief.step.tools.clone();
        let given = dispatched_skills(&brief.run).map_err(|error| failure_of_error(&error))?;
        let mentioned = || mentioned_skills(snapshot, &brief.step.skill, &brief.instructions);
        let skills = given.unwrap_or_else(mentioned);
        // An agent with a tool that runs skills by name may run all of them.
        let any = |tool: &String| tool == USE_SKILL || tool == SKILL_RUN;
        let all = names.iter().any(any);
        if !skills.is_empty() && chosen.mode == Mode::Tools {
            names.extend(FOR_COMMANDS.map(str::to_owned));
        }
        Ok(AllowedTools {
            tools: offers::exactly(router, &names, &approve)?,
            shelf: Vec::new(),
            skills: (!all).then_some(skills),
            left_out: Vec::new(),
            limit: Some(names),
        })
    }

    /// Whether an agent may store schedules. A run fired by a schedule may not, unless its agent or the
    /// configuration allows it; a step with the rights of another agent may not if that agent may not.
    async fn may_schedule(&self, chosen: &ChosenModel, brief: &Brief) -> Result<bool, Failure> {
        let inherited = brief.authority.as_ref();
        if inherited.is_some_and(|authority| !authority.may_schedule) {
            return Ok(false);
        }
        if chosen.agent.may_schedule || self.options.may_schedule {
            return Ok(true);
        }
        let fired = self.was_scheduled(&brief.run).await;
        fired
            .map(|fired| !fired)
            .map_err(|error| failure_of_error(&error))
    }

    /// Returns the rights of an agent in a step: its own, limited by those of the step.
    pub(super) fn authority_of(
        &self,
        agent: &Agent,
        allowed: &AllowedTools,
        may_schedule: bool,
        brief: &Brief,
    ) -> Authority {
        let own = Authority {
            agent: agent.id.clone(),
            attended: false,
            tools: allowed.limit.iter().cloned().collect(),
            approve: self.approvals(agent),
            skills: allowed.skills.clone(),
            may_schedule,
            ..Authority::default()
        };
        match &brief.authority {
            Some(inherited) => own.and(&inherited.not_agreed()),
            None => own,
        }
    }

    /// Whether a schedule fired a run, directly or through other agents, whose calls are the keys of their
    /// runs.
    async fn was_scheduled(&self, run: &RunRow) -> Result<bool, Error> {
        let mut run = run.clone();
        loop {
            if run.slot.is_some() {
                return Ok(true);
            }
            let key = run.key.as_deref().filter(|_| run.cause == Cause::Agent);
            let Some((above, _)) = key.and_then(|key| key.split_once('/')) else {
                return Ok(false);
            };
            match self.store().run(&RunId::new(above)).await? {
                Some(above) => run = above,
                // The deleted run may have been fired by a schedule.
                None => return Ok(true),
            }
        }
    }

    pub(super) fn time_in_words(&self) -> String {
        let now = self.base.now().to_zoned(self.base.host_zone());
        now.strftime("%A, %Y-%m-%d %H:%M %:z (%Q)").to_string()
    }

    /// Opens the conversation of a fired skill (S2.35), named after its run.
    async fn skill_conversation(
        &self,
        run: &RunRow,
        path: &Path,
        title: &str,
    ) -> Result<deft_agent::ConversationRef, Error> {
        let mark = Digest::sha256(format!("{}\n{path}", run.id).as_bytes()).to_string();
        let new = NewConversation {
            id: format!("conv_{}", &mark[..24]),
            agent: run.agent_id.clone(),
            channel: format!("skill:{}", run.skill),
            title: title.to_owned(),
            run: Some(run.id.clone()),
            at: self.base.now(),
        };
        let row = self.store().open_conversation(new).await?;
        Ok(deft_agent::ConversationRef {
            id: row.id,
            from: 1,
            upto: 0,
        })
    }
}

fn forbid_schedules(allowed: &mut AllowedTools) -> Result<(), Failure> {
    let schedules =
        |offer: &Offer| RecordTool::from_name(&offer.tool).is_some_and(RecordTool::schedules);
    let had_tools = !allowed.tools.is_empty();
    allowed.tools.retain(|offer| !schedules(offer));
    if had_tools && allowed.tools.is_empty() {
        return Err(may_not_schedule());
    }
    Ok(())
}

/// Checks that a skill stored by an agent needs no tool that the agent did not have.
fn only_allowed(allowed: &AllowedTools, authority: &Authority) -> Result<(), Failure> {
    let mut tools = allowed.tools.iter().map(|offer| offer.tool.as_str());
    match tools.find(|tool| !authority.allows(&[tool])) {
        Some(tool) => Err(denied_failure(format!(
            "`{tool}` is not one of the tools of the agent that stored or started this skill"
        ))),
        None => Ok(()),
    }
}

/// Returns the skills that a page without a handler refers to by name (S2.8), which its agent may use.
fn mentioned_skills(snapshot: &Snapshot, skill: &str, text: &str) -> Vec<String> {
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

/// Converts an error to the failure of a step.
pub fn failure_of_error(error: &Error) -> Failure {
    let mut failure = Failure::new(FailureClass::Other, error.to_string());
    failure.hint = error.hint();
    failure
}

fn may_not_schedule() -> Failure {
    Failure::new(
        FailureClass::Invalid,
        "a scheduled run may not store schedules, and the skill has no other tools",
    )
    .hint("`may_schedule: true` in the AGENT.md of its agent allows it")
}
