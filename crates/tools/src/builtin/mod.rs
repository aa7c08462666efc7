//! Tools that deft brings along, and the way to add more.
//!
//! A built-in tool is a definition and a handler, and its file says everything about it: name, words,
//! schema, effects, the settings that enable it, and whether secrets in its arguments are shown by name only. Handlers
//! get checked arguments with real secrets; they return a value or a failure, and know nothing of runs, retries or
//! the store.

mod file;
mod folder;
mod host;
mod http;
mod programs;
mod shell;
mod small;
mod telegram;
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

/// A future that may move between threads.
pub(crate) type BoxFuture<T> = Pin<Box<dyn Future<Output = T> + Send>>;

/// What performs a built-in tool.
pub type Handler = Arc<dyn Fn(Object, Context) -> BoxFuture<Result<Value, Failure>> + Send + Sync>;

/// The options in force at the moment, which a reload replaces.
pub(crate) type Settings = Arc<ArcSwap<Options>>;

/// What a handler is told besides the arguments.
#[derive(Clone, Debug)]
pub struct Context {
    /// The idempotency key of the call.
    pub key: String,
    /// Cancelled when the caller no longer waits for the answer.
    pub cancel: CancellationToken,
    /// How long the call may still take.
    pub allowed: Duration,
    /// The rights of the agent on whose behalf it is made; none for a person's.
    pub authority: Option<Arc<Authority>>,
    /// The span of the call, if it is traced.
    pub trace: Option<TraceContext>,
}

/// What a built-in tool is.
#[derive(Clone, Debug)]
pub struct Definition {
    /// Its name, such as `file.read` or `get_tool_catalog`.
    pub name: String,
    /// What it does; the first sentence goes into the catalog.
    pub description: String,
    /// The JSON Schema of its arguments.
    pub schema: Value,
    /// What repeating a call would do.
    pub effects: Effects,
    /// Whether arguments are held against the schema before the call.
    pub checked: bool,
    /// Whether it may destroy something.
    pub destructive: bool,
    /// How far it reaches.
    pub reach: Reach,
    /// Whether it publishes annotations; without them a chat asks before each call.
    pub annotated: bool,
    /// How secrets in its arguments reach it.
    pub secrets: SecretUse,
}

/// How far a tool reaches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reach {
    /// Nothing outside deft and its machine.
    Local,
    /// Anything, so that a call may fail for reasons outside.
    Outside,
}

/// How secrets in the arguments of a tool reach it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SecretUse {
    /// Their values are put in.
    Revealed,
    /// They are only named: people read the arguments.
    Named,
}

impl Definition {
    /// A definition.
    pub fn new(name: &str, description: &str, effects: Effects, schema: Value) -> Self {
        Self {
            name: name.to_owned(),
            description: description.to_owned(),
            schema,
            effects,
            checked: true,
            destructive: false,
            reach: Reach::Outside,
            annotated: true,
            secrets: SecretUse::Revealed,
        }
    }

    /// The same for a tool that may destroy something: agents ask before they call it.
    #[must_use]
    pub fn destructive(mut self) -> Self {
        self.destructive = true;
        self
    }

    /// The same for a tool that reaches nothing outside deft and its machine: its steps need no `heal`.
    #[must_use]
    pub fn local(mut self) -> Self {
        self.reach = Reach::Local;
        self
    }

    /// The same for a tool that says nothing about what it does, like those of servers without
    /// annotations.
    #[must_use]
    pub fn unannotated(mut self) -> Self {
        self.annotated = false;
        self
    }

    /// The same for a tool whose arguments are shown to people, or that returns something derived from them: secrets
    /// stay names. The value of a secret is recognised in a result as it is, not in another encoding.
    #[must_use]
    pub fn for_people(mut self) -> Self {
        self.secrets = SecretUse::Named;
        self
    }

    /// The same for a tool that repairs and checks its own arguments: the router skips the schema check.
    #[must_use]
    pub fn unchecked(mut self) -> Self {
        self.checked = false;
        self
    }
}

/// A tool in place.
pub(crate) struct BuiltinTool {
    info: ToolInfo,
    checker: Arc<Checker>,
    pub(crate) handler: Handler,
    secrets: SecretUse,
    requirement: Option<Requirement>,
    /// What repeating this very call would do, where that depends on the arguments.
    pub(crate) effects_of: fn(&Object) -> Option<Effects>,
}

/// What the options must say before a tool can do anything.
#[derive(Clone, Copy)]
struct Requirement {
    is_met: fn(&Options) -> bool,
    /// How a person sets it.
    remedy: &'static str,
}

impl BuiltinTool {
    pub(crate) fn new(definition: Definition, handler: Handler) -> Self {
        let schema = Arc::new(definition.schema);
        let annotations = Annotations {
            destructive_hint: Some(definition.destructive),
            open_world_hint: (definition.reach == Reach::Local).then_some(false),
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

    /// The same for a tool that is switched off until the options say something.
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

    /// Why a tool that is not available cannot be called.
    pub(crate) fn switched_off(&self) -> Failure {
        let message = format!("the tool `{}` is switched off", self.name());
        let failure = Failure::new(FailureClass::NotFound, message);
        match self.requirement {
            Some(needs) => failure.hint(needs.remedy).blocked(),
            None => failure.blocked(),
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

/// Every tool that needs nothing but the options and the environment.
pub(crate) fn all(settings: &Settings, environment: &Environment) -> Vec<BuiltinTool> {
    let mut tools = vec![
        http::tool(settings),
        shell::tool(settings, environment),
        telegram::tool(settings, environment),
    ];
    tools.extend(file::tools(settings));
    tools.extend(small::tools(environment));
    tools
}

/// A text argument that the schema guarantees; empty if it is optional and absent.
fn text<'a>(arguments: &'a Object, name: &str) -> &'a str {
    arguments
        .get(name)
        .and_then(Value::as_str)
        .unwrap_or_default()
}

fn invalid(message: impl Into<String>) -> Failure {
    Failure::new(FailureClass::Invalid, message)
}

/// Runs something that blocks where it does not hold up others.
async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, Failure> + Send + 'static,
) -> Result<T, Failure> {
    tokio::task::spawn_blocking(work)
        .await
        .unwrap_or_else(|error| {
            Err(Failure::new(
                FailureClass::Other,
                format!("the tool broke off: {error}"),
            ))
        })
}
