//! Chats: a message of a person is a run of a skill that exists only for it, and its transcript joins the
//! conversation.

use std::sync::Arc;

use deft_agents::{
    ALONE, ANSWER_TO, AgentSkill, MODEL, agent_input, agent_skill, conversation_of, first_message,
    text_of,
};
use deft_base::run_outputs;
use deft_model::{Cause, Digest, Failure, InputType, Object, RunOrigin, Skill, clip};
use deft_store::{NewConversation, RunRow, Write};
use serde_json::json;
use uuid::Uuid;

use crate::{Admission, Attention, CHAT_SKILL, Engine, Error, Fire};

/// Maximum length of a title that is made from the first message.
const TITLE: usize = 80;

/// A message of a person.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NewChatMessage {
    /// The conversation that it belongs to; `None` starts a new one.
    pub conversation: Option<String>,
    /// The agent that answers; `None` means that of the conversation, or the default one.
    pub agent: Option<String>,
    /// The channel of the message: `cli`, `telegram:CHAT`, …
    pub channel: String,
    /// The text.
    pub text: String,
    /// Two messages with the same key get one answer.
    pub key: Option<String>,
    /// The receiver of the answer through the outbox, such as `telegram:CHAT`. The transaction that ends the
    /// run stores it, no matter which process drives the run. `None` if the caller waits for the answer.
    pub answer_to: Option<String>,
    /// Whether the message comes from a script, so that no person can be asked.
    pub alone: bool,
    /// The model that should answer, if not the agent's.
    pub model: Option<String>,
    /// The request that it comes from.
    pub origin: RunOrigin,
}

/// The answer to a message.
#[derive(Clone, Debug, PartialEq)]
pub struct ChatAnswer {
    /// The conversation.
    pub conversation: String,
    /// The run that answered.
    pub run: RunRow,
    /// The answer; empty if the run has none.
    pub text: String,
}

impl ChatAnswer {
    /// Returns the answer of a run. A message with a known key belongs to the conversation of its first run.
    pub(super) fn from_run(run: RunRow, conversation: String) -> Result<Self, Error> {
        Ok(Self {
            conversation: conversation_of(&run)?.unwrap_or(conversation),
            text: run_outputs(&run)?.as_ref().map(text_of).unwrap_or_default(),
            run,
        })
    }
}

impl Engine {
    /// Answers a message here, until the answer is complete or a person must be asked.
    pub async fn say(
        &self,
        say: NewChatMessage,
        attention: Attention,
    ) -> Result<ChatAnswer, Error> {
        let place = self.place_for(&say).await?;
        let fire = self.chat_fire(&say, &place);
        let admission = Box::pin(self.run(fire, attention)).await?;
        let run = match admission {
            Admission::Run(run) | Admission::Existing(run) => run,
        };
        ChatAnswer::from_run(run, place.conversation)
    }

    /// Returns ids and descriptions of the skills that an agent may use.
    pub async fn skills_of(&self, agent: Option<&str>) -> Vec<(String, String)> {
        let agent = agent.unwrap_or(&self.inner.options.agent.default);
        let Some(agent) = self.inner.agents.agent_definition(agent) else {
            return Vec::new();
        };
        let known = self.library().all_skills().await;
        let skills = known.all.skills().map(|loaded| &loaded.skill);
        skills
            .filter(|skill| deft_registry::discovery::may_use(&agent, skill))
            .map(|skill| (skill.id.to_string(), skill.description.clone()))
            .collect()
    }

    /// Checks that a model is configured for an agent; `None` means the default one.
    pub fn check_model(&self, agent: Option<&str>) -> Result<(), Failure> {
        self.inner.agents.check_model(agent)
    }

    /// Checks that an agent exists.
    pub fn check_agent(&self, name: &str) -> Result<(), Error> {
        match self.inner.agents.agent_definition(name) {
            Some(_) => Ok(()),
            None => Err(self.inner.agents.no_agent(name)),
        }
    }

    async fn place_for(&self, say: &NewChatMessage) -> Result<ChatPlace, Error> {
        let usual = || self.inner.options.agent.default.clone();
        if let Some(id) = &say.conversation {
            let row = self.store().conversation(id).await?;
            let row = row.ok_or_else(|| Error::UnknownConversation { id: id.clone() })?;
            return Ok(ChatPlace {
                agent: say.agent.clone().unwrap_or(row.agent),
                conversation: row.id,
                opens: None,
            });
        }
        let agent = say.agent.clone().unwrap_or_else(usual);
        if self.inner.agents.agent_definition(&agent).is_none() {
            return Err(self.inner.agents.no_agent(&agent));
        }
        let title = clip(say.text.trim(), TITLE);
        let new = NewConversation {
            // The same message belongs to the same conversation, even if it is sent repeatedly.
            id: match &say.key {
                Some(key) => format!("conv_{}", &Digest::sha256(key.as_bytes()).to_string()[..24]),
                None => format!("conv_{}", Uuid::now_v7().simple()),
            },
            agent: agent.clone(),
            channel: say.channel.clone(),
            title: title.lines().next().unwrap_or_default().to_owned(),
            run: None,
            at: self.inner.now(),
        };
        Ok(ChatPlace {
            conversation: new.id.clone(),
            agent,
            opens: Some(new),
        })
    }

    /// Returns the fire of the run that answers. The message is stored with the run, so it is in its
    /// conversation even if the answer fails.
    fn chat_fire(&self, say: &NewChatMessage, place: &ChatPlace) -> Fire {
        let max_steps = self.inner.agents.agent_definition(&place.agent);
        let max_steps = max_steps.and_then(|agent| agent.max_steps);
        let max_steps = max_steps.unwrap_or(self.inner.options.agent.max_steps);
        let mut inputs = Object::from_iter([
            ("conversation".to_owned(), json!(place.conversation)),
            ("message".to_owned(), json!(say.text)),
        ]);
        if let Some(to) = &say.answer_to {
            inputs.insert(ANSWER_TO.to_owned(), json!(to));
        }
        if say.alone {
            inputs.insert(ALONE.to_owned(), json!("yes"));
        }
        if let Some(model) = &say.model {
            inputs.insert(MODEL.to_owned(), json!(model));
        }
        let asked = first_message(&place.conversation, &say.text, self.inner.now());
        let opens = place.opens.clone().map(Write::Open);
        Fire {
            skill: CHAT_SKILL.to_owned(),
            content: Some(Arc::new(chat_skill(&place.agent, max_steps))),
            inputs,
            cause: Cause::Message,
            key: say.key.clone(),
            origin: say.origin.clone(),
            writes: opens.into_iter().chain([asked]).collect(),
            ..Fire::default()
        }
    }
}

/// The conversation and agent of a message.
struct ChatPlace {
    conversation: String,
    agent: String,
    /// The conversation to create, if the message starts it.
    opens: Option<NewConversation>,
}

/// Returns a skill with one agent step that gets the message.
fn chat_skill(agent: &str, max_steps: u32) -> Skill {
    let inputs = [
        ("conversation", true),
        ("message", true),
        (ANSWER_TO, false),
        (ALONE, false),
        (MODEL, false),
    ];
    let inputs = inputs.map(|(name, required)| agent_input(name, InputType::String, required));
    agent_skill(AgentSkill {
        id: CHAT_SKILL,
        description: "A message of a person",
        agent,
        inputs: inputs.into(),
        instructions: "{{ inputs.message }}",
        tools: Vec::new(),
        max_steps,
    })
}
