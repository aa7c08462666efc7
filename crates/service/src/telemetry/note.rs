//! The file with the state of a process's export: `data/telemetry.json`. `deft doctor` reads it.

use std::path::{Path, PathBuf};

use deft_config::write_private;
use deft_registry::read_text;
use deft_telemetry::{ExportState, Report};
use std::sync::Arc;

use crate::lock::Lock;

/// Maximum size of the file.
const MAX_BYTES: u64 = 16 * 1024;

fn file(home: &Path) -> PathBuf {
    home.join("data").join("telemetry.json")
}

/// Returns a function that writes the state after each export request. While a daemon is running, only the
/// daemon writes it.
pub(super) fn report(home: &Path) -> Report {
    let home = home.to_owned();
    Arc::new(move |state: &ExportState| {
        let own = std::process::id().to_string();
        if Lock::holder(&home).is_some_and(|holder| holder != own) {
            return;
        }
        let text = serde_json::to_string(state).unwrap_or_default();
        // Errors are ignored: the file is only informative.
        drop(write_private(&file(&home), &format!("{text}\n")));
    })
}

/// Returns the state of the last export; `None` before the first one.
pub(crate) fn find(home: &Path) -> Option<ExportState> {
    let text = read_text(&file(home), MAX_BYTES).ok()?;
    serde_json::from_str(&text).ok()
}
