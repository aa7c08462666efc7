//! What an agent is told when a person speaks to it: what it may use, playbooks, memory, and what
//! was said before.

use deft_agent::prompt::{Assembled, PlaybookText, PromptInput, assemble};
use deft_agent::{Classified, Mode, Offer, Setup};
use deft_model::{Agent, Failure};
use deft_registry::{Snapshot, discovery};
use deft_store::{FactFilter, RunRow};

use super::memory::is_told;
use super::prepare::{Reach, failed};
use super::tools::{DISPATCH_AGENT, GET_SKILL, SKILL, SKILL_RUN, USE_SKILL};
use super::voice::Voice;
use super::{Brief, offers};
use crate::Engine;
use crate::engine::Inner;

/// Tools with which commands are called; who writes commands needs none of them.
pub(super) const FOR_COMMANDS: [&str; 2] = [USE_SKILL, GET_SKILL];

/// How many facts a chat is told.
const MOST_FACTS: usize = 20;

/// How many facts are read for them, as those of failed jobs are among them.
const FACTS_READ: u32 = 500;

/// How long the list of skills in the `skill` tool may be.
const SKILL_TOOL_CHARS: usize = 12_000;

impl Engine {
    /// A message of a person: what the agent may use, playbooks, memory, and what was said before.
    pub(crate) async fn chat_setup(
        &self,
        brief: &Brief,
        conversation: &str,
    ) -> Result<Setup, Failure> {
        let steps = brief.step.max_steps;
        let agent = &brief.run.agent_id;
        let run = Some(&brief.run);
        let setup = self.chat_preview(agent, &brief.instructions, conversation, run);
        let (mut setup, _) = setup.await?;
        setup.limits.max_steps = steps.unwrap_or(setup.limits.max_steps);
        Ok(setup)
    }

    /// What an agent would be told in a conversation, and what is worth knowing about that.
    pub(crate) async fn chat_preview(
        &self,
        agent: &str,
        message: &str,
        conversation: &str,
        run: Option<&RunRow>,
    ) -> Result<(Setup, Vec<String>), Failure> {
        let inner = &self.inner;
        let voice = inner.voice(agent)?;
        let known = self.all_skills().await;
        let snapshot = &known.all;
        let classified = known.playbooks(message);
        let forced: Vec<String> = classified.tools().into_iter().map(str::to_owned).collect();
        // A server that has not been asked yet may have what is needed.
        drop(inner.parts.router.listed().await);
        let reach = inner.chat_reach(&voice, snapshot, &forced);
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
        let entries = known.entries(&voice.agent);
        let facts = self.facts_for_prompt().await;
        let under_way = inner.under_way(conversation, run).await;
        let prompt = assemble(
            &PromptInput {
                own: &voice.agent.prompt.read(),
                mode: voice.mode,
                domains: &entries.domains,
                commands: &entries.commands,
                tools: &specs,
                skills: &entries.skills,
                message,
                playbooks: &playbooks,
                also_matched: &also,
                user: &inner.options.agent.user,
                facts: &facts,
                task: &under_way,
                now: &inner.time_in_words(),
                attended: true,
                ..PromptInput::default()
            },
            &voice.caps,
        );
        let notes = notes(&prompt, &classified, &reach.left_out);
        let budget = inner.options.agent.history_tokens;
        let history = inner.history(conversation, run.map(|run| &run.id), budget);
        let (reference, history) = history.await.map_err(|error| failed(&error))?;
        if !reach.left_out.is_empty() {
            let left_out = reach.left_out.join(", ");
            tracing::warn!(%left_out, "tools do not fit and are not offered");
        }
        let setup = Setup {
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
        };
        Ok((setup, notes))
    }

    async fn facts_for_prompt(&self) -> Vec<String> {
        let filter = FactFilter {
            limit: Some(FACTS_READ),
            ..FactFilter::default()
        };
        let facts = self.store().facts(filter).await;
        let told = facts.unwrap_or_default().into_iter().filter(is_told);
        told.take(MOST_FACTS).map(|row| row.fact.text).collect()
    }
}

impl Inner {
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
        let (mut tools, mut left_out) = offers::matching(router, &patterns, &first, &approve);
        if !agent.allow_skills {
            tools.retain(|offer| !super::AGENT_TOOLS.contains(&offer.tool.as_str()));
        }
        if voice.mode == Mode::Cmd {
            tools.retain(|offer| !FOR_COMMANDS.contains(&offer.tool.as_str()));
        }
        offer_skill_tool(&mut tools, snapshot, agent);
        left_out.extend(offers::fit(&mut tools, voice.tool_tokens, forced.len()));
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

/// What is worth knowing about a prompt: how long its sections are, and what was left out.
fn notes(prompt: &Assembled, playbooks: &Classified, tools: &[String]) -> Vec<String> {
    let mut notes = Vec::new();
    for found in &playbooks.matched {
        notes.push(format!("playbook `{}`: {}", found.id, found.why()));
    }
    for (section, chars) in &prompt.sections {
        notes.push(format!("{section}: {chars} characters"));
    }
    for cut in &prompt.cut {
        let entries = cut.entries.len();
        notes.push(format!(
            "cut from {}: {entries} entries, {} characters",
            cut.section, cut.chars
        ));
    }
    if !tools.is_empty() {
        notes.push(format!("tools without room: {}", tools.join(", ")));
    }
    notes
}
