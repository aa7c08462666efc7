//! Health, probing, liveness checks and shutdown of a server.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use deft_model::Failure;

use super::link::Link;
use super::phase::Phase;
use super::{Server, listing};
use crate::health::{Health, Probe, ServerState};

/// The timeout of the liveness check after a call has timed out.
const LIVENESS_TIMEOUT: Duration = Duration::from_secs(5);

impl Server {
    pub(crate) fn health(&self) -> Health {
        let catalog = self.catalog();
        Health {
            server: self.name.clone(),
            state: self.state(),
            listed: self.listed.load(Ordering::SeqCst),
            tools: catalog.as_ref().map_or(0, |catalog| catalog.tools.len()),
            disabled: catalog
                .as_ref()
                .map_or_else(Vec::new, |catalog| catalog.disabled.clone()),
            calls: self.stats.calls.load(Ordering::Relaxed),
            failures: self.stats.failures.load(Ordering::Relaxed),
            starts: self.stats.starts.load(Ordering::Relaxed),
            in_flight: self.stats.in_flight.load(Ordering::SeqCst),
            last_error: self.stats.last_error.lock().clone(),
            protocol: catalog.map(|catalog| catalog.protocol.clone()),
        }
    }

    fn state(&self) -> ServerState {
        if !self.options.enabled {
            return ServerState::Disabled;
        }
        let now = Instant::now();
        if let Some(until) = self.breaker.lock().open_until(now) {
            let retry_in_ms = millis(until.saturating_duration_since(now));
            return ServerState::CircuitOpen { retry_in_ms };
        }
        match &*self.phase.borrow() {
            Phase::Idle | Phase::Closed => ServerState::Stopped,
            Phase::Starting => ServerState::Starting,
            Phase::Ready(link) if link.is_closed() => ServerState::Stopped,
            Phase::Ready(_) => ServerState::Ready,
            Phase::Failed { retry_at, .. } => ServerState::BackingOff {
                retry_in_ms: millis(
                    retry_at.saturating_duration_since(tokio::time::Instant::now()),
                ),
            },
        }
    }

    /// Connects if needed, lists the tools and measures both.
    pub(crate) async fn probe(self: &Arc<Self>) -> Probe {
        let mut probe = Probe {
            server: self.name.clone(),
            implementation: None,
            protocol: None,
            tools: Vec::new(),
            disabled: Vec::new(),
            connect: Duration::ZERO,
            latency: Duration::ZERO,
            error: None,
            hint: None,
        };
        // A person asked for the probe, so it does not wait for the backoff.
        self.forget_failure();
        let started = Instant::now();
        let was_ready = self.ready().is_some();
        let link = match self.ensure().await {
            Ok(link) => link,
            Err(failure) => return refused_probe(probe, failure),
        };
        if !was_ready {
            probe.connect = started.elapsed();
        }
        let started = Instant::now();
        let listing =
            tokio::time::timeout(self.options.startup_timeout, listing::list(self, &link));
        match listing.await {
            Ok(Ok(catalog)) => {
                probe.latency = started.elapsed();
                probe.implementation.clone_from(&catalog.implementation);
                probe.protocol = Some(catalog.protocol.clone());
                probe.tools = catalog.tools.iter().map(|tool| tool.name.clone()).collect();
                probe.disabled.clone_from(&catalog.disabled);
                self.adopt(catalog, true);
                self.record_answer();
            }
            Ok(Err(error)) => {
                probe.error = Some(self.redaction.load().redact_owned(error.to_string()));
            }
            Err(_) => probe.error = Some("it did not list its tools in time".to_owned()),
        }
        probe
    }

    /// Checks whether the server still responds after a call has timed out. A server that does not
    /// respond at all is killed, so that the next call starts it again. Not while another call is in
    /// flight: it may be a long one on a server that handles one call at a time.
    pub(super) fn check_response(self: &Arc<Self>, link: &Arc<Link>) {
        let (server, link) = (Arc::downgrade(self), link.clone());
        tokio::spawn(async move {
            let Some(strong) = server.upgrade() else {
                return;
            };
            let asked = tokio::time::timeout(LIVENESS_TIMEOUT, listing::list(&strong, &link)).await;
            let busy = strong.stats.in_flight.load(Ordering::SeqCst) > 0;
            if asked.is_err() && !busy && !link.is_closed() {
                link.watch.end("it stopped responding");
                link.watch.kill();
                link.close.cancel();
            }
        });
    }

    /// Closes the connection permanently and waits for the process to exit.
    pub(crate) async fn shutdown(&self) {
        let before = self.phase.send_replace(Phase::Closed);
        self.lines.close();
        if let Phase::Ready(link) = before {
            link.end();
            let gone = tokio::time::timeout(Duration::from_secs(8), link.ended.cancelled());
            if gone.await.is_err() {
                link.watch.kill();
            }
        }
    }
}

fn refused_probe(mut probe: Probe, failure: Failure) -> Probe {
    probe.error = Some(failure.message);
    probe.hint = failure.hint;
    probe
}

fn millis(length: Duration) -> u64 {
    u64::try_from(length.as_millis()).unwrap_or(u64::MAX)
}
