//! A few threads that read, each with a connection of its own, opened when first needed.
//!
//! Handing a question to a thread and waking up again takes longer than most answers. So a caller on a
//! thread of its own reads on that thread, as it writes there.
//!
//! In the log mode of `SQLite` readers and the writer do not wait for each other, and a reading that
//! begins after a write was answered sees it.

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

/// How a connection is opened.
pub(super) type OpenConnection = fn(&Path, &SqliteOptions) -> Result<Connection, Error>;

type Job = Box<dyn FnOnce(&mut Reader) + Send>;

/// The way to the threads that read.
pub(super) struct Readers {
    queue: Option<Sender<Job>>,
    threads: Vec<JoinHandle<()>>,
    /// For callers on threads of their own, one at a time.
    alone: Mutex<Reader>,
    /// A connection whose view of the file is compared over time, so it is always the same one.
    watcher: Arc<Mutex<Reader>>,
}

/// Where to read, and the connection once there is one.
struct Reader {
    path: PathBuf,
    options: SqliteOptions,
    open: OpenConnection,
    db: Option<Connection>,
    /// What the file has to be, while another process writes to it too.
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
            // Opening a connection beside a log that was deleted would make a new log.
            self.check_file()?;
        }
        let answer = self.ask_file(question);
        // What was read from a file that was replaced says nothing about the one at the path.
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

    /// Asks a question: on the thread of the caller if it may wait, else on one of the threads.
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

    /// A number that changes with every commit of any other connection, ours included.
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
            // If the threads are gone, so is the reply, and the answer says that.
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
        // One thread waits for work and holds the lock; the others wait for the lock.
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
