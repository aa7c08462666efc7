//! Skills, independent of the dialect they are written in.

use std::sync::Arc;
use std::time::Duration;

use serde_json::Value;

use crate::choice::choice;
use crate::{
    Confirmation, Details, Digest, Input, Object, OnError, Policy, SkillId, Step, StepKind, Text,
    Timing, Trigger,
};

choice! {
    /// The format that a skill is written in.
    Dialect {
        /// A `SKILL.md` folder of the open agentskills format.
        AgentSkills = "agentskills",
        /// A Markdown man page, `domain/action.md`.
        ManPage = "manpage",
        /// A YAML workflow.
        Workflow = "workflow",
        /// A JSON record stored by an assistant.
        Record = "record",
    }
}

choice! {
    /// How a skill runs.
    Tier {
        /// A single tool call, without a model.
        Direct = "direct",
        /// Steps, without a model except in `agent` steps.
        Workflow = "workflow",
        /// A model follows instructions.
        Agent = "agent",
        /// A command line executed by code.
        Command = "command",
    }
}

choice! {
    /// A use of a skill besides running it.
    Role {
        /// The text is added to the prompt when a message contains a keyword.
        Playbook = "playbook",
        /// A model loads its text on demand.
        Knowledge = "knowledge",
    }
}

/// A skill: a name, a description, a trigger, a body and a policy.
#[derive(Clone, Debug, PartialEq)]
pub struct Skill {
    /// The id.
    pub id: SkillId,
    /// The name as written, which may contain spaces.
    pub name: String,
    /// The purpose, in one line.
    pub description: String,
    /// The domain of the skill.
    pub domain: Option<String>,
    /// The format that the skill is written in.
    pub dialect: Dialect,
    /// The kind of trigger.
    pub trigger: Trigger,
    /// The times of a `cron` trigger, or the event or hook of an `event` trigger.
    pub timing: Option<Timing>,
    /// Words in a message that select the skill.
    pub keywords: Vec<String>,
    /// The order of matching playbooks; higher first.
    pub priority: i64,
    /// Descriptive fields for people.
    pub details: Details,
    /// Tools without which the skill cannot run.
    pub required_tools: Vec<String>,
    /// The call, steps or text of the skill.
    pub body: Body,
    /// Limits and reactions.
    pub policy: Arc<Policy>,
    /// Optional fields of the open format.
    pub open: OpenSpec,
    /// Unknown keys, as written.
    pub extra: Object,
}

/// Fields of the open agentskills format that deft only preserves.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct OpenSpec {
    /// `license`.
    pub license: Option<String>,
    /// `compatibility`.
    pub compatibility: Option<String>,
    /// `allowed-tools`, a string or a list.
    pub allowed_tools: Option<Value>,
    /// `metadata`, with the types of its values preserved.
    pub metadata: Object,
}

/// The content of a skill.
#[derive(Clone, Debug, PartialEq)]
pub enum Body {
    /// A single tool call.
    Call {
        /// The id of the only step.
        step: String,
        /// The kind and arguments of the call.
        kind: StepKind,
        /// The reaction to a failure.
        on_error: OnError,
        /// Maximum duration of an attempt.
        timeout: Option<Duration>,
        /// The prose that describes the call.
        instructions: Text,
    },
    /// A workflow.
    Steps(Box<Workflow>),
    /// Instructions for a model.
    Instructions(Text),
    /// A man page. Its flags and sections are parsed from the text on demand.
    Manual {
        /// The handler of the command; without one, a model follows the page.
        handler: Option<String>,
        /// The whole page.
        text: Text,
    },
}

/// The steps, inputs and outputs of a skill.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct Workflow {
    /// The parameters.
    pub inputs: Vec<Input>,
    /// The steps, in file order.
    pub steps: Vec<Step>,
    /// The result of a run; texts may be templates.
    pub outputs: Object,
    /// Questions to a person before steps.
    pub confirmations: Vec<Confirmation>,
}

/// A heading of a man page and the byte range of its section.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Section {
    /// The text of the heading.
    pub title: String,
    /// 1 for `#`, 2 for `##`, …
    pub level: u8,
    /// Start of the heading, in bytes from the start of the page.
    pub start: usize,
    /// Start of the text below the heading.
    pub body: usize,
    /// Start of the next heading, or the end of the page.
    pub end: usize,
}

/// A further file of a skill besides the one that defines it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SiblingFile {
    /// The path relative to the skill's folder, with `/` as the separator.
    pub path: String,
    /// The size in bytes.
    pub size_bytes: u64,
    /// The hash of the content, unless the file is too large to be read.
    pub sha256: Option<Digest>,
}

/// The overview page of a domain: a `SKILL.md` with `domain` and no `name` (X10).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DomainIndex {
    /// The domain.
    pub domain: String,
    /// The purpose, in one line.
    pub description: String,
    /// Descriptive fields for people; the tags apply to all skills of the domain.
    pub details: Details,
    /// The page that `get_skill: DOMAIN` shows.
    pub text: Text,
}

impl Skill {
    /// Returns how the skill runs.
    pub fn tier(&self) -> Tier {
        match &self.body {
            Body::Call { .. } => Tier::Direct,
            Body::Steps(_) => Tier::Workflow,
            Body::Instructions(_) | Body::Manual { handler: None, .. } => Tier::Agent,
            Body::Manual {
                handler: Some(_), ..
            } => Tier::Command,
        }
    }

    /// Returns the use of the skill besides running it (S0.11). Only prose can have one.
    pub fn role(&self) -> Option<Role> {
        let prose = matches!(self.body, Body::Instructions(_));
        let open = self.dialect == Dialect::AgentSkills && self.trigger == Trigger::Manual;
        let by_message = self.trigger == Trigger::Event && self.timing.is_none();
        if prose && (by_message || !self.keywords.is_empty()) {
            Some(Role::Playbook)
        } else if prose && open {
            Some(Role::Knowledge)
        } else {
            None
        }
    }

    /// Returns the text that `get_skill` and `--help` show, or `None` for a workflow.
    pub fn text(&self) -> Option<&Text> {
        match &self.body {
            Body::Call {
                instructions: text, ..
            }
            | Body::Instructions(text)
            | Body::Manual { text, .. } => Some(text),
            Body::Steps(_) => None,
        }
    }
}
