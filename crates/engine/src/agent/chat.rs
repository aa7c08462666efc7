//! What an agent is told when a person speaks to it: what it may use, playbooks, memory, and what
//! was said before.

use deft_agent::prompt::{Assembled, PlaybookText, PromptInput, Section, assemble};
use deft_agent::{Classified, Mode, Offer, Setup};
use deft_model::{Agent, Failure, Message, fits};
use deft_registry::{Snapshot, discovery};
use deft_store::FactFilter;
use serde_json::Value;

use super::known::Entries;
use super::memory::is_told;
use super::prepare::{Reach, failed};
use super::tools::{DISPATCH_AGENT, GET_SKILL, SKILL, SKILL_RUN, USE_SKILL};
use super::voice::Voice;
use super::{Brief, need, offers};
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
        let preview = self.chat_preview(agent, &brief.instructions, conversation);
        let mut setup = preview.await?.setup;
        setup.limits.max_steps = steps.unwrap_or(setup.limits.max_steps);
        Ok(setup)
    }

    /// What an agent would be told in a conversation, and what is worth knowing about that.
    pub(crate) async fn chat_preview(
        &self,
        agent: &str,
        message: &str,
        conversation: &str,
    ) -> Result<Preview, Failure> {
        let inner = &self.inner;
        let voice = inner.voice(agent)?;
        let known = self.all_skills().await;
        let snapshot = &known.all;
        let classified = known.playbooks(message);
        let entries = known.entries(&voice.agent);
        let budget = inner.options.agent.history_tokens;
        let history = inner.history(conversation, budget).await;
        let (reference, history) = history.map_err(|error| failed(&error))?;
        // A server that has not been asked yet may have what is needed.
        drop(inner.parts.router.listed().await);
        let occasion = Occasion {
            message,
            playbooks: &classified,
            history: &history,
            entries: &entries,
        };
        let (reach, others) = inner.chat_reach(&voice, snapshot, &occasion);
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
        let loadable = loadable(&reach.tools);
        let facts = self.facts_for_prompt().await;
        let prompt = assemble(
            &PromptInput {
                own: &voice.agent.prompt.read(),
                mode: voice.mode,
                domains: &entries.domains,
                commands: &entries.commands,
                tools: &specs,
                others: &others,
                skills: &entries.skills,
                loadable: loadable.as_deref().filter(|_| voice.mode == Mode::Tools),
                message,
                playbooks: &playbooks,
                also_matched: &also,
                user: &inner.options.agent.user,
                facts: &facts,
                now: &inner.time_in_words(),
                attended: true,
                ..PromptInput::default()
            },
            &voice.caps,
        );
        let notes = notes(&prompt, &classified, &reach.left_out);
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
            shelf: reach.shelf,
            skills: reach.skills,
            must_call: Vec::new(),
            limits: inner.limits(inner.options.agent.max_steps),
        };
        Ok(Preview {
            setup,
            sections: prompt.sections,
            notes,
        })
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

/// What an agent would be told, and what is worth knowing about that.
pub(crate) struct Preview {
    pub(crate) setup: Setup,
    /// How long each section of the prompt is, in characters.
    pub(crate) sections: Vec<(Section, usize)>,
    /// Why it is as it is, and what was left out.
    pub(crate) notes: Vec<String>,
}

/// What a message comes with.
struct Occasion<'a> {
    message: &'a str,
    playbooks: &'a Classified,
    history: &'a [Message],
    entries: &'a Entries,
}

/// All that are commands of the agent itself.
const OWN: [&str; 5] = [SKILL, GET_SKILL, USE_SKILL, SKILL_RUN, DISPATCH_AGENT];

impl Inner {
    /// What an agent may use in a chat, and the names of tools that it is not always offered.
    fn chat_reach(
        &self,
        voice: &Voice,
        snapshot: &Snapshot,
        occasion: &Occasion<'_>,
    ) -> (Reach, Vec<String>) {
        let agent = &voice.agent;
        let approve = self.approvals(agent);
        let without = not_for(voice);
        let patterns = agent.tools.as_ref().unwrap_or(&self.options.agent.tools);
        let mut patterns: Vec<String> = patterns.clone();
        let needed = patterns.iter().any(|pattern| pattern == Agent::NEEDED);
        patterns.retain(|pattern| pattern != Agent::NEEDED && !OWN.contains(&pattern.as_str()));
        let router = &self.parts.router;
        let all = router.list();
        let few = || offers::are_few(&all, &without, self.options.agent.offer_tokens);
        let everything = ["*".to_owned()];
        let forced = occasion.playbooks.tools().into_iter().map(str::to_owned);
        let (first, keep, may_use) = if needed && !few() {
            let mut first: Vec<String> = Vec::new();
            first.extend(need::core(occasion.entries).into_iter().map(str::to_owned));
            first.extend(forced);
            let keep = first.len();
            let (message, playbooks) = (occasion.message, occasion.playbooks);
            first.extend(need::of(
                message,
                playbooks,
                snapshot,
                occasion.history,
                &all,
            ));
            (first, keep, &everything[..])
        } else {
            if needed {
                patterns.extend(everything.iter().cloned());
            }
            let mut first: Vec<String> = forced.collect();
            let keep = first.len();
            first.extend(OWN.map(str::to_owned));
            (first, keep, &[][..])
        };
        let mut choice = offers::matching(
            all,
            &offers::Wish {
                may_use,
                offered: &patterns,
                first: &first,
                without: &without,
                approve: &approve,
            },
        );
        offer_skill_tool(&mut choice.tools, snapshot, agent);
        let no_room = offers::fit(&mut choice.tools, voice.tool_tokens, keep);
        let left_out = no_room.iter().map(|shelved| shelved.tool.clone()).collect();
        choice.shelf.extend(no_room);
        let others = if needed {
            others(&choice, &need::core(occasion.entries), &patterns)
        } else {
            choice.shelf.iter().map(|it| it.name.clone()).collect()
        };
        let reach = Reach {
            tools: choice.tools,
            shelf: choice.shelf,
            skills: skills_of(agent, snapshot),
            left_out,
        };
        (reach, others)
    }
}

/// Tools that are not for an agent: those of skills where it has none, and those with which commands
/// are called where it writes commands.
fn not_for(voice: &Voice) -> Vec<&'static str> {
    let mut without: Vec<&str> = Vec::new();
    if !voice.agent.allow_skills {
        without.extend(super::AGENT_TOOLS);
    }
    if voice.mode == Mode::Cmd {
        without.extend(FOR_COMMANDS);
    }
    without
}

/// The names of tools that come and go with what is said. All of them are listed, whichever are offered
/// now, so that the list is the same for every message.
fn others(choice: &offers::Choice, core: &[&str], patterns: &[String]) -> Vec<String> {
    let coming = |tool: &str| {
        let always = core.contains(&tool) || patterns.iter().any(|pattern| fits(pattern, tool));
        !always
    };
    let offered = choice.tools.iter().filter(|offer| coming(&offer.tool));
    let offered = offered.map(|offer| offer.spec.name.clone());
    let shelf = choice.shelf.iter().map(|shelved| shelved.name.clone());
    let mut names: Vec<String> = offered.chain(shelf).collect();
    names.sort();
    names
}

/// The skills that an agent may name; none means all.
fn skills_of(agent: &Agent, snapshot: &Snapshot) -> Option<Vec<String>> {
    if !agent.allow_skills {
        return Some(Vec::new());
    }
    agent.skills.as_ref()?;
    let all = snapshot.skills().map(|loaded| &loaded.skill);
    let may_use =
        all.filter(|skill| agent.may_use_skill(skill.id.as_str(), skill.domain.as_deref()));
    Some(may_use.map(|skill| skill.id.to_string()).collect())
}

/// The skills that the `skill` tool lists, if it is offered.
fn loadable(tools: &[Offer]) -> Option<Vec<String>> {
    let offer = tools.iter().find(|offer| offer.tool == SKILL)?;
    let listed = offer.spec.schema["properties"]["skill_name"]["enum"].as_array()?;
    let names = listed.iter().filter_map(Value::as_str);
    Some(names.map(str::to_owned).collect())
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

/// What is worth knowing about a prompt: which playbooks are in it, and what was left out.
fn notes(prompt: &Assembled, playbooks: &Classified, tools: &[String]) -> Vec<String> {
    let mut notes = Vec::new();
    for found in &playbooks.matched {
        notes.push(format!("playbook `{}`: {}", found.id, found.why()));
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
