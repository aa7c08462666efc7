//! Our side of a connection: who we are.
//!
//! Not here: requests of servers, which the guard declines before they get to
//! the protocol library (`guard.rs`).

use rmcp::ClientHandler;
use rmcp::model::ClientConfig;

/// A client that only has a name.
#[derive(Clone, Debug)]
pub(super) struct Client {
    identity: ClientConfig,
}

impl Client {
    pub(super) fn new(identity: ClientConfig) -> Self {
        Self { identity }
    }
}

impl ClientHandler for Client {
    fn get_info(&self) -> ClientConfig {
        self.identity.clone()
    }
}
