//! Exports the trace of each run whose end this process stores. All events in the journal become spans at
//! that time, so the trace is complete even if other processes drove the run before.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use deft_config::Config;
use deft_engine::{Engine, Error, PublishedEvent, read_or_log};
use deft_model::{EventType, RunId};
use deft_telemetry::{Exporter, RunFold, Span, SpanMaker, StateReader};
use deft_workflow::Event;
use tokio::runtime::Handle;
use tokio::sync::broadcast::Receiver;
use tokio::sync::broadcast::error::{RecvError, TryRecvError};
use tokio::task::JoinHandle;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use super::{EngineNames, facts, note, receiver};

/// How long an ending process waits for the receiver.
const FLUSH: Duration = Duration::from_secs(2);

/// Number of events read at once after some were missed.
const PAGE: u32 = 500;

/// The export of traces by this process.
pub(crate) struct TraceExport {
    exporter: Arc<Exporter>,
    stop: CancellationToken,
    task: JoinHandle<()>,
}

impl TraceExport {
    /// Starts the export, if configured.
    pub(crate) fn start(
        config: &Config,
        home: &Path,
        engine: &Engine,
        runtime: &Handle,
    ) -> Option<Self> {
        if !super::exports_traces(&config.telemetry) {
            return None;
        }
        let options = match receiver(config) {
            Ok(options) => options?,
            Err(failure) => {
                let why = &failure.message;
                tracing::warn!(hint = failure.hint, "traces are not exported: {why}");
                return None;
            }
        };
        let _inside = runtime.enter();
        let exporter = Arc::new(Exporter::start(options, note::report(home)));
        let stop = CancellationToken::new();
        let watch = RunWatch {
            engine: engine.clone(),
            exporter: Arc::clone(&exporter),
            content: config.telemetry.content,
            seen: 0,
            covered: 0,
        };
        let task = tokio::spawn(watch.follow(engine.subscribe(), stop.clone()));
        Some(Self {
            exporter,
            stop,
            task,
        })
    }

    /// Returns a reader of the export's state.
    pub(crate) fn reader(&self) -> StateReader {
        self.exporter.reader()
    }

    /// Exports the remaining spans, with a timeout.
    pub(crate) async fn close(self) {
        self.stop.cancel();
        let deadline = Instant::now() + FLUSH;
        // The task ends soon and releases its reference to the exporter.
        drop(tokio::time::timeout_at(deadline, self.task).await);
        if let Some(exporter) = Arc::into_inner(self.exporter) {
            exporter.close(deadline).await;
        }
    }
}

/// Watches for the ends of runs.
struct RunWatch {
    engine: Engine,
    exporter: Arc<Exporter>,
    content: bool,
    /// The highest sequence number seen. Events of different runs may arrive in another order than they are
    /// stored.
    seen: u64,
    /// The position up to which the store was read after events were missed.
    covered: u64,
}

impl RunWatch {
    async fn follow(mut self, mut events: Receiver<Arc<PublishedEvent>>, stop: CancellationToken) {
        loop {
            let received = tokio::select! {
                biased;
                received = events.recv() => received,
                () = stop.cancelled() => break,
            };
            match received {
                Ok(event) => self.take(&event).await,
                Err(RecvError::Lagged(_)) => self.catch_up().await,
                Err(RecvError::Closed) => return,
            }
        }
        loop {
            match events.try_recv() {
                Ok(event) => self.take(&event).await,
                Err(TryRecvError::Lagged(_)) => self.catch_up().await,
                Err(TryRecvError::Empty | TryRecvError::Closed) => return,
            }
        }
    }

    async fn take(&mut self, event: &PublishedEvent) {
        if event.seq <= self.covered {
            return;
        }
        self.seen = self.seen.max(event.seq);
        if matches!(event.event, Event::Finished(_)) {
            self.export(&event.run, event.seq).await;
        }
    }

    /// Reads the ends of runs from the store, after events were missed because this task was too slow.
    async fn catch_up(&mut self) {
        loop {
            let read = self.engine.store().events(None, self.seen, PAGE).await;
            let Some(events) = read_or_log(read, "the ended runs to export") else {
                return;
            };
            let is_last = events.len() < PAGE as usize;
            for event in events {
                (self.seen, self.covered) = (event.seq, event.seq);
                if event.event_type() == Some(EventType::Finished) {
                    self.export(&event.run, event.seq).await;
                }
            }
            if is_last {
                return;
            }
        }
    }

    async fn export(&self, run: &RunId, upto: u64) {
        match spans(&self.engine, run, upto, self.content).await {
            Ok(spans) if spans.is_empty() => {}
            Ok(spans) => self.exporter.hand_over(spans),
            Err(error) => tracing::warn!(%run, %error, "the trace of a run was not exported"),
        }
    }
}

/// Returns the spans of a run up to its end at `upto`. Spans from before it was resumed have already been
/// exported.
async fn spans(engine: &Engine, run: &RunId, upto: u64, content: bool) -> Result<Vec<Span>, Error> {
    let Some(row) = engine.store().run(run).await? else {
        return Ok(Vec::new());
    };
    let events = engine.published_events(&row, 0).await?;
    let facts = facts(&row);
    let mut fold = RunFold::new(facts.clone(), content);
    let mut activities = Vec::new();
    for event in events.iter().filter(|event| event.seq <= upto) {
        if matches!(event.event, Event::Resumed { .. }) {
            activities.clear();
        }
        activities.extend(fold.apply(event.at, &event.event));
    }
    let origin = fold.origin();
    if !origin.is_sampled() {
        return Ok(Vec::new());
    }
    let names = EngineNames(engine);
    let maker = SpanMaker::new(&facts, origin, &names, content);
    Ok(activities.iter().map(|it| maker.make(it)).collect())
}
