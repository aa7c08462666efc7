//! The file by which commands and clients find the API of the daemon: `server.json` in the home. It is valid
//! only while a daemon holds the lock.

use std::path::{Path, PathBuf};

use deft_config::write_private;
use deft_registry::read_text;
use deft_wire::Done;
use deft_wire::listener::ListenerState;

use crate::lock::Lock;

/// Maximum size of the file.
const MAX_BYTES: u64 = 16 * 1024;

fn file(home: &Path) -> PathBuf {
    home.join("server.json")
}

/// Writes the address of the API, or why it is not served, to the file.
pub fn note(home: &Path, state: &ListenerState) -> Done<()> {
    let text = serde_json::to_string(state).unwrap_or_default();
    write_private(&file(home), &format!("{text}\n"))
}

/// Removes the file.
pub fn clear(home: &Path) {
    // A stale file is ignored: readers check the lock of the daemon first.
    drop(std::fs::remove_file(file(home)));
}

/// Returns the state of the API of a home; `None` if no daemon is running or it has the API disabled.
pub fn find(home: &Path) -> Option<ListenerState> {
    Lock::holder(home)?;
    let text = read_text(&file(home), MAX_BYTES).ok()?;
    serde_json::from_str(&text).ok()
}
