//! Sign-ins to servers that ask for OAuth, as they are stored.
//!
//! Not here: how one is obtained and renewed (`server/access/`), and where it is stored, which is a
//! [`CredentialVault`].

use std::any::Any;
use std::collections::BTreeMap;
use std::fmt;

use jiff::Timestamp;
use parking_lot::Mutex;
use serde::{Deserialize, Serialize};

/// What an authorization server granted, and what is needed to renew it.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Credentials {
    /// The address of the MCP server that they are for, and for no other.
    pub url: String,
    /// The authorization server that granted them, and that alone may renew them.
    pub issuer: Option<String>,
    /// The client that they were granted to.
    pub client_id: String,
    /// Its secret, if the authorization server made one up for it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub client_secret: Option<String>,
    /// The token that requests carry.
    pub access_token: String,
    /// The token that renews it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub refresh_token: Option<String>,
    /// What it allows.
    #[serde(default)]
    pub scopes: Vec<String>,
    /// When the access token ends, if that is known.
    pub expires_at: Option<Timestamp>,
    /// When they were granted or last renewed.
    pub granted_at: Timestamp,
}

impl Credentials {
    /// Everything in them that must not be seen.
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

/// Where sign-ins are stored, by the name of the server. Reasons are for people and contain no token.
pub trait CredentialVault: Send + Sync {
    /// The stored sign-in.
    fn load(&self, server: &str) -> Result<Option<Credentials>, String>;

    /// Stores a sign-in in the place of an older one.
    fn save(&self, server: &str, credentials: &Credentials) -> Result<(), String>;

    /// Removes a sign-in; false if there was none.
    fn remove(&self, server: &str) -> Result<bool, String>;

    /// Changes whenever the stored sign-in does. Asked before every request, so it must be cheap.
    fn version(&self, server: &str) -> u64;

    /// Keeps other processes from renewing the same sign-in until the result is dropped: a refresh token
    /// may work only once.
    fn lock(&self) -> Result<Box<dyn Any + Send>, String>;
}

/// A vault that forgets everything when the process ends.
#[derive(Debug, Default)]
pub struct MemoryVault(Mutex<MemoryState>);

#[derive(Debug, Default)]
struct MemoryState {
    /// Counts changes.
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
