//! The audit log: who sent each request that could change something, from where, and what it asked for. Its
//! size is limited like that of the other logs, and it never contains a query, a body or a token.

use std::path::Path;

use deft_channels::LogFile;
use deft_config::LogLimits;
use deft_wire::token::AuditEntry;
use parking_lot::Mutex;

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
            tracing::warn!(%problem, "cannot open the audit log; API changes are not logged");
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
            tracing::warn!(%problem, "a change by the API was not logged");
        }
    }
}
