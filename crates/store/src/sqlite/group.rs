//! Some work at a time, in one transaction and one commit.
//!
//! A bad piece of work takes no other with it. Who does this and when is decided in `writer.rs`.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use rusqlite::Connection;
use tokio::sync::oneshot;

use super::fault::{Fault, is_busy, translate};
use crate::Error;

/// The shortest and the longest pause between two looks at a lock.
const PAUSES: (Duration, Duration) = (Duration::from_micros(100), Duration::from_millis(2));

/// Some work, its result while the commit is under way, and who waits for it.
pub(super) trait Entry: Send {
    /// Does the work. After an error its traces have to be undone.
    fn apply(&mut self, db: &Connection, path: &Path) -> Result<(), Error>;

    /// Tells the result, or why there is none.
    fn answer(self: Box<Self>, failed: Option<&Error>);
}

pub(super) struct Work<T, F> {
    todo: Option<F>,
    result: Option<Result<T, Error>>,
    reply: oneshot::Sender<Result<T, Error>>,
}

impl<T, F> Work<T, F> {
    pub(super) fn new(work: F, reply: oneshot::Sender<Result<T, Error>>) -> Self {
        Self {
            todo: Some(work),
            result: None,
            reply,
        }
    }
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

/// The connection that writes.
pub(super) struct Pen {
    db: Connection,
    path: PathBuf,
    patience: Duration,
}

impl Pen {
    pub(super) fn new(db: Connection, path: PathBuf, patience: Duration) -> Result<Self, Error> {
        // Waiting is done here, see `begin`.
        db.busy_timeout(Duration::ZERO)
            .map_err(|error| translate(&error, &path))?;
        Ok(Self { db, path, patience })
    }

    /// Writes a group; an error means that nothing of it was applied.
    pub(super) fn write(&self, group: &mut [Box<dyn Entry>]) -> Result<(), Error> {
        self.begin(self.patience)?;
        self.commit(group)
    }

    /// The same, unless another process is in a transaction just now.
    pub(super) fn write_at_once(&self, group: &mut [Box<dyn Entry>]) -> Option<Result<(), Error>> {
        match self.begin(Duration::ZERO) {
            Err(Error::Locked { .. }) => None,
            Err(error) => Some(Err(error)),
            Ok(()) => Some(self.commit(group)),
        }
    }

    /// Begins a transaction, and waits if another process is in one.
    ///
    /// `SQLite` would wait too, but with ever longer pauses, and a process that writes all the time
    /// leaves gaps that are short.
    fn begin(&self, patience: Duration) -> Result<(), Error> {
        let deadline = Instant::now() + patience;
        let (mut pause, longest) = PAUSES;
        loop {
            match run(&self.db, "BEGIN IMMEDIATE") {
                Err(error) if is_busy(&error) && Instant::now() < deadline => {
                    std::thread::sleep(pause);
                    pause = longest.min(pause * 2);
                }
                other => return other.map_err(|error| translate(&error, &self.path)),
            }
        }
    }

    /// Runs a group in the transaction that has begun, and ends it.
    fn commit(&self, group: &mut [Box<dyn Entry>]) -> Result<(), Error> {
        let applied = match group {
            // Alone, the transaction itself is what is undone.
            [entry] => entry.apply(&self.db, &self.path),
            _ => self.apply(group),
        };
        let done = applied.and_then(|()| self.run("COMMIT"));
        if done.is_err() {
            self.undo();
        }
        done
    }

    /// Runs every entry in a savepoint of its own.
    fn apply(&self, group: &mut [Box<dyn Entry>]) -> Result<(), Error> {
        for entry in group {
            self.run("SAVEPOINT entry")?;
            if let Err(error) = entry.apply(&self.db, &self.path) {
                if self.db.is_autocommit() {
                    // A full disk may end the transaction on the spot, for everybody.
                    return Err(error);
                }
                self.run("ROLLBACK TO entry")?;
            }
            self.run("RELEASE entry")?;
        }
        Ok(())
    }

    /// Ends a transaction that may be over already.
    fn undo(&self) {
        if !self.db.is_autocommit() {
            // It fails only if the transaction is gone, which is what was wanted.
            let _undone = self.run("ROLLBACK");
        }
    }

    fn run(&self, sql: &str) -> Result<(), Error> {
        run(&self.db, sql).map_err(|error| translate(&error, &self.path))
    }
}

fn run(db: &Connection, sql: &str) -> rusqlite::Result<()> {
    db.prepare_cached(sql)?.execute([]).map(|_| ())
}
