//! One MCP server: its state, known tools and statistics.
//!
//! Not here: calls of its tools (`call.rs`), requests of clients of deft (`relay.rs`), the phases of
//! its connection (`phase.rs`), the connection itself (`link.rs`), and the conversion of protocol data
//! (`fault.rs`, `listing.rs`, `../reply.rs`).

mod access;
mod age;
mod attentive;
mod authorized;
mod call;
mod capped;
mod client;
mod desk;
mod fault;
mod guard;
mod http;
mod lines;
mod link;
mod listing;
mod look;
mod message;
mod noise;
mod offered;
mod phase;
mod pool;
mod raw;
mod relay;
mod resolved;
mod signing;
mod skills;
mod stderr;
mod stdio;
mod subscriptions;
mod traffic;
mod vet;
mod watch;

use std::collections::HashSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use arc_swap::{ArcSwap, ArcSwapOption};
use deft_model::{Failure, clip};
use futures_util::future::BoxFuture;
use parking_lot::Mutex;
use tokio::sync::{Semaphore, watch as channel};

use crate::arguments::Checker;
use crate::breaker::Breaker;
use crate::catalog::{Catalog, Era};
use crate::environment::Environment;
use crate::options::ServerOptions;
use crate::redact::Redaction;
use crate::relay::News;
use crate::tool::ToolInfo;
pub(crate) use access::SignInAttempt as ServerSignIn;
use access::{Access, AddSecrets};
use age::Age;
use offered::OfferCache;
use phase::Phase;
use pool::Pool;
use subscriptions::Subscriptions;

/// The maximum length of a remembered failure, in characters.
const MAX_REMEMBERED: usize = 1000;
/// The maximum number of disabled tools to name in the log.
const MAX_REPORTED: usize = 10;

/// Callbacks from a server to the router.
pub(crate) struct Hooks {
    /// Called when the tools have changed.
    pub(crate) changed: Box<dyn Fn() + Send + Sync>,
    /// Returns the secrets that no tool may repeat, from all servers and settings.
    pub(crate) withheld: Box<dyn Fn() -> BoxFuture<'static, Arc<Redaction>> + Send + Sync>,
    /// Receives new tokens, which no tool may repeat.
    pub(crate) learned: Box<dyn Fn(&Redaction) + Send + Sync>,
    /// Receives changes to announce to clients of deft.
    pub(crate) news: Box<dyn Fn(News) + Send + Sync>,
}

/// One configured server.
pub(crate) struct Server {
    name: String,
    options: ServerOptions,
    max_reply_bytes: usize,
    environment: Environment,
    hooks: Arc<Hooks>,
    /// The sign-in; `None` for a server that cannot ask for one.
    access: Option<Arc<Access>>,
    phase: channel::Sender<Phase>,
    breaker: Mutex<Breaker>,
    /// The protocol era of the last successful connection.
    era: Mutex<Option<Era>>,
    known: ArcSwapOption<ToolSet>,
    /// Whether a start was attempted since this process started.
    asked: AtomicBool,
    /// Whether the tools were listed since this process started.
    listed: AtomicBool,
    age: Age,
    slots: Semaphore,
    /// Connections on behalf of clients of deft.
    lines: Pool,
    offered: OfferCache,
    subscriptions: Subscriptions,
    stats: Stats,
    /// The secrets to remove from its messages: those that any of its connections received, and all
    /// others.
    redaction: Arc<ArcSwap<Redaction>>,
}

/// The tools of a server, with their compiled schemas.
struct ToolSet {
    catalog: Arc<Catalog>,
    checkers: Vec<Arc<Checker>>,
}

#[derive(Default)]
struct Stats {
    calls: AtomicU64,
    failures: AtomicU64,
    starts: AtomicU64,
    /// Failed starts and lost connections since the last answer.
    losses: AtomicU32,
    in_flight: AtomicUsize,
    last_error: Mutex<Option<String>>,
}

impl Server {
    pub(crate) fn new(
        name: String,
        options: ServerOptions,
        max_reply_bytes: usize,
        environment: Environment,
        hooks: Hooks,
    ) -> Arc<Self> {
        let hooks = Arc::new(hooks);
        let redaction: Arc<ArcSwap<Redaction>> = Arc::default();
        let learn = learn(hooks.clone(), redaction.clone());
        Arc::new(Self {
            access: Access::for_server(&name, &options, &environment, learn),
            slots: Semaphore::new(options.concurrency.clamp(1, 1024)),
            lines: Pool::new(options.concurrency),
            offered: OfferCache::default(),
            subscriptions: Subscriptions::default(),
            name,
            options,
            max_reply_bytes,
            environment,
            hooks,
            phase: channel::Sender::new(Phase::Idle),
            breaker: Mutex::default(),
            era: Mutex::default(),
            known: ArcSwapOption::empty(),
            asked: AtomicBool::new(false),
            listed: AtomicBool::new(false),
            age: Age::default(),
            stats: Stats::default(),
            redaction,
        })
    }

    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    pub(crate) fn options(&self) -> &ServerOptions {
        &self.options
    }

    pub(crate) fn max_reply_bytes(&self) -> usize {
        self.max_reply_bytes
    }

    pub(crate) fn timeout(&self) -> Duration {
        self.options.timeout
    }

    pub(crate) fn catalog(&self) -> Option<Arc<Catalog>> {
        self.known
            .load()
            .as_ref()
            .map(|known| known.catalog.clone())
    }

    /// Whether asking the server again cannot add unknown tools: it has listed them, or is disabled.
    pub(crate) fn is_listed(&self) -> bool {
        !self.options.enabled || self.listed.load(Ordering::SeqCst)
    }

    /// Whether its tools are known, possibly from a stored catalog, or a start was attempted.
    pub(crate) fn was_asked(&self) -> bool {
        self.is_listed() || self.known.load().is_some() || self.asked.load(Ordering::SeqCst)
    }

    /// Returns the failure of any call while the server is disabled.
    pub(crate) fn failure_if_disabled(&self) -> Option<Failure> {
        (!self.options.enabled).then(|| fault::disabled_failure(&self.name))
    }

    /// Returns the known tools that may be called, each with its argument checker.
    pub(crate) fn tools(&self) -> Vec<(ToolInfo, Arc<Checker>)> {
        let known = self.known.load_full().filter(|_| self.options.enabled);
        let Some(known) = known else {
            return Vec::new();
        };
        let tools = known.catalog.tools.iter().zip(&known.checkers);
        tools
            .map(|(info, checker)| (info.clone(), checker.clone()))
            .collect()
    }

    /// Restores a stored catalog, unless it belongs to another server or the server has listed its
    /// tools since.
    pub(crate) fn restore(&self, catalog: Catalog) {
        if catalog.source == self.options.source() && !self.listed.load(Ordering::SeqCst) {
            *self.era.lock() = Some(catalog.era);
            self.adopt(catalog, false);
        }
    }

    /// Makes `catalog` the current one; `fresh` means that the server just sent it.
    fn adopt(&self, mut catalog: Catalog, fresh: bool) {
        if fresh {
            self.age.mark((self.environment.now)());
            self.age.mark_skills();
        }
        let mut seen = HashSet::new();
        // Of tools with the same name, the first wins.
        catalog
            .tools
            .retain(|tool| self.options.shows(&tool.name) && seen.insert(tool.name.clone()));
        catalog
            .disabled
            .retain(|tool| self.options.shows(&tool.name));
        let old = self.known.load_full();
        let first = fresh && !self.listed.load(Ordering::SeqCst);
        let same = old.as_ref().is_some_and(|old| *old.catalog == catalog);
        if same && !first {
            return;
        }
        let checkers = catalog.tools.iter().map(|tool| {
            let kept = old.as_ref().and_then(|old| {
                let at = old
                    .catalog
                    .tools
                    .iter()
                    .position(|other| other.name == tool.name)?;
                let kept = old.checkers.get(at)?;
                (kept.schema() == &tool.input_schema).then(|| kept.clone())
            });
            kept.unwrap_or_else(|| Arc::new(Checker::new(tool.input_schema.clone())))
        });
        let known = ToolSet {
            checkers: checkers.collect(),
            catalog: Arc::new(catalog),
        };
        let catalog = known.catalog.clone();
        self.known.store(Some(Arc::new(known)));
        self.offered.forget();
        if fresh {
            self.report_disabled(&catalog);
            // In this order, so that a caller that sees the server as listed also finds its tools.
            self.listed.store(true, Ordering::SeqCst);
            (self.hooks.changed)();
            (self.environment.catalogs)(&catalog);
        }
    }

    /// Logs the disabled tools. Not called for an unchanged catalog.
    fn report_disabled(&self, catalog: &Catalog) {
        for tool in catalog.disabled.iter().take(MAX_REPORTED) {
            tracing::warn!(
                server = self.name,
                tool = tool.name,
                reason = tool.reason,
                "tool disabled"
            );
        }
        let more = catalog.disabled.len().saturating_sub(MAX_REPORTED);
        if more > 0 {
            tracing::warn!(server = self.name, more, "further tools disabled");
        }
    }

    /// Returns why a listed tool cannot be called; `None` if it is not disabled.
    pub(crate) fn disabled_failure(&self, tool: &str) -> Option<Failure> {
        let catalog = self.catalog()?;
        let found = catalog.disabled.iter().find(|other| other.name == tool)?;
        Some(fault::disabled_tool(&self.name, found))
    }

    /// Admits a call, unless the circuit is open.
    fn admit(&self) -> Result<(), Failure> {
        let now = Instant::now();
        let admitted = self.breaker.lock().admit(now);
        admitted.map_err(|until| {
            let last = self.stats.last_error.lock().clone();
            fault::circuit_open(
                &self.name,
                until.saturating_duration_since(now),
                last.as_deref(),
            )
        })
    }

    /// Adds the secrets of a connection. Older secrets are kept, because other connections may still
    /// use them.
    fn withhold(&self, secrets: &Redaction) {
        withhold(&self.redaction, secrets);
    }

    fn remember(&self, failure: &Failure) {
        // Truncated, because it is shown to people and repeated in other failures.
        let message = clip(&failure.message, MAX_REMEMBERED);
        *self.stats.last_error.lock() = Some(message);
    }
}

/// Returns a callback that adds the tokens of a sign-in to the redaction of this server and of all
/// tools.
fn learn(hooks: Arc<Hooks>, redaction: Arc<ArcSwap<Redaction>>) -> AddSecrets {
    Box::new(move |tokens| {
        withhold(&redaction, tokens);
        (hooks.learned)(tokens);
    })
}

fn withhold(known: &ArcSwap<Redaction>, secrets: &Redaction) {
    known.rcu(|known| {
        let mut all = Redaction::clone(known);
        all.merge(secrets);
        all
    });
}

impl Drop for Server {
    /// A router that is dropped without `shutdown` still ends its processes.
    fn drop(&mut self) {
        if let Phase::Ready(link) = &*self.phase.borrow() {
            link.end();
        }
    }
}
