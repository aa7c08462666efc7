//! Groups of write requests, each committed in one transaction.
//!
//! A request that fails does not affect the others of its group. Most requests fail, if at all, before they
//! write anything, and then there is nothing to undo. If a request fails after writing, the whole group is
//! rolled back and repeated with a savepoint per request: savepoints copy every page that is touched, too
//! expensive for such a rare case. `writer.rs` decides which thread commits and when, and when a long log is
//! copied into the file.

use std::cell::Cell;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use rusqlite::Connection;
use tokio::sync::oneshot;

use super::fault::{Fault, is_busy, translate};
use super::identity::Identity;
use super::open::SqliteOptions;
use super::open::copy_log;
use crate::Error;

thread_local! {
    /// The number of pages in the log after the last commit of this thread.
    static LOG: Cell<u32> = const { Cell::new(0) };
}

/// The shortest and the longest pause between two attempts to get a lock.
const PAUSES: (Duration, Duration) = (Duration::from_micros(100), Duration::from_millis(2));

/// A write request, its result until the commit, and the channel for the reply.
pub(super) trait Entry: Send {
    /// Executes the request; may be called a second time. After an error, its changes have to be undone.
    fn apply(&mut self, db: &Connection, path: &Path) -> Result<(), Error>;

    /// Sends the result to the caller; `failed` is the error of the commit.
    fn answer(self: Box<Self>, failed: Option<&Error>);
}

pub(super) struct WriteRequest<T, F> {
    todo: F,
    result: Option<Result<T, Error>>,
    reply: oneshot::Sender<Result<T, Error>>,
}

impl<T, F> WriteRequest<T, F> {
    pub(super) fn new(work: F, reply: oneshot::Sender<Result<T, Error>>) -> Self {
        Self {
            todo: work,
            result: None,
            reply,
        }
    }
}

impl<T, F> Entry for WriteRequest<T, F>
where
    T: Send,
    F: Fn(&Connection) -> Result<T, Fault> + Send,
{
    fn apply(&mut self, db: &Connection, path: &Path) -> Result<(), Error> {
        let result = (self.todo)(db).map_err(|fault| fault.into_error(path));
        let verdict = result.as_ref().map(|_| ()).map_err(Error::clone);
        self.result = Some(result);
        verdict
    }

    fn answer(self: Box<Self>, failed: Option<&Error>) {
        let result = match (self.result, failed) {
            // The request's own error is more specific than the one of the group.
            (Some(Err(error)), _) => Err(error),
            (_, Some(error)) => Err(error.clone()),
            (Some(Ok(value)), None) => Ok(value),
            (None, None) => Err(Error::Closed),
        };
        // The caller may have stopped waiting; the write stays.
        drop(self.reply.send(result));
    }
}

/// The connection used for writing.
pub(super) struct WriteConnection {
    db: Connection,
    path: PathBuf,
    begin_timeout: Duration,
    /// The number of pages after which the log is copied into the file, and its current length.
    log_pages: u32,
    log: Cell<u32>,
    /// The file that must still be in place; `None` for a database in memory.
    identity: Option<Arc<Identity>>,
}

impl WriteConnection {
    pub(super) fn new(
        db: Connection,
        path: PathBuf,
        options: &SqliteOptions,
        identity: Option<Arc<Identity>>,
    ) -> Result<Self, Error> {
        // `begin` waits instead.
        db.busy_timeout(Duration::ZERO)
            .map_err(|error| translate(&error, &path))?;
        // Replaces SQLite's own hook, which would copy the log in the middle of a commit.
        db.wal_hook(Some(|_, pages| {
            LOG.set(pages.unsigned_abs());
            Ok(())
        }));
        Ok(Self {
            db,
            path,
            begin_timeout: options.busy_timeout,
            log_pages: options.log_pages,
            log: Cell::new(0),
            identity,
        })
    }

    /// Whether no transaction is open.
    pub(super) fn is_idle(&self) -> bool {
        self.db.is_autocommit()
    }

    /// Whether the log is longer than `times` times the configured length.
    pub(super) fn log_exceeds(&self, times: u32) -> bool {
        self.log.get() > self.log_pages.saturating_mul(times)
    }

    /// Copies the log into the file.
    pub(super) fn copy_log(&self) {
        self.log.set(0);
        copy_log(&self.db);
        // Records the new state of the file now: until the next check, this checkpoint would explain a
        // foreign write. The next commit reports any problem of the file.
        let _checked = self.check_file();
    }

    /// Writes a group; after an error nothing of it is applied.
    pub(super) fn write(&self, group: &mut [Box<dyn Entry>]) -> Result<(), Error> {
        self.begin(self.begin_timeout)?;
        self.commit(group)
    }

    /// Like [`write`](Self::write), but returns `None` if another process holds the write lock.
    pub(super) fn write_at_once(&self, group: &mut [Box<dyn Entry>]) -> Option<Result<(), Error>> {
        match self.begin(Duration::ZERO) {
            Err(Error::Locked { .. }) => None,
            Err(error) => Some(Err(error)),
            Ok(()) => Some(self.commit(group)),
        }
    }

    /// Begins a transaction; waits up to `begin_timeout` while another process is in one.
    ///
    /// `SQLite` could wait too, but its pauses grow, and the gaps of a process that writes all the time are
    /// short.
    fn begin(&self, begin_timeout: Duration) -> Result<(), Error> {
        self.check_file()?;
        let deadline = Instant::now() + begin_timeout;
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

    /// Executes a group in the open transaction, and commits it.
    fn commit(&self, group: &mut [Box<dyn Entry>]) -> Result<(), Error> {
        let applied = match group {
            // A single request needs no savepoint: the transaction itself can be rolled back.
            [entry] => entry.apply(&self.db, &self.path),
            _ => self.apply(group),
        };
        let done = applied.and_then(|()| self.run("COMMIT"));
        // If the file is in place after the commit, it was in place during it. The caller may now call a
        // tool: the next process will find the record of that call.
        let done = done.and_then(|()| self.check_file());
        match done {
            Ok(()) => self.log.set(LOG.get()),
            Err(_) => self.undo(),
        }
        done
    }

    fn check_file(&self) -> Result<(), Error> {
        self.identity.as_ref().map_or(Ok(()), |file| file.check())
    }

    /// Executes all entries, and starts again with savepoints if one fails after writing.
    fn apply(&self, group: &mut [Box<dyn Entry>]) -> Result<(), Error> {
        for entry in group.iter_mut() {
            let before = self.db.total_changes();
            let Err(error) = entry.apply(&self.db, &self.path) else {
                continue;
            };
            if self.db.is_autocommit() {
                // A full disk may roll back the transaction immediately, for all callers that share it.
                return Err(error);
            }
            if self.db.total_changes() != before {
                self.run("ROLLBACK")?;
                self.begin(self.begin_timeout)?;
                return self.apply_in_savepoints(group);
            }
        }
        Ok(())
    }

    /// Executes every entry in its own savepoint.
    fn apply_in_savepoints(&self, group: &mut [Box<dyn Entry>]) -> Result<(), Error> {
        for entry in group {
            self.run("SAVEPOINT entry")?;
            if let Err(error) = entry.apply(&self.db, &self.path) {
                if self.db.is_autocommit() {
                    return Err(error);
                }
                self.run("ROLLBACK TO entry")?;
            }
            self.run("RELEASE entry")?;
        }
        Ok(())
    }

    /// Rolls back the transaction, if it is still open.
    fn undo(&self) {
        if !self.db.is_autocommit() {
            // Fails only if the transaction has already ended, which is the goal.
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

#[cfg(test)]
mod tests {
    use super::*;

    type Reply = oneshot::Receiver<Result<usize, Error>>;

    /// Returns a request that adds a row: it succeeds, or fails before (`Some(false)`) or after
    /// (`Some(true)`) adding it.
    fn adds(row: i64, fails: Option<bool>) -> (Box<dyn Entry>, Reply) {
        let (reply, answer) = oneshot::channel();
        let work = move |db: &Connection| {
            if fails == Some(false) {
                return Err(Fault::Store(Error::Closed));
            }
            let added = db.execute("INSERT INTO it (n) VALUES (?1)", [row])?;
            match fails {
                Some(_) => Err(Fault::Store(Error::Closed)),
                None => Ok(added),
            }
        };
        (Box::new(WriteRequest::new(work, reply)), answer)
    }

    fn written_entries(entries: &[(i64, Option<bool>)]) -> (Vec<bool>, Vec<i64>) {
        let db = Connection::open_in_memory().unwrap();
        db.execute_batch("CREATE TABLE it (n INTEGER PRIMARY KEY)")
            .unwrap();
        let connection =
            WriteConnection::new(db, PathBuf::new(), &SqliteOptions::default(), None).unwrap();
        let (mut group, answers): (Vec<_>, Vec<Reply>) = entries
            .iter()
            .map(|(row, fails)| adds(*row, *fails))
            .unzip();
        connection.write(&mut group).unwrap();
        group.into_iter().for_each(|entry| entry.answer(None));
        let good = |mut answer: Reply| answer.try_recv().unwrap().is_ok();
        let good = answers.into_iter().map(good).collect();
        let mut rows = connection
            .db
            .prepare("SELECT n FROM it ORDER BY n")
            .unwrap();
        let rows = rows.query_map([], |row| row.get(0)).unwrap();
        (good, rows.collect::<Result<_, _>>().unwrap())
    }

    #[test]
    fn a_panic_leaves_a_busy_connection() {
        let db = Connection::open_in_memory().unwrap();
        let connection =
            WriteConnection::new(db, PathBuf::new(), &SqliteOptions::default(), None).unwrap();
        let (reply, _answer) = oneshot::channel::<Result<(), Error>>();
        let work = |_: &Connection| -> Result<(), Fault> { panic!("in the middle") };
        let mut group: [Box<dyn Entry>; 1] = [Box::new(WriteRequest::new(work, reply))];
        assert!(connection.is_idle());
        let write = std::panic::AssertUnwindSafe(|| connection.write(&mut group));
        assert!(std::panic::catch_unwind(write).is_err());
        assert!(!connection.is_idle());
    }

    #[test]
    fn a_bad_entry_does_not_undo_others() {
        let early = written_entries(&[(1, None), (2, Some(false)), (3, None)]);
        assert_eq!(early, (vec![true, false, true], vec![1, 3]));
        // The failed entry that wrote is undone, and the other rows exist once.
        let late = written_entries(&[(1, None), (2, Some(true)), (3, Some(false)), (4, None)]);
        assert_eq!(late, (vec![true, false, false, true], vec![1, 4]));
    }
}
