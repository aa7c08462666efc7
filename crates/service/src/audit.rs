//! The audit log: who asked for each change, from where, and what it was. Every door writes to it: HTTP, the
//! WebSocket, MCP and the command line. Its size is limited like that of the other logs, and it never contains
//! a query, a body, an input or a token.
//!
//! Not here: which requests and commands are changes.

use std::path::Path;

use deft_channels::LogFile;
use deft_config::{LogLimits, env};
use deft_wire::token::AuditEntry;
use jiff::Timestamp;
use parking_lot::Mutex;

use crate::workspace::Workspace;

/// What an entry has as the address of a command.
const TERMINAL: &str = "terminal";

/// `logs/audit.jsonl` of a home.
pub struct AuditLog {
    file: Option<Mutex<LogFile>>,
}

impl AuditLog {
    /// Opens the log. If it cannot be written, that is reported once; requests are still served.
    pub fn open(home: &Path, limits: LogLimits) -> Self {
        let path = home.join("logs").join("audit.jsonl");
        let opened = LogFile::open(&path, limits).and_then(|file| {
            deft_config::make_private(&path)?;
            Ok(Mutex::new(file))
        });
        if let Err(problem) = &opened {
            tracing::warn!(%problem, "cannot open the audit log; changes are not logged");
        }
        Self { file: opened.ok() }
    }

    /// Appends `entry`.
    pub fn note(&self, entry: &AuditEntry) {
        let Some(file) = &self.file else {
            return;
        };
        let written = serde_json::to_string(entry)
            .map_err(std::io::Error::from)
            .and_then(|line| file.lock().append(&line));
        if let Err(problem) = written {
            tracing::warn!(%problem, "a change was not logged");
        }
    }

    /// Opens the log of the home of `workspace`; `None` if there is no home.
    pub fn find(workspace: &Workspace) -> Option<Self> {
        let home = workspace.locate().ok().filter(|home| home.is_dir())?;
        let quiet = Workspace {
            quiet: true,
            ..workspace.clone()
        };
        let read = quiet.home_to_read();
        let limits = read.map_or_else(|_| LogLimits::default(), |home| home.config.logs.limits);
        Some(Self::open(&home, limits))
    }
}

/// Adds an entry for a command that may have changed something, if the home exists.
pub fn note_command(workspace: &Workspace, command: &str, exit_code: u8) {
    if let Some(log) = AuditLog::find(workspace) {
        log.note(&AuditEntry {
            timestamp: Timestamp::now(),
            who: account(),
            from: TERMINAL.to_owned(),
            what: command.to_owned(),
            status: None,
            exit_code: Some(exit_code),
            request_id: None,
        });
    }
}

/// Returns the account that this process runs as, as the audit log names it.
pub fn account() -> String {
    let name = [env::LOGNAME, env::USER].into_iter().find_map(env::get);
    match name.and_then(|name| name.into_string().ok()) {
        Some(name) => format!("user {name}"),
        None => format!("user {}", rustix::process::getuid().as_raw()),
    }
}
