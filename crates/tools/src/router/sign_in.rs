//! Signing in to servers and out.

use std::sync::Arc;

use deft_model::{Failure, FailureClass};

use super::Router;
use crate::server::{Server, ServerSignIn};
use crate::sign_in::Credentials;

/// A sign-in that waits for a person.
pub struct PendingSignIn {
    server: Arc<Server>,
    attempt: ServerSignIn,
}

impl PendingSignIn {
    /// The URL at which the person signs in.
    pub fn url(&self) -> &str {
        &self.attempt.url
    }

    /// The parameter `state` of the URL that the browser returns to.
    pub fn state(&self) -> &str {
        &self.attempt.state
    }

    /// Completes the sign-in with the whole URL that the browser returned to, and stores the tokens.
    pub async fn complete(self, returned: &str) -> Result<Credentials, Failure> {
        Box::pin(self.server.complete_sign_in(self.attempt, returned)).await
    }
}

impl Router {
    /// Prepares a sign-in to a server. The browser returns to `redirect`; `scopes` are requested in
    /// addition to those that the server names.
    pub async fn sign_in(
        &self,
        server: &str,
        redirect: &str,
        scopes: &[String],
    ) -> Result<PendingSignIn, Failure> {
        let server = self.server_to_sign_in(server)?;
        let attempt = Box::pin(server.begin_sign_in(redirect, scopes)).await?;
        Ok(PendingSignIn { server, attempt })
    }

    /// Removes the sign-in to a server; returns false if none was stored. Blocks during access to a
    /// keyring.
    pub fn sign_out(&self, server: &str) -> Result<bool, Failure> {
        let removed = self.inner.environment.vault.remove(server);
        removed.map_err(|reason| {
            Failure::new(
                FailureClass::Auth,
                format!("the sign-in to `{server}` cannot be removed: {reason}"),
            )
        })
    }

    fn server_to_sign_in(&self, name: &str) -> Result<Arc<Server>, Failure> {
        let found = self.inner.servers.lock().get(name).cloned();
        found
            .ok_or_else(|| Failure::new(FailureClass::NotFound, format!("unknown server `{name}`")))
    }
}
