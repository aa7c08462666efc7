//! Metrics of a home, counted by its daemon from the events of the store. They are updated on request, so
//! they cost nothing between requests.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use deft_config::Config;
use deft_engine::{Engine, read_or_log};
use deft_model::{EventType, RunId};
use deft_store::StoredEvent;
use deft_telemetry::{
    Metric, ReceiverClient, Registry, RunFold, StateReader, measure, prometheus_text,
};
use deft_wire::Done;
use jiff::Timestamp;
use parking_lot::Mutex as SyncMutex;
use tokio::sync::Mutex;
use tokio_util::sync::CancellationToken;

use super::gauges::{self, RowProgress};
use super::{EngineNames, facts, receiver};
use crate::store;

/// Number of events read at once.
const PAGE: u32 = 500;

/// Maximum number of stored events since the last count. Beyond it, older events are skipped and counting
/// resumes at the newest.
const MAX_EVENTS_BEHIND: u64 = 200_000;

/// Maximum number of tracked runs. At the limit all are dropped, and read from their journals again when
/// needed.
const MAX_RUNS: usize = 10_000;

/// The metrics of a daemon.
pub struct Metrics {
    engine: Engine,
    registry: Registry,
    traces: Option<StateReader>,
    progress: Mutex<ReadProgress>,
    clients: SyncMutex<u64>,
}

/// The position up to which the store was read.
struct ReadProgress {
    /// The last counted event.
    position: u64,
    /// The runs that are not over.
    runs: HashMap<RunId, RunFold>,
    /// The position in rows without events.
    rows: RowProgress,
}

impl Metrics {
    /// Starts counting at the current position of the store.
    pub(crate) async fn start(engine: &Engine, traces: Option<StateReader>) -> Done<Arc<Self>> {
        let position = engine.store().newest_event().await;
        let now = Timestamp::now();
        Ok(Arc::new(Self {
            engine: engine.clone(),
            registry: Registry::new(now),
            traces,
            progress: Mutex::new(ReadProgress {
                position: position.map_err(|error| store::failure(&error))?,
                runs: HashMap::new(),
                rows: RowProgress::new(now),
            }),
            clients: SyncMutex::new(0),
        }))
    }

    /// Returns all metrics in the text format of Prometheus; `clients` is the number of clients of the live
    /// feed.
    pub async fn text(&self, clients: usize) -> Done<String> {
        *self.clients.lock() = u64::try_from(clients).unwrap_or(u64::MAX);
        self.refresh().await?;
        Ok(prometheus_text(&self.registry))
    }

    /// Exports the metrics periodically, if configured.
    pub(crate) async fn export(self: Arc<Self>, config: Config, stop: CancellationToken) {
        let telemetry = config.telemetry.clone();
        if telemetry.endpoint.is_none() || !telemetry.metrics {
            return;
        }
        // The headers may be in a keyring that waits for its user.
        let made = tokio::task::spawn_blocking(move || receiver(&config)).await;
        let made = made.map_err(|error| error.to_string());
        let made = made.and_then(|made| made.map_err(|failure| failure.message));
        let made = made.and_then(|options| options.map(ReceiverClient::new).transpose());
        let receiving = match made {
            Ok(Some(receiving)) => receiving,
            Ok(None) => return,
            Err(why) => {
                tracing::warn!("metrics are not exported: {why}");
                return;
            }
        };
        let mut is_over = false;
        while !is_over {
            tokio::select! {
                () = tokio::time::sleep(telemetry.interval) => {}
                () = stop.cancelled() => is_over = true,
            }
            // A last export reports the end of the daemon, but must not delay it.
            let limit = if is_over {
                LAST_EXPORT_TIMEOUT
            } else {
                Duration::MAX
            };
            drop(tokio::time::timeout(limit, self.export_once(&receiving)).await);
        }
    }

    async fn export_once(&self, receiving: &ReceiverClient) {
        let refreshed = self.refresh().await.map_err(|failure| failure.message);
        let sent = match refreshed {
            Ok(()) => receiving.send_metrics(&self.registry).await,
            Err(why) => Err(why),
        };
        if let Err(why) = sent {
            tracing::warn!("metrics were not exported: {why}");
        }
    }

    /// Counts everything stored since the last call.
    async fn refresh(&self) -> Done<()> {
        let mut progress = self.progress.lock().await;
        let read = self.catch_up(&mut progress).await;
        read.map_err(|error| store::failure(&error))?;
        gauges::refresh(&self.registry, &self.engine, &mut progress.rows).await;
        let clients = *self.clients.lock();
        let clients = f64::from(u32::try_from(clients).unwrap_or(u32::MAX));
        self.registry.set(Metric::FeedClients, &[], clients);
        if let Some(traces) = &self.traces {
            gauges::count_spans(&self.registry, &mut progress.rows, &traces.read());
        }
        Ok(())
    }

    async fn catch_up(&self, progress: &mut ReadProgress) -> Result<(), deft_store::Error> {
        let newest = self.engine.store().newest_event().await?;
        if newest.saturating_sub(progress.position) > MAX_EVENTS_BEHIND {
            progress.position = newest;
            progress.runs.clear();
        }
        while progress.position < newest {
            let store = self.engine.store();
            let events = store.events(None, progress.position, PAGE).await?;
            let Some(last) = events.last().map(|event| event.seq) else {
                progress.position = newest;
                return Ok(());
            };
            for event in &events {
                self.count(progress, event).await?;
            }
            progress.position = last;
        }
        Ok(())
    }

    async fn count(
        &self,
        progress: &mut ReadProgress,
        stored: &StoredEvent,
    ) -> Result<(), deft_store::Error> {
        if !progress.runs.contains_key(&stored.run) {
            let Some(fold) = self.read_run(stored).await? else {
                return Ok(());
            };
            if progress.runs.len() >= MAX_RUNS {
                progress.runs.clear();
            }
            progress.runs.insert(stored.run.clone(), fold);
        }
        let event = match serde_json::from_str(&stored.body) {
            Ok(event) => event,
            Err(error) => {
                let (run, seq) = (&stored.run, stored.seq);
                tracing::warn!(%run, seq, %error, "an event cannot be read and is not counted");
                return Ok(());
            }
        };
        let Some(fold) = progress.runs.get_mut(&stored.run) else {
            return Ok(());
        };
        let ended = fold.apply(stored.at, &event);
        let names = EngineNames(&self.engine);
        for activity in &ended {
            measure(&self.registry, fold.facts(), activity, &names);
        }
        if matches!(event, deft_workflow::Event::Finished(_)) {
            progress.runs.remove(&stored.run);
        }
        Ok(())
    }

    /// Returns the state of a run before an event. Earlier events are not counted.
    async fn read_run(&self, before: &StoredEvent) -> Result<Option<RunFold>, deft_store::Error> {
        let Some(row) = self.engine.store().run(&before.run).await? else {
            return Ok(None);
        };
        let mut fold = RunFold::new(facts(&row), false);
        let begins = [Some(EventType::Started), Some(EventType::Prepared)];
        if begins.contains(&before.event_type()) {
            return Ok(Some(fold));
        }
        let earlier = self.engine.published_events(&row, 0).await;
        let Some(earlier) = read_or_log(earlier, "the events of a run to count") else {
            return Ok(None);
        };
        for event in earlier.iter().filter(|event| event.seq < before.seq) {
            drop(fold.apply(event.at, &event.event));
        }
        Ok(Some(fold))
    }
}

/// Timeout of the last export.
const LAST_EXPORT_TIMEOUT: Duration = Duration::from_secs(2);
