//! The file by which commands and clients find the API of the daemon: `server.json` in the home. It counts only while
//! a daemon holds the lock.

use std::path::{Path, PathBuf};

use deft_config::write_private;
use deft_registry::read_text;
use deft_wire::Done;
use deft_wire::listener::ListenerState;

use crate::lock::Lock;

/// The largest such file.
const MAX_BYTES: u64 = 16 * 1024;

fn file(home: &Path) -> PathBuf {
    home.join("server.json")
}

/// Notes where the API is served, or why it is not.
pub fn note(home: &Path, state: &ListenerState) -> Done<()> {
    let text = serde_json::to_string(state).unwrap_or_default();
    write_private(&file(home), &format!("{text}\n"))
}

/// Removes the note.
pub fn clear(home: &Path) {
    // A note without a daemon does not count.
    drop(std::fs::remove_file(file(home)));
}

/// Where the daemon of a home serves the API; none without a daemon, or if it serves none.
pub fn find(home: &Path) -> Option<ListenerState> {
    Lock::holder(home)?;
    let text = read_text(&file(home), MAX_BYTES).ok()?;
    serde_json::from_str(&text).ok()
}
