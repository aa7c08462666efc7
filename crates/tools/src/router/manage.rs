//! The set of servers: adding, removing and probing them while the router runs.

use std::sync::atomic::Ordering;
use std::sync::{Arc, Weak};
use std::time::Duration;

use deft_model::{Effects, Failure, FailureClass, Object};
use jiff::tz::TimeZone;
use serde_json::{Value, json};
use tokio::task::JoinSet;

use super::{Inner, Router};
use crate::builtin::{BuiltinTool, Context, Definition};
use crate::catalog::Catalog;
use crate::health::{Health, Probe};
use crate::index::{Entry, Index, Lookup};
use crate::options::Options;
use crate::redact::{HIDDEN, Redaction};
use crate::server::{Hooks, Server};

/// How long to wait for further servers once a name is found.
const FURTHER_SERVERS_TIMEOUT: Duration = Duration::from_secs(2);
const FOREVER: Duration = Duration::from_hours(24);

impl Inner {
    /// Rebuilds the index and notifies subscribers to the set of tools.
    pub(super) fn rebuild(&self) {
        let settings = self.settings.load();
        // Held until the end, so that of two rebuilds the later one wins.
        let builtins = self.builtins.lock();
        let servers = self.servers.lock();
        let own = builtins
            .values()
            .filter(|tool| tool.is_available(&settings))
            .map(Entry::from_builtin);
        // Read before the tools: a server stores its tools before it counts as listed.
        let unlisted = servers.values().filter(|server| !server.is_listed());
        let unlisted = unlisted.map(|server| server.name().to_owned()).collect();
        let theirs = servers.values().flat_map(Entry::from_server);
        let index = Index::new(own.chain(theirs)).with_unlisted(unlisted);
        self.index.store(Arc::new(index));
        self.changes.send_modify(|count| *count += 1);
    }

    /// Returns the redaction for every configured secret. Secrets are read when this is first called,
    /// because most commands call no tool.
    pub(super) async fn withheld(&self) -> Arc<Redaction> {
        if let Some(made) = self.withheld.load_full() {
            return made;
        }
        // Boxed to keep the future of a built-in tool small.
        Box::pin(self.look_up_withheld()).await
    }

    async fn look_up_withheld(&self) -> Arc<Redaction> {
        // A locked keyring must not ask its user once for each waiting call.
        let _turn = self.lookup.lock().await;
        loop {
            if let Some(made) = self.withheld.load_full() {
                return made;
            }
            let settings = self.settings.load_full();
            let mut redaction = Redaction::default();
            for reference in settings.references() {
                // An unavailable secret cannot occur in a result.
                let secrets = &self.environment.secrets;
                let resolved = reference.resolve(secrets, "redaction").await.ok();
                if let Some(secret) = resolved.and_then(|resolved| resolved.secret) {
                    redaction.add(&secret, HIDDEN);
                }
            }
            let tokens = self.tokens.lock();
            // The settings may have been replaced during the lookups.
            if !Arc::ptr_eq(&settings, &self.settings.load()) {
                continue;
            }
            redaction.merge(&tokens);
            let made = Arc::new(redaction);
            self.withheld.store(Some(made.clone()));
            return made;
        }
    }
}

impl Router {
    /// Registers `get_tool_catalog`, which needs the router itself (S0.56, S0.57).
    pub(super) fn install_catalog_tool(&self) {
        let definition = Definition::new(
            "get_tool_catalog",
            "List all tools by server. With `search`: only matching tools, which you can call \
             then.",
            Effects::None,
            json!({"type": "object", "properties": {"search": {
                "type": "string", "description": "Names of tools, or words such as `send mail`",
            }}}),
        );
        // Weak, or the router would keep itself alive.
        let inner: Weak<Inner> = Arc::downgrade(&self.inner);
        self.register_fn(definition, move |args: Object, _: Context| {
            let inner = inner.upgrade();
            async move {
                let Some(inner) = inner else {
                    return Err(Failure::new(
                        FailureClass::Cancelled,
                        "the router was shut down",
                    ));
                };
                let router = Router { inner };
                router.list_servers().await;
                let words = args.get("search").and_then(Value::as_str);
                let words = words.filter(|words| !words.trim().is_empty());
                Ok(words.map_or_else(|| router.catalog(), |words| router.search_catalog(words)))
                    as Result<Value, Failure>
            }
        });
    }

    /// Updates the servers to the options. Unchanged servers are kept; returns the replaced ones.
    pub(super) fn adopt_servers(&self) -> Vec<Arc<Server>> {
        let settings = self.inner.settings.load_full();
        let mut servers = self.inner.servers.lock();
        self.inner.all_asked.store(false, Ordering::Relaxed);
        let mut gone = Vec::new();
        servers.retain(|name, server| {
            let stays = settings.servers.get(name) == Some(server.options())
                && server.max_reply_bytes() == settings.max_reply_bytes;
            if !stays {
                gone.push(server.clone());
            }
            stays
        });
        for (name, options) in &settings.servers {
            if !servers.contains_key(name) {
                let server = Server::new(
                    name.clone(),
                    options.clone(),
                    settings.max_reply_bytes,
                    self.inner.environment.clone(),
                    self.hooks(),
                );
                // An edited server keeps its old catalog until it is asked again.
                if let Some(old) = gone.iter().find(|old| old.name() == name)
                    && let Some(catalog) = old.catalog()
                {
                    server.restore(Catalog::clone(&catalog));
                }
                servers.insert(name.clone(), server);
            }
        }
        drop(servers);
        self.inner.rebuild();
        gone
    }

    fn hooks(&self) -> Hooks {
        // Weak, or the router would keep itself alive.
        let (one, other) = (Arc::downgrade(&self.inner), Arc::downgrade(&self.inner));
        let (third, fourth) = (Arc::downgrade(&self.inner), Arc::downgrade(&self.inner));
        Hooks {
            changed: Box::new(move || {
                if let Some(inner) = one.upgrade() {
                    inner.rebuild();
                }
            }),
            withheld: Box::new(move || {
                let inner = other.upgrade();
                Box::pin(async move {
                    match inner {
                        Some(inner) => inner.withheld().await,
                        None => Arc::default(),
                    }
                })
            }),
            learned: Box::new(move |tokens| {
                if let Some(inner) = third.upgrade() {
                    let mut known = inner.tokens.lock();
                    known.merge(tokens);
                    inner.withheld.store(None);
                }
            }),
            news: Box::new(move |news| {
                if let Some(inner) = fourth.upgrade() {
                    // An error means that no client is subscribed.
                    drop(inner.news.send(news));
                }
            }),
        }
    }

    /// Applies new options. Servers that were removed or edited are shut down in the background; calls
    /// in flight on them fail.
    pub fn reload(&self, options: Options) {
        let tokens = self.inner.tokens.lock();
        self.inner.settings.store(Arc::new(options));
        self.inner.withheld.store(None);
        drop(tokens);
        for server in self.adopt_servers() {
            tokio::spawn(async move { server.shutdown().await });
        }
    }

    /// Replaces the time zone of the host.
    pub fn set_zone(&self, zone: TimeZone) {
        self.inner.environment.zone.set(zone);
    }

    /// Restores stored catalogs, so that tools are known before any server was started. A catalog of a
    /// server that has been edited since is dropped.
    pub fn restore(&self, catalogs: impl IntoIterator<Item = Catalog>) {
        let servers = self.inner.servers.lock().clone();
        for catalog in catalogs {
            if let Some(server) = servers.get(&catalog.server) {
                server.restore(catalog);
            }
        }
        self.inner.rebuild();
    }

    /// Waits until every enabled server has listed its tools or failed to, all in parallel; returns the
    /// failures.
    pub async fn list_servers(&self) -> Vec<(String, Failure)> {
        self.ask(self.servers_to_ask(None), None).await
    }

    /// Like [`list_servers`](Self::list_servers), for one name. A full name concerns one server. Once a bare name
    /// is found, the other servers get only a short time to list it too: a server that hangs must not
    /// block the tools of all others.
    pub(super) async fn ask_for(&self, name: &str) -> Vec<(String, Failure)> {
        self.ask(self.servers_to_ask(Some(name)), Some(name)).await
    }

    fn servers_to_ask(&self, name: Option<&str>) -> Vec<Arc<Server>> {
        let index = self.inner.index.load();
        let known = name.is_some_and(|name| !matches!(index.lookup(name), Lookup::None));
        let servers = self.inner.servers.lock();
        let named = name.and_then(|name| servers.get(name.split_once('.')?.0));
        let candidates: Vec<_> = match named {
            Some(server) => vec![server.clone()],
            None => servers.values().cloned().collect(),
        };
        // A known name may also exist on servers whose tools are unknown, so those are asked; for an
        // unknown name all servers are asked.
        let done = |server: &Arc<Server>| {
            if known {
                server.was_asked()
            } else {
                // Checks the index too: a listing that is not in it yet is waited for.
                server.is_listed()
                    && !server.is_stale()
                    && !index
                        .unlisted_servers()
                        .iter()
                        .any(|name| name == server.name())
            }
        };
        candidates
            .into_iter()
            .filter(|server| !done(server))
            .collect()
    }

    /// Returns the servers that have not listed their tools, or too long ago.
    pub(super) fn to_ask(&self, index: &Index) -> Vec<String> {
        let stale = self.stale().into_iter();
        let stale = stale.map(|server| server.name().to_owned());
        let mut servers: Vec<String> = index
            .unlisted_servers()
            .iter()
            .cloned()
            .chain(stale)
            .collect();
        servers.sort();
        servers.dedup();
        servers
    }

    fn stale(&self) -> Vec<Arc<Server>> {
        let servers = self.inner.servers.lock();
        let stale = servers.values().filter(|server| server.is_stale());
        stale.cloned().collect()
    }

    /// Asks servers with stale listings again (S0.58). Does not wait for a server that is slow to
    /// respond: its tools are added when it does.
    pub async fn refresh(&self) {
        let mut asked = JoinSet::new();
        for server in self.stale() {
            asked.spawn(async move { server.list_if_needed().await });
        }
        let all = async { while asked.join_next().await.is_some() {} };
        if tokio::time::timeout(FURTHER_SERVERS_TIMEOUT, all)
            .await
            .is_err()
        {
            asked.detach_all();
        }
    }

    /// Asks every enabled server for its tools again, even if its listing is fresh; returns the
    /// failures.
    pub async fn relist(&self) -> Vec<(String, Failure)> {
        let servers: Vec<_> = self.inner.servers.lock().values().cloned().collect();
        let mut asked = JoinSet::new();
        for server in servers
            .into_iter()
            .filter(|server| server.options().enabled)
        {
            asked.spawn(async move { (server.name().to_owned(), server.list_again().await) });
        }
        let asked = asked.join_all().await.into_iter();
        asked
            .filter_map(|(name, listed)| Some((name, listed.err()?)))
            .collect()
    }

    fn knows(&self, name: &str) -> bool {
        !matches!(self.inner.index.load().lookup(name), Lookup::None)
    }

    /// Whether every enabled server has been asked for its tools.
    pub(super) fn has_asked_all(&self) -> bool {
        let all_asked = &self.inner.all_asked;
        all_asked.load(Ordering::Relaxed) || {
            let all = self
                .inner
                .servers
                .lock()
                .values()
                .all(|server| server.was_asked());
            all_asked.store(all, Ordering::Relaxed);
            all
        }
    }

    /// Returns why a tool that the configuration disables cannot be called, with the setting that
    /// enables it.
    pub fn failure_if_disabled(&self, name: &str) -> Option<Failure> {
        let builtin = self.inner.builtins.lock().get(name).cloned();
        let is_off = |tool: &Arc<BuiltinTool>| !tool.is_available(&self.inner.settings.load());
        let builtin = builtin.filter(is_off).map(|tool| tool.disabled_failure());
        builtin
            .or_else(|| self.disabled_server_failure(name))
            .or_else(|| self.disabled_tool(name))
    }

    /// Returns the failure of a call to a server that is configured but disabled.
    fn disabled_server_failure(&self, name: &str) -> Option<Failure> {
        let servers = self.inner.servers.lock();
        let server = servers.get(name.split_once('.')?.0)?;
        server.failure_if_disabled()
    }

    /// Returns why a tool that a server lists is disabled, if it is.
    fn disabled_tool(&self, name: &str) -> Option<Failure> {
        let servers = self.inner.servers.lock();
        let named = name
            .split_once('.')
            .and_then(|(server, tool)| servers.get(server)?.disabled_failure(tool));
        named.or_else(|| {
            servers
                .values()
                .find_map(|server| server.disabled_failure(name))
        })
    }

    async fn ask(&self, servers: Vec<Arc<Server>>, name: Option<&str>) -> Vec<(String, Failure)> {
        let mut asked = JoinSet::new();
        for server in servers {
            asked.spawn(async move { (server.name().to_owned(), server.list_if_needed().await) });
        }
        let mut failed = Vec::new();
        loop {
            let found = name.is_some_and(|name| self.knows(name));
            let timeout = if found {
                FURTHER_SERVERS_TIMEOUT
            } else {
                FOREVER
            };
            match tokio::time::timeout(timeout, asked.join_next()).await {
                Ok(Some(Ok((name, Err(failure))))) => failed.push((name, failure)),
                Ok(Some(_)) => {}
                Ok(None) => return failed,
                Err(_) => {
                    // The starts continue in the background; this call does not wait for them.
                    asked.detach_all();
                    return failed;
                }
            }
        }
    }

    /// Connects to a server if needed and probes it; `None` for an unknown server.
    pub async fn probe(&self, server: &str) -> Option<Probe> {
        let found = self.inner.servers.lock().get(server).cloned()?;
        Some(Box::pin(found.probe()).await)
    }

    /// Returns the health of every configured server.
    pub fn health(&self) -> Vec<Health> {
        let servers = self.inner.servers.lock().clone();
        servers.values().map(|server| server.health()).collect()
    }

    /// Closes all connections and waits for the processes to end.
    pub async fn shutdown(&self) {
        let servers: Vec<_> = self.inner.servers.lock().values().cloned().collect();
        let mut closing = JoinSet::new();
        for server in servers {
            closing.spawn(async move { server.shutdown().await });
        }
        // Processes are killed well before this; the limit only bounds unforeseen delays.
        drop(tokio::time::timeout(Duration::from_secs(15), closing.join_all()).await);
    }
}
