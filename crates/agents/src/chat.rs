//! The setup of an agent for a message of a person: tools, playbooks, memory and history.

use std::sync::Arc;

use deft_agent::prompt::{PlaybookText, Prompt, PromptInput, Section, assemble};
use deft_agent::{CATALOG_TOOL, Classification, Mode, Offer, Setup};
use deft_base::read_or_log;
use deft_library::Entries;
use deft_model::{Agent, Authority, Failure};
use deft_registry::Snapshot;
use deft_store::{FactFilter, RunRow};
use deft_tools::RemoteSkill;
use serde_json::Value;

use super::Brief;
use crate::allowed_tools::AllowedTools;
use crate::chat_run::{chosen_model, is_alone};
use crate::memory::is_for_prompts;
use crate::model_choice::ChosenModel;
use crate::need::MessageContext;
use crate::prepare::failure_of_error;
use crate::tool_names::{GET_SKILL, SKILL};
use crate::{Agents, remote_skills};

/// Maximum number of facts in the prompt of a chat.
const MAX_FACTS: usize = 20;

/// Number of facts that are read for them, because notes about failed jobs are among them.
const FACTS_READ: u32 = 500;

impl Agents {
    /// Returns the setup of an agent for a message of a person.
    pub(crate) async fn chat_setup(
        &self,
        brief: &Brief,
        conversation: &str,
    ) -> Result<Setup, Failure> {
        let steps = brief.step.max_steps;
        let agent = &brief.run.agent_id;
        let run = Some(&brief.run);
        let attended = !is_alone(&brief.run).map_err(|error| failure_of_error(&error))?;
        let model = chosen_model(&brief.run).map_err(|error| failure_of_error(&error))?;
        let message = ChatMessage {
            message: &brief.instructions,
            attended,
            model: model.as_deref(),
        };
        let preview = self.chat_preview(agent, message, conversation, run);
        let mut setup = preview.await?.setup;
        setup.limits.max_steps = steps.unwrap_or(setup.limits.max_steps);
        if let Some(inherited) = &brief.authority {
            setup.authority = setup.authority.and(&inherited.not_agreed());
        }
        Ok(setup)
    }

    /// Returns the setup of an agent in a conversation, with notes about it.
    pub async fn chat_preview(
        &self,
        agent: &str,
        ChatMessage {
            message,
            attended,
            model,
        }: ChatMessage<'_>,
        conversation: &str,
        run: Option<&RunRow>,
    ) -> Result<Preview, Failure> {
        let chosen = self.choose_model_for_chat(agent, model)?;
        let known = self.library.all_skills().await;
        let snapshot = &known.all;
        let classified = known.playbooks(message);
        let budget = self.options.history_tokens;
        let history = self.history(conversation, run.map(|run| &run.id), budget);
        let (reference, history) = history.await.map_err(|error| failure_of_error(&error))?;
        // A server that was not asked yet may have a tool that is needed.
        drop(self.router.list_servers().await);
        let entries = known.entries(&chosen.agent, &self.library.commands(&known.all));
        let served = self.served_skills(&chosen.agent).await;
        let entries = with_served(entries, &served);
        let context = MessageContext {
            message,
            playbooks: &classified,
            history: &history,
            entries: &entries,
            served: &served,
        };
        let (allowed, others) = self.tools_for_chat(&chosen, snapshot, &context);
        if !allowed.left_out.is_empty() {
            let left_out = allowed.left_out.join(", ");
            tracing::warn!(%left_out, "some tools do not fit into the prompt and are not offered");
        }
        let material = PromptMaterial {
            allowed: &allowed,
            others: &others,
            under_way: self.describe_active_runs(conversation, run).await,
            facts: self.facts_for_prompt().await,
            attended,
        };
        let prompt = self.chat_prompt(&chosen, snapshot, &context, &material);
        let notes = notes(&prompt, &classified, &allowed.left_out);
        let authority = self.chat_authority(&chosen.agent, attended, &allowed);
        let setup = Setup {
            agent: chosen.agent.id.clone(),
            model: chosen.model,
            mode: chosen.mode,
            system: prompt.parts.into(),
            conversation: Some(reference),
            history,
            task: message.to_owned(),
            tools: allowed.tools,
            shelf: allowed.shelf,
            skills: allowed.skills,
            must_call: Vec::new(),
            limits: self.limits(self.options.max_steps, chosen.context),
            authority,
        };
        Ok(Preview {
            setup,
            sections: prompt.sections,
            notes,
        })
    }

    /// Builds the system prompt of a chat.
    fn chat_prompt(
        &self,
        chosen: &ChosenModel,
        snapshot: &Snapshot,
        context: &MessageContext<'_>,
        material: &PromptMaterial<'_>,
    ) -> Prompt {
        let allowed = material.allowed;
        let tools = allowed.tools.iter().map(|offer| offer.spec.clone());
        let tools: Vec<_> = tools.collect();
        let texts = playbook_texts(context.playbooks, snapshot);
        let playbooks = texts
            .iter()
            .map(|(id, why, text)| PlaybookText { id, why, text });
        let playbooks: Vec<PlaybookText<'_>> = playbooks.collect();
        let left_out = context.playbooks.left_out.iter();
        let also_matched: Vec<String> = left_out.map(|playbook| playbook.id.clone()).collect();
        let loadable = loadable(&allowed.tools);
        let entries = context.entries;
        let input = PromptInput {
            own: &chosen.agent.prompt.read(),
            mode: chosen.mode,
            domains: &entries.domains,
            commands: &entries.commands,
            tools: &tools,
            others: material.others,
            lacks: &lacks(allowed),
            skills: &entries.skills,
            workflows: &entries.workflows,
            loadable: loadable.as_deref().filter(|_| chosen.mode == Mode::Tools),
            message: context.message,
            playbooks: &playbooks,
            also_matched: &also_matched,
            user: &self.options.user,
            facts: &material.facts,
            task: &material.under_way,
            now: &self.time_in_words(),
            attended: material.attended,
            ..PromptInput::default()
        };
        assemble(&input, &chosen.caps)
    }

    /// Returns the rights of an agent in a chat.
    fn chat_authority(&self, agent: &Agent, attended: bool, allowed: &AllowedTools) -> Authority {
        let approve = self.approvals(agent);
        Authority {
            agent: agent.id.clone(),
            attended,
            tools: allowed.limit.iter().cloned().collect(),
            ask_unannotated: attended && approve.iter().any(|word| word == Agent::DESTRUCTIVE),
            approve,
            skills: allowed.skills.clone(),
            may_schedule: true,
            ..Authority::default()
        }
    }

    async fn facts_for_prompt(&self) -> Vec<String> {
        let filter = FactFilter {
            limit: Some(FACTS_READ),
            ..FactFilter::default()
        };
        let facts = self.store().facts(filter).await;
        let facts = read_or_log(facts, "the facts for a prompt").unwrap_or_default();
        let shown = facts.into_iter().filter(is_for_prompts);
        shown.take(MAX_FACTS).map(|row| row.fact.text).collect()
    }
}

/// A message of a person in a chat.
pub struct ChatMessage<'a> {
    /// The message.
    pub message: &'a str,
    /// Whether a person can be asked something.
    pub attended: bool,
    /// The model for the answer, if not the agent's.
    pub model: Option<&'a str>,
}

/// What the prompt of a chat contains besides the message and its context.
struct PromptMaterial<'a> {
    allowed: &'a AllowedTools,
    /// The tools that are on the shelf.
    others: &'a [String],
    facts: Vec<String>,
    /// The runs that the conversation has started.
    under_way: String,
    attended: bool,
}

/// The setup that an agent would begin with, and notes about it.
pub struct Preview {
    /// The setup.
    pub setup: Setup,
    /// Length of each section of the prompt in characters.
    pub sections: Vec<(Section, usize)>,
    /// Which playbooks matched and why, and what was left out.
    pub notes: Vec<String>,
}

/// Returns the entries of an agent together with those of skills from servers.
fn with_served(entries: Arc<Entries>, served: &[RemoteSkill]) -> Arc<Entries> {
    if served.is_empty() {
        return entries;
    }
    let mut all = Entries::clone(&entries);
    all.skills.extend(remote_skills::entries(served));
    Arc::new(all)
}

/// Returns the skills that the `skill` tool lists, if it is offered.
fn loadable(tools: &[Offer]) -> Option<Vec<String>> {
    let offer = tools.iter().find(|offer| offer.tool == SKILL)?;
    let listed = offer.spec.schema["properties"]["skill_name"]["enum"].as_array()?;
    let names = listed.iter().filter_map(Value::as_str);
    Some(names.map(str::to_owned).collect())
}

/// Returns the tools that a prompt may mention but for which there was no room, not even on the shelf.
fn lacks(allowed: &AllowedTools) -> Vec<&'static str> {
    let has = |tool: &str| {
        let mut shelf = allowed.shelf.iter();
        allowed.tools.iter().any(|offer| offer.tool == tool) || shelf.any(|it| it.tool == tool)
    };
    let named = [SKILL, GET_SKILL, CATALOG_TOOL].into_iter();
    named.filter(|tool| !has(tool)).collect()
}

/// The texts of the playbooks that a message matches, each with its id and the reason for the match.
fn playbook_texts(matched: &Classification, skills: &Snapshot) -> Vec<(String, String, String)> {
    let matched = matched.matched.iter();
    let texts = matched.filter_map(|found| {
        let skill = &skills.find(&found.id)?.skill;
        let text = skill.text()?.read().into_owned();
        Some((found.id.clone(), found.reason(), text))
    });
    texts.collect()
}

/// Returns notes about a prompt: which playbooks are in it, and what was left out.
fn notes(prompt: &Prompt, playbooks: &Classification, tools: &[String]) -> Vec<String> {
    let mut notes = Vec::new();
    for found in &playbooks.matched {
        notes.push(format!("playbook `{}`: {}", found.id, found.reason()));
    }
    for cut in &prompt.cut {
        let entries = cut.entries.len();
        notes.push(format!(
            "cut from {}: {entries} entries, {} characters",
            cut.section, cut.chars
        ));
    }
    if !tools.is_empty() {
        notes.push(format!("tools that did not fit: {}", tools.join(", ")));
    }
    notes
}
