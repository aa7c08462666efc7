//! The kinds of steps: each is compiled, rendered into a [`Call`] and previewed here.
//!
//! Besides [`Call`] (`call.rs`), this is the only file of the interpreter that a new kind changes if it makes
//! one call. Other files treat single kinds specially but never list all of them.

use deft_model::{Failure, StepKind, Wait};
use deft_template::{EvalError, Scope, SyntaxError, Template};
use jiff::Timestamp;
use serde_json::{Value, json};

use crate::call::Call;
use crate::tree::Tree;

/// The work of a step, with its templates compiled.
#[derive(Debug)]
pub(crate) enum CompiledStep {
    Tool { tool: Template, args: Tree },
    Compute { code: String },
    Agent { instructions: Instructions },
    Skill { skill: Template, args: Tree },
    Wait { until: bool, text: Template },
}

/// The instructions of an agent.
#[derive(Debug)]
pub(crate) enum Instructions {
    /// The text of a skill, in which braces have no meaning.
    Plain(String),
    /// The `agent` text of a step.
    Template(Template),
}

/// What repeating a step would do, as far as its kind determines it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum OwnEffects {
    /// No effects; `effects` of the step is ignored. The steps of a nested skill have their own.
    None,
    /// The effects that its tool declares, unless the step declares them.
    AsTool,
    /// Not to be repeated, unless the step declares otherwise.
    Unknown,
}

/// Where the value of a step comes from. It decides whether models see the value as untrusted text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ValueSource<'a> {
    /// A tool, a model or another skill: the author of the skill did not write it.
    Outside,
    /// Code of the skill, which computes with the values that it names.
    Names(&'a str),
    /// The machine itself.
    Machine,
}

/// Returns where the value of a step of this kind comes from.
pub(crate) fn value_source(kind: &StepKind) -> ValueSource<'_> {
    match kind {
        StepKind::Tool { .. } | StepKind::Agent { .. } | StepKind::Skill { .. } => {
            ValueSource::Outside
        }
        StepKind::Compute { code } => ValueSource::Names(code),
        StepKind::Wait(_) => ValueSource::Machine,
    }
}

/// Why a step could not be rendered into a call.
pub(crate) enum RenderError {
    /// The template of this key cannot be evaluated.
    Template(&'static str, EvalError),
    /// The rendered values are not a valid call.
    Failed(Failure),
}

/// Renders templates whose values may not be known yet; `place` is the position of the template.
pub(crate) trait Preview {
    /// Renders a template as text.
    fn text(&mut self, place: &str, template: &Template) -> String;
    /// Renders a template as a value.
    fn template(&mut self, place: &str, template: &Template) -> Value;
    /// Renders a tree of templates as a value.
    fn tree(&mut self, place: &str, tree: &Tree) -> Value;
}

impl CompiledStep {
    /// Compiles the work of a step. In the text of a skill (`plain`) braces have no meaning.
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

    /// Returns the Python that the worker runs for the step.
    pub(crate) fn source(&self) -> Option<&str> {
        match self {
            Self::Compute { code } => Some(code),
            Self::Tool { .. } | Self::Agent { .. } | Self::Skill { .. } | Self::Wait { .. } => None,
        }
    }

    /// Returns the template for the name of the called tool.
    pub(crate) fn tool(&self) -> Option<&Template> {
        match self {
            Self::Tool { tool, .. } => Some(tool),
            Self::Compute { .. } | Self::Agent { .. } | Self::Skill { .. } | Self::Wait { .. } => {
                None
            }
        }
    }

    /// Returns the template for the id of the skill that it runs.
    pub(crate) fn skill(&self) -> Option<&Template> {
        match self {
            Self::Skill { skill, .. } => Some(skill),
            Self::Tool { .. } | Self::Compute { .. } | Self::Agent { .. } | Self::Wait { .. } => {
                None
            }
        }
    }

    /// Returns the templates for the name and the arguments of a called tool or skill.
    pub(crate) fn target(&self) -> Option<(&Template, &Tree)> {
        match self {
            Self::Tool { tool: name, args } | Self::Skill { skill: name, args } => {
                Some((name, args))
            }
            Self::Compute { .. } | Self::Agent { .. } | Self::Wait { .. } => None,
        }
    }

    /// Returns its name and its arguments for a dry run.
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

    /// Renders it into its call. `wait_until` returns the end of a wait that begins now; its flag is true if
    /// the template gives an instant.
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
