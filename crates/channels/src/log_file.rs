//! A log file with rotation.
//!
//! When the log reaches its maximum size or its first line is too old, it is renamed to `NAME.1`, the
//! previous `NAME.1` to `NAME.2`, and so on; files beyond the limits are removed. Several processes may write
//! to one log: before each line, a process checks whether another one has rotated the file. Not here: what is
//! logged.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

use deft_config::LogLimits;
use deft_model::visible_json;
use deft_registry::open_regular;
use jiff::Timestamp;

/// A log with one JSON object per line.
#[derive(Debug)]
pub struct LogFile {
    path: PathBuf,
    limits: LogLimits,
    clock: fn() -> Timestamp,
    file: File,
    /// Device and inode of `file`.
    id: FileId,
    /// The time of the first line, if known.
    begun: Option<Timestamp>,
}

impl LogFile {
    /// Opens the log at `path`; creates its folder if necessary.
    pub fn open(path: &Path, limits: LogLimits) -> io::Result<Self> {
        Self::open_at(path, limits, Timestamp::now)
    }

    fn open_at(path: &Path, limits: LogLimits, clock: fn() -> Timestamp) -> io::Result<Self> {
        if let Some(folder) = path.parent() {
            fs::create_dir_all(folder)?;
        }
        let (file, id) = append_to(path)?;
        let log = Self {
            begun: first_time(path),
            path: path.to_owned(),
            limits,
            clock,
            file,
            id,
        };
        log.remove_surplus();
        Ok(log)
    }

    /// Appends a line of JSON in a single write, so lines of several processes do not mix.
    pub fn append(&mut self, json: &str) -> io::Result<()> {
        let line = visible_json(json.trim_end_matches('\n')) + "\n";
        let size = match self.size() {
            Some(size) => size,
            None => {
                self.reopen()?;
                self.file.metadata()?.len()
            }
        };
        let now = (self.clock)();
        if self.is_due(size, line.len(), now) {
            self.rotate()?;
        }
        self.begun.get_or_insert(now);
        self.file.write_all(line.as_bytes())
    }

    /// Returns the size of the log, or `None` if its path holds another file or none. This is the only file
    /// system access before each line.
    fn size(&self) -> Option<u64> {
        let there = fs::metadata(&self.path).ok()?;
        (file_id(&there) == self.id).then_some(there.len())
    }

    /// Whether the log must be rotated before a line of `bytes` bytes is written.
    fn is_due(&self, size: u64, bytes: usize, now: Timestamp) -> bool {
        let full = size + bytes as u64 > self.limits.max_bytes;
        let age = self.begun.map(|begun| now.duration_since(begun));
        let old =
            age.is_some_and(|age| age.unsigned_abs() > self.limits.max_age && age.is_positive());
        size > 0 && (full || old)
    }

    /// Rotates the log. If another process is rotating it, this one keeps writing to the old file: logging
    /// never blocks.
    fn rotate(&mut self) -> io::Result<()> {
        let lock = self.path.with_extension("lock");
        let lock = OpenOptions::new().create(true).append(true).open(lock)?;
        if lock.try_lock().is_err() {
            return Ok(());
        }
        // Another process may have rotated the file before this one got the lock.
        if self.size().is_some() {
            for number in (1..self.limits.keep).rev() {
                move_away(&self.rotated_path(number), &self.rotated_path(number + 1))?;
            }
            match self.limits.keep {
                0 => fs::remove_file(&self.path)?,
                _ => move_away(&self.path, &self.rotated_path(1))?,
            }
            self.remove_surplus();
        }
        self.reopen()
    }

    fn reopen(&mut self) -> io::Result<()> {
        (self.file, self.id) = append_to(&self.path)?;
        self.begun = first_time(&self.path);
        Ok(())
    }

    fn rotated_path(&self, number: u32) -> PathBuf {
        let mut name = self.path.clone().into_os_string();
        name.push(format!(".{number}"));
        name.into()
    }

    /// Removes rotated files that are too many or too old. A file that cannot be removed is retried at the
    /// next rotation.
    fn remove_surplus(&self) {
        let (Some(folder), Some(name)) = (self.path.parent(), self.path.file_name()) else {
            return;
        };
        let start = format!("{}.", name.to_string_lossy());
        for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
            let name = entry.file_name();
            let number = name
                .to_str()
                .and_then(|name| name.strip_prefix(&start)?.parse::<u32>().ok());
            if number.is_some_and(|number| number > self.limits.keep || self.is_old(&entry)) {
                drop(fs::remove_file(entry.path()));
            }
        }
    }

    fn is_old(&self, entry: &fs::DirEntry) -> bool {
        let changed = entry.metadata().and_then(|metadata| metadata.modified());
        let Some(changed) = changed.ok().and_then(|at| Timestamp::try_from(at).ok()) else {
            return false;
        };
        let age = (self.clock)().duration_since(changed);
        age.is_positive() && age.unsigned_abs() > self.limits.max_age
    }
}

/// Each call to `write` appends one log event.
impl Write for LogFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.append(&String::from_utf8_lossy(bytes))?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Opens `path` for appending. Fails if it is a pipe or a device, and never blocks on one.
fn append_to(path: &Path) -> io::Result<(File, FileId)> {
    use std::os::unix::fs::OpenOptionsExt;
    let flags = rustix::fs::OFlags::NONBLOCK | rustix::fs::OFlags::NOCTTY;
    let file = OpenOptions::new()
        .create(true)
        .append(true)
        .mode(0o600)
        .custom_flags(flags.bits().cast_signed())
        .open(path)?;
    let metadata = file.metadata()?;
    if metadata.is_file() {
        return Ok((file, file_id(&metadata)));
    }
    let why = "not a regular file";
    Err(io::Error::new(io::ErrorKind::InvalidInput, why))
}

/// Device and inode.
type FileId = (u64, u64);

fn file_id(metadata: &fs::Metadata) -> FileId {
    use std::os::unix::fs::MetadataExt;
    (metadata.dev(), metadata.ino())
}

/// Renames a rotated file. A missing file only leaves a gap in the numbers.
fn move_away(from: &Path, to: &Path) -> io::Result<()> {
    match fs::rename(from, to) {
        Err(problem) if problem.kind() != io::ErrorKind::NotFound => Err(problem),
        _ => Ok(()),
    }
}

/// Returns the time in the first line of a log.
fn first_time(path: &Path) -> Option<Timestamp> {
    let mut start = Vec::new();
    let file = open_regular(path).ok()?;
    file.take(4096).read_to_end(&mut start).ok()?;
    let text = String::from_utf8_lossy(&start);
    let line = text.lines().next()?;
    let after = ["\"timestamp\":\"", "\"at\":\""]
        .iter()
        .find_map(|key| line.split_once(key))?
        .1;
    after.split('"').next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    fn noon() -> Timestamp {
        "2026-11-15T12:00:00Z".parse().unwrap()
    }

    fn next_month() -> Timestamp {
        "2026-12-15T12:00:01Z".parse().unwrap()
    }

    const LIMITS: LogLimits = LogLimits {
        max_bytes: 100,
        keep: 2,
        max_age: Duration::from_hours(30 * 24),
    };

    fn names(folder: &Path) -> Vec<String> {
        let entries = fs::read_dir(folder).unwrap().flatten();
        let mut names: Vec<String> = entries
            .map(|entry| entry.file_name().into_string().unwrap())
            .filter(|name| name.contains(".log"))
            .collect();
        names.sort();
        names
    }

    #[test]
    fn the_size_of_a_log_is_limited() {
        let home = tempfile::tempdir().unwrap();
        let path = home.path().join("logs/deft.log");
        let mut log = LogFile::open_at(&path, LIMITS, noon).unwrap();
        for number in 0..1000 {
            log.append(&format!(
                "{{\"n\":{number},\"text\":\"{}\"}}",
                "x".repeat(20)
            ))
            .unwrap();
        }
        let folder = path.parent().unwrap();
        assert_eq!(names(folder), ["deft.log", "deft.log.1", "deft.log.2"]);
        let all: Vec<String> = ["deft.log.2", "deft.log.1", "deft.log"]
            .map(|name| fs::read_to_string(folder.join(name)).unwrap())
            .into();
        assert!(all.iter().all(|text| text.len() <= 100), "{all:?}");
        // The last lines are there, in order and complete.
        let numbers: Vec<u64> = all
            .concat()
            .lines()
            .map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap())
            .map(|line| line["n"].as_u64().unwrap())
            .collect();
        assert_eq!(*numbers.last().unwrap(), 999);
        assert!(numbers.windows(2).all(|pair| pair[0] + 1 == pair[1]));
    }

    #[test]
    fn an_old_log_is_rotated() {
        let home = tempfile::tempdir().unwrap();
        let path = home.path().join("notices.log");
        fs::write(&path, "{\"at\":\"2026-11-15T12:00:00Z\"}\n").unwrap();
        let mut log = LogFile::open_at(&path, LIMITS, noon).unwrap();
        log.append("{\"new\":1}").unwrap();
        assert_eq!(names(home.path()), ["notices.log"]);
        let mut log = LogFile::open_at(&path, LIMITS, next_month).unwrap();
        log.append("{\"new\":2}").unwrap();
        assert_eq!(names(home.path()), ["notices.log", "notices.log.1"]);
        assert_eq!(fs::read_to_string(&path).unwrap(), "{\"new\":2}\n");
    }

    #[test]
    fn old_and_excess_rotated_files_are_removed() {
        let home = tempfile::tempdir().unwrap();
        let path = home.path().join("deft.log");
        let old = std::time::SystemTime::UNIX_EPOCH + Duration::from_hours(24);
        for name in [
            "deft.log.1",
            "deft.log.2",
            "deft.log.7",
            "deft.log.txt",
            "other.log.9",
        ] {
            fs::write(home.path().join(name), "x").unwrap();
        }
        let file = File::options()
            .write(true)
            .open(home.path().join("deft.log.2"))
            .unwrap();
        file.set_modified(old).unwrap();
        // The other files have the current time, which is later than the test's clock, so they are not old.
        LogFile::open_at(&path, LIMITS, noon).unwrap();
        let left = names(home.path());
        assert_eq!(
            left,
            ["deft.log", "deft.log.1", "deft.log.txt", "other.log.9"]
        );
    }

    #[test]
    fn two_writers_share_a_rotated_log() {
        let home = tempfile::tempdir().unwrap();
        let path = home.path().join("deft.log");
        let mut one = LogFile::open_at(&path, LIMITS, noon).unwrap();
        let mut two = LogFile::open_at(&path, LIMITS, noon).unwrap();
        for number in 0..4 {
            one.append(&format!(
                "{{\"one\":{number},\"t\":\"{}\"}}",
                "x".repeat(40)
            ))
            .unwrap();
            two.append(&format!("{{\"two\":{number}}}")).unwrap();
        }
        let text = fs::read_to_string(&path).unwrap();
        assert!(text.ends_with("{\"two\":3}\n"), "{text}");
        assert_eq!(names(home.path()), ["deft.log", "deft.log.1", "deft.log.2"]);
    }

    #[test]
    fn a_log_without_kept_files_is_truncated() {
        let home = tempfile::tempdir().unwrap();
        let path = home.path().join("deft.log");
        let limits = LogLimits { keep: 0, ..LIMITS };
        let mut log = LogFile::open_at(&path, limits, noon).unwrap();
        for _ in 0..10 {
            log.append(&format!("{{\"t\":\"{}\"}}", "x".repeat(60)))
                .unwrap();
        }
        assert_eq!(names(home.path()), ["deft.log"]);
    }
}
