//! A skill, whatever it was written as.

use std::sync::Arc;
use std::time::Duration;

use serde_json::Value;

use crate::choice::choice;
use crate::{
    Confirmation, Details, Digest, Input, Object, OnError, Policy, SkillId, Step, StepKind, Text,
    Timing, Trigger,
};

choice! {
    /// How a skill was written.
    Dialect {
        /// A `SKILL.md` folder of the open agentskills format.
        AgentSkills = "agentskills",
        /// A man-page markdown file, `domain/action.md`.
        ManPage = "manpage",
        /// A YAML workflow.
        Workflow = "workflow",
        /// A JSON record, as an assistant stores it.
        Record = "record",
    }
}

choice! {
    /// How a skill runs.
    Tier {
        /// One tool call, no model.
        Direct = "direct",
        /// Steps, no model except in `agent` steps.
        Workflow = "workflow",
        /// A model follows instructions.
        Agent = "agent",
        /// A command line handled by code.
        Command = "command",
    }
}

choice! {
    /// What else a skill is for, besides being run.
    Role {
        /// Its text joins the prompt when a message matches its keywords.
        Playbook = "playbook",
        /// A model loads its text on demand.
        Knowledge = "knowledge",
    }
}

/// A skill: a name, a description, a trigger, a body and a policy.
#[derive(Clone, Debug, PartialEq)]
pub struct Skill {
    /// What it is called.
    pub id: SkillId,
    /// Its name as written, which may be prose.
    pub name: String,
    /// What it is for, in a line.
    pub description: String,
    /// The group it belongs to.
    pub domain: Option<String>,
    /// How it was written.
    pub dialect: Dialect,
    /// What makes it fire.
    pub trigger: Trigger,
    /// When it fires, for a `cron` trigger.
    pub timing: Option<Timing>,
    /// Words in a message that call for it.
    pub keywords: Vec<String>,
    /// Which of several matching playbooks comes first.
    pub priority: i64,
    /// What people read about it.
    pub details: Details,
    /// Tools without which it cannot run.
    pub required_tools: Vec<String>,
    /// What it does.
    pub body: Body,
    /// How it may run.
    pub policy: Arc<Policy>,
    /// The optional fields of the open format.
    pub open: OpenSpec,
    /// Unknown keys, kept as they were written.
    pub extra: Object,
}

/// The fields of the open agentskills format that deft only passes on.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct OpenSpec {
    /// `license`.
    pub license: Option<String>,
    /// `compatibility`.
    pub compatibility: Option<String>,
    /// `allowed-tools`, a string or a list.
    pub allowed_tools: Option<Value>,
    /// `metadata` with its types kept.
    pub metadata: Object,
}

/// What a skill does.
#[derive(Clone, Debug, PartialEq)]
pub enum Body {
    /// One tool call.
    Call {
        /// The id of the only step of its plan.
        step: String,
        /// The call.
        kind: StepKind,
        /// What a failure means.
        on_error: OnError,
        /// The longest an attempt may take.
        timeout: Option<Duration>,
        /// What it is for, in prose.
        instructions: Text,
    },
    /// Steps.
    Steps(Box<Workflow>),
    /// Prose for a model.
    Instructions(Text),
    /// A man page. Its flags and sections are read from the text on demand.
    Manual {
        /// The code behind the command; without one the prose is for a model.
        handler: Option<String>,
        /// The whole page.
        text: Text,
    },
}

/// The steps of a skill and what goes in and out.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct Workflow {
    /// Parameters.
    pub inputs: Vec<Input>,
    /// Steps, in the order in which they were written.
    pub steps: Vec<Step>,
    /// What a run returns; texts may be templates.
    pub outputs: Object,
    /// Questions before steps.
    pub confirmations: Vec<Confirmation>,
}

/// A heading of a man page and the range of its text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Section {
    /// The words of the heading.
    pub title: String,
    /// 1 for `#`, 2 for `##`, …
    pub level: u8,
    /// Where the heading starts, in bytes from the start of the page.
    pub start: usize,
    /// Where the text below the heading starts.
    pub body: usize,
    /// Where the next heading starts, or the end.
    pub end: usize,
}

/// A file that belongs to a skill besides the one that defines it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SiblingFile {
    /// Its path from the skill's folder, with `/` between parts.
    pub path: String,
    /// Its size.
    pub size_bytes: u64,
    /// The hash of its content, unless it is too large to be read.
    pub sha256: Option<Digest>,
}

/// The overview of a domain: a `SKILL.md` with `domain` and no `name` (X10).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DomainIndex {
    /// The domain.
    pub domain: String,
    /// What it is for, in a line.
    pub description: String,
    /// What people read about it; its tags find all skills of the domain.
    pub details: Details,
    /// The page that `get_skill: DOMAIN` shows.
    pub text: Text,
}

impl Skill {
    /// How the skill runs.
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

    /// What the skill is for besides being run, if it is prose (S0.11).
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

    /// The text that `get_skill` and `--help` show, where the skill is prose.
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
