//! Tokens from authorization servers: discovery, renewal, and the client credentials grant.

use jiff::{SignedDuration, Timestamp};
use reqwest::Url;
use rmcp::transport::auth::{
    AuthError, AuthorizationManager, AuthorizationMetadata, ClientCredentialsConfig,
    CredentialStore, InMemoryCredentialStore, OAuthClientConfig, StoredCredentials,
};
use serde_json::{Value, json};
use std::sync::Arc;

use super::requests::{AuthorizationClient, is_protected};
use super::{Access, union, words};
use crate::secret::Secret;
use crate::sign_in::Credentials;

/// An authorization server that the MCP server named.
pub(super) struct Issuer {
    pub(super) manager: AuthorizationManager,
    /// Where the manager stores the tokens it was granted.
    granted: InMemoryCredentialStore,
    pub(super) metadata: AuthorizationMetadata,
}

/// The client that tokens are granted to.
#[derive(Clone)]
pub(super) struct ClientIdentity {
    pub(super) id: String,
    /// The client's secret, and whether the authorization server issued it.
    pub(super) secret: Option<(Secret, bool)>,
}

impl ClientIdentity {
    pub(super) fn config(&self, redirect: &str) -> OAuthClientConfig {
        let config = OAuthClientConfig::new(&self.id, redirect);
        match &self.secret {
            Some((secret, _)) => config.with_client_secret(secret.expose()),
            None => config,
        }
    }
}

impl Issuer {
    /// Returns the last granted tokens as credentials.
    pub(super) async fn credentials(
        &self,
        url: &Url,
        client: &ClientIdentity,
        now: Timestamp,
    ) -> Result<Credentials, AuthError> {
        let stored = self.granted.load().await?;
        let stored = stored.ok_or(AuthError::AuthorizationRequired)?;
        // The accessors of the token type are in a crate that deft does not need otherwise.
        let tokens = serde_json::to_value(&stored.token_response).unwrap_or_default();
        let text = |name: &str| tokens.get(name).and_then(Value::as_str).map(str::to_owned);
        let lasts = tokens.get("expires_in").and_then(Value::as_i64);
        let made_up = client.secret.as_ref().filter(|(_, made_up)| *made_up);
        Ok(Credentials {
            url: url.to_string(),
            issuer: stored.issuer,
            client_id: client.id.clone(),
            client_secret: made_up.map(|(secret, _)| secret.expose().to_owned()),
            access_token: text("access_token").ok_or(AuthError::AuthorizationRequired)?,
            refresh_token: text("refresh_token"),
            scopes: stored.granted_scopes,
            expires_at: lasts.and_then(|lasts| end_of(now, lasts)),
            granted_at: now,
        })
    }
}

fn end_of(now: Timestamp, seconds: i64) -> Option<Timestamp> {
    now.checked_add(SignedDuration::from_secs(seconds.max(0)))
        .ok()
}

impl Access {
    /// Finds the authorization server: the MCP server names it, and its metadata must name the same
    /// issuer.
    pub(super) async fn discover(&self) -> Result<Issuer, AuthError> {
        let client = Arc::new(AuthorizationClient::new(&self.url)?);
        let mut manager =
            AuthorizationManager::new_with_oauth_http_client(self.url.clone(), client).await?;
        let granted = InMemoryCredentialStore::new();
        manager.set_credential_store(granted.clone());
        let challenge = self.challenge.lock().clone();
        let found = manager
            .resolve_metadata_from_challenge(challenge.as_deref())
            .await?;
        // Endpoints that a server has not published are guesses, and a token must not be sent to a
        // guess.
        if !found.source.is_discovered() {
            return Err(AuthError::NoAuthorizationSupport);
        }
        check_endpoints(&found.metadata)?;
        manager.set_metadata(found.metadata.clone());
        Ok(Issuer {
            manager,
            granted,
            metadata: found.metadata,
        })
    }

    /// Returns the configured client; `None` if the configuration names no client.
    pub(super) async fn configured_client(&self) -> Result<Option<ClientIdentity>, AuthError> {
        let Some(id) = &self.options.client_id else {
            return Ok(None);
        };
        let what = format!("`oauth.client_secret` of the server `{}`", self.server);
        let secret = match &self.options.client_secret {
            Some(reference) => {
                let secret = reference.resolve(&self.environment.secrets, &what).await;
                Some(secret.map_err(|failure| AuthError::CredentialStoreError(failure.message))?)
            }
            None => None,
        };
        Ok(Some(ClientIdentity {
            id: id.clone(),
            secret: secret.map(|secret| (secret.text, false)),
        }))
    }

    /// Renews a sign-in; `None` if only a new sign-in can replace it.
    pub(super) async fn refresh(
        &self,
        known: &Credentials,
    ) -> Result<Option<Credentials>, AuthError> {
        if known.refresh_token.is_none() {
            return Ok(None);
        }
        let mut issuer = self.discover().await?;
        // A different authorization server must not receive tokens of the old one.
        if issuer.metadata.issuer != known.issuer {
            return Ok(None);
        }
        let client = self.client_of(known).await?;
        let Some(client) = client else {
            return Ok(None);
        };
        issuer
            .manager
            .configure_client(client.config(self.url.as_str()))?;
        issuer.granted.save(to_library_form(known)?).await?;
        match issuer.manager.refresh_token().await {
            Ok(_) => {
                let now = (self.environment.now)();
                issuer.credentials(&self.url, &client, now).await.map(Some)
            }
            Err(AuthError::AuthorizationRequired | AuthError::TokenRefreshRejected(_)) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Returns the client of a sign-in; `None` if the configuration now names a different client.
    async fn client_of(&self, known: &Credentials) -> Result<Option<ClientIdentity>, AuthError> {
        match self.configured_client().await? {
            Some(client) => Ok(Some(client).filter(|client| client.id == known.client_id)),
            None => Ok(Some(ClientIdentity {
                id: known.client_id.clone(),
                secret: known
                    .client_secret
                    .as_ref()
                    .map(|secret| (Secret::new(secret), true)),
            })),
        }
    }

    /// Requests a token with the client's own secret, without a person.
    pub(super) async fn ask_for_own(
        &self,
        known: Option<&Credentials>,
        scopes: &[String],
    ) -> Result<Credentials, AuthError> {
        let client = self.configured_client().await?;
        let Some((client, (secret, _))) =
            client.and_then(|client| Some((client.clone(), client.secret?)))
        else {
            return Err(AuthError::ClientCredentialsError(
                "`oauth.client_id` and `oauth.client_secret` are needed".to_owned(),
            ));
        };
        let mut issuer = self.discover().await?;
        let same = known.filter(|known| known.issuer == issuer.metadata.issuer);
        let before = same.map_or(&[][..], |known| &known.scopes);
        let asked = union(&union(before, &self.first_scopes(&issuer).await), scopes);
        let config = ClientCredentialsConfig::ClientSecret {
            client_id: client.id.clone(),
            client_secret: secret.expose().to_owned(),
            scopes: asked.clone(),
            resource: Some(self.url.to_string()),
        };
        issuer
            .manager
            .validate_client_credentials_metadata(&config)?;
        issuer.manager.configure_client_credentials(&config)?;
        issuer.manager.exchange_client_credentials(&config).await?;
        let now = (self.environment.now)();
        let granted = issuer.credentials(&self.url, &client, now).await?;
        Ok(if granted.scopes.is_empty() {
            Credentials {
                scopes: asked,
                ..granted
            }
        } else {
            granted
        })
    }

    /// Returns the scopes of a first request: the configured ones, else those that the server names.
    pub(super) async fn first_scopes(&self, issuer: &Issuer) -> Vec<String> {
        if self.options.scopes.is_empty() {
            return issuer.manager.select_initial_scopes(&[]).await;
        }
        self.options.scopes.clone()
    }
}

/// Checks that no endpoint would transport a token or code without encryption.
fn check_endpoints(metadata: &AuthorizationMetadata) -> Result<(), AuthError> {
    let registration = metadata.registration_endpoint.iter();
    let endpoints = [&metadata.authorization_endpoint, &metadata.token_endpoint];
    for endpoint in endpoints.into_iter().chain(registration) {
        let url = Url::parse(endpoint)?;
        if !is_protected(&url) {
            return Err(AuthError::MetadataError(format!(
                "the authorization server names `{endpoint}`, which has no TLS"
            )));
        }
    }
    Ok(())
}

/// Converts a stored sign-in to the form of the protocol library.
fn to_library_form(known: &Credentials) -> Result<StoredCredentials, AuthError> {
    let tokens = json!({
        "access_token": known.access_token,
        "token_type": "bearer",
        "refresh_token": known.refresh_token,
    });
    let tokens = serde_json::from_value(tokens)
        .map_err(|problem| AuthError::CredentialStoreError(problem.to_string()))?;
    let stored = StoredCredentials::new(
        known.client_id.clone(),
        Some(tokens),
        known.scopes.clone(),
        None,
    );
    Ok(stored.with_issuer(known.issuer.clone()))
}

impl Issuer {
    /// Whether the authorization server accepts the URL of a metadata document as a client id.
    pub(super) fn takes_metadata_documents(&self) -> bool {
        let flag = self
            .metadata
            .additional_fields
            .get("client_id_metadata_document_supported");
        flag.and_then(Value::as_bool).unwrap_or_default()
    }

    /// Adds the scope for a refresh token, if the authorization server supports it.
    pub(super) fn with_offline_access(&self, scopes: Vec<String>) -> Vec<String> {
        const OFFLINE: &str = "offline_access";
        let known = self.metadata.scopes_supported.iter().flatten();
        let has = known.into_iter().any(|scope| scope == OFFLINE);
        if scopes.is_empty() || !has {
            return scopes;
        }
        union(&scopes, &words(OFFLINE))
    }
}
