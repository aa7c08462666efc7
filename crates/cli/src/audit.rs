//! The entry of this process in the audit log, if its command may change something.
//!
//! Not here: which commands are changes (`changes.rs`).

use std::process::ExitCode;

use deft_service::{Workspace, audit};
use parking_lot::Mutex;

use crate::exit::Exit;

/// The change that this process makes, until it has its entry. A command has one end, but more than one place
/// where it can end: a closed stdout ends the process.
static CHANGE: Mutex<Option<Change>> = Mutex::new(None);

struct Change {
    workspace: Workspace,
    text: String,
}

/// Remembers the change that this process makes.
pub(crate) fn begin(workspace: Workspace, text: String) {
    *CHANGE.lock() = Some(Change { workspace, text });
}

/// Adds the entry, if there is a change without one.
pub(crate) fn end(code: ExitCode) {
    let change = CHANGE.lock().take();
    if let Some(Change { workspace, text }) = change {
        audit::note_command(&workspace, &text, Exit::number(code));
    }
}
