//! The kinds of steps, and their properties that depend on the value alone.
//!
//! To add a kind, start here. Its row for files (help, fields) is in `skillfile/src/fields/step_kinds.rs`,
//! its reader in `skillfile/src/workflow/kinds.rs`, and its execution in `workflow/src/kinds.rs`,
//! `workflow/src/call.rs` and `engine/src/perform.rs`. Other code uses the properties below and does not list
//! the kinds.

use serde_json::{Value, json};

use crate::choice::{Choice, choice};

choice! {
    /// The type of a step: the key that selects it in a file, and its name in events and JSON.
    StepType {
        /// Calls a tool.
        Tool = "tool",
        /// Runs a block of Python.
        Compute = "compute",
        /// Has a model follow instructions.
        Agent = "agent",
        /// Runs another skill.
        Skill = "skill",
        /// Waits.
        Wait = "wait",
    }
}

impl StepType {
    /// Whether a step of this type calls one tool, so that its effects are those of the tool.
    pub fn is_tool_call(self) -> bool {
        match self {
            Self::Tool => true,
            Self::Compute | Self::Agent | Self::Skill | Self::Wait => false,
        }
    }
}

/// The kind of a step with its arguments, as written in the file.
#[derive(Clone, Debug, PartialEq)]
pub enum StepKind {
    /// Calls a tool.
    Tool {
        /// The name of the tool, or a template.
        tool: String,
        /// The arguments; texts may be templates.
        args: Value,
    },
    /// Runs a block of Python; the value of the step is its `result`.
    Compute {
        /// The source code.
        code: String,
    },
    /// Has a model follow instructions.
    Agent {
        /// The instructions, a template.
        instructions: String,
        /// The only tools that the model may call.
        tools: Vec<String>,
        /// Maximum number of turns.
        max_steps: Option<u32>,
    },
    /// Runs another skill.
    Skill {
        /// The id of the skill.
        skill: String,
        /// The inputs; texts may be templates.
        args: Value,
    },
    /// Waits.
    Wait(Wait),
}

/// The duration or end of a wait.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Wait {
    /// A duration such as `2h`, or a template that renders to one.
    For(String),
    /// An instant, or a template that renders to one.
    Until(String),
}

impl StepKind {
    /// Returns the type of the step.
    pub fn step_type(&self) -> StepType {
        match self {
            Self::Tool { .. } => StepType::Tool,
            Self::Compute { .. } => StepType::Compute,
            Self::Agent { .. } => StepType::Agent,
            Self::Skill { .. } => StepType::Skill,
            Self::Wait(_) => StepType::Wait,
        }
    }

    /// Returns the word for the type, as used in events and files.
    pub fn key(&self) -> &'static str {
        self.step_type().word()
    }

    /// Returns the keys and values that a file needs for this kind, its own key first. Callers may omit null
    /// and empty values.
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

    /// Returns a short description for the page of a skill: "calls `notify`".
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

    /// Returns the instruction for a model where deft does not run the step: "Call the tool `notify` with
    /// `text` = `hi`".
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

    /// Returns a short label for a running step: `notify`, `skill report`, `wait 2h`.
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

    /// Returns the tool to call and its arguments, which may both contain templates; `None` for other kinds.
    pub fn tool_call(&self) -> Option<(&str, &Value)> {
        match self {
            Self::Tool { tool, args } => Some((tool, args)),
            Self::Compute { .. } | Self::Agent { .. } | Self::Skill { .. } | Self::Wait(_) => None,
        }
    }

    /// Returns the skill to run, which may be a template; `None` for other kinds.
    pub fn called_skill(&self) -> Option<&str> {
        match self {
            Self::Skill { skill, .. } => Some(skill),
            Self::Tool { .. } | Self::Compute { .. } | Self::Agent { .. } | Self::Wait(_) => None,
        }
    }

    /// Returns the block of Python to run; `None` for other kinds. Such code may import and print, and is
    /// shown when a skill is reviewed. Expressions in other kinds are not included.
    pub fn code(&self) -> Option<&str> {
        match self {
            Self::Compute { code } => Some(code),
            Self::Tool { .. } | Self::Agent { .. } | Self::Skill { .. } | Self::Wait(_) => None,
        }
    }

    /// Returns the tools that the step's model may call; `None` for other kinds.
    pub fn offered_tools(&self) -> Option<&[String]> {
        match self {
            Self::Agent { tools, .. } => Some(tools),
            Self::Tool { .. } | Self::Compute { .. } | Self::Skill { .. } | Self::Wait(_) => None,
        }
    }

    /// Returns the tool to call, which may be a template, or the tools that the step's model may call.
    pub fn tools(&self) -> impl Iterator<Item = &str> {
        let called = self.tool_call().map(|(tool, _)| tool);
        let offered = self.offered_tools().unwrap_or_default();
        called.into_iter().chain(offered.iter().map(String::as_str))
    }
}

/// Renders arguments as the end of a sentence.
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
