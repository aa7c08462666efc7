//! The router of a home, with its servers, its secrets and the stored catalogs.
//!
//! Opening it starts no server. New catalogs are stored as they arrive.

use std::collections::BTreeMap;
use std::sync::Arc;

use deft_engine::read_or_log;
use deft_model::{Failure, FailureClass, RunId};
use deft_store::{NewNotice, RunRow, Store};
use deft_tools::{
    Catalog, Environment, HostZone, Level, LogLine, Notice, Notices, Options, Router,
};
use jiff::Timestamp;
use parking_lot::Mutex;
use tokio::task::JoinHandle;

use crate::store;
use deft_channels::ShowLine;
use deft_config::Home;
use deft_config::{Secrets, SignIns};
use deft_wire::Done;

/// Returns the router of a home, for callers that have opened the store.
pub(crate) async fn of_home(
    home: &Home,
    store: Option<&Arc<dyn Store>>,
    tell: ShowLine,
) -> Done<Router> {
    Ok(CatalogRouter::with(home, store.cloned(), tell)
        .await?
        .router)
}

/// A router, with stored facts about its servers.
pub(crate) struct CatalogRouter {
    /// The router.
    pub(crate) router: Router,
    keeper: Arc<Keeper>,
    secrets: Arc<Secrets>,
    failures: BTreeMap<String, (String, Timestamp)>,
    /// Why the stored catalogs could not be read, if so.
    warning: Option<String>,
}

/// Returns the key under which the store keeps the last failure of a server, in the table of catalogs. It
/// cannot clash with the name of a server, which contains no slash.
fn failure_key(server: &str) -> String {
    format!("{server}/failure")
}

/// Stores the result of connecting to a server: the error, or `None` if it succeeded.
pub(crate) async fn remember(store: &dyn Store, server: &str, error: Option<&str>) {
    let key = failure_key(server);
    let kept = match error {
        Some(error) => {
            let error = serde_json::Value::from(error).to_string();
            store.keep_catalog(&key, &error, Timestamp::now()).await
        }
        None => store.drop_catalog(&key).await,
    };
    // The failure is only shown later; the current request has its result already.
    drop(kept);
}

/// Removes all stored data of a server.
pub(crate) async fn forget_server(store: &dyn Store, server: &str) {
    // Remains are harmless: servers that are not configured are not shown.
    drop(store.drop_catalog(server).await);
    drop(store.drop_catalog(&failure_key(server)).await);
}

impl CatalogRouter {
    /// For commands that only read: uses the stored catalogs and creates nothing.
    pub(crate) async fn to_read(home: &Home, tell: ShowLine) -> Done<Self> {
        // Tools can be shown without stored catalogs.
        let (store, warning) = match store::read(home) {
            Ok(store) => (Some(store), None),
            Err(failure) => (None, Some(failure.message)),
        };
        let opened = Self::with(home, store, tell).await?;
        Ok(Self { warning, ..opened })
    }

    /// For commands that query servers: stores their answers.
    pub(crate) async fn to_ask(home: &Home, tell: ShowLine) -> Done<Self> {
        Self::with(home, Some(store::open(home)?), tell).await
    }

    /// Like [`Self::to_ask`], with one server only.
    pub(crate) async fn to_ask_one(
        home: &Home,
        store: Arc<dyn Store>,
        server: &str,
        tell: ShowLine,
    ) -> Done<Self> {
        let mut options = home.config.tools.clone();
        options.servers.retain(|name, _| name == server);
        Self::with_options(home, options, Some(store), tell).await
    }

    async fn with(home: &Home, store: Option<Arc<dyn Store>>, tell: ShowLine) -> Done<Self> {
        Self::with_options(home, home.config.tools.clone(), store, tell).await
    }

    async fn with_options(
        home: &Home,
        options: Options,
        store: Option<Arc<dyn Store>>,
        tell: ShowLine,
    ) -> Done<Self> {
        let (stored, failures) = match &store {
            Some(store) => read_catalogs(&**store).await?,
            None => Default::default(),
        };
        let keeper = Arc::new(Keeper::new(store.clone(), &stored));
        let secrets = Arc::new(Secrets::new(&home.config));
        let environment = Environment {
            secrets: secrets.clone(),
            vault: Arc::new(SignIns::new(&home.path)),
            notices: outbox(store.clone(), tell),
            logs: Arc::new(move |line| tell(&log_line(&line))),
            catalogs: Arc::new({
                let keeper = keeper.clone();
                move |catalog| keeper.keep(catalog)
            }),
            zone: HostZone::new(home.moment().zone),
            ..Environment::default()
        };
        let router = Router::new(options, environment);
        deft_engine::show_own_tools(&router);
        router.restore(stored.into_iter().map(|(catalog, _)| catalog));
        Ok(Self {
            router,
            keeper,
            secrets,
            failures,
            warning: None,
        })
    }

    /// Returns the last catalog of a server, and when it was received.
    pub(crate) fn catalog(&self, server: &str) -> Option<(Catalog, Timestamp)> {
        self.keeper.known.lock().get(server).cloned()
    }

    /// Returns why the server did not answer the last time, and when that was. `None` if it has answered
    /// since.
    pub(crate) fn failure(&self, server: &str) -> Option<(String, Timestamp)> {
        self.failures.get(&failure_key(server)).cloned()
    }

    /// Shuts the servers down, waits until everything is stored, and returns warnings about the store and
    /// secrets.
    pub(crate) async fn close(self) -> Vec<String> {
        self.router.shutdown().await;
        let mut warnings = Vec::from_iter(self.warning);
        let pending = std::mem::take(&mut *self.keeper.pending.lock());
        for write in pending {
            if let Ok(Err(problem)) = write.await {
                warnings.push(format!("a catalog of tools could not be stored: {problem}"));
            }
        }
        warnings.extend(self.secrets.take_warnings());
        warnings
    }
}

type PendingWrite = JoinHandle<Result<(), deft_store::Error>>;

/// Stores catalogs as they arrive.
struct Keeper {
    store: Option<Arc<dyn Store>>,
    known: Mutex<BTreeMap<String, (Catalog, Timestamp)>>,
    pending: Mutex<Vec<PendingWrite>>,
}

impl Keeper {
    fn new(store: Option<Arc<dyn Store>>, stored: &[(Catalog, Timestamp)]) -> Self {
        let known = stored.iter().map(|one| (one.0.server.clone(), one.clone()));
        Self {
            store,
            known: Mutex::new(known.collect()),
            pending: Mutex::default(),
        }
    }

    fn keep(&self, catalog: &Catalog) {
        let now = Timestamp::now();
        self.known
            .lock()
            .insert(catalog.server.clone(), (catalog.clone(), now));
        let text = serde_json::to_string(catalog);
        // The router calls this from inside the runtime, so it must not block.
        let runtime = tokio::runtime::Handle::try_current();
        let (Some(store), Ok(text), Ok(runtime)) = (self.store.clone(), text, runtime) else {
            return;
        };
        let server = catalog.server.clone();
        let write = runtime.spawn(async move { store.keep_catalog(&server, &text, now).await });
        self.pending.lock().push(write);
    }
}

/// Stored data of servers: their catalogs, and the failures of the last connections.
type StoredCatalogs = (
    Vec<(Catalog, Timestamp)>,
    BTreeMap<String, (String, Timestamp)>,
);

/// Reads the stored catalogs. A catalog in the format of a newer version is ignored: the server is queried
/// again.
async fn read_catalogs(store: &dyn Store) -> Done<StoredCatalogs> {
    let rows = store.catalogs().await;
    let mut stored = StoredCatalogs::default();
    for (name, text, at) in rows.map_err(|problem| store::failure(&problem))? {
        match serde_json::from_str::<Catalog>(&text) {
            Ok(catalog) => stored.0.push((catalog, at)),
            Err(_) => {
                let error = serde_json::from_str::<String>(&text).ok();
                stored.1.extend(error.map(|error| (name, (error, at))));
            }
        }
    }
    Ok(stored)
}

/// Returns the sink for `notify`, which stores notices in the outbox for delivery. Without a store, a notice
/// is only printed at the terminal.
fn outbox(store: Option<Arc<dyn Store>>, tell: ShowLine) -> Arc<Notices> {
    Arc::new(move |notice| {
        let store = store.clone();
        Box::pin(async move {
            let Some(store) = store else {
                tell(&format!("notice: {}", notice.message));
                return Ok(());
            };
            let from = origin(&*store, &notice.key).await;
            let new = NewNotice {
                key: notice.key.clone(),
                skill: from.as_ref().map(|run| run.skill.clone()),
                body: body(notice, from),
                at: Timestamp::now(),
            };
            let kept = store.add_notice(new).await;
            kept.map(drop).map_err(|problem| {
                let mut failure = Failure::new(FailureClass::Other, problem.to_string());
                failure.hint = problem.hint().map(str::to_owned);
                failure
            })
        })
    })
}

/// Returns the run that sent the notice, whose id is the prefix of `key`. A manual call has no run.
async fn origin(store: &dyn Store, key: &str) -> Option<RunRow> {
    let (run, _) = key.split_once('/')?;
    let read = store.run(&RunId::new(run)).await;
    read_or_log(read, "the run that sent a notice").flatten()
}

fn body(notice: Notice, from: Option<RunRow>) -> String {
    let notice = deft_engine::Notice {
        kind: deft_engine::NoticeKind::Message,
        title: notice.title.unwrap_or_default(),
        text: notice.message,
        run: from.as_ref().map(|run| run.id.to_string()),
        skill: from.map(|run| run.skill),
        target: notice.target,
        approval: None,
        always: false,
    };
    serde_json::to_string(&notice).unwrap_or_default()
}

fn log_line(line: &LogLine) -> String {
    let level = match line.level {
        Level::Debug => "debug",
        Level::Info => "info",
        Level::Warning => "warning",
        Level::Error => "error",
    };
    let fields = line.fields.as_ref().map(|fields| format!(" {fields}"));
    format!(
        "log: {level}: {}{}",
        line.message,
        fields.unwrap_or_default()
    )
}
