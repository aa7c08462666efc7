//! The handle that surfaces hold, and what all its parts share.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::time::Duration;

use deft_agents::Agents;
use deft_base::Base;
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

use crate::record::PublishedEvent;
use crate::{Attention, Clock, Error, Library, Options, Outbox, Owner, Skills};

/// What an engine is made of.
pub struct Parts {
    /// Where runs are kept.
    pub store: Arc<dyn Store>,
    /// Where skills are found.
    pub skills: Arc<dyn Skills>,
    /// Calls tools.
    pub router: Router,
    /// Runs Python.
    pub compute: Compute,
    /// Asks models.
    pub models: Models,
    /// Tells the time.
    pub clock: Arc<dyn Clock>,
    /// Where the secrets come from that skills name.
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
    /// Rules of the interpreter; the zone in them may change.
    rules: RwLock<Arc<Rules>>,
    pub(crate) base: Base,
    pub(crate) library: Arc<Library>,
    pub(crate) outbox: Outbox,
    pub(crate) owner: Owner,
    /// Revisions whose content is known to be stored.
    kept: Mutex<HashSet<String>>,
    /// Runs that are driven here, and how to stop them.
    driven: Mutex<HashMap<RunId, Stop>>,
    /// Their askers: the person who answers for a run also answers for the runs it starts.
    watched: Mutex<HashMap<RunId, Attention>>,
    /// Leases of runs that are driven no more and could not be given back yet.
    abandoned: Mutex<Vec<Lease>>,
    live: broadcast::Sender<Arc<PublishedEvent>>,
    pub(crate) agents: Arc<Agents>,
    pub(crate) incidents: Incidents,
}

/// How a run that is driven here is stopped.
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

/// How many events a slow listener may fall behind before it has to read the store.
const LIVE_EVENTS: usize = 4096;

/// How often a process that drives runs looks for requests to stop.
const LOOK_AROUND: Duration = Duration::from_millis(250);

impl Engine {
    /// Puts an engine together and takes the lock of this process.
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

    /// An engine that only looks: it drives nothing, and needs no folder that it may write to.
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

    /// Lets schedules stand at another time from now on, to try them out: what a failure puts off is
    /// put off from there. Leases, messages and what is written down use the clock.
    pub fn hold_schedule_time(&self, at: Timestamp) {
        self.inner.base.hold_schedule_time(at);
    }

    /// Uses another zone of the host from now on, and plans the slots anew that depend on it. Gives back
    /// how many skills fire at another time.
    pub async fn set_zone(&self, zone: &TimeZone) -> Result<usize, Error> {
        let inner = &self.inner;
        inner.base.set_zone(&deft_schedule::zone_name(zone));
        inner.use_zone(zone.clone());
        inner.parts.router.set_zone(zone.clone());
        inner.library.follow_zone().await
    }

    /// Events of all runs that are driven here, each after it was stored.
    pub fn subscribe(&self) -> broadcast::Receiver<Arc<PublishedEvent>> {
        self.inner.live.subscribe()
    }

    /// Tells whether the process that drove a run is gone without having finished it.
    pub fn is_abandoned(&self, run: &RunRow) -> bool {
        let owner = run.owner.as_deref();
        run.status == RunStatus::Running
            && owner.is_some_and(|owner| self.inner.owner.is_gone(owner))
    }

    /// The store, the clock and the bells.
    pub fn base(&self) -> &Base {
        &self.inner.base
    }

    /// The settings.
    pub fn options(&self) -> &Options {
        &self.inner.options
    }

    /// Outages that people were told of.
    pub fn incidents(&self) -> &Incidents {
        &self.inner.incidents
    }

    /// Wakes every loop that looks for work.
    pub fn ring(&self) {
        self.inner.base.bells().ring_all();
    }

    /// What agents are told, may do and may spend.
    pub fn agents(&self) -> &Arc<Agents> {
        &self.inner.agents
    }

    /// Where runs are kept.
    pub fn store(&self) -> &Arc<dyn Store> {
        &self.inner.parts.store
    }

    /// The skills.
    pub fn library(&self) -> &Arc<Library> {
        &self.inner.library
    }

    /// Messages to people.
    pub fn outbox(&self) -> &Outbox {
        &self.inner.outbox
    }

    /// The tool router.
    pub fn router(&self) -> &Router {
        &self.inner.parts.router
    }

    /// What leases call this process.
    pub fn owner(&self) -> &str {
        self.inner.owner.name()
    }

    /// Asks a run to stop, wherever it is driven.
    pub async fn cancel(&self, run: &RunId, by: &str) -> Result<CancelState, Error> {
        let state = self.inner.close(run, by).await?;
        if let CancelState::Done(row) = &state {
            self.inner.library.count_cancelled(row).await?;
        }
        let CancelState::Asked(row) = &state else {
            return Ok(state);
        };
        self.inner.stop(run, by);
        // The process that drove the run is gone, so it cannot see the request.
        let orphan = row
            .owner
            .clone()
            .filter(|owner| self.inner.owner.is_dead(owner));
        match orphan {
            Some(owner) => {
                let now = self.inner.now();
                self.store().release(vec![owner], now).await?;
                self.close_orphan(run, by).await
            }
            None => Ok(state),
        }
    }

    /// Keeps the leases of this process alive and stops what others want stopped. Runs until it
    /// is dropped.
    pub async fn keep_leases(&self) {
        let inner = &self.inner;
        let mut seen = None;
        let mut renewed = inner.now();
        loop {
            let driving = inner.base.bells().driving.notified();
            if inner.is_idle() {
                driving.await;
            }
            let next = inner.now().saturating_add(LOOK_AROUND);
            let next = next.unwrap_or(Timestamp::MAX);
            inner.parts.clock.sleep_until(next).await;
            if inner.is_idle() {
                continue;
            }
            // A number is cheaper to read than rows, and nothing happens most of the time.
            let version = inner.parts.store.version().await.ok();
            if version != seen {
                seen = version;
                inner.heed_wishes().await;
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
    /// The rules of the interpreter, as they are now.
    pub(crate) fn rules(&self) -> Arc<Rules> {
        Arc::clone(&self.rules.read())
    }

    fn use_zone(&self, zone: TimeZone) {
        let mut rules = self.rules.write();
        let others = Rules::clone(&rules);
        *rules = Arc::new(Rules { zone, ..others });
    }

    /// The present to the microsecond.
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
        // An event without listeners is no failure.
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

    /// The asker for a run that another run starts: the one of that run.
    pub(crate) fn attention_below(&self, run: &RunId) -> Attention {
        let above = self.watched.lock().get(run).cloned().unwrap_or_default();
        Attention {
            asker: above.asker,
            assume_yes: above.assume_yes,
            ..Attention::default()
        }
    }

    pub(crate) fn abandoned(&self) -> MutexGuard<'_, Vec<Lease>> {
        self.abandoned.lock()
    }

    fn is_idle(&self) -> bool {
        self.driven.lock().is_empty()
    }

    /// Stops the runs driven here for which any process has stored a request to stop.
    async fn heed_wishes(&self) {
        let driven: Vec<RunId> = self.driven.lock().keys().cloned().collect();
        for run in driven {
            let row = self.parts.store.run(&run).await.ok().flatten();
            if let Some(by) = row.and_then(|row| row.cancel_by) {
                self.stop(&run, &by);
            }
        }
    }

    async fn renew(&self) {
        let until = self.lease_until();
        // The drivers find out for themselves if a lease is lost.
        if let Err(error) = self.parts.store.renew(self.owner.name(), until).await {
            tracing::warn!(%error, "leases could not be renewed");
        }
    }

    /// Stops a run that is driven here; says whether it is.
    pub(crate) fn stop(&self, run: &RunId, by: &str) -> bool {
        let driven = self.driven.lock().get(run).cloned();
        driven.inspect(|stop| stop.ask(by)).is_some()
    }
}
