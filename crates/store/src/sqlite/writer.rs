//! Writes: usually by one thread, which commits all waiting entries together.
//!
//! While a commit syncs, new entries queue up and share the next one; no entry waits for others to arrive.
//! Passing an entry to the thread and waking up again costs a fifth of a commit. So a caller with no other
//! waiters, on its own thread, commits on that thread. Other modules define what an entry does, and
//! `group.rs` commits a group of entries.
//!
//! Copying the log into the file takes as long as many commits, so the writer does it while no entry waits.

use std::cell::Cell;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread::JoinHandle;
use std::time::Duration;

use parking_lot::{Mutex, MutexGuard};
use rusqlite::Connection;
use tokio::runtime::{Handle, RuntimeFlavor};
use tokio::sync::oneshot;

use super::fault::Fault;
use super::group::{Entry, WriteConnection, WriteRequest};
use super::identity::Identity;
use super::open::SqliteOptions;
use crate::{Answer, Error};

/// Maximum number of entries per commit, so that none waits long for it.
const GROUP: usize = 256;

/// How long no entry must have arrived before a long log is copied.
const QUIET_PERIOD: Duration = Duration::from_millis(50);

/// A log that is this many times longer than configured is copied even while entries wait, because readers
/// have to search all of it.
const MAX_LOG_FACTOR: u32 = 4;

/// Handle to the writer thread.
pub(super) struct Writer {
    queue: Option<Sender<Box<dyn Entry>>>,
    thread: Option<JoinHandle<()>>,
    shared: Option<Arc<Shared>>,
    path: PathBuf,
}

/// State shared by the writer thread and callers that commit on their own thread.
struct Shared {
    connection: Mutex<WriteConnection>,
    /// Entries that were passed to the thread and have not been answered.
    waiting: AtomicUsize,
    /// Whether the last group had more than one entry.
    had_company: AtomicBool,
    /// The number of committed groups.
    commits: AtomicU64,
}

impl Writer {
    pub(super) fn start(
        db: Connection,
        path: PathBuf,
        options: &SqliteOptions,
        identity: Arc<Identity>,
    ) -> Result<Self, Error> {
        let (queue, entries) = channel();
        let shared = Arc::new(Shared {
            connection: Mutex::new(WriteConnection::new(
                db,
                path.clone(),
                options,
                Some(identity),
            )?),
            waiting: AtomicUsize::new(0),
            had_company: AtomicBool::new(false),
            commits: AtomicU64::new(0),
        });
        let theirs = Arc::clone(&shared);
        let thread = std::thread::Builder::new()
            .name("deft-store".to_owned())
            .spawn(move || theirs.serve(&entries))
            .map_err(|error| Error::Backend {
                reason: error.to_string(),
            })?;
        Ok(Self {
            queue: Some(queue),
            thread: Some(thread),
            shared: Some(shared),
            path,
        })
    }

    /// Returns a writer for a read-only store: every request fails.
    pub(super) fn none(path: PathBuf) -> Self {
        Self {
            queue: None,
            thread: None,
            shared: None,
            path,
        }
    }

    /// Queues a request or executes it on this thread; the future completes when the change is on disk.
    pub(super) fn write<T: Send + 'static>(
        &self,
        work: impl Fn(&Connection) -> Result<T, Fault> + Send + 'static,
    ) -> Answer<'static, T> {
        let (Some(queue), Some(shared)) = (&self.queue, &self.shared) else {
            let path = self.path.clone();
            return Box::pin(std::future::ready(Err(Error::ReadOnly { path })));
        };
        let (reply, answer) = oneshot::channel();
        let entry: Box<dyn Entry> = Box::new(WriteRequest::new(work, reply));
        let left = if own_thread() {
            shared.write_alone(entry)
        } else {
            Some(entry)
        };
        if let Some(entry) = left {
            shared.waiting.fetch_add(1, Ordering::Relaxed);
            // If the thread has ended, the reply channel is dropped and the caller gets `Closed`.
            let _sent = queue.send(entry);
        }
        Box::pin(async { answer.await.unwrap_or(Err(Error::Closed)) })
    }
}

impl Writer {
    /// Returns the number of committed groups.
    pub(super) fn commits(&self) -> u64 {
        let shared = self.shared.as_ref();
        shared.map_or(0, |shared| shared.commits.load(Ordering::Relaxed))
    }
}

impl Drop for Writer {
    /// Waits until the thread has written all queued entries.
    fn drop(&mut self) {
        self.queue = None;
        if let Some(thread) = self.thread.take() {
            join(thread);
        }
    }
}

/// Waits for a thread, unless it is the current one: a waker may own the last handle.
pub(super) fn join(thread: JoinHandle<()>) {
    if thread.thread().id() != std::thread::current().id() {
        // The thread itself reported a panic, and its callers got `Closed`.
        let _ended = thread.join();
    }
}

thread_local! {
    /// Whether this thread was declared to drive a single future.
    static OWN: Cell<bool> = const { Cell::new(false) };
}

/// Runs `work` on a thread that drives a single future and so may block on the disk. Threads for the
/// blocking work of a runtime are such threads, but cannot be recognised here.
pub fn on_own_thread<T>(work: impl FnOnce() -> T) -> T {
    struct Reset(bool);
    impl Drop for Reset {
        fn drop(&mut self) {
            OWN.set(self.0);
        }
    }
    let _reset = Reset(OWN.replace(true));
    work()
}

/// Whether the calling thread may block on the disk: it drives a single future, as in `deft run`, and other
/// threads handle tasks, timers and sockets.
pub(super) fn own_thread() -> bool {
    if OWN.get() {
        return true;
    }
    let others = |runtime: Handle| runtime.runtime_flavor() == RuntimeFlavor::MultiThread;
    tokio::task::try_id().is_none() && Handle::try_current().is_ok_and(others)
}

impl Shared {
    /// Writes an entry on this thread if no other entry is being written or waits; otherwise returns it.
    fn write_alone(&self, entry: Box<dyn Entry>) -> Option<Box<dyn Entry>> {
        if self.had_company.load(Ordering::Relaxed) || self.waiting.load(Ordering::Relaxed) > 0 {
            return Some(entry);
        }
        let Some(connection) = self
            .connection
            .try_lock()
            .filter(|connection| connection.is_idle())
        else {
            return Some(entry);
        };
        let mut group = [entry];
        let written = connection.write_at_once(&mut group);
        self.count(matches!(written, Some(Ok(()))));
        if connection.log_exceeds(1) {
            connection.copy_log();
        }
        drop(connection);
        let [entry] = group;
        match written {
            None => Some(entry),
            Some(done) => {
                entry.answer(done.err().as_ref());
                None
            }
        }
    }

    /// Returns the connection, or `None` if a panic has left a transaction open, after which nothing can be
    /// written.
    fn connection(&self) -> Option<MutexGuard<'_, WriteConnection>> {
        let connection = self.connection.lock();
        connection.is_idle().then_some(connection)
    }

    fn count(&self, committed: bool) {
        self.commits.fetch_add(committed.into(), Ordering::Relaxed);
    }

    /// Returns the next entry, or `None` when the store is closed. Copies a long log if none arrives for a
    /// while.
    fn next(&self, entries: &Receiver<Box<dyn Entry>>) -> Option<Box<dyn Entry>> {
        let long = self
            .connection()
            .is_some_and(|connection| connection.log_exceeds(1));
        if !long {
            return entries.recv().ok();
        }
        match entries.recv_timeout(QUIET_PERIOD) {
            Err(RecvTimeoutError::Timeout) => {
                self.connection()?.copy_log();
                entries.recv().ok()
            }
            other => other.ok(),
        }
    }

    fn serve(&self, entries: &Receiver<Box<dyn Entry>>) {
        let mut group = Vec::with_capacity(GROUP);
        while let Some(first) = self.next(entries) {
            group.push(first);
            if self.had_company.load(Ordering::Relaxed) {
                // The callers of the last group are about to send their next requests. Letting them run once
                // makes groups larger, at no cost for a single caller.
                std::thread::yield_now();
            }
            let Some(connection) = self.connection() else {
                return;
            };
            group.extend(entries.try_iter().take(GROUP - 1));
            self.had_company.store(group.len() > 1, Ordering::Relaxed);
            let failed = connection.write(&mut group).err();
            self.count(failed.is_none());
            if connection.log_exceeds(MAX_LOG_FACTOR) {
                connection.copy_log();
            }
            drop(connection);
            self.waiting.fetch_sub(group.len(), Ordering::Relaxed);
            for entry in group.drain(..) {
                entry.answer(failed.as_ref());
            }
        }
    }
}
