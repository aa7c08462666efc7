//! The file in which a process notes how its export goes: `data/telemetry.json`. `deft doctor` reads it.

use std::path::{Path, PathBuf};

use deft_config::write_private;
use deft_registry::read_text;
use deft_telemetry::{ExportState, Report};
use std::sync::Arc;

use crate::lock::Lock;

/// The largest such file.
const MAX_BYTES: u64 = 16 * 1024;

fn file(home: &Path) -> PathBuf {
    home.join("data").join("telemetry.json")
}

/// Notes the state after every request. A command beside a daemon leaves the note to the daemon.
pub(super) fn report(home: &Path) -> Report {
    let home = home.to_owned();
    Arc::new(move |state: &ExportState| {
        let own = std::process::id().to_string();
        if Lock::holder(&home).is_some_and(|holder| holder != own) {
            return;
        }
        let text = serde_json::to_string(state).unwrap_or_default();
        // Nothing depends on the note.
        drop(write_private(&file(&home), &format!("{text}\n")));
    })
}

/// How the last export went; none before the first one.
pub(crate) fn find(home: &Path) -> Option<ExportState> {
    let text = read_text(&file(home), MAX_BYTES).ok()?;
    serde_json::from_str(&text).ok()
}
