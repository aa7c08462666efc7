//! Stored sign-ins to servers that require OAuth.
//!
//! Not here: how a sign-in is obtained and renewed (`server/access/`), and where it is stored, which is
//! a [`CredentialVault`].

use std::any::Any;
use std::collections::BTreeMap;
use std::fmt;

use jiff::Timestamp;
use parking_lot::Mutex;
use serde::{Deserialize, Serialize};

/// The tokens that an authorization server granted, and the data to renew them.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Credentials {
    /// The URL of the only MCP server that may receive the token.
    pub url: String,
    /// The authorization server that granted the tokens; only it may renew them.
    pub issuer: Option<String>,
    /// The id of the client that received the tokens.
    pub client_id: String,
    /// The client's secret, if the authorization server issued one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub client_secret: Option<String>,
    /// The token that requests carry.
    pub access_token: String,
    /// The token that renews the access token.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub refresh_token: Option<String>,
    /// The scopes that were granted.
    #[serde(default)]
    pub scopes: Vec<String>,
    /// When the access token expires, if known.
    pub expires_at: Option<Timestamp>,
    /// When the tokens were granted or last renewed.
    pub granted_at: Timestamp,
}

impl Credentials {
    /// Returns all secret values.
    pub fn secrets(&self) -> impl Iterator<Item = &str> {
        let more = self.refresh_token.iter().chain(&self.client_secret);
        std::iter::once(&self.access_token)
            .chain(more)
            .map(String::as_str)
    }
}

impl fmt::Debug for Credentials {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Credentials")
            .field("url", &self.url)
            .field("issuer", &self.issuer)
            .field("expires_at", &self.expires_at)
            .finish_non_exhaustive()
    }
}

/// Storage for sign-ins, by the name of the server. Error texts are for people and contain no token.
pub trait CredentialVault: Send + Sync {
    /// Returns the stored sign-in, if any.
    fn load(&self, server: &str) -> Result<Option<Credentials>, String>;

    /// Stores a sign-in, replacing an older one.
    fn save(&self, server: &str, credentials: &Credentials) -> Result<(), String>;

    /// Removes a sign-in; returns false if none was stored.
    fn remove(&self, server: &str) -> Result<bool, String>;

    /// Returns a number that changes whenever the stored sign-in changes. Called before every request,
    /// so it must be cheap.
    fn version(&self, server: &str) -> u64;

    /// Prevents other processes from renewing the same sign-in until the result is dropped: a refresh
    /// token may work only once.
    fn lock(&self) -> Result<Box<dyn Any + Send>, String>;
}

/// A vault that keeps sign-ins in memory only.
#[derive(Debug, Default)]
pub struct MemoryVault(Mutex<MemoryState>);

#[derive(Debug, Default)]
struct MemoryState {
    /// Number of changes.
    version: u64,
    stored: BTreeMap<String, Credentials>,
}

impl CredentialVault for MemoryVault {
    fn load(&self, server: &str) -> Result<Option<Credentials>, String> {
        Ok(self.0.lock().stored.get(server).cloned())
    }

    fn save(&self, server: &str, credentials: &Credentials) -> Result<(), String> {
        let mut state = self.0.lock();
        state.version += 1;
        state.stored.insert(server.to_owned(), credentials.clone());
        Ok(())
    }

    fn remove(&self, server: &str) -> Result<bool, String> {
        let mut state = self.0.lock();
        state.version += 1;
        Ok(state.stored.remove(server).is_some())
    }

    fn version(&self, _: &str) -> u64 {
        self.0.lock().version
    }

    fn lock(&self) -> Result<Box<dyn Any + Send>, String> {
        Ok(Box::new(()))
    }
}
