//! Built-in tools, and the types for registering more.
//!
//! A built-in tool is a definition and a handler, and its file contains everything about it: name,
//! description, schema, effects, the settings that enable it, and whether secrets in its arguments are
//! shown by name only. Handlers receive checked arguments with real secrets and return a value or a
//! failure. Not here: runs, retries and the store.

mod file;
mod folder;
mod host;
mod http;
mod notes;
mod programs;
mod shell;
mod telegram;
mod time;
mod variables;

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use arc_swap::ArcSwap;
use deft_model::{Authority, Effects, Failure, FailureClass, Object, TraceContext};
use serde_json::Value;
use tokio_util::sync::CancellationToken;

use crate::arguments::Checker;
use crate::environment::Environment;
use crate::options::Options;
use crate::tool::{Annotations, BUILTIN_SERVER, ToolInfo};

pub(crate) use folder::real_path;

/// A future that can be sent between threads.
pub(crate) type BoxFuture<T> = Pin<Box<dyn Future<Output = T> + Send>>;

/// The function that performs a built-in tool.
pub type Handler = Arc<dyn Fn(Object, Context) -> BoxFuture<Result<Value, Failure>> + Send + Sync>;

/// The current options, which a reload replaces.
pub(crate) type Settings = Arc<ArcSwap<Options>>;

/// The context of a call, besides its arguments.
#[derive(Clone, Debug)]
pub struct Context {
    /// The idempotency key of the call.
    pub key: String,
    /// Cancelled when the caller no longer waits for the result.
    pub cancel: CancellationToken,
    /// The time that remains for the call.
    pub allowed: Duration,
    /// The rights of the calling agent; `None` for a call by a person.
    pub authority: Option<Arc<Authority>>,
    /// The trace context of the call, if it is traced.
    pub trace: Option<TraceContext>,
    /// The id of the HTTP or MCP request that makes the call, if one does.
    pub request_id: Option<String>,
}

/// The definition of a built-in tool.
#[derive(Clone, Debug)]
pub struct Definition {
    /// The name, such as `file.read` or `get_tool_catalog`.
    pub name: String,
    /// The description; its first sentence goes into the catalog.
    pub description: String,
    /// The JSON Schema of the arguments.
    pub schema: Value,
    /// The effects of repeating a call.
    pub effects: Effects,
    /// Whether arguments are checked against the schema before the call.
    pub checked: bool,
    /// Whether the tool may destroy data.
    pub destructive: bool,
    /// What the tool can affect.
    pub locality: ToolLocality,
    /// Whether the tool publishes annotations; without them a chat asks before each call.
    pub annotated: bool,
    /// How secrets in the arguments are passed to the tool.
    pub secrets: SecretUse,
}

/// What a tool can affect.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ToolLocality {
    /// Only deft and its machine.
    Local,
    /// Anything, so a call may fail for external reasons.
    Outside,
}

/// How secrets in the arguments are passed to a tool.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SecretUse {
    /// As values.
    Revealed,
    /// As names only, because people read the arguments.
    Named,
}

impl Definition {
    /// Creates a definition with defaults for all other fields.
    pub fn new(name: &str, description: &str, effects: Effects, schema: Value) -> Self {
        Self {
            name: name.to_owned(),
            description: description.to_owned(),
            schema,
            effects,
            checked: true,
            destructive: false,
            locality: ToolLocality::Outside,
            annotated: true,
            secrets: SecretUse::Revealed,
        }
    }

    /// Marks the tool as destructive: agents ask before they call it.
    #[must_use]
    pub fn destructive(mut self) -> Self {
        self.destructive = true;
        self
    }

    /// Marks the tool as local to deft and its machine: its steps need no `heal`.
    #[must_use]
    pub fn local(mut self) -> Self {
        self.locality = ToolLocality::Local;
        self
    }

    /// Marks a tool whose arguments are shown to people, or that returns data derived from them:
    /// secrets stay names, because a secret's value is only recognised in a result verbatim, not in
    /// another encoding.
    #[must_use]
    pub fn for_people(mut self) -> Self {
        self.secrets = SecretUse::Named;
        self
    }

    /// Marks a tool that repairs and checks its own arguments: the router skips the schema check.
    #[must_use]
    pub fn skip_check(mut self) -> Self {
        self.checked = false;
        self
    }
}

/// A registered built-in tool.
pub(crate) struct BuiltinTool {
    info: ToolInfo,
    checker: Arc<Checker>,
    pub(crate) handler: Handler,
    secrets: SecretUse,
    requirement: Option<Requirement>,
    /// Returns the effects of repeating a call with these arguments; `None` if they do not depend on
    /// the arguments.
    pub(crate) effects_of: fn(&Object) -> Option<Effects>,
}

/// An option that a tool requires.
#[derive(Clone, Copy)]
struct Requirement {
    is_met: fn(&Options) -> bool,
    /// The hint how to set it.
    remedy: &'static str,
}

impl BuiltinTool {
    pub(crate) fn new(definition: Definition, handler: Handler) -> Self {
        let schema = Arc::new(definition.schema);
        let annotations = Annotations {
            destructive_hint: Some(definition.destructive),
            open_world_hint: (definition.locality == ToolLocality::Local).then_some(false),
            ..Annotations::from_effects(definition.effects)
        };
        Self {
            info: ToolInfo {
                shown: definition.name.clone(),
                name: definition.name,
                server: BUILTIN_SERVER.to_owned(),
                title: None,
                description: definition.description,
                input_schema: schema.clone(),
                output_schema: None,
                annotations: if definition.annotated {
                    annotations
                } else {
                    Annotations::default()
                },
                builtin: true,
            },
            checker: Arc::new(if definition.checked {
                Checker::new(schema)
            } else {
                Checker::lenient(schema)
            }),
            handler,
            secrets: definition.secrets,
            requirement: None,
            effects_of: |_| None,
        }
    }

    /// Makes the tool unavailable unless the options meet a requirement.
    pub(crate) fn only_if(mut self, is_met: fn(&Options) -> bool, remedy: &'static str) -> Self {
        self.requirement = Some(Requirement { is_met, remedy });
        self
    }

    fn with_effects(mut self, effects_of: fn(&Object) -> Option<Effects>) -> Self {
        self.effects_of = effects_of;
        self
    }

    pub(crate) fn name(&self) -> &str {
        &self.info.name
    }

    pub(crate) fn effects(&self) -> Option<Effects> {
        self.info.effects()
    }

    pub(crate) fn is_available(&self, options: &Options) -> bool {
        self.requirement.is_none_or(|needs| (needs.is_met)(options))
    }

    pub(crate) fn secrets(&self) -> SecretUse {
        self.secrets
    }

    /// Returns the failure of a call while the tool is unavailable.
    pub(crate) fn disabled_failure(&self) -> Failure {
        let message = format!("the tool `{}` is disabled", self.name());
        let failure = Failure::new(FailureClass::NotFound, message);
        match self.requirement {
            Some(needs) => failure.hint(needs.remedy).mark_blocked(),
            None => failure.mark_blocked(),
        }
    }

    pub(crate) fn info(&self) -> &ToolInfo {
        &self.info
    }

    pub(crate) fn checker(&self) -> &Arc<Checker> {
        &self.checker
    }
}

/// Wraps an async function as a handler.
pub(crate) fn handler<F, R>(function: F) -> Handler
where
    F: Fn(Object, Context) -> R + Send + Sync + 'static,
    R: Future<Output = Result<Value, Failure>> + Send + 'static,
{
    Arc::new(move |arguments, context| Box::pin(function(arguments, context)))
}

/// Creates all tools that need only the options and the environment.
pub(crate) fn all(settings: &Settings, environment: &Environment) -> Vec<BuiltinTool> {
    let mut tools = vec![
        http::tool(settings),
        shell::tool(settings, environment),
        telegram::tool(settings, environment),
        time::tool(environment),
    ];
    tools.extend(file::tools(settings));
    tools.extend(notes::tools(environment));
    tools
}

/// Returns a string argument, or an empty string if it is missing. The schema guarantees the type.
fn text<'a>(arguments: &'a Object, name: &str) -> &'a str {
    arguments
        .get(name)
        .and_then(Value::as_str)
        .unwrap_or_default()
}

fn invalid(message: impl Into<String>) -> Failure {
    Failure::new(FailureClass::Invalid, message)
}

/// Runs blocking work without blocking other tasks.
async fn run_blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, Failure> + Send + 'static,
) -> Result<T, Failure> {
    tokio::task::spawn_blocking(work)
        .await
        .unwrap_or_else(|error| {
            Err(Failure::new(
                FailureClass::Other,
                format!("the tool crashed: {error}"),
            ))
        })
}
