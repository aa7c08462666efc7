//! The life cycle of a server's connection: started when needed, by one task for all waiting callers,
//! and restarted after a delay when it was lost.

use std::sync::atomic::Ordering;
use std::sync::{Arc, Weak};
use std::time::Duration;

use deft_model::{Failure, FailureClass, Outage, clip};
use rmcp::model::SubscriptionFilter;
use tokio::time::Instant;

use super::link::{Link, Service};
use super::resolved::ResolvedOptions;
use super::watch::Watch;
use super::{Server, fault, listing};
use crate::breaker::backoff;
use crate::catalog::{Catalog, Era};
use crate::limit::words;
use crate::relay::News;

/// The minimum delay between two listings that a server requests.
const RELIST: Duration = Duration::from_millis(100);
/// The minimum delay for a server that has requested many listings: each one may be stored.
const SLOW_RELIST: Duration = Duration::from_secs(10);
/// The number of listings that count as many.
const MANY_RELISTS: u32 = 20;

/// The phase of a server's connection.
#[derive(Clone)]
pub(super) enum Phase {
    Idle,
    Starting,
    Ready(Arc<Link>),
    Failed { failure: Failure, retry_at: Instant },
    Closed,
}

/// The next step of a caller that needs a connection.
enum Step {
    Use(Arc<Link>),
    Wait,
    Sleep(Instant, Failure),
    Give(Failure),
}

impl Server {
    /// Returns the connection; waits for a start in progress or starts the server.
    pub(super) async fn ensure(self: &Arc<Self>) -> Result<Arc<Link>, Failure> {
        self.connection(true).await
    }

    /// Connects like [`ensure`](Self::ensure), but fails at once if the server is backing off.
    pub(crate) async fn ensure_now(self: &Arc<Self>) -> Result<(), Failure> {
        self.admit()?;
        let connected = self.connection(false).await;
        // A listing is not a call: beyond the start it proves nothing about the server.
        self.breaker
            .lock()
            .record_no_result(std::time::Instant::now());
        connected.map(drop)
    }

    async fn connection(self: &Arc<Self>, patient: bool) -> Result<Arc<Link>, Failure> {
        let mut waited = false;
        loop {
            match self.step(waited) {
                Step::Use(link) => return Ok(link),
                Step::Give(failure) => return Err(failure),
                Step::Sleep(_, failure) if !patient => return Err(failure),
                Step::Sleep(until, _) => tokio::time::sleep_until(until).await,
                Step::Wait => {
                    waited = true;
                    let mut phase = self.phase.subscribe();
                    let starting = |phase: &Phase| matches!(phase, Phase::Starting);
                    // The sender lives as long as `self`.
                    drop(phase.wait_for(|phase| !starting(phase)).await);
                }
            }
        }
    }

    /// Decides the next step from the phase, and starts the server if it is time to.
    fn step(self: &Arc<Self>, waited: bool) -> Step {
        if !self.options.enabled {
            return Step::Give(fault::disabled_failure(&self.name));
        }
        let mut step = Step::Wait;
        self.phase.send_if_modified(|phase| {
            let start = match phase {
                Phase::Ready(link) if !link.is_closed() => {
                    step = Step::Use(link.clone());
                    false
                }
                // The task that follows the connection sets the next phase within moments.
                Phase::Ready(link) => {
                    step = Step::Sleep(
                        Instant::now() + Duration::from_millis(2),
                        fault::connection_lost_failure(&self.name, false, &link.watch),
                    );
                    false
                }
                Phase::Failed { failure, retry_at } => {
                    if waited {
                        step = Step::Give(failure.clone());
                    } else if Instant::now() < *retry_at {
                        step = Step::Sleep(*retry_at, failure.clone());
                    }
                    matches!(step, Step::Wait)
                }
                Phase::Idle => true,
                Phase::Starting => false,
                Phase::Closed => {
                    step = Step::Give(fault::closed_failure(&self.name));
                    false
                }
            };
            if start {
                *phase = Phase::Starting;
                let server = self.clone();
                tokio::spawn(async move { server.start().await });
            }
            start
        });
        step
    }

    async fn start(self: Arc<Self>) {
        self.stats.starts.fetch_add(1, Ordering::Relaxed);
        let watch = Arc::new(Watch::default());
        let opening = Box::pin(self.open(watch.clone()));
        let allowed = self.options.startup_timeout;
        let outcome = match tokio::time::timeout(allowed, opening).await {
            Ok(outcome) => outcome,
            Err(_) => Err(fault::slow_start(&self.name, &words(allowed), &watch)),
        };
        match outcome {
            Ok((link, service, catalog)) => self.finish_start(link, service, catalog),
            Err(failure) => self.record_failure(failure),
        }
    }

    /// Connects and lists the tools; only then is the server ready.
    async fn open(&self, watch: Arc<Watch>) -> Result<(Link, Service, Catalog), Failure> {
        let known = *self.era.lock();
        let given = self.resolve_options().await?;
        let (link, service) = Link::open(self, known, &given, watch).await?;
        let catalog = listing::list(self, &link).await.map_err(|error| {
            let fault =
                fault::classify_call(&self.name, &error, false, &link.watch, self.max_reply_bytes);
            let message = format!("{} (while it listed its tools)", fault.failure.message);
            if fault.failure.class == FailureClass::Auth {
                // Only the hint how to sign in matters then.
                return fault.failure.mark_blocked();
            }
            Failure::new(FailureClass::Network, message).mark_blocked()
        })?;
        Ok((link, service, catalog))
    }

    /// Looks up the secrets of the server, and removes them from its messages from now on.
    pub(super) async fn resolve_options(&self) -> Result<ResolvedOptions, Failure> {
        let (name, options, environment) = (&self.name, &self.options, &self.environment);
        let mut given = ResolvedOptions::resolve(name, options, environment).await?;
        given.redaction.merge(&*(self.hooks.withheld)().await);
        self.withhold(&given.redaction);
        Ok(given)
    }

    fn finish_start(self: Arc<Self>, link: Link, service: Service, catalog: Catalog) {
        let link = Arc::new(link);
        let era = catalog.era;
        *self.era.lock() = Some(era);
        self.offered.forget();
        // In the modern era, a server announces changes only to subscribers.
        self.age
            .set_announces(era == Era::Legacy && announces(&link));
        self.adopt(catalog, true);
        self.phase.send_modify(|phase| match phase {
            // The server was shut down in the meantime: the connection is not needed.
            Phase::Closed => link.end(),
            Phase::Idle | Phase::Starting | Phase::Ready(_) | Phase::Failed { .. } => {
                *phase = Phase::Ready(link.clone());
            }
        });
        if self.stats.starts.load(Ordering::Relaxed) > 1 {
            // Clients may have seen an older list, or none.
            for news in [News::Tools, News::Prompts, News::Resources] {
                self.announce(news);
            }
        }
        let server = Arc::downgrade(&self);
        tokio::spawn(follow(server, link, service, era));
    }

    fn record_failure(&self, failure: Failure) {
        let failure = self.redaction.load().failure(failure);
        let failure = failure.outage(Outage::Server(self.name.clone()));
        self.asked.store(true, Ordering::SeqCst);
        self.remember(&failure);
        let retry_at = Instant::now() + self.count_failure();
        self.phase.send_modify(|phase| match phase {
            Phase::Closed => {}
            Phase::Idle | Phase::Starting | Phase::Ready(_) | Phase::Failed { .. } => {
                *phase = Phase::Failed { failure, retry_at };
            }
        });
    }

    /// Counts a failure and returns the delay before the next start. A start after a missing sign-in
    /// needs no delay: the server works.
    fn count_failure(&self) -> Duration {
        if self.needs_sign_in() {
            self.breaker
                .lock()
                .record_no_result(std::time::Instant::now());
            return Duration::ZERO;
        }
        let failures = self.stats.losses.fetch_add(1, Ordering::Relaxed) + 1;
        self.breaker
            .lock()
            .record_failure(std::time::Instant::now());
        backoff(failures)
    }

    /// Handles the end of a connection. If deft did not end it, the next start is delayed.
    fn handle_end(&self, link: &Arc<Link>) {
        let current = matches!(&*self.phase.borrow(), Phase::Ready(now) if Arc::ptr_eq(now, link));
        if !current {
            return;
        }
        if link.wanted.load(Ordering::SeqCst) {
            self.phase.send_modify(|phase| {
                if !matches!(phase, Phase::Closed) {
                    *phase = Phase::Idle;
                }
            });
            return;
        }
        self.record_failure(fault::connection_lost_failure(
            &self.name,
            false,
            &link.watch,
        ));
    }
}

/// The minimum delay between two reconnects for clients that follow resources.
const RECONNECT: Duration = Duration::from_secs(30);

/// Reconnects while clients follow resources of the server: no request would trigger a start.
async fn reconnect(server: Weak<Server>) {
    let mut least = Duration::ZERO;
    loop {
        let Some(here) = server.upgrade() else { return };
        let retry_at = match &*here.phase.borrow() {
            Phase::Failed { retry_at, .. } => *retry_at,
            Phase::Idle | Phase::Starting => Instant::now(),
            Phase::Ready(_) | Phase::Closed => return,
        };
        drop(here);
        tokio::time::sleep_until(retry_at.max(Instant::now() + least)).await;
        let Some(here) = server.upgrade() else { return };
        if !here.is_followed().await || here.connection(false).await.is_ok() {
            return;
        }
        // A server that requires a sign-in has no delay between starts, so it would be restarted in a
        // tight loop.
        if here.needs_sign_in() {
            least = RECONNECT;
        }
    }
}

/// Follows a connection: lists tools again when they change, and updates the server when the connection
/// ends. Holds the server weakly, so that dropping the router ends its connections.
async fn follow(server: Weak<Server>, link: Arc<Link>, service: Service, era: Era) {
    let subscription = match era {
        Era::Modern => subscribe(&link).await,
        Era::Legacy => None,
    };
    let tools = announces(&link) && subscription.is_some();
    if let Some(server) = server.upgrade() {
        if tools {
            server.age.set_announces(true);
        }
        server.subscribe_again(&link, era).await;
    }
    let waiting = service.waiting();
    let beating = link.watch.pulse.run();
    tokio::pin!(waiting, beating);
    let mut relists = 0_u32;
    let over = loop {
        tokio::select! {
            () = &mut beating => {}
            _ = &mut waiting => break true,
            () = link.watch.lost.cancelled() => break false,
            news = link.watch.news.next() => {
                let Some(server) = server.upgrade() else { break false };
                server.announce(news);
            }
            () = link.watch.session_renewed.notified() => {
                let Some(server) = server.upgrade() else { break false };
                server.subscribe_again(&link, era).await;
            }
            () = link.watch.stream_lost.notified() => {
                let Some(server) = server.upgrade() else { break false };
                // Requests still work, so only clients that follow resources need a new connection.
                if server.is_followed().await {
                    link.lose("the stream of its messages ended");
                    break false;
                }
            }
            () = link.watch.relist.notified() => {
                relists = relists.saturating_add(1);
                let pause = if relists > MANY_RELISTS { SLOW_RELIST } else { RELIST };
                tokio::select! {
                    () = tokio::time::sleep(pause) => {}
                    () = link.watch.lost.cancelled() => break false,
                }
                let Some(server) = server.upgrade() else { break false };
                relist(&server, &link).await;
                server.announce(News::Tools);
            }
        }
    };
    if let Some(here) = server.upgrade() {
        here.handle_end(&link);
        if here.is_followed().await {
            tokio::spawn(reconnect(server.clone()));
        }
    }
    drop(server);
    // The transport ends the process, which may take a moment longer.
    if !over {
        waiting.await.ok();
    }
    link.ended.cancel();
}

/// Subscribes to changes in the modern era. The guard reads the notifications from the transport; the
/// returned handle only keeps the subscription alive.
async fn subscribe(link: &Link) -> Option<rmcp::service::Subscription> {
    let filter = announced_lists(link);
    if filter == SubscriptionFilter::default() {
        return None;
    }
    let asked = tokio::time::timeout(Duration::from_secs(5), link.peer.listen(filter)).await;
    asked.ok()?.ok()
}

/// Returns the lists whose changes the server claims to announce.
fn announced_lists(link: &Link) -> SubscriptionFilter {
    let all = SubscriptionFilter::builder()
        .tools_list_changed()
        .prompts_list_changed()
        .resources_list_changed()
        .build();
    let info = link.info();
    info.map(|info| all.supported_by(&info.capabilities))
        .unwrap_or_default()
}

/// Whether the server claims to announce changes of its tools.
fn announces(link: &Link) -> bool {
    announced_lists(link).tools_list_changed == Some(true)
}

pub(super) async fn relist(server: &Arc<Server>, link: &Link) {
    let listing = tokio::time::timeout(server.options.startup_timeout, listing::list(server, link));
    let problem = match listing.await {
        Ok(Ok(catalog)) => return server.adopt(catalog, true),
        Ok(Err(error)) => error.to_string(),
        Err(_) => "no answer in time".to_owned(),
    };
    let problem = server.redaction.load().redact_owned(problem);
    let problem = clip(&problem, 300);
    tracing::warn!(
        server = server.name,
        problem,
        "tools could not be listed again"
    );
}
