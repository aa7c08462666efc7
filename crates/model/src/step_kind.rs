//! The kinds of steps, and everything about a kind that follows from its value alone.
//!
//! A new kind begins here. Its row for files (key, help, fields, reader) is in
//! `skillfile/src/workflow/kinds.rs`, and how it runs is in `workflow/src/kinds.rs`.

use serde_json::{Value, json};

/// What a step does, as its file says it.
#[derive(Clone, Debug, PartialEq)]
pub enum StepKind {
    /// Calls a tool.
    Tool {
        /// Its name, a template allowed.
        tool: String,
        /// Its arguments; texts may be templates.
        args: Value,
    },
    /// Runs a block of Python; `result` is the value.
    Compute {
        /// The source.
        code: String,
    },
    /// Lets a model work on instructions.
    Agent {
        /// What it is told, a template.
        instructions: String,
        /// The only tools it may call.
        tools: Vec<String>,
        /// The most turns it may take.
        max_steps: Option<u32>,
    },
    /// Runs another skill.
    Skill {
        /// Its id.
        skill: String,
        /// Its inputs; texts may be templates.
        args: Value,
    },
    /// Lets time pass.
    Wait(Wait),
}

/// How long a step waits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Wait {
    /// A length of time such as `2h`, or a template that gives one.
    For(String),
    /// An instant, or a template that gives one.
    Until(String),
}

impl StepKind {
    /// The word for this kind of step, as events and files spell it.
    pub fn key(&self) -> &'static str {
        match self {
            Self::Tool { .. } => "tool",
            Self::Compute { .. } => "compute",
            Self::Agent { .. } => "agent",
            Self::Skill { .. } => "skill",
            Self::Wait(_) => "wait",
        }
    }

    /// The keys of a step in a file that say it, its own key first. A value that is null or empty
    /// need not be written.
    pub fn entries(&self) -> Vec<(&'static str, Value)> {
        let (value, more) = match self {
            Self::Tool { tool, args } => (json!(tool), vec![("args", args.clone())]),
            Self::Compute { code } => (json!(code), Vec::new()),
            Self::Agent {
                instructions,
                tools,
                max_steps,
            } => {
                let more = vec![("tools", json!(tools)), ("max_steps", json!(max_steps))];
                (json!(instructions), more)
            }
            Self::Skill { skill, args } => (json!(skill), vec![("args", args.clone())]),
            Self::Wait(Wait::For(length)) => (json!(length), Vec::new()),
            Self::Wait(Wait::Until(instant)) => (json!({ "until": instant }), Vec::new()),
        };
        std::iter::once((self.key(), value)).chain(more).collect()
    }

    /// What it does, for the page of a skill: "calls `notify`".
    pub fn summary(&self) -> String {
        match self {
            Self::Tool { tool, .. } => format!("calls `{tool}`"),
            Self::Compute { .. } => "computes".to_owned(),
            Self::Agent { .. } => "asks a model".to_owned(),
            Self::Skill { skill, .. } => format!("runs `{skill}`"),
            Self::Wait(Wait::For(length)) => format!("waits {length}"),
            Self::Wait(Wait::Until(instant)) => format!("waits until {instant}"),
        }
    }

    /// A few words for the line of a step while it runs: `notify`, `skill report`, `wait 2h`.
    pub fn label(&self) -> String {
        match self {
            Self::Tool { tool, .. } => tool.clone(),
            Self::Skill { skill, .. } => format!("skill {skill}"),
            Self::Wait(Wait::For(length)) => format!("wait {length}"),
            Self::Compute { .. } | Self::Agent { .. } | Self::Wait(Wait::Until(_)) => {
                self.key().to_owned()
            }
        }
    }

    /// The tool that it calls, which may be a template.
    pub fn called_tool(&self) -> Option<&str> {
        match self {
            Self::Tool { tool, .. } => Some(tool),
            Self::Compute { .. } | Self::Agent { .. } | Self::Skill { .. } | Self::Wait(_) => None,
        }
    }

    /// The tool that it calls, which a template may name, or the tools that its agent may call.
    pub fn tools(&self) -> &[String] {
        match self {
            Self::Tool { tool, .. } => std::slice::from_ref(tool),
            Self::Agent { tools, .. } => tools,
            Self::Compute { .. } | Self::Skill { .. } | Self::Wait(_) => &[],
        }
    }
}
