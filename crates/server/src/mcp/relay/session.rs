//! What deft remembers of a client with a session.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};

use parking_lot::Mutex;

/// One client with a session; a client without one has a new session for each request.
pub(in crate::mcp) struct Session {
    pub(super) id: u64,
    /// The least severe messages of logs that it wants, in the words of MCP.
    level: Mutex<Option<String>>,
    /// The resources that it follows, with their servers.
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

    /// Notes a resource that the client follows; false if it does already.
    pub(in crate::mcp) fn follow(&self, uri: &str, server: &str) -> bool {
        let before = self
            .followed
            .lock()
            .insert(uri.to_owned(), server.to_owned());
        before.is_none()
    }

    /// Forgets a resource; the server that has it.
    pub(in crate::mcp) fn unfollow(&self, uri: &str) -> Option<String> {
        self.followed.lock().remove(uri)
    }

    pub(in crate::mcp) fn follows(&self, uri: &str) -> bool {
        self.followed.lock().contains_key(uri)
    }

    /// Everything that the client followed.
    pub(in crate::mcp) fn take_followed(&self) -> BTreeMap<String, String> {
        std::mem::take(&mut *self.followed.lock())
    }
}
