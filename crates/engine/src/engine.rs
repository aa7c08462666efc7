//! The engine's handle for front ends, and the state that its parts share.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::time::Duration;

use deft_agents::Agents;
use deft_base::{Base, read_or_log};
use deft_compute::Compute;
use deft_library::{Incidents, Settings as LibrarySettings};
use deft_llm::Models;
use deft_model::{RunId, RunStatus};
use deft_store::{CancelState, Lease, RunRow, Store};
use deft_tools::{Router, SecretSource};
use deft_workflow::{Remedy, Rules};
use jiff::Timestamp;
use jiff::tz::TimeZone;
use parking_lot::{Mutex, MutexGuard, RwLock};
use tokio::sync::broadcast;
use tokio_util::sync::CancellationToken;

use crate::published_event::PublishedEvent;
use crate::{Attention, Clock, Error, Library, Options, Outbox, Owner, Skills};

/// The parts that an engine is built from.
pub struct Parts {
    /// Stores runs.
    pub store: Arc<dyn Store>,
    /// The source of file skills.
    pub skills: Arc<dyn Skills>,
    /// Calls tools.
    pub router: Router,
    /// Runs Python.
    pub compute: Compute,
    /// Asks models.
    pub models: Models,
    /// The clock.
    pub clock: Arc<dyn Clock>,
    /// The source of the secrets that skills name.
    pub secrets: Arc<dyn SecretSource>,
}

/// Admits, drives and recovers runs. Cheap to clone.
#[derive(Clone)]
pub struct Engine {
    pub(crate) inner: Arc<Inner>,
}

pub(crate) struct Inner {
    pub(crate) options: Options,
    pub(crate) parts: Parts,
    /// Rules of the interpreter; their zone can change.
    rules: RwLock<Arc<Rules>>,
    pub(crate) base: Base,
    pub(crate) library: Arc<Library>,
    pub(crate) outbox: Outbox,
    pub(crate) owner: Owner,
    /// Revisions whose content this process knows to be stored.
    kept: Mutex<HashSet<String>>,
    /// Runs that are driven here, with the means to stop them.
    driven: Mutex<HashMap<RunId, Stop>>,
    /// The attention of these runs: the person who answers for a run also answers for the runs it starts.
    watched: Mutex<HashMap<RunId, Attention>>,
    /// Leases of runs that are no longer driven, and that the store has not released yet.
    abandoned: Mutex<Vec<Lease>>,
    live: broadcast::Sender<Arc<PublishedEvent>>,
    pub(crate) agents: Arc<Agents>,
    pub(crate) incidents: Incidents,
}

/// Stops a run that is driven here.
#[derive(Clone, Debug, Default)]
pub(crate) struct Stop {
    pub(crate) token: CancellationToken,
    pub(crate) by: Arc<Mutex<Option<String>>>,
}

impl Stop {
    pub(crate) fn ask(&self, by: &str) {
        self.by.lock().get_or_insert_with(|| by.to_owned());
        self.token.cancel();
    }
}

/// Number of events that a slow listener may fall behind before it has to read the store.
const LIVE_EVENTS: usize = 4096;

/// How often a process that drives runs checks for requests to stop.
const STOP_POLL_INTERVAL: Duration = Duration::from_millis(250);

impl Engine {
    /// Builds an engine, and takes the lock file of this process.
    pub fn new(parts: Parts, options: Options) -> Result<Self, Error> {
        let owner = Owner::enter(&options.owners).and_then(|owner| {
            owner.remember_boot()?;
            Ok(owner)
        });
        let owner = owner.map_err(|error| Error::Owner {
            folder: options.owners.display().to_string(),
            why: error.to_string(),
        })?;
        Self::with_owner(parts, options, owner)
    }

    /// Returns an engine for reading: it drives nothing, and needs no writable folder.
    pub fn to_read(parts: Parts, options: Options) -> Result<Self, Error> {
        let owner = Owner::onlooker(&options.owners);
        Self::with_owner(parts, options, owner)
    }

    fn with_owner(parts: Parts, options: Options, owner: Owner) -> Result<Self, Error> {
        let heals = options.heals.iter().map(|heal| {
            Remedy::compile(heal).map_err(|error| Error::Heal {
                tool: heal.tool.clone(),
                why: error.message,
            })
        });
        let heals = heals.collect::<Result<_, _>>()?;
        let rules = Rules {
            heals,
            max_results: options.max_results_bytes,
            zone: TimeZone::get(&options.zone).unwrap_or(TimeZone::UTC),
            ..Rules::default()
        };
        let base = Base::new(
            Arc::clone(&parts.store),
            Arc::clone(&parts.clock),
            &options.zone,
        );
        let settings = LibrarySettings {
            waiting_defaults: options.waiting_defaults.clone(),
            notify_minutes: options.notify_minutes,
            zone_doubt: options.zone_doubt.clone(),
        };
        let files = Arc::clone(&parts.skills);
        let library = Library::new(base.clone(), files, parts.router.clone(), settings);
        let library = Arc::new(library);
        let agents = Agents::new(
            base.clone(),
            Arc::clone(&library),
            parts.router.clone(),
            parts.models.clone(),
            options.agent.clone(),
            options.protected.clone(),
        );
        let (live, _) = broadcast::channel(LIVE_EVENTS);
        Ok(Self {
            inner: Arc::new(Inner {
                options,
                parts,
                rules: RwLock::new(Arc::new(rules)),
                library,
                owner,
                kept: Mutex::default(),
                driven: Mutex::default(),
                watched: Mutex::default(),
                abandoned: Mutex::default(),
                live,
                agents: Arc::new(agents),
                outbox: Outbox::new(base.clone()),
                incidents: Incidents::new(base.clone()),
                base,
            }),
        })
    }

    /// Fixes the time that schedules see, to try them out: the backoff after a failure counts from there.
    /// Leases, notices and timestamps use the clock.
    pub fn hold_schedule_time(&self, at: Timestamp) {
        self.inner.base.hold_schedule_time(at);
    }

    /// Changes the zone of the host, and plans the slots that depend on it again. Returns how many skills
    /// fire at another time.
    pub async fn set_zone(&self, zone: &TimeZone) -> Result<usize, Error> {
        let inner = &self.inner;
        inner.base.set_zone(&deft_schedule::zone_name(zone));
        inner.use_zone(zone.clone());
        inner.parts.router.set_zone(zone.clone());
        inner.library.follow_zone().await
    }

    /// Subscribes to the events of all runs that are driven here; each is sent after it was stored.
    pub fn subscribe(&self) -> broadcast::Receiver<Arc<PublishedEvent>> {
        self.inner.live.subscribe()
    }

    /// Whether the process that drove a run has exited without finishing it.
    pub fn is_abandoned(&self, run: &RunRow) -> bool {
        let owner = run.owner.as_deref();
        run.status == RunStatus::Running
            && owner.is_some_and(|owner| self.inner.owner.has_exited(owner))
    }

    /// The store, the clock and the bells.
    pub fn base(&self) -> &Base {
        &self.inner.base
    }

    /// The settings.
    pub fn options(&self) -> &Options {
        &self.inner.options
    }

    /// The outages that people were told about.
    pub fn incidents(&self) -> &Incidents {
        &self.inner.incidents
    }

    /// Wakes every loop that looks for work.
    pub fn ring(&self) {
        self.inner.base.bells().ring_all();
    }

    /// Prompts, rights and budgets of agents.
    pub fn agents(&self) -> &Arc<Agents> {
        &self.inner.agents
    }

    /// The store.
    pub fn store(&self) -> &Arc<dyn Store> {
        &self.inner.parts.store
    }

    /// The skills.
    pub fn library(&self) -> &Arc<Library> {
        &self.inner.library
    }

    /// The outbox.
    pub fn outbox(&self) -> &Outbox {
        &self.inner.outbox
    }

    /// The tool router.
    pub fn router(&self) -> &Router {
        &self.inner.parts.router
    }

    /// The name of this process in leases.
    pub fn owner(&self) -> &str {
        self.inner.owner.name()
    }

    /// Requests a run to stop, in whichever process it is driven.
    pub async fn cancel(&self, run: &RunId, by: &str) -> Result<CancelState, Error> {
        let state = self.inner.close(run, by).await?;
        if let CancelState::Done(row) = &state {
            self.inner.library.count_cancelled(row).await?;
        }
        let CancelState::Asked(row) = &state else {
            return Ok(state);
        };
        self.inner.stop(run, by);
        // The process that drove the run has exited, so it cannot see the request.
        let orphan = row
            .owner
            .clone()
            .filter(|owner| self.inner.owner.is_dead(owner));
        match orphan {
            Some(owner) => {
                self.release_dead(owner).await?;
                self.close_orphan(run, by).await
            }
            None => Ok(state),
        }
    }

    /// Renews the leases of this process, and stops runs on request. Runs until it is dropped.
    pub async fn keep_leases(&self) {
        let inner = &self.inner;
        let mut seen = None;
        let mut renewed = inner.now();
        loop {
            let driving = inner.base.bells().driving.notified();
            if inner.is_idle() {
                driving.await;
            }
            let next = inner.now().saturating_add(STOP_POLL_INTERVAL);
            let next = next.unwrap_or(Timestamp::MAX);
            inner.parts.clock.sleep_until(next).await;
            if inner.is_idle() {
                continue;
            }
            // The version is cheaper to read than rows, and usually nothing has changed.
            let version = inner.parts.store.version().await.ok();
            if version != seen {
                seen = version;
                inner.stop_cancelled_runs().await;
            }
            let due = renewed.saturating_add(inner.options.lease / 3);
            if due.is_ok_and(|due| inner.now() >= due) {
                renewed = inner.now();
                inner.renew().await;
            }
        }
    }
}

impl Inner {
    /// Returns the current rules of the interpreter.
    pub(crate) fn rules(&self) -> Arc<Rules> {
        Arc::clone(&self.rules.read())
    }

    fn use_zone(&self, zone: TimeZone) {
        let mut rules = self.rules.write();
        let others = Rules::clone(&rules);
        *rules = Arc::new(Rules { zone, ..others });
    }

    /// The current time, in microseconds.
    pub(crate) fn now(&self) -> Timestamp {
        self.base.now()
    }

    pub(crate) fn lease_until(&self) -> Timestamp {
        self.now()
            .saturating_add(self.options.lease)
            .unwrap_or(Timestamp::MAX)
    }

    pub(crate) fn has_listeners(&self) -> bool {
        self.live.receiver_count() > 0
    }

    pub(crate) fn publish(&self, event: PublishedEvent) {
        // An event without listeners is not an error.
        drop(self.live.send(Arc::new(event)));
    }

    pub(crate) fn is_kept(&self, revision: &str) -> bool {
        self.kept.lock().contains(revision)
    }

    pub(crate) fn note_kept(&self, revision: &str) {
        self.kept.lock().insert(revision.to_owned());
    }

    pub(crate) fn register(&self, run: &RunId, attention: &Attention) -> Stop {
        self.watched.lock().insert(run.clone(), attention.clone());
        let stop = self.driven.lock().entry(run.clone()).or_default().clone();
        self.base.bells().driving.notify_waiters();
        stop
    }

    pub(crate) fn unregister(&self, run: &RunId) {
        self.driven.lock().remove(run);
        self.watched.lock().remove(run);
    }

    /// Returns the attention for a run that `run` starts: its asker, and the flag to assume yes.
    pub(crate) fn attention_below(&self, run: &RunId) -> Attention {
        let above = self.watched.lock().get(run).cloned().unwrap_or_default();
        Attention {
            asker: above.asker,
            assume_yes: above.assume_yes,
            ..Attention::default()
        }
    }

    pub(crate) fn abandoned_leases(&self) -> MutexGuard<'_, Vec<Lease>> {
        self.abandoned.lock()
    }

    fn is_idle(&self) -> bool {
        self.driven.lock().is_empty()
    }

    /// Stops the runs driven here for which any process has stored a request to stop.
    async fn stop_cancelled_runs(&self) {
        let driven: Vec<RunId> = self.driven.lock().keys().cloned().collect();
        for run in driven {
            let row = self.parts.store.run(&run).await;
            let row = read_or_log(row, "a request to stop").flatten();
            if let Some(by) = row.and_then(|row| row.cancel_by) {
                self.stop(&run, &by);
            }
        }
    }

    async fn renew(&self) {
        let until = self.lease_until();
        // The drivers detect a lost lease themselves.
        if let Err(error) = self.parts.store.renew(self.owner.name(), until).await {
            tracing::warn!(%error, "leases could not be renewed");
        }
    }

    /// Stops a run that is driven here; returns false if it is not.
    pub(crate) fn stop(&self, run: &RunId, by: &str) -> bool {
        let driven = self.driven.lock().get(run).cloned();
        driven.inspect(|stop| stop.ask(by)).is_some()
    }
}
