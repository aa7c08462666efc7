//! State of a client's session.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};

use parking_lot::Mutex;

/// Session of one client. A client without sessions gets a new one for each request.
pub(in crate::mcp) struct Session {
    pub(super) id: u64,
    /// Minimum level of log messages that the client wants, in the words of MCP.
    level: Mutex<Option<String>>,
    /// URIs of the resources that the client follows, with their servers.
    followed: Mutex<BTreeMap<String, String>>,
}

impl Session {
    pub(in crate::mcp) fn new() -> Self {
        static NEXT: AtomicU64 = AtomicU64::new(1);
        Self {
            id: NEXT.fetch_add(1, Ordering::Relaxed),
            level: Mutex::default(),
            followed: Mutex::default(),
        }
    }

    pub(in crate::mcp) fn set_level(&self, level: String) {
        *self.level.lock() = Some(level);
    }

    pub(super) fn level(&self) -> Option<String> {
        self.level.lock().clone()
    }

    /// Adds a resource that the client follows. Returns false if it already follows it.
    pub(in crate::mcp) fn follow(&self, uri: &str, server: &str) -> bool {
        let before = self
            .followed
            .lock()
            .insert(uri.to_owned(), server.to_owned());
        before.is_none()
    }

    /// Removes a followed resource and returns its server.
    pub(in crate::mcp) fn unfollow(&self, uri: &str) -> Option<String> {
        self.followed.lock().remove(uri)
    }

    pub(in crate::mcp) fn follows(&self, uri: &str) -> bool {
        self.followed.lock().contains_key(uri)
    }

    /// Removes and returns all followed resources.
    pub(in crate::mcp) fn take_followed(&self) -> BTreeMap<String, String> {
        std::mem::take(&mut *self.followed.lock())
    }
}
