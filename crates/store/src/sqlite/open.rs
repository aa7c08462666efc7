//! Opens the file: settings, format, refusals.
//!
//! Nothing here writes to a file before it is known to be a database of ours, or empty.

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

/// One entry per format, never changed once released.
const FORMATS: &[M<'static>] = &[
    M::up(include_str!("schema.sql")),
    M::up(include_str!("schema_2.sql")),
    M::up(include_str!("schema_3.sql")),
    M::up(include_str!("schema_4.sql")),
    M::up(include_str!("schema_5.sql")),
    M::up(include_str!("schema_6.sql")),
];

/// The newest format.
const KNOWN: i64 = 6;

/// How [`Sqlite`](super::Sqlite) uses its file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SqliteOptions {
    /// How long to wait for another process that is writing.
    pub busy_timeout: Duration,
    /// How many readers may be at work at once.
    pub readers: usize,
    /// After how many pages the log is copied into the file and written from its start again.
    pub log_pages: u32,
    /// The largest size of the file, in pages of 4 KB; none for as large as the disk allows.
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

/// The connection that writes, to a file that has the newest format.
pub(super) fn writer(
    path: &Path,
    options: &SqliteOptions,
) -> Result<(Connection, Identity), Error> {
    create(path)?;
    let deadline = Instant::now() + options.busy_timeout;
    loop {
        // Turning on the log and the first transaction of a new file do not always wait for
        // another process that does the same, so that the waiting is ours.
        match try_writer(path, options) {
            Err(Error::Locked { .. }) if Instant::now() < deadline => {
                std::thread::sleep(Duration::from_millis(5));
            }
            other => return other,
        }
    }
}

/// A connection that only reads.
pub(super) fn reader(path: &Path, options: &SqliteOptions) -> Result<Connection, Error> {
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let sql = |error: rusqlite::Error| translate(&error, path);
    let db = Connection::open_with_flags(path, flags).map_err(sql)?;
    db.busy_timeout(options.busy_timeout).map_err(sql)?;
    // Half a megabyte: what is read again soon is in the cache of the system, and a daemon that
    // waits should be small.
    db.pragma_update(None, "cache_size", -512).map_err(sql)?;
    keep_plans(&db).map_err(sql)?;
    Ok(db)
}

/// Plans queries without looking at the values of their parameters. Otherwise `SQLite` compiles every statement with a
/// bound `LIMIT` again each time it is used, which took a third of the readers' processor time.
fn keep_plans(db: &Connection) -> rusqlite::Result<()> {
    db.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true)?;
    Ok(())
}

/// A connection to an empty database in memory, in place of a file that does not exist.
pub(super) fn empty(path: &Path, _options: &SqliteOptions) -> Result<Connection, Error> {
    let mut db = Connection::open_in_memory().map_err(|error| translate(&error, path))?;
    migrate(&mut db, path)?;
    Ok(db)
}

/// A connection that only reads, also where nothing can be written: in another user's folder,
/// on a read-only or a full disk.
///
/// `SQLite` makes an index of the log beside the file, and gives up where it cannot. No process has the
/// file open then: a process that opened it would have made that index.
pub(super) fn read_only(path: &Path, options: &SqliteOptions) -> Result<Connection, Error> {
    let sql = |error: rusqlite::Error| translate(&error, path);
    let usual = reader(path, options).and_then(|db| try_read(db).map_err(sql));
    let error = match usual {
        Err(error) if is_unwritable(&error) && path.exists() => error,
        other => return other,
    };
    let opened = if has_log(path) {
        unlocked(path)
    } else {
        unchanging(path)
    };
    // What the usual way said is what is wrong.
    opened.and_then(try_read).map_err(|_| error)
}

/// Whether a connection could not be opened because something beside the file cannot be written.
fn is_unwritable(error: &Error) -> bool {
    matches!(
        error,
        Error::NoAccess { .. } | Error::ReadOnly { .. } | Error::Io { .. } | Error::Full { .. }
    )
}

/// Whether the log holds anything. One that was only just made is empty.
fn has_log(path: &Path) -> bool {
    let mut log = path.as_os_str().to_owned();
    log.push("-wal");
    std::fs::metadata(log).is_ok_and(|log| log.len() > 0)
}

/// Reads the first page, as opening alone touches nothing.
fn try_read(db: Connection) -> rusqlite::Result<Connection> {
    number(&db, "PRAGMA schema_version")?;
    Ok(db)
}

/// A connection that takes no locks and has the index of the log in its own memory.
fn unlocked(path: &Path) -> rusqlite::Result<Connection> {
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let db = Connection::open_with_flags_and_vfs(path, flags, c"unix-none")?;
    db.pragma_update(None, "locking_mode", "exclusive")?;
    // The log is not ours to copy.
    db.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true)?;
    Ok(db)
}

/// A connection to a file without a log, which is whole and can be read as it is.
fn unchanging(path: &Path) -> rusqlite::Result<Connection> {
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY
        | OpenFlags::SQLITE_OPEN_NO_MUTEX
        | OpenFlags::SQLITE_OPEN_URI;
    Connection::open_with_flags(address(path), flags)
}

/// The file as an address that says it does not change.
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

/// Whether the file can be read as it is: one of an old format would have to be changed first.
pub(super) fn check_readable(path: &Path, options: &SqliteOptions) -> Result<(), Error> {
    let found = check(&read_only(path, options)?, path)?;
    if found == KNOWN {
        return Ok(());
    }
    Err(Error::NoAccess {
        path: path.to_path_buf(),
        reason: format!("it has format {found}, and it cannot be brought to format {KNOWN}"),
    })
}

/// Makes an empty file that only its owner can read. `SQLite` gives its companions the same mode.
///
/// A file that exists is not even opened: closing it again would drop locks that `SQLite` holds on
/// it elsewhere in this process.
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
    if identity.is_unsettled() {
        copy_log(&db);
    }
    identity.check()?;
    Ok((db, identity))
}

/// Copies the log into the file, as far as no reader needs what would be overwritten. A failure leaves
/// the log as it is; the next commit meets the same disk and reports it.
pub(super) fn copy_log(db: &Connection) {
    let _copied = db.query_row("PRAGMA wal_checkpoint(PASSIVE)", [], |_| Ok(()));
}

/// The format of the file, if it is one that may be written to.
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

/// Format, application and number of tables, as of one instant: read one by one, they could be
/// from before and after the moment in which another process makes the tables.
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
    // FULL syncs the log at every commit: what was answered survives a power cut.
    db.pragma_update(None, "synchronous", "full")?;
    // The log keeps its size, as writing over it is faster than growing it, unless a long read
    // of another process has made it much too large.
    // The writer decides when it is copied.
    let limit = i64::from(options.log_pages) * 4096 * 8;
    db.pragma_update(None, "journal_size_limit", limit)?;
    db.pragma_update(None, "foreign_keys", true)?;
    // Savepoints copy pages aside; in memory that costs no file.
    db.pragma_update(None, "temp_store", "memory")?;
    db.pragma_update(None, "cache_size", -8000)?;
    if let Some(pages) = options.max_pages {
        db.pragma_update(None, "max_page_count", pages)?;
    }
    keep_plans(db)?;
    // More than there are statements: one that falls out costs more than the rest of a commit's SQL.
    db.set_prepared_statement_cache_capacity(256);
    Ok(())
}

fn migrate(db: &mut Connection, path: &Path) -> Result<(), Error> {
    db.set_transaction_behavior(TransactionBehavior::Immediate);
    let Err(error) = Migrations::from_slice(FORMATS).to_latest(db) else {
        return Ok(());
    };
    // Another process may have been quicker; then its work is found instead of ours.
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
