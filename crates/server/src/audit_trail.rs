//! Entries of the audit log: how each door of the server adds them, within the limit on refusals.
//!
//! Not here: the log itself (`deft_service::audit`).

use std::sync::Arc;
use std::time::Instant;

use deft_service::audit::AuditLog;
use deft_wire::model::{clip, visible};
use deft_wire::token::AuditEntry;
use jiff::Timestamp;

use crate::refusals::Refusals;

/// Maximum number of characters of an operation in the logs. A client chooses paths, tools and ids.
const MAX_OPERATION: usize = 200;

/// The audit log with its limit. Clones share both.
#[derive(Clone)]
pub struct Audit {
    log: Arc<AuditLog>,
    refusals: Arc<Refusals>,
}

/// The sender of a request.
#[derive(Clone, Debug)]
pub struct Sender {
    /// Name of the token.
    pub who: String,
    /// Address of the client.
    pub from: String,
    /// Id of the request.
    pub request_id: String,
}

impl Audit {
    pub(crate) fn new(log: AuditLog) -> Self {
        Self {
            log: Arc::new(log),
            refusals: Arc::new(Refusals::new(Instant::now())),
        }
    }

    /// Adds an entry for an operation that may have taken effect.
    pub(crate) fn note(&self, sender: &Sender, operation: &str, status: u16) {
        self.write(sender, shorten(operation), status);
    }

    /// Adds an entry for an operation that was refused and has changed nothing. Of a flood only the first are
    /// added, and the others are counted.
    pub(crate) fn note_refused(&self, sender: &Sender, operation: &str, status: u16) {
        let Some(omitted) = self.refusals.admit(Instant::now()) else {
            return;
        };
        let mut text = shorten(operation);
        if omitted > 0 {
            text.push_str(&format!(
                "; {omitted} refused requests before it are not listed"
            ));
        }
        self.write(sender, text, status);
    }

    fn write(&self, sender: &Sender, what: String, status: u16) {
        self.log.note(&AuditEntry {
            timestamp: Timestamp::now(),
            who: sender.who.clone(),
            from: sender.from.clone(),
            what,
            status: Some(status),
            exit_code: None,
            request_id: Some(sender.request_id.clone()),
        });
    }
}

/// Cuts a text that a client chose, and makes control characters visible.
pub(crate) fn shorten(operation: &str) -> String {
    visible(&clip(operation, MAX_OPERATION))
}
