//! The kinds of steps, and everything about a kind that follows from its value alone.
//!
//! A new kind begins here. Its row for files (help, fields) is in `skillfile/src/fields/step_kinds.rs`, its reader in
//! `skillfile/src/workflow/kinds.rs`, and how it runs in `workflow/src/kinds.rs`, `workflow/src/call.rs` and
//! `engine/src/perform.rs`. Other code asks for a property of a kind below and does not list the kinds.

use serde_json::{Value, json};

use crate::choice::{Choice, choice};

choice! {
    /// The type of a step: the key that says in a file what the step does, and the word for it in events and JSON.
    StepType {
        /// Calls a tool.
        Tool = "tool",
        /// Runs a block of Python.
        Compute = "compute",
        /// Lets a model work on instructions.
        Agent = "agent",
        /// Runs another skill.
        Skill = "skill",
        /// Lets time pass.
        Wait = "wait",
    }
}

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
    /// The type of the step.
    pub fn step_type(&self) -> StepType {
        match self {
            Self::Tool { .. } => StepType::Tool,
            Self::Compute { .. } => StepType::Compute,
            Self::Agent { .. } => StepType::Agent,
            Self::Skill { .. } => StepType::Skill,
            Self::Wait(_) => StepType::Wait,
        }
    }

    /// The word for this kind of step, as events and files spell it.
    pub fn key(&self) -> &'static str {
        self.step_type().word()
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

    /// What a model is told to do where deft does not run the step: "Call the tool `notify` with `text` = `hi`".
    pub fn instruction(&self) -> String {
        match self {
            Self::Tool { tool, args } => format!("Call the tool `{tool}`{}", with_args(args)),
            Self::Compute { .. } => {
                "Compute the value of `result` with the Python below".to_owned()
            }
            Self::Agent { instructions, .. } => one_line(instructions),
            Self::Skill { skill, args } => format!("Follow the skill `{skill}`{}", with_args(args)),
            Self::Wait(Wait::For(length)) => format!("Wait {length}"),
            Self::Wait(Wait::Until(instant)) => format!("Wait until {instant}"),
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

    /// The tool that it calls with its arguments; both may have templates.
    pub fn tool_call(&self) -> Option<(&str, &Value)> {
        let Self::Tool { tool, args } = self else {
            return None;
        };
        Some((tool, args))
    }

    /// The skill that it runs, which may be a template.
    pub fn called_skill(&self) -> Option<&str> {
        let Self::Skill { skill, .. } = self else {
            return None;
        };
        Some(skill)
    }

    /// The block of Python that it runs: it may import and print, and is listed with a skill for review. An
    /// expression is none.
    pub fn code(&self) -> Option<&str> {
        let Self::Compute { code } = self else {
            return None;
        };
        Some(code)
    }

    /// The tools that its model may call; none if it asks no model.
    pub fn offered_tools(&self) -> Option<&[String]> {
        let Self::Agent { tools, .. } = self else {
            return None;
        };
        Some(tools)
    }

    /// The tool that it calls, which a template may name, or the tools that its agent may call.
    pub fn tools(&self) -> impl Iterator<Item = &str> {
        let called = self.tool_call().map(|(tool, _)| tool);
        let offered = self.offered_tools().unwrap_or_default();
        called.into_iter().chain(offered.iter().map(String::as_str))
    }
}

/// Arguments in a sentence.
fn with_args(args: &Value) -> String {
    let args = args.as_object().into_iter().flatten();
    let text = |value: &Value| match value.as_str() {
        Some(text) => one_line(text),
        None => one_line(&value.to_string()),
    };
    let args: Vec<String> = args
        .map(|(name, value)| format!("`{name}` = `{}`", text(value)))
        .collect();
    if args.is_empty() {
        String::new()
    } else {
        format!(" with {}", args.join(", "))
    }
}

fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}
