//! The router of a home: its servers, its secrets, and the catalogs that were
//! stored when servers were last asked.
//!
//! Opening starts no server. New catalogs are stored as they come in.

use std::collections::BTreeMap;
use std::sync::Arc;

use deft_model::{Failure, FailureClass, RunId};
use deft_store::{NewNotice, RunRow, Store};
use deft_tools::{
    Catalog, Environment, HostZone, Level, LogLine, Notice, Notices, Options, Router,
};
use jiff::Timestamp;
use parking_lot::Mutex;
use tokio::task::JoinHandle;

use crate::store;
use deft_channels::Tell;
use deft_config::Home;
use deft_config::{Secrets, SignIns};
use deft_wire::Done;

/// The router of a home, for a caller that has opened the store.
pub(crate) async fn of_home(
    home: &Home,
    store: Option<&Arc<dyn Store>>,
    tell: Tell,
) -> Done<Router> {
    Ok(CatalogRouter::with(home, store.cloned(), tell)
        .await?
        .router)
}

/// A router and what a command wants to know about it.
pub(crate) struct CatalogRouter {
    /// The router.
    pub(crate) router: Router,
    keeper: Arc<Keeper>,
    secrets: Arc<Secrets>,
    failures: BTreeMap<String, (String, Timestamp)>,
    /// Why the stored catalogs could not be read, if that is so.
    warning: Option<String>,
}

/// Where the store keeps why a server could not be asked, among what servers offer: no server has
/// a slash in its name.
fn failure_key(server: &str) -> String {
    format!("{server}/failure")
}

/// Remembers how it went when a server was asked.
pub(crate) async fn remember(store: &dyn Store, server: &str, error: Option<&str>) {
    let key = failure_key(server);
    let kept = match error {
        Some(error) => {
            let error = serde_json::Value::from(error).to_string();
            store.keep_catalog(&key, &error, Timestamp::now()).await
        }
        None => store.drop_catalog(&key).await,
    };
    // It is only said again later; what was asked for has been answered.
    drop(kept);
}

/// Forgets everything about a server.
pub(crate) async fn forget_server(store: &dyn Store, server: &str) {
    // What is left of it does no harm: servers that are not configured are not shown.
    drop(store.drop_catalog(server).await);
    drop(store.drop_catalog(&failure_key(server)).await);
}

impl CatalogRouter {
    /// For commands that only read: uses the stored catalogs and creates nothing.
    pub(crate) async fn to_read(home: &Home, tell: Tell) -> Done<Self> {
        // Tools can be shown without what was stored about them.
        let (store, warning) = match store::read(home) {
            Ok(store) => (Some(store), None),
            Err(failure) => (None, Some(failure.message)),
        };
        let opened = Self::with(home, store, tell).await?;
        Ok(Self { warning, ..opened })
    }

    /// For commands that ask servers: what they say is stored.
    pub(crate) async fn to_ask(home: &Home, tell: Tell) -> Done<Self> {
        Self::with(home, Some(store::open(home)?), tell).await
    }

    /// The same for one server; the others do not exist.
    pub(crate) async fn to_ask_one(
        home: &Home,
        store: Arc<dyn Store>,
        server: &str,
        tell: Tell,
    ) -> Done<Self> {
        let mut options = home.config.tools.clone();
        options.servers.retain(|name, _| name == server);
        Self::with_options(home, options, Some(store), tell).await
    }

    async fn with(home: &Home, store: Option<Arc<dyn Store>>, tell: Tell) -> Done<Self> {
        Self::with_options(home, home.config.tools.clone(), store, tell).await
    }

    async fn with_options(
        home: &Home,
        options: Options,
        store: Option<Arc<dyn Store>>,
        tell: Tell,
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

    /// The last answer of a server, and its time.
    pub(crate) fn catalog(&self, server: &str) -> Option<(Catalog, Timestamp)> {
        self.keeper.known.lock().get(server).cloned()
    }

    /// Why a server did not answer the last time it was asked, and when that was. Nothing if it has
    /// answered since.
    pub(crate) fn failure(&self, server: &str) -> Option<(String, Timestamp)> {
        self.failures.get(&failure_key(server)).cloned()
    }

    /// Ends the servers, waits until everything is stored, and returns warnings about the store and
    /// about secrets.
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

/// Stores catalogs as they come in.
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
        // The router tells from inside the runtime, and must not wait.
        let runtime = tokio::runtime::Handle::try_current();
        let (Some(store), Ok(text), Ok(runtime)) = (self.store.clone(), text, runtime) else {
            return;
        };
        let server = catalog.server.clone();
        let write = runtime.spawn(async move { store.keep_catalog(&server, &text, now).await });
        self.pending.lock().push(write);
    }
}

/// The stored facts about servers: their catalogs, and why they could not be asked.
type StoredCatalogs = (
    Vec<(Catalog, Timestamp)>,
    BTreeMap<String, (String, Timestamp)>,
);

/// Catalogs that were stored. One that a newer version wrote otherwise is as
/// good as none: the server is asked again.
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

/// What `notify` says goes into the outbox, from where it is carried to people. Without a store only
/// the person at the terminal is told.
fn outbox(store: Option<Arc<dyn Store>>, tell: Tell) -> Arc<Notices> {
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

/// The run that says something; its key begins with it. A call by hand belongs to none.
async fn origin(store: &dyn Store, key: &str) -> Option<RunRow> {
    let (run, _) = key.split_once('/')?;
    // A message that does not say where it comes from is better than none.
    store.run(&RunId::new(run)).await.ok().flatten()
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
