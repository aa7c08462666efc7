//! Opening of the file: settings, migrations, refusals.
//!
//! Nothing is written to a file before it is known to be empty or a database of deft.

use std::fs::OpenOptions;
use std::io::ErrorKind;
use std::path::Path;
use std::time::{Duration, Instant};

use rusqlite::config::DbConfig;
use rusqlite::{Connection, OpenFlags, TransactionBehavior};
use rusqlite_migration::{M, Migrations};

use super::fault::translate;
use super::identity::Identity;
use crate::Error;

/// `deft` in ASCII, in the header of the file. `schema.sql` writes it.
const APPLICATION: i64 = 0x6465_6674;

/// One migration per format; never changed after its release.
const FORMATS: &[M<'static>] = &[
    M::up(include_str!("schema.sql")),
    M::up(include_str!("schema_2.sql")),
    M::up(include_str!("schema_3.sql")),
    M::up(include_str!("schema_4.sql")),
    M::up(include_str!("schema_5.sql")),
    M::up(include_str!("schema_6.sql")),
    M::up(include_str!("schema_7.sql")),
];

/// The newest format.
const KNOWN: i64 = 7;

/// How [`Sqlite`](super::Sqlite) uses its file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SqliteOptions {
    /// How long to wait for another process that is writing.
    pub busy_timeout: Duration,
    /// The number of threads that read.
    pub readers: usize,
    /// Pages in the log (WAL) after which it is copied into the database and overwritten from its start.
    pub log_pages: u32,
    /// The largest size of the file, in pages of 4 KB; `None` for no limit.
    pub max_pages: Option<u32>,
}

impl Default for SqliteOptions {
    fn default() -> Self {
        Self {
            busy_timeout: Duration::from_secs(5),
            readers: 2,
            log_pages: 2000,
            max_pages: None,
        }
    }
}

/// Opens the connection for writing; migrates the file to the newest format.
pub(super) fn writer(
    path: &Path,
    options: &SqliteOptions,
) -> Result<(Connection, Identity), Error> {
    create(path)?;
    let deadline = Instant::now() + options.busy_timeout;
    loop {
        // SQLite does not always wait when two processes switch a new file to WAL mode or write its first
        // transaction, so the wait is here.
        match try_writer(path, options) {
            Err(Error::Locked { .. }) if Instant::now() < deadline => {
                std::thread::sleep(Duration::from_millis(5));
            }
            other => return other,
        }
    }
}

/// Opens a connection for reading.
pub(super) fn reader(path: &Path, options: &SqliteOptions) -> Result<Connection, Error> {
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let sql = |error: rusqlite::Error| translate(&error, path);
    let db = Connection::open_with_flags(path, flags).map_err(sql)?;
    db.busy_timeout(options.busy_timeout).map_err(sql)?;
    // Half a megabyte: the page cache of the system has recently read pages, and an idle daemon should be
    // small.
    db.pragma_update(None, "cache_size", -512).map_err(sql)?;
    keep_plans(&db).map_err(sql)?;
    Ok(db)
}

/// Makes query plans independent of parameter values. Otherwise `SQLite` recompiles every statement with a
/// bound `LIMIT` each time it is used, which took a third of the readers' processor time.
fn keep_plans(db: &Connection) -> rusqlite::Result<()> {
    db.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true)?;
    Ok(())
}

/// Opens an empty database in memory, in place of a file that does not exist.
pub(super) fn empty(path: &Path, _options: &SqliteOptions) -> Result<Connection, Error> {
    let mut db = Connection::open_in_memory().map_err(|error| translate(&error, path))?;
    migrate(&mut db, path)?;
    Ok(db)
}

/// Opens a connection for reading that also works where nothing can be written: in another user's folder, on
/// a read-only or a full disk.
///
/// `SQLite` creates an index of the log next to the file, and fails where it cannot. In that case no process
/// has the file open: one that opened it would have created that index.
pub(super) fn read_only(path: &Path, options: &SqliteOptions) -> Result<Connection, Error> {
    let sql = |error: rusqlite::Error| translate(&error, path);
    let usual = reader(path, options).and_then(|db| try_read(db).map_err(sql));
    let error = match usual {
        Err(error) if is_unwritable(&error) && path.exists() => error,
        other => return other,
    };
    let opened = if has_log(path) {
        open_unlocked(path)
    } else {
        open_immutable(path)
    };
    // The error of the usual way is the one to report.
    opened.and_then(try_read).map_err(|_| error)
}

/// Whether opening failed because a file next to the database cannot be written.
fn is_unwritable(error: &Error) -> bool {
    matches!(
        error,
        Error::NoAccess { .. } | Error::ReadOnly { .. } | Error::Io { .. } | Error::Full { .. }
    )
}

/// Whether the log has contents. A log that was just created is empty.
fn has_log(path: &Path) -> bool {
    let mut log = path.as_os_str().to_owned();
    log.push("-wal");
    std::fs::metadata(log).is_ok_and(|log| log.len() > 0)
}

/// Reads the first page, because opening alone reads nothing.
fn try_read(db: Connection) -> rusqlite::Result<Connection> {
    number(&db, "PRAGMA schema_version")?;
    Ok(db)
}

/// Opens a connection that takes no locks and keeps the index of the log in its own memory.
fn open_unlocked(path: &Path) -> rusqlite::Result<Connection> {
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let db = Connection::open_with_flags_and_vfs(path, flags, c"unix-none")?;
    db.pragma_update(None, "locking_mode", "exclusive")?;
    // The log belongs to other processes and must not be copied into the file.
    db.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true)?;
    Ok(db)
}

/// Opens a file without a log, which is complete and can be read as it is.
fn open_immutable(path: &Path) -> rusqlite::Result<Connection> {
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY
        | OpenFlags::SQLITE_OPEN_NO_MUTEX
        | OpenFlags::SQLITE_OPEN_URI;
    Connection::open_with_flags(address(path), flags)
}

/// Returns the URI that declares the file immutable.
fn address(path: &Path) -> String {
    let mut address = String::from("file:");
    for c in path.to_string_lossy().chars() {
        match c {
            '%' | '?' | '#' => address.push_str(&format!("%{:02X}", c as u32)),
            c => address.push(c),
        }
    }
    address + "?immutable=1"
}

/// Checks that the file can be read as it is; one of an older format would have to be migrated first.
pub(super) fn check_readable(path: &Path, options: &SqliteOptions) -> Result<(), Error> {
    let found = check(&read_only(path, options)?, path)?;
    if found == KNOWN {
        return Ok(());
    }
    Err(Error::NoAccess {
        path: path.to_path_buf(),
        reason: format!(
            "it has format {found} and cannot be migrated to format {KNOWN} without \
             write access"
        ),
    })
}

/// Creates an empty file with mode 0600. `SQLite` creates its companion files with the same mode.
///
/// A file that exists is not opened: closing it would drop locks that `SQLite` holds on it elsewhere in this
/// process.
fn create(path: &Path) -> Result<(), Error> {
    let mut how = OpenOptions::new();
    how.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut how, 0o600);
    match how.open(path) {
        Ok(_) => Ok(()),
        Err(error) if error.kind() == ErrorKind::AlreadyExists => Ok(()),
        Err(error) => Err(Error::NoAccess {
            path: path.to_path_buf(),
            reason: error.to_string(),
        }),
    }
}

fn try_writer(path: &Path, options: &SqliteOptions) -> Result<(Connection, Identity), Error> {
    let identity = Identity::of_database(path);
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let sql = |error: rusqlite::Error| translate(&error, path);
    let mut db = Connection::open_with_flags(path, flags).map_err(sql)?;
    db.busy_timeout(options.busy_timeout).map_err(sql)?;
    let found = check(&db, path)?;
    configure(&db, options).map_err(sql)?;
    if found < KNOWN {
        migrate(&mut db, path)?;
    }
    number(&db, "PRAGMA schema_version").map_err(sql)?;
    let identity = identity.with_log();
    if identity.has_open_checkpoint() {
        copy_log(&db);
    }
    identity.check()?;
    Ok((db, identity))
}

/// Copies the log into the file, except for pages that a reader still needs. A failure leaves the log as it
/// is; the next commit meets the same disk and reports it.
pub(super) fn copy_log(db: &Connection) {
    let _copied = db.query_row("PRAGMA wal_checkpoint(PASSIVE)", [], |_| Ok(()));
}

/// Returns the format of the file; fails if deft must not write to it.
fn check(db: &Connection, path: &Path) -> Result<i64, Error> {
    let [found, application, tables] = header(db).map_err(|error| translate(&error, path))?;
    let ours = application == APPLICATION;
    let empty = application == 0 && found == 0 && tables == 0;
    let path = path.to_path_buf();
    if !ours && !empty {
        return Err(Error::NotOurs { path });
    }
    if found > KNOWN {
        let known = KNOWN;
        return Err(Error::Newer { path, found, known });
    }
    Ok(found)
}

/// Returns format, application id and number of tables from one snapshot. Separate reads could straddle the
/// moment in which another process creates the tables.
fn header(db: &Connection) -> rusqlite::Result<[i64; 3]> {
    let instant = db.unchecked_transaction()?;
    let found = number(&instant, "PRAGMA user_version")?;
    let application = number(&instant, "PRAGMA application_id")?;
    let tables = number(&instant, "SELECT count(*) FROM sqlite_schema")?;
    instant.commit()?;
    Ok([found, application, tables])
}

fn configure(db: &Connection, options: &SqliteOptions) -> rusqlite::Result<()> {
    db.pragma_update(None, "journal_mode", "wal")?;
    // FULL syncs the log at every commit, so that acknowledged writes survive a power failure.
    db.pragma_update(None, "synchronous", "full")?;
    // The log keeps its size, because overwriting is faster than growing, unless a long read of another
    // process has made it much too large. The writer decides when it is copied.
    let limit = i64::from(options.log_pages) * 4096 * 8;
    db.pragma_update(None, "journal_size_limit", limit)?;
    db.pragma_update(None, "foreign_keys", true)?;
    // Savepoints copy pages to a temporary store; in memory they need no file.
    db.pragma_update(None, "temp_store", "memory")?;
    db.pragma_update(None, "cache_size", -8000)?;
    if let Some(pages) = options.max_pages {
        db.pragma_update(None, "max_page_count", pages)?;
    }
    keep_plans(db)?;
    // More than the number of statements: recompiling one costs more than the rest of a commit's SQL.
    db.set_prepared_statement_cache_capacity(256);
    Ok(())
}

fn migrate(db: &mut Connection, path: &Path) -> Result<(), Error> {
    db.set_transaction_behavior(TransactionBehavior::Immediate);
    let Err(error) = Migrations::from_slice(FORMATS).to_latest(db) else {
        return Ok(());
    };
    // Another process may have migrated the file first.
    if number(db, "PRAGMA user_version").is_ok_and(|found| found == KNOWN) {
        return Ok(());
    }
    if let rusqlite_migration::Error::RusqliteError { err, .. } = error {
        return Err(translate(&err, path));
    }
    let reason = error.to_string();
    Err(Error::Backend { reason })
}

fn number(db: &Connection, sql: &str) -> rusqlite::Result<i64> {
    db.query_row(sql, [], |row| row.get(0))
}
