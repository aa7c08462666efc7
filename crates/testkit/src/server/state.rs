//! Flags and counters that outlive the process, and the witness log.

use std::fs::{File, OpenOptions};
use std::io::Write;
use std::path::PathBuf;
use std::sync::Mutex;
use std::time::{SystemTime, UNIX_EPOCH};

use serde_json::{Map, Value, json};

use crate::lock;

/// Flags by name, stored in a file if a path is given.
pub(crate) struct State {
    path: Option<PathBuf>,
    values: Mutex<Map<String, Value>>,
}

impl State {
    pub(crate) fn new(path: Option<PathBuf>) -> Self {
        let stored = path.as_ref().and_then(|path| std::fs::read(path).ok());
        let values = stored.and_then(|bytes| serde_json::from_slice(&bytes).ok());
        Self {
            path,
            values: Mutex::new(values.unwrap_or_default()),
        }
    }

    pub(crate) fn get(&self, name: &str) -> Value {
        lock(&self.values).get(name).cloned().unwrap_or(Value::Null)
    }

    pub(crate) fn set(&self, name: &str, value: Value) {
        let mut values = lock(&self.values);
        values.insert(name.to_owned(), value);
        self.store(&values);
    }

    /// Increments a counter and returns its previous value.
    pub(crate) fn count(&self, name: &str) -> u64 {
        let mut values = lock(&self.values);
        let before = values.get(name).and_then(Value::as_u64).unwrap_or(0);
        values.insert(name.to_owned(), json!(before + 1));
        self.store(&values);
        before
    }

    fn store(&self, values: &Map<String, Value>) {
        if let Some(path) = &self.path {
            let beside = path.with_extension("new");
            let text = Value::Object(values.clone()).to_string();
            // Errors are ignored: a test that depends on the state would fail.
            std::fs::write(&beside, text)
                .and_then(|()| std::fs::rename(&beside, path))
                .ok();
        }
    }
}

/// The witness log: one line per event, written immediately and never changed.
pub(crate) struct Witness(Option<File>);

impl Witness {
    pub(crate) fn new(path: Option<&String>) -> Self {
        let open = |path: &String| OpenOptions::new().append(true).create(true).open(path).ok();
        Self(path.and_then(open))
    }

    /// Writes a line. When this returns, the operating system has the line, so it survives a kill of the
    /// process.
    pub(crate) fn write(&self, event: &str, tool: &str, arguments: &Value, key: &Value) {
        let Some(file) = &self.0 else { return };
        let now = SystemTime::now()
            .duration_since(UNIX_EPOCH)
            .unwrap_or_default();
        let line = json!({
            "at": u64::try_from(now.as_micros()).unwrap_or(0),
            "pid": std::process::id(),
            "event": event,
            "tool": tool,
            "arguments": arguments,
            "key": key,
        });
        let mut file = file;
        // A kill can truncate a write at the end of a page of the file. Every write starts with a line
        // break, so only the truncated line is lost.
        file.write_all(format!("\n{line}\n").as_bytes()).ok();
    }
}
