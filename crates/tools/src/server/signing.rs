//! Signing in to a server, for the router.

use std::sync::Arc;

use deft_model::{Failure, FailureClass};

use super::Server;
use super::access::{Access, SignInAttempt, attempt_failure};
use super::phase::Phase;
use crate::sign_in::Credentials;

impl Server {
    /// Whether calls fail until a person signs in.
    pub(super) fn needs_sign_in(&self) -> bool {
        let access = self.access.as_ref();
        access.is_some_and(|access| access.needs_sign_in())
    }

    /// Finds out what the server requires, and prepares a sign-in for it.
    pub(crate) async fn begin_sign_in(
        self: &Arc<Self>,
        redirect: &str,
        scopes: &[String],
    ) -> Result<SignInAttempt, Failure> {
        let access = self.access()?;
        if !access.was_refused() {
            // A rejected request shows which authorization server it trusts, and for which scopes. A
            // server that rejects nothing is asked for its metadata instead.
            drop(self.ensure_now().await);
        }
        let begun = access.begin(redirect, scopes).await;
        begun.map_err(|error| self.sign_in_failure(&error))
    }

    /// Completes the sign-in with the URL that the browser returned to.
    pub(crate) async fn complete_sign_in(
        self: &Arc<Self>,
        attempt: SignInAttempt,
        returned: &str,
    ) -> Result<Credentials, Failure> {
        let completed = self.access()?.complete(attempt, returned).await;
        let granted = completed.map_err(|error| self.sign_in_failure(&error))?;
        self.forget_failure();
        Ok(granted)
    }

    fn access(&self) -> Result<&Arc<Access>, Failure> {
        let reason = match &self.options.url {
            Some(_) => "a token is configured in its `headers`",
            None => "it runs as a program; set its secrets in `env`",
        };
        self.access.as_ref().ok_or_else(|| {
            Failure::new(
                FailureClass::Invalid,
                format!("the server `{}` does not use sign-ins: {reason}", self.name),
            )
        })
    }

    fn sign_in_failure(&self, error: &rmcp::transport::auth::AuthError) -> Failure {
        let failure = attempt_failure(&self.name, error);
        self.redaction.load().failure(failure)
    }

    /// Resets a failed phase, so that the next caller does not wait for the backoff.
    pub(super) fn forget_failure(&self) {
        self.phase.send_if_modified(|phase| {
            let failed = matches!(phase, Phase::Failed { .. });
            if failed {
                *phase = Phase::Idle;
            }
            failed
        });
    }
}
