//! Lines: connections to a server on behalf of clients of deft, each lent to one request at a time.
//!
//! A server's message in the middle of a request does not name that request. A line has only one
//! request at a time. A client with a session gets the same line again while it is kept, because a
//! server may keep state for it.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Weak};
use std::time::Duration;

use deft_model::Failure;
use parking_lot::Mutex;
use rmcp::model::ClientCapabilities;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::Instant;

use super::desk::ClientChannel;
use super::link::{ConnectionOwner, Link, Service};
use super::watch::Watch;
use super::{Server, fault, listing};
use crate::catalog::Era;
use crate::limit::words;
use crate::relay::RelayClient;

/// The maximum number of lines in use, even if `concurrency` is higher: each may be a process.
const MAX_LINES: usize = 16;
/// The maximum number of idle lines.
const MAX_IDLE: usize = 4;
/// How long an idle line is kept.
const IDLE_TIMEOUT: Duration = Duration::from_mins(5);
/// How long the line of a cancelled request stays open, so that the server receives the cancellation.
const CLOSE_TIMEOUT: Duration = Duration::from_secs(2);
/// A schema with this key requires headers, which the protocol library knows only after a listing on
/// the same connection.
const HEADER: &str = "x-mcp-header";

/// The lines to one server.
pub(super) struct Pool {
    idle: Mutex<Vec<Line>>,
    places: Arc<Semaphore>,
    /// Whether a task that closes expired idle lines is running.
    sweeping: AtomicBool,
}

impl Pool {
    pub(super) fn new(concurrency: usize) -> Self {
        Self {
            idle: Mutex::default(),
            places: Arc::new(Semaphore::new(concurrency.clamp(1, MAX_LINES))),
            sweeping: AtomicBool::new(false),
        }
    }

    /// Closes the idle lines.
    pub(super) fn close(&self) {
        let idle = std::mem::take(&mut *self.idle.lock());
        drop(idle);
    }

    fn take(&self, key: &LineKey) -> Option<Line> {
        let mut idle = self.idle.lock();
        idle.retain(|line| !line.link.is_closed());
        let at = idle.iter().position(|line| line.key == *key)?;
        Some(idle.remove(at))
    }

    fn keep(&self, line: Line) {
        let mut idle = self.idle.lock();
        idle.push(line);
        if idle.len() > MAX_IDLE {
            idle.remove(0);
        }
    }

    /// Closes expired idle lines; returns false if no idle lines remain.
    fn sweep(&self) -> bool {
        let now = Instant::now();
        let fresh = |line: &Line| now.saturating_duration_since(line.used_at) < IDLE_TIMEOUT;
        let mut idle = self.idle.lock();
        idle.retain(fresh);
        // Under the lock, so that a line added later starts a new task.
        self.sweeping.store(!idle.is_empty(), Ordering::SeqCst);
        !idle.is_empty()
    }
}

/// Identifies the clients whose requests a line may serve.
#[derive(Clone, Debug, PartialEq)]
struct LineKey {
    session: Option<u64>,
    capabilities: ClientCapabilities,
}

/// A connection on behalf of clients. It is closed on drop.
pub(super) struct Line {
    key: LineKey,
    pub(super) link: Arc<Link>,
    pub(super) desk: Arc<ClientChannel>,
    /// The log level that was sent to the server.
    pub(super) log_level: Option<String>,
    used_at: Instant,
}

impl Drop for Line {
    fn drop(&mut self) {
        self.link.end();
    }
}

/// A line that is lent to one request.
pub(super) struct BorrowedLine {
    pub(super) line: Line,
    _place: OwnedSemaphorePermit,
}

impl Server {
    /// Takes or opens a line for a request of a client. Waits for a free place.
    pub(super) async fn borrow(
        self: &Arc<Self>,
        client: &RelayClient,
    ) -> Result<BorrowedLine, Failure> {
        let places = self.lines.places.clone();
        let place = places.acquire_owned().await;
        let place = place.map_err(|_| fault::closed_failure(&self.name))?;
        let key = LineKey {
            session: client.session,
            capabilities: client.capabilities.clone(),
        };
        let line = match self.lines.take(&key) {
            Some(line) => line,
            None => Box::pin(self.open_line(key)).await?,
        };
        Ok(BorrowedLine {
            line,
            _place: place,
        })
    }

    /// Returns a line to the pool after its request was answered.
    pub(super) fn give_back(self: &Arc<Self>, loan: BorrowedLine) {
        let mut line = loan.line;
        if line.link.is_closed() {
            return;
        }
        line.used_at = Instant::now();
        self.lines.keep(line);
        if !self.lines.sweeping.swap(true, Ordering::SeqCst) {
            tokio::spawn(sweep(Arc::downgrade(self)));
        }
    }

    /// Returns the line of a cancelled request. Late messages for that request could be mistaken for
    /// messages of the next one, so only the same client gets the line again.
    pub(super) fn discard_line(self: &Arc<Self>, loan: BorrowedLine) {
        if loan.line.key.session.is_some() {
            return self.give_back(loan);
        }
        tokio::spawn(async move {
            tokio::time::sleep(CLOSE_TIMEOUT).await;
            drop(loan);
        });
    }

    async fn open_line(self: &Arc<Self>, key: LineKey) -> Result<Line, Failure> {
        let watch = Arc::new(Watch::default());
        let allowed = self.options.startup_timeout;
        let opening = Box::pin(self.connect_line(key, watch.clone()));
        let opened = tokio::time::timeout(allowed, opening).await;
        opened.unwrap_or_else(|_| Err(fault::slow_start(&self.name, &words(allowed), &watch)))
    }

    async fn connect_line(
        self: &Arc<Self>,
        key: LineKey,
        watch: Arc<Watch>,
    ) -> Result<Line, Failure> {
        let era = self.era.lock().unwrap_or(Era::Legacy);
        let given = self.resolve_options().await?;
        let desk = ClientChannel::new(self.redaction.clone());
        let party = ConnectionOwner {
            capabilities: key.capabilities.clone(),
            desk: Some(desk.clone()),
        };
        let (link, service) = Link::open_line(self, era, &given, watch, &party).await?;
        let link = Arc::new(link);
        tokio::spawn(follow(Arc::downgrade(self), link.clone(), service));
        let opened = Line {
            key,
            link,
            desk,
            log_level: None,
            used_at: Instant::now(),
        };
        if era == Era::Modern && self.wants_headers() {
            // Without the listing, calls lack headers that the server requires; the server then reports
            // that itself.
            drop(listing::list(self, &opened.link).await);
        }
        Ok(opened)
    }

    fn wants_headers(&self) -> bool {
        let is_url = self.options.url.is_some();
        is_url
            && self.catalog().is_some_and(|catalog| {
                let mut tools = catalog.tools.iter();
                tools.any(|tool| tool.input_schema.to_string().contains(HEADER))
            })
    }
}

/// Closes expired lines periodically, until no idle lines remain.
async fn sweep(server: Weak<Server>) {
    loop {
        tokio::time::sleep(IDLE_TIMEOUT / 4).await;
        if !server.upgrade().is_some_and(|server| server.lines.sweep()) {
            return;
        }
    }
}

/// Follows a line until it ends, and passes on the server's announcements.
async fn follow(server: Weak<Server>, link: Arc<Link>, service: Service) {
    let waiting = service.waiting();
    let beating = link.watch.pulse.run();
    tokio::pin!(waiting, beating);
    loop {
        tokio::select! {
            () = &mut beating => {}
            _ = &mut waiting => break,
            news = link.watch.news.next() => {
                if let Some(server) = server.upgrade() {
                    server.announce(news);
                }
            }
            () = link.watch.relist.notified() => {
                // deft keeps the tool list of its own connection, so that one is listed again.
                if let Some(own) = server.upgrade().and_then(|server| server.ready()) {
                    own.watch.relist.notify_one();
                }
            }
        }
    }
    link.watch.lost.cancel();
    link.ended.cancel();
}
