//! The router: one handle for all tools.
//!
//! Not here: connections to servers (`server/`), the built-in tools (`builtin/`), name lookup
//! (`index.rs`).

mod manage;
mod relay;
mod sign_in;
mod skills;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use arc_swap::{ArcSwap, ArcSwapOption};
use deft_model::{Effects, Failure, Object};
use parking_lot::Mutex;
use serde_json::Value;
use tokio::sync::{broadcast, watch};
use tokio::time::Instant;

use crate::arguments::Preparation;
use crate::builtin::{self, BuiltinTool, Context, Definition, Handler, SecretUse, Settings};
use crate::call::{Call, Reply};
use crate::catalog;
use crate::environment::Environment;
use crate::index::{self, Entry, Index, Lookup, Target, ToolLookup};
use crate::limit::Limit;
use crate::options::Options;
use crate::redact::Redaction;
use crate::relay::News;
use crate::reply::Answer;
use crate::secret::Reveal;
use crate::server::Server;
use crate::tool::ToolInfo;

pub use sign_in::PendingSignIn;

/// The timeout of a built-in tool if the caller sets none.
const BUILTIN_TIMEOUT: Duration = Duration::from_mins(10);

/// One name space over MCP servers and built-in tools. Clones share the same router.
#[derive(Clone)]
pub struct Router {
    inner: Arc<Inner>,
}

struct Inner {
    settings: Settings,
    environment: Environment,
    builtins: Mutex<BTreeMap<String, Arc<BuiltinTool>>>,
    servers: Mutex<BTreeMap<String, Arc<Server>>>,
    index: ArcSwap<Index>,
    /// Whether every server has been asked for its tools at least once.
    all_asked: AtomicBool,
    /// Redaction of all configured secrets; built from the options when first needed. Written while `tokens` is
    /// locked, so that a redaction of replaced options or without the newest tokens is never kept.
    withheld: ArcSwapOption<Redaction>,
    /// Held by the task that looks up the secrets of `withheld`.
    lookup: tokio::sync::Mutex<()>,
    /// Redaction of the known sign-in tokens.
    tokens: Mutex<Redaction>,
    /// Number of changes to the set of tools.
    changes: watch::Sender<u64>,
    /// Changes that servers announce to clients of deft.
    news: broadcast::Sender<News>,
}

/// The number of announcements that a slow receiver may fall behind before it loses some.
const MAX_NEWS: usize = 256;

impl Router {
    /// Creates a router for the servers in `options`. No server is started yet.
    pub fn new(options: Options, environment: Environment) -> Self {
        let settings: Settings = Arc::new(ArcSwap::from_pointee(options));
        let builtins = builtin::all(&settings, &environment)
            .into_iter()
            .map(|tool| (tool.name().to_owned(), Arc::new(tool)))
            .collect();
        let router = Self {
            inner: Arc::new(Inner {
                settings,
                environment,
                builtins: Mutex::new(builtins),
                servers: Mutex::default(),
                index: ArcSwap::default(),
                all_asked: AtomicBool::new(false),
                withheld: ArcSwapOption::empty(),
                lookup: tokio::sync::Mutex::default(),
                tokens: Mutex::default(),
                changes: watch::Sender::new(0),
                news: broadcast::Sender::new(MAX_NEWS),
            }),
        };
        router.install_catalog_tool();
        router.adopt_servers();
        router
    }

    /// Registers a tool that runs in this process, replacing a tool of the same name.
    pub fn register(&self, definition: Definition, handler: Handler) {
        let tool = BuiltinTool::new(definition, handler);
        self.inner
            .builtins
            .lock()
            .insert(tool.name().to_owned(), Arc::new(tool));
        self.inner.rebuild();
    }

    /// Removes the built-in tools whose name `keep` rejects, for hosts that offer a fixed list.
    pub fn retain(&self, keep: impl Fn(&str) -> bool) {
        self.inner.builtins.lock().retain(|name, _| keep(name));
        self.inner.rebuild();
    }

    /// Like [`register`](Self::register), for an async function.
    pub fn register_fn<F, R>(&self, definition: Definition, function: F)
    where
        F: Fn(Object, Context) -> R + Send + Sync + 'static,
        R: Future<Output = Result<Value, Failure>> + Send + 'static,
    {
        self.register(definition, builtin::handler(function));
    }

    /// Returns the file that a call of one of the `file` tools refers to; `None` for other tools, and
    /// for a path that these tools refuse.
    pub fn file_of(&self, tool: &str, arguments: &Object) -> Option<std::path::PathBuf> {
        let path = arguments.get("path").and_then(Value::as_str)?;
        let ToolLookup::Tool(info) = self.find(tool) else {
            return None;
        };
        let is_file_tool = info.builtin && info.name.starts_with("file.");
        let options = &self.inner.settings.load().file;
        is_file_tool.then(|| builtin::real_path(options, path))?
    }

    /// Calls a tool.
    pub async fn call(&self, mut call: Call<'_>) -> Result<Reply, Failure> {
        let started = Instant::now();
        let entry = self.find_entry(&call).await?;
        let (arguments, repairs) = self.prepare(&entry, &mut call)?;
        let limit = Limit::new(remaining_time(&entry, &call, started), call.cancel.clone());
        let secrets = call.reveal;
        let answer = match &entry.target {
            Target::Builtin(tool) => {
                let redaction = self.inner.withheld().await;
                perform(tool, arguments, call, &limit)
                    .await
                    .map(|answer| answer.redact(&redaction))
                    .map_err(|failure| redaction.failure(failure))
            }
            Target::Server(server) => {
                // Boxed to keep the future of a built-in tool small.
                Box::pin(server.call(&entry.info.name, arguments, call.mark(), &limit)).await
            }
        };
        let answer = answer.map_err(|failure| redact_failure(failure, secrets))?;
        Ok(Reply {
            value: answer.value,
            text: answer.text,
            server: entry.info.server.clone(),
            tool: entry.info.full_name(),
            repairs,
            bytes: answer.bytes,
            took: started.elapsed(),
        })
    }

    /// Looks up the tool for a name; asks servers for their tools if needed.
    pub async fn look_up(&self, name: &str) -> Result<ToolInfo, Failure> {
        let call = Call::new(name, Object::new());
        Ok(self.find_entry(&call).await?.info.clone())
    }

    /// Returns the tool for a call; asks servers for their tools if needed.
    async fn find_entry(&self, call: &Call<'_>) -> Result<Arc<Entry>, Failure> {
        match self.inner.index.load().lookup(call.tool) {
            // A bare name is only unambiguous after every server was asked.
            Lookup::One(entry) if self.has_asked_all() || !entry.is_bare(call.tool) => {
                if let Target::Server(server) = &entry.target
                    && server.is_stale()
                {
                    server.list_soon();
                }
                Ok(entry)
            }
            Lookup::Many(names) => Err(index::ambiguous(call.tool, &names)),
            Lookup::One(_) | Lookup::None => Box::pin(self.search(call)).await,
        }
    }

    /// Prepares the arguments and inserts secrets. Takes the arguments out of `call`.
    fn prepare(
        &self,
        entry: &Entry,
        call: &mut Call<'_>,
    ) -> Result<(Object, Vec<&'static str>), Failure> {
        let arguments = std::mem::take(&mut call.arguments);
        let options = self.inner.settings.load();
        let preparation = Preparation {
            by_model: call.by_model,
            reveal: call.reveal,
            ..entry.preparation(call.tool, &options)
        };
        let (mut checked, repairs) = preparation.prepare(arguments)?;
        // Text for people keeps the secrets' names and never shows their values.
        let shown =
            matches!(&entry.target, Target::Builtin(tool) if tool.secrets() == SecretUse::Named);
        for value in checked.values_mut().filter(|_| !shown) {
            reveal(value, call.reveal);
        }
        Ok((checked, repairs))
    }

    /// Asks the servers that have not been asked yet, then looks the tool up again.
    async fn search(&self, call: &Call<'_>) -> Result<Arc<Entry>, Failure> {
        let allowed = call.deadline.unwrap_or(BUILTIN_TIMEOUT);
        let limit = Limit::new(allowed, call.cancel.clone());
        let asked = limit.run(self.ask_for(call.tool)).await;
        let unreachable =
            asked.map_err(|stop| limit.failure(stop, "waiting for servers to list their tools"))?;
        let index = self.inner.index.load();
        match index.lookup(call.tool) {
            Lookup::One(entry) => Ok(entry),
            Lookup::Many(names) => Err(index::ambiguous(call.tool, &names)),
            Lookup::None => Err(self.absent(call.tool, &index, &unreachable)),
        }
    }

    /// Returns the failure of a call to an unknown tool.
    fn absent(&self, name: &str, index: &Index, unreachable: &[(String, Failure)]) -> Failure {
        if let Some(failure) = self.failure_if_disabled(name) {
            return failure;
        }
        if unreachable.is_empty() {
            return index::unknown_tool(name, &index.nearest(name));
        }
        // A full name concerns only its server.
        let named: Vec<_> = unreachable
            .iter()
            .filter(|(server, _)| name.starts_with(&format!("{server}.")))
            .cloned()
            .collect();
        index::unasked_servers(
            name,
            if named.is_empty() {
                unreachable
            } else {
                &named
            },
        )
    }

    /// Looks up a name without asking any server.
    pub fn find(&self, name: &str) -> ToolLookup {
        let index = self.inner.index.load();
        match index.lookup(name) {
            Lookup::One(entry) => ToolLookup::Tool(Box::new(entry.info.clone())),
            Lookup::Many(names) => ToolLookup::Ambiguous(names),
            Lookup::None => match self.to_ask(&index) {
                servers if servers.is_empty() => ToolLookup::Missing {
                    nearest: index.nearest(name),
                },
                servers => ToolLookup::Unknown { servers },
            },
        }
    }

    /// Whether exactly one tool has the name. Unlike [`Self::find`], this copies nothing: each run asks.
    pub fn has_tool(&self, name: &str) -> bool {
        matches!(self.inner.index.load().lookup(name), Lookup::One(_))
    }

    /// Returns a model's arguments as they would be sent: repaired, with the primary chat, cast and
    /// checked. Arguments of an unknown tool are returned unchanged; the call itself reports that
    /// failure.
    pub fn repair_arguments(&self, name: &str, arguments: Object) -> Result<Object, Failure> {
        let Lookup::One(entry) = self.inner.index.load().lookup(name) else {
            return Ok(arguments);
        };
        let options = self.inner.settings.load();
        let preparation = entry.preparation(name, &options);
        Ok(preparation.prepare(arguments)?.0)
    }

    /// Rejects arguments with a chat that deft may not use, as the call would.
    pub fn check_chats(&self, name: &str, arguments: Object) -> Result<(), Failure> {
        let Lookup::One(entry) = self.inner.index.load().lookup(name) else {
            return Ok(());
        };
        let options = self.inner.settings.load();
        entry.preparation(name, &options).check_chats(arguments)
    }

    /// Returns the effects of repeating a call of the tool; `None` if unknown.
    pub fn effects(&self, name: &str) -> Option<Effects> {
        match self.inner.index.load().lookup(name) {
            Lookup::One(entry) => entry.info.effects(),
            Lookup::Many(_) | Lookup::None => None,
        }
    }

    /// Returns the effects of repeating this call: a GET differs from a POST.
    pub fn effects_of(&self, name: &str, arguments: &Object) -> Option<Effects> {
        let Lookup::One(entry) = self.inner.index.load().lookup(name) else {
            return None;
        };
        match &entry.target {
            Target::Builtin(tool) => (tool.effects_of)(arguments).or_else(|| entry.info.effects()),
            Target::Server(_) => entry.info.effects(),
        }
    }

    /// Returns all known tools, sorted by full name.
    pub fn list(&self) -> Vec<ToolInfo> {
        let index = self.inner.index.load();
        index.entries().map(|entry| entry.info.clone()).collect()
    }

    /// Returns the overview of all known tools for models (S0.56).
    pub fn catalog(&self) -> Value {
        let index = self.inner.index.load();
        catalog::overview(index.entries().map(|entry| &entry.info))
    }

    /// Returns the best matches for a search, in the shape of [`catalog`](Self::catalog).
    pub fn search_catalog(&self, words: &str) -> Value {
        let index = self.inner.index.load();
        catalog::search(index.entries().map(|entry| &entry.info), words)
    }

    /// Returns the redaction that removes every configured secret from a text, as in results of tools.
    pub async fn redaction(&self) -> Arc<Redaction> {
        self.inner.withheld().await
    }

    /// Subscribes to changes of the set of tools.
    pub fn changes(&self) -> watch::Receiver<u64> {
        self.inner.changes.subscribe()
    }
}

fn remaining_time(entry: &Entry, call: &Call<'_>, started: Instant) -> Duration {
    let usual = match &entry.target {
        Target::Builtin(_) => BUILTIN_TIMEOUT,
        Target::Server(server) => server.timeout(),
    };
    let allowed = call.deadline.unwrap_or(usual);
    match call.deadline {
        // The time spent waiting for listings counts against the deadline; nothing may remain.
        Some(_) => allowed.saturating_sub(started.elapsed()),
        None => allowed,
    }
}

/// Runs a built-in tool within the limit.
async fn perform(
    tool: &BuiltinTool,
    arguments: Object,
    call: Call<'_>,
    limit: &Limit,
) -> Result<Answer, Failure> {
    let context = Context {
        key: call.key,
        cancel: call.cancel,
        allowed: limit.allowed,
        authority: call.authority,
        trace: call.trace,
        request_id: call.request_id,
    };
    let changes = (tool.effects_of)(&arguments).or_else(|| tool.effects()) != Some(Effects::None);
    let value = match limit.run((tool.handler)(arguments, context)).await {
        Ok(result) => result?,
        Err(stop) => {
            let failure = limit.failure(stop, &format!("`{}` was running", tool.name()));
            return Err(Failure {
                in_doubt: changes,
                ..failure
            });
        }
    };
    Ok(Answer {
        text: value.as_str().map(str::to_owned),
        bytes: 0,
        value,
    })
}

/// Replaces placeholders by secrets in every string.
fn reveal(value: &mut Value, secrets: &dyn Reveal) {
    match value {
        Value::String(text) => {
            if let std::borrow::Cow::Owned(revealed) = secrets.reveal(text) {
                *text = revealed;
            }
        }
        Value::Array(items) => items.iter_mut().for_each(|item| reveal(item, secrets)),
        Value::Object(fields) => fields.values_mut().for_each(|field| reveal(field, secrets)),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// Removes secrets from the message and hint of a tool's failure.
fn redact_failure(failure: Failure, reveal: &dyn Reveal) -> Failure {
    Failure {
        message: reveal.hide(&failure.message).into_owned(),
        hint: failure.hint.map(|hint| reveal.hide(&hint).into_owned()),
        ..failure
    }
}
