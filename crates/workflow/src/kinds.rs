//! How each kind of step runs: compiled, rendered into a [`Call`], previewed.
//!
//! With the [`Call`] that a kind becomes (`call.rs`) the only file of the interpreter that a new kind changes. Other
//! files look for one kind that they treat apart and never list the kinds.

use deft_model::{Failure, StepKind, Wait};
use deft_template::{EvalError, Scope, SyntaxError, Template};
use jiff::Timestamp;
use serde_json::{Value, json};

use crate::call::Call;
use crate::tree::Tree;

/// What a step does, its templates compiled.
#[derive(Debug)]
pub(crate) enum CompiledStep {
    Tool { tool: Template, args: Tree },
    Compute { code: String },
    Agent { instructions: Instructions },
    Skill { skill: Template, args: Tree },
    Wait { until: bool, text: Template },
}

/// What a model is told.
#[derive(Debug)]
pub(crate) enum Instructions {
    /// The text of a skill, in which braces mean nothing.
    Plain(String),
    /// The `agent` of a step.
    Template(Template),
}

/// What repeating a step would do, as far as its kind says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum OwnEffects {
    /// None; `effects` of the step is ignored. The steps of a nested skill have their own.
    None,
    /// What its tool says, unless the step does.
    AsTool,
    /// It must not be repeated, unless the step says otherwise.
    Unknown,
}

/// Where the value of a step comes from. It decides whether models see the value as untrusted text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ValueSource<'a> {
    /// A tool, a model or another skill: others wrote it.
    Outside,
    /// Text of the skill, which works with the values that it names.
    Names(&'a str),
    /// The machine itself.
    Machine,
}

/// Where the value of a step of this kind comes from.
pub(crate) fn value_source(kind: &StepKind) -> ValueSource<'_> {
    match kind {
        StepKind::Tool { .. } | StepKind::Agent { .. } | StepKind::Skill { .. } => {
            ValueSource::Outside
        }
        StepKind::Compute { code } => ValueSource::Names(code),
        StepKind::Wait(_) => ValueSource::Machine,
    }
}

/// Why a step did not become a call.
pub(crate) enum RenderError {
    /// A template of this key cannot be evaluated.
    Template(&'static str, EvalError),
    /// Its values make no call.
    Failed(Failure),
}

/// Shows templates whose values may not be known yet; `place` says where a template stands.
pub(crate) trait Preview {
    /// A template as text.
    fn text(&mut self, place: &str, template: &Template) -> String;
    /// A template as a value.
    fn template(&mut self, place: &str, template: &Template) -> Value;
    /// A tree of templates as a value.
    fn tree(&mut self, place: &str, tree: &Tree) -> Value;
}

impl CompiledStep {
    /// Compiles what a step says. In the text of a skill (`plain`) braces mean nothing.
    pub(crate) fn compile(kind: &StepKind, plain: bool) -> Result<Self, SyntaxError> {
        Ok(match kind {
            StepKind::Tool { tool, args } => Self::Tool {
                tool: Template::parse(tool)?,
                args: Tree::compile(args)?,
            },
            StepKind::Compute { code } => Self::Compute { code: code.clone() },
            StepKind::Agent { instructions, .. } => Self::Agent {
                instructions: if plain {
                    Instructions::Plain(instructions.clone())
                } else {
                    Instructions::Template(Template::parse(instructions)?)
                },
            },
            StepKind::Skill { skill, args } => Self::Skill {
                skill: Template::parse(skill)?,
                args: Tree::compile(args)?,
            },
            StepKind::Wait(Wait::For(text)) => Self::Wait {
                until: false,
                text: Template::parse(text)?,
            },
            StepKind::Wait(Wait::Until(text)) => Self::Wait {
                until: true,
                text: Template::parse(text)?,
            },
        })
    }

    pub(crate) fn own_effects(&self) -> OwnEffects {
        match self {
            Self::Compute { .. } | Self::Skill { .. } | Self::Wait { .. } => OwnEffects::None,
            Self::Tool { .. } => OwnEffects::AsTool,
            Self::Agent { .. } => OwnEffects::Unknown,
        }
    }

    /// The Python that the worker runs for it: a block, or an expression (`Call::is_expression`).
    pub(crate) fn source(&self) -> Option<&str> {
        match self {
            Self::Compute { code } => Some(code),
            Self::Tool { .. } | Self::Agent { .. } | Self::Skill { .. } | Self::Wait { .. } => None,
        }
    }

    /// The tool that it calls.
    pub(crate) fn tool(&self) -> Option<&Template> {
        let Self::Tool { tool, .. } = self else {
            return None;
        };
        Some(tool)
    }

    /// The skill that it runs.
    pub(crate) fn skill(&self) -> Option<&Template> {
        let Self::Skill { skill, .. } = self else {
            return None;
        };
        Some(skill)
    }

    /// What it calls by name, and with which arguments.
    pub(crate) fn target(&self) -> Option<(&Template, &Tree)> {
        match self {
            Self::Tool { tool: name, args } | Self::Skill { skill: name, args } => {
                Some((name, args))
            }
            Self::Compute { .. } | Self::Agent { .. } | Self::Wait { .. } => None,
        }
    }

    /// Its name and its arguments in a dry run.
    pub(crate) fn preview(&self, check: &mut dyn Preview) -> (Option<String>, Option<Value>) {
        match self {
            Self::Tool { tool: name, args } | Self::Skill { skill: name, args } => {
                let name = check.text("name", name);
                (Some(name), Some(check.tree("args", args)))
            }
            Self::Compute { .. } => (None, None),
            Self::Wait { until, text } => {
                let key = if *until { "until" } else { "for" };
                (None, Some(json!({ key: check.template("wait", text) })))
            }
            Self::Agent { instructions } => {
                let text = match instructions {
                    Instructions::Plain(text) => text.clone(),
                    Instructions::Template(text) => check.text("agent", text),
                };
                (None, Some(Value::String(text)))
            }
        }
    }

    /// Renders it into the call that it makes. `wait_until` says when a wait that begins now is over;
    /// its flag is true where the template gives an instant.
    pub(crate) fn render(
        &self,
        view: &dyn Scope,
        wait_until: impl FnOnce(bool, &Template) -> Result<Timestamp, Failure>,
    ) -> Result<Call, RenderError> {
        let failed = |key| move |error| RenderError::Template(key, error);
        Ok(match self {
            Self::Tool { tool, args } => Call::Tool {
                tool: tool.render_text(view).map_err(failed("tool"))?,
                args: args.render_object(view).map_err(failed("args"))?,
            },
            Self::Compute { .. } => Call::Compute,
            Self::Agent { instructions } => Call::Agent {
                instructions: match instructions {
                    Instructions::Plain(text) => text.clone(),
                    Instructions::Template(text) => text
                        .render_framed(view, &deft_agent::prompt::frame_value)
                        .map_err(failed("agent"))?,
                },
            },
            Self::Skill { skill, args } => Call::Skill {
                skill: skill.render_text(view).map_err(failed("skill"))?,
                args: args.render_object(view).map_err(failed("args"))?,
            },
            Self::Wait { until, text } => Call::Wait {
                until: wait_until(*until, text).map_err(RenderError::Failed)?,
            },
        })
    }
}
