//! The one thread that writes: it takes whatever waits, runs it in one transaction, commits once.
//!
//! While a commit syncs, new entries gather and share the next one; nobody waits for company. What
//! an entry does is none of its business.

use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use rusqlite::Connection;
use tokio::sync::oneshot;

use super::fault::{Fault, is_busy, translate};
use crate::{Answer, Error};

/// More entries than this wait for the next commit, so that nobody waits long for one.
const GROUP: usize = 256;

/// The shortest and the longest pause between two looks at a lock.
const PAUSES: (Duration, Duration) = (Duration::from_micros(100), Duration::from_millis(2));

/// The way to the thread that writes.
pub(super) struct Writer {
    queue: Option<Sender<Box<dyn Entry>>>,
    thread: Option<JoinHandle<()>>,
    path: PathBuf,
}

impl Writer {
    pub(super) fn start(db: Connection, path: PathBuf, patience: Duration) -> Result<Self, Error> {
        let (queue, entries) = channel();
        // Waiting is done here, see `begin`.
        db.busy_timeout(Duration::ZERO)
            .map_err(|error| translate(&error, &path))?;
        let thread = std::thread::Builder::new()
            .name("deft-store".to_owned())
            .spawn({
                let path = path.clone();
                move || serve(&db, &path, patience, &entries)
            })
            .map_err(|error| Error::Backend {
                reason: error.to_string(),
            })?;
        Ok(Self {
            queue: Some(queue),
            thread: Some(thread),
            path,
        })
    }

    /// One that refuses everything.
    pub(super) fn none(path: PathBuf) -> Self {
        Self {
            queue: None,
            thread: None,
            path,
        }
    }

    /// Hands over some work at once; the answer comes when it is on disk.
    pub(super) fn write<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Connection) -> Result<T, Fault> + Send + 'static,
    ) -> Answer<'static, T> {
        let Some(queue) = &self.queue else {
            let path = self.path.clone();
            return Box::pin(std::future::ready(Err(Error::ReadOnly { path })));
        };
        let (reply, answer) = oneshot::channel();
        let entry = Work {
            todo: Some(work),
            result: None,
            reply,
        };
        // If the thread is gone, so is the reply, and the answer says that.
        let _sent = queue.send(Box::new(entry));
        Box::pin(async { answer.await.unwrap_or(Err(Error::Closed)) })
    }
}

impl Drop for Writer {
    /// Lets the thread finish what waits.
    fn drop(&mut self) {
        self.queue = None;
        if let Some(thread) = self.thread.take() {
            join(thread);
        }
    }
}

/// Waits for a thread, unless it is the one that waits: a waker may own the last handle.
pub(super) fn join(thread: JoinHandle<()>) {
    if thread.thread().id() != std::thread::current().id() {
        // A panic was reported by the thread itself, and its callers were told `Closed`.
        let _ended = thread.join();
    }
}

/// Some work, its result while the commit is under way, and who waits for it.
trait Entry: Send {
    /// Does the work. After an error its traces have to be undone.
    fn apply(&mut self, db: &Connection, path: &Path) -> Result<(), Error>;

    /// Tells the result, or why there is none.
    fn answer(self: Box<Self>, failed: Option<&Error>);
}

struct Work<T, F> {
    todo: Option<F>,
    result: Option<Result<T, Error>>,
    reply: oneshot::Sender<Result<T, Error>>,
}

impl<T, F> Entry for Work<T, F>
where
    T: Send,
    F: FnOnce(&Connection) -> Result<T, Fault> + Send,
{
    fn apply(&mut self, db: &Connection, path: &Path) -> Result<(), Error> {
        let result = match self.todo.take() {
            Some(work) => work(db).map_err(|fault| fault.of(path)),
            None => Err(Error::Closed),
        };
        let verdict = result.as_ref().map(|_| ()).map_err(Error::clone);
        self.result = Some(result);
        verdict
    }

    fn answer(self: Box<Self>, failed: Option<&Error>) {
        let result = match (self.result, failed) {
            // Its own error says more than the one of the group.
            (Some(Err(error)), _) => Err(error),
            (_, Some(error)) => Err(error.clone()),
            (Some(Ok(value)), None) => Ok(value),
            (None, None) => Err(Error::Closed),
        };
        // Whoever asked may have left; what is written stays written.
        drop(self.reply.send(result));
    }
}

fn serve(db: &Connection, path: &Path, patience: Duration, entries: &Receiver<Box<dyn Entry>>) {
    let mut group = Vec::with_capacity(GROUP);
    let mut company = false;
    while let Ok(first) = entries.recv() {
        group.push(first);
        if company {
            // Those who were answered just now are about to ask again. Letting them run once makes
            // groups larger, and whoever is alone does not pay for it.
            std::thread::yield_now();
        }
        group.extend(entries.try_iter().take(GROUP - 1));
        company = group.len() > 1;
        let begun = begin(db, patience).map_err(|error| translate(&error, path));
        let failed = begun.and_then(|()| commit(db, path, &mut group)).err();
        for entry in group.drain(..) {
            entry.answer(failed.as_ref());
        }
    }
}

/// Begins a transaction, and waits if another process is in one.
///
/// `SQLite` would wait too, but with ever longer pauses, and a process that writes all the time
/// leaves gaps that are short.
fn begin(db: &Connection, patience: Duration) -> rusqlite::Result<()> {
    let deadline = Instant::now() + patience;
    let (mut pause, longest) = PAUSES;
    loop {
        match run(db, "BEGIN IMMEDIATE") {
            Err(error) if is_busy(&error) && Instant::now() < deadline => {
                std::thread::sleep(pause);
                pause = longest.min(pause * 2);
            }
            other => return other,
        }
    }
}

/// Runs a group in the transaction that has begun, and ends it. An error means that nothing of it was applied.
fn commit(db: &Connection, path: &Path, group: &mut [Box<dyn Entry>]) -> Result<(), Error> {
    let sql = |error: rusqlite::Error| translate(&error, path);
    let applied = match group {
        // Alone, the transaction itself is what is undone.
        [entry] => entry.apply(db, path),
        _ => apply(db, path, group),
    };
    let done = applied.and_then(|()| run(db, "COMMIT").map_err(sql));
    if done.is_err() {
        undo(db);
    }
    done
}

/// Runs every entry in a savepoint of its own.
fn apply(db: &Connection, path: &Path, group: &mut [Box<dyn Entry>]) -> Result<(), Error> {
    let sql = |error: rusqlite::Error| translate(&error, path);
    for entry in group {
        run(db, "SAVEPOINT entry").map_err(sql)?;
        if let Err(error) = entry.apply(db, path) {
            if db.is_autocommit() {
                // A full disk may end the transaction on the spot, for everybody.
                return Err(error);
            }
            run(db, "ROLLBACK TO entry").map_err(sql)?;
        }
        run(db, "RELEASE entry").map_err(sql)?;
    }
    Ok(())
}

/// Ends a transaction that may be over already.
fn undo(db: &Connection) {
    if !db.is_autocommit() {
        // It fails only if the transaction is gone, which is what was wanted.
        let _undone = run(db, "ROLLBACK");
    }
}

fn run(db: &Connection, sql: &str) -> rusqlite::Result<()> {
    db.prepare_cached(sql)?.execute([]).map(|_| ())
}
