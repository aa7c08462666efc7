//! Signing in with a browser: the URL to open, and the exchange of the returned code for a token.

use deft_model::{Failure, FailureClass, clip};
use reqwest::Url;
use rmcp::transport::auth::{AuthError, AuthorizationCallback};

use super::grant::{ClientIdentity, Issuer};
use super::{Access, union};
use crate::sign_in::Credentials;

/// The client name under which deft registers.
const NAME: &str = "deft";
/// The maximum length of an authorization server's error in a message, in characters.
const MAX_REASON_LEN: usize = 300;

/// A sign-in that waits for a person.
pub(crate) struct SignInAttempt {
    issuer: Issuer,
    client: ClientIdentity,
    /// The URL at which the person signs in.
    pub(crate) url: String,
    /// The value of `state` that the returned URL must contain.
    pub(crate) state: String,
}

impl Access {
    /// Prepares a sign-in that returns to `redirect`, for `scopes`, those already granted and those
    /// that the server requires.
    pub(crate) async fn begin(
        &self,
        redirect: &str,
        scopes: &[String],
    ) -> Result<SignInAttempt, AuthError> {
        let mut issuer = self.discover().await?;
        let held = self.current().await?;
        let same = held
            .credentials
            .as_ref()
            .filter(|known| known.issuer == issuer.metadata.issuer);
        let before = same.map_or_else(Vec::new, |known| known.scopes.clone());
        drop(held);
        let first = self.first_scopes(&issuer).await;
        let asked = issuer.with_offline_access(union(&union(&before, &first), scopes));
        let asked: Vec<&str> = asked.iter().map(String::as_str).collect();
        let client = self.identify(&mut issuer, redirect, &asked).await?;
        let url = issuer.manager.get_authorization_url(&asked).await?;
        let state = query(&url, "state").ok_or(AuthError::AuthorizationRequired)?;
        Ok(SignInAttempt {
            issuer,
            client,
            url,
            state,
        })
    }

    /// Returns deft's client at this authorization server: the configured client, a metadata document,
    /// or a newly registered client.
    async fn identify(
        &self,
        issuer: &mut Issuer,
        redirect: &str,
        scopes: &[&str],
    ) -> Result<ClientIdentity, AuthError> {
        let document = self.options.client_metadata_url.as_ref();
        let document = document.filter(|_| issuer.takes_metadata_documents());
        let client = match (self.configured_client().await?, document) {
            (Some(client), _) => client,
            (None, Some(document)) => ClientIdentity {
                id: document.clone(),
                secret: None,
            },
            (None, None) => {
                let registered = issuer
                    .manager
                    .register_client(NAME, redirect, scopes)
                    .await?;
                let secret = registered.client_secret.map(crate::secret::Secret::new);
                ClientIdentity {
                    id: registered.client_id,
                    secret: secret.map(|secret| (secret, true)),
                }
            }
        };
        issuer.manager.configure_client(client.config(redirect))?;
        Ok(client)
    }

    /// Exchanges the returned URL for a token, and stores it.
    pub(crate) async fn complete(
        &self,
        attempt: SignInAttempt,
        returned: &str,
    ) -> Result<Credentials, AuthError> {
        if query(returned, "state").as_deref() != Some(attempt.state.as_str()) {
            return Err(AuthError::AuthorizationFailed(
                "the address belongs to another sign-in".to_owned(),
            ));
        }
        if let Some(error) = query(returned, "error") {
            let more = query(returned, "error_description");
            let more = more.map_or(String::new(), |more| format!(" ({more})"));
            return Err(AuthError::AuthorizationFailed(format!("{error}{more}")));
        }
        let callback = AuthorizationCallback::from_redirect_url(returned)?;
        let issuer = &attempt.issuer;
        issuer
            .manager
            .exchange_code_for_token_with_issuer(
                &callback.code,
                &callback.csrf_token,
                callback.issuer.as_deref(),
            )
            .await?;
        let now = (self.environment.now)();
        let granted = issuer.credentials(&self.url, &attempt.client, now).await?;
        let mut held = self.held.lock().await;
        self.store(&mut held, granted.clone()).await?;
        *self.challenge.lock() = None;
        Ok(granted)
    }
}

/// Returns a query parameter of a URL.
fn query(url: &str, name: &str) -> Option<String> {
    let url = Url::parse(url).ok()?;
    let mut pairs = url.query_pairs();
    let found = pairs.find(|(key, _)| key == name);
    found.map(|(_, value)| value.into_owned())
}

/// Returns the failure of a sign-in.
#[expect(
    clippy::wildcard_enum_match_arm,
    reason = "`rmcp` has many kinds of errors and may add more"
)]
pub(crate) fn attempt_failure(server: &str, error: &AuthError) -> Failure {
    let failed = |class: FailureClass, reason: String| {
        let reason = clip(&reason, MAX_REASON_LEN);
        Failure::new(class, format!("signing in to `{server}` failed: {reason}"))
    };
    match error {
        AuthError::NoAuthorizationSupport => failed(
            FailureClass::Invalid,
            "the server names no authorization server".to_owned(),
        )
        .hint(format!(
            "`deft mcp probe {server}` shows whether it needs a sign-in; a token can be set in its `headers`"
        )),
        AuthError::RegistrationFailed(reason) => failed(
            FailureClass::Auth,
            format!("the authorization server did not register deft: {reason}"),
        )
        .hint(format!(
            "register a client there and set `mcp_servers.{server}.oauth.client_id`"
        )),
        AuthError::PkceUnsupported => failed(FailureClass::Auth, error.to_string())
            .hint("deft requires PKCE with `S256`; set a token in the `headers` of the server instead"),
        AuthError::MetadataError(reason) => failed(FailureClass::Network, reason.clone()),
        AuthError::CredentialStoreError(reason) => {
            failed(FailureClass::Auth, reason.clone()).hint("check that the keyring is unlocked and that deft can write to the home")
        }
        other => failed(FailureClass::Auth, other.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameters_are_decoded() {
        let url = "http://127.0.0.1:1/callback?code=a%20b&state=s&iss=https%3A%2F%2Fx";
        assert_eq!(query(url, "code").as_deref(), Some("a b"));
        assert_eq!(query(url, "iss").as_deref(), Some("https://x"));
        assert_eq!(query(url, "error"), None);
        assert_eq!(query("no address", "code"), None);
    }
}
