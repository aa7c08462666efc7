//! Reads the log of a home: its last lines, and new lines as they are written.
//!
//! Older lines are in `deft.log.1`, `deft.log.2` and so on. Not here: writing the log (`logging.rs`).

use std::fs::{self, File};
use std::io::{ErrorKind, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

use deft_model::Object;
use deft_registry::open_regular;
use deft_wire::log::{LogDocument, LogLine};
use deft_wire::{Done, Failure};

use crate::workspace::Workspace;

/// A reader of the log of a home.
pub struct LogReader {
    path: PathBuf,
    file: Option<File>,
    /// An incomplete last line.
    rest: String,
}

impl LogReader {
    /// Opens the log of the home of a workspace; the file need not exist.
    pub fn open(workspace: &Workspace) -> Done<Self> {
        let path = workspace.locate()?.join("logs").join("deft.log");
        Ok(Self {
            path,
            file: None,
            rest: String::new(),
        })
    }

    /// Returns the last `count` lines, oldest first. The next call of [`Self::read_new`] continues after
    /// them.
    pub fn tail(&mut self, count: usize) -> Done<LogDocument> {
        let mut lines = self.read_new()?;
        let mut number = 1;
        while lines.len() < count {
            let older = rotated_path(&self.path, number);
            let mut text = String::new();
            match open_regular(&older).and_then(|mut file| read_to_end(&mut file, &mut text)) {
                Ok(()) => {}
                Err(problem) if problem.kind() == ErrorKind::NotFound => break,
                Err(problem) => return Err(Failure::file(&older, "read", &problem)),
            }
            lines.splice(..0, text.lines().map(read_line));
            number += 1;
        }
        let surplus = lines.len().saturating_sub(count);
        lines.drain(..surplus);
        Ok(LogDocument {
            path: self.path.display().to_string(),
            lines,
        })
    }

    /// Returns the lines since the last call. A rotated log is read to its end before the new one.
    pub fn read_new(&mut self) -> Done<Vec<LogLine>> {
        let mut text = std::mem::take(&mut self.rest);
        let unread = |problem| Failure::file(&self.path, "read", &problem);
        if let Some(file) = &mut self.file {
            read_to_end(file, &mut text).map_err(unread)?;
        }
        if self.is_rotated() {
            match open_regular(&self.path) {
                Ok(file) => read_to_end(self.file.insert(file), &mut text).map_err(unread)?,
                Err(problem) if problem.kind() == ErrorKind::NotFound => self.file = None,
                Err(problem) => return Err(unread(problem)),
            }
        }
        let whole = text.rfind('\n').map_or(0, |at| at + 1);
        self.rest = text.split_off(whole);
        Ok(text.lines().map(read_line).collect())
    }

    /// Whether the log was replaced by a new file, or has not been opened yet.
    fn is_rotated(&self) -> bool {
        use std::os::unix::fs::MetadataExt;
        let Some(file) = &self.file else {
            return true;
        };
        let identity = |data: fs::Metadata| (data.dev(), data.ino());
        let open = file.metadata().map(identity).ok();
        let named = fs::metadata(&self.path).map(identity).ok();
        named.is_some() && open != named
    }
}

fn read_to_end(file: &mut File, text: &mut String) -> std::io::Result<()> {
    let mut bytes = Vec::new();
    let at = file.stream_position()?;
    // A truncated file is read from its start.
    if file.metadata()?.len() < at {
        file.seek(SeekFrom::Start(0))?;
    }
    file.read_to_end(&mut bytes)?;
    text.push_str(&String::from_utf8_lossy(&bytes));
    Ok(())
}

fn rotated_path(path: &Path, number: u32) -> PathBuf {
    let mut name = path.to_owned().into_os_string();
    name.push(format!(".{number}"));
    name.into()
}

/// Parses a line. A line that deft did not write becomes the message.
fn read_line(line: &str) -> LogLine {
    serde_json::from_str(line).unwrap_or_else(|_| LogLine {
        at: None,
        level: String::new(),
        message: line.to_owned(),
        target: String::new(),
        fields: Object::new(),
    })
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    fn line(number: u32) -> String {
        let start = "{\"timestamp\":\"2026-02-14T13:00:00Z\",\"level\":\"INFO\"";
        format!("{start},\"message\":\"line {number}\",\"target\":\"deft\",\"run\":\"x\"}}\n")
    }

    fn messages(lines: &[LogLine]) -> Vec<&str> {
        lines.iter().map(|line| line.message.as_str()).collect()
    }

    fn reader(home: &Path) -> LogReader {
        LogReader {
            path: home.join("deft.log"),
            file: None,
            rest: String::new(),
        }
    }

    #[test]
    fn older_lines_are_in_rotated_files() {
        let home = tempfile::tempdir().unwrap();
        fs::write(home.path().join("deft.log.1"), line(1) + &line(2)).unwrap();
        fs::write(home.path().join("deft.log"), line(3) + "not JSON\n").unwrap();
        let tail = reader(home.path()).tail(3).unwrap();
        assert_eq!(messages(&tail.lines), ["line 2", "line 3", "not JSON"]);
        assert_eq!(tail.lines[0].fields["run"], "x");
        assert_eq!(tail.lines[2].at, None);
    }

    #[test]
    fn following_survives_a_rotation() {
        let home = tempfile::tempdir().unwrap();
        let path = home.path().join("deft.log");
        let mut reader = reader(home.path());
        assert!(reader.tail(10).unwrap().lines.is_empty());
        let mut file = File::create(&path).unwrap();
        file.write_all(line(1).as_bytes()).unwrap();
        assert_eq!(messages(&reader.read_new().unwrap()), ["line 1"]);
        let half = line(2);
        file.write_all(&half.as_bytes()[..10]).unwrap();
        assert!(reader.read_new().unwrap().is_empty());
        file.write_all(&half.as_bytes()[10..]).unwrap();
        fs::rename(&path, home.path().join("deft.log.1")).unwrap();
        fs::write(&path, line(3)).unwrap();
        assert_eq!(messages(&reader.read_new().unwrap()), ["line 2", "line 3"]);
    }
}
