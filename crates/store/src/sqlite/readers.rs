//! Reader threads, each with its own connection, opened on first use.
//!
//! Passing a query to a thread and waking up again takes longer than most queries. So a caller on its own
//! thread reads on that thread, just as it writes there.
//!
//! In WAL mode readers and the writer do not block each other, and a read that starts after a write was
//! acknowledged sees it.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::JoinHandle;

use parking_lot::Mutex;
use rusqlite::Connection;
use tokio::sync::oneshot;

use super::fault::Fault;
use super::identity::Identity;
use super::open::SqliteOptions;
use super::writer::{join, own_thread};
use crate::{Answer, Error};

/// A function that opens a connection.
pub(super) type OpenConnection = fn(&Path, &SqliteOptions) -> Result<Connection, Error>;

type Job = Box<dyn FnOnce(&mut Reader) + Send>;

/// Handle to the reader threads.
pub(super) struct Readers {
    queue: Option<Sender<Job>>,
    threads: Vec<JoinHandle<()>>,
    /// For callers on their own threads, one at a time.
    alone: Mutex<Reader>,
    /// For `version`: the data version is only comparable within one connection.
    watcher: Arc<Mutex<Reader>>,
}

/// A connection that is opened on first use.
struct Reader {
    path: PathBuf,
    options: SqliteOptions,
    open: OpenConnection,
    db: Option<Connection>,
    /// The file that must still be in place; `None` if it is not checked.
    identity: Option<Arc<Identity>>,
}

impl Reader {
    fn new(
        path: &Path,
        options: &SqliteOptions,
        open: OpenConnection,
        identity: Option<&Arc<Identity>>,
    ) -> Self {
        Self {
            path: path.to_path_buf(),
            options: options.clone(),
            open,
            db: None,
            identity: identity.cloned(),
        }
    }

    fn ask<T>(
        &mut self,
        question: impl FnOnce(&Connection) -> Result<T, Fault>,
    ) -> Result<T, Error> {
        if self.db.is_none() {
            // Opening a connection next to a deleted log would create a new log.
            self.check_file()?;
        }
        let answer = self.ask_file(question);
        // Data read from a replaced file says nothing about the file at the path.
        self.check_file()?;
        answer
    }

    fn check_file(&self) -> Result<(), Error> {
        self.identity.as_ref().map_or(Ok(()), |file| file.check())
    }

    fn ask_file<T>(
        &mut self,
        question: impl FnOnce(&Connection) -> Result<T, Fault>,
    ) -> Result<T, Error> {
        let db = match self.db.take() {
            Some(db) => db,
            None => (self.open)(&self.path, &self.options)?,
        };
        let answer = question(&db).map_err(|fault| fault.into_error(&self.path));
        self.db = Some(db);
        answer
    }
}

impl Readers {
    pub(super) fn start(
        path: &Path,
        options: &SqliteOptions,
        open: OpenConnection,
        identity: Option<&Arc<Identity>>,
    ) -> Result<Self, Error> {
        let reader = || Reader::new(path, options, open, identity);
        let (queue, jobs) = channel();
        let jobs = Arc::new(Mutex::new(jobs));
        let threads = (0..options.readers.max(1))
            .map(|_| spawn(Arc::clone(&jobs), reader()))
            .collect::<Result<_, _>>()?;
        Ok(Self {
            queue: Some(queue),
            threads,
            alone: Mutex::new(reader()),
            watcher: Arc::new(Mutex::new(reader())),
        })
    }

    /// Runs a query on the thread of the caller if that may block, otherwise on a reader thread.
    pub(super) fn read<T: Send + 'static>(
        &self,
        question: impl FnOnce(&Connection) -> Result<T, Fault> + Send + 'static,
    ) -> Answer<'static, T> {
        let alone = own_thread().then(|| self.alone.try_lock()).flatten();
        match alone {
            Some(mut reader) => Box::pin(std::future::ready(reader.ask(question))),
            None => self.send(|reader| reader.ask(question)),
        }
    }

    /// Returns a number that changes with every commit of another connection, including our writer.
    pub(super) fn version(&self) -> Answer<'static, u64> {
        let watcher = Arc::clone(&self.watcher);
        self.send(move |_| {
            let mut watcher = watcher.lock();
            watcher.ask(|db| {
                let mut version = db.prepare_cached("PRAGMA data_version")?;
                let version: i64 = version.query_row([], |row| row.get(0))?;
                Ok(version.unsigned_abs())
            })
        })
    }

    fn send<T: Send + 'static>(
        &self,
        job: impl FnOnce(&mut Reader) -> Result<T, Error> + Send + 'static,
    ) -> Answer<'static, T> {
        let (reply, answer) = oneshot::channel();
        if let Some(queue) = &self.queue {
            // If the threads have ended, the reply channel is dropped and the caller gets `Closed`.
            let _sent = queue.send(Box::new(move |reader| drop(reply.send(job(reader)))));
        }
        Box::pin(async { answer.await.unwrap_or(Err(Error::Closed)) })
    }
}

impl Drop for Readers {
    fn drop(&mut self) {
        self.queue = None;
        self.threads.drain(..).for_each(join);
    }
}

fn spawn(jobs: Arc<Mutex<Receiver<Job>>>, mut reader: Reader) -> Result<JoinHandle<()>, Error> {
    let next = move || {
        // One thread holds the lock while it waits for work; the others wait for the lock.
        let jobs = jobs.lock();
        jobs.recv().ok()
    };
    std::thread::Builder::new()
        .name("deft-store-read".to_owned())
        .spawn(move || {
            while let Some(job) = next() {
                job(&mut reader);
            }
        })
        .map_err(|error| Error::Backend {
            reason: error.to_string(),
        })
}
