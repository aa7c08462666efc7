//! Access to a server that requires OAuth: the token of a request, and the response to a rejected one.
//!
//! A token is read from the vault, renewed before it expires, and renewed once more when the server
//! rejects it. If only a person can sign in, the call does not wait: it fails with a hint how to sign
//! in.
//!
//! Not here: signing in (`sign_in.rs`), the OAuth protocol (in the protocol library), and servers with
//! a token in their configured headers.

mod grant;
mod requests;
mod sign_in;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use http::header::AUTHORIZATION;
use jiff::{SignedDuration, Timestamp};
use reqwest::Url;
use rmcp::transport::auth::{AuthError, WWWAuthenticateParams};
use tokio::sync::{Mutex, MutexGuard};

use crate::environment::Environment;
use crate::options::{Grant, OAuthOptions, ServerOptions};
use crate::redact::{HIDDEN, Redaction};
use crate::secret::Secret;
use crate::sign_in::Credentials;

pub(crate) use sign_in::SignInAttempt;
pub(super) use sign_in::attempt_failure;

/// A token is renewed this long before it expires, so that it does not expire in transit.
const RENEW_BEFORE_EXPIRY: SignedDuration = SignedDuration::from_secs(60);

/// A callback that receives secrets to redact.
pub(super) type AddSecrets = Box<dyn Fn(&Redaction) + Send + Sync>;

/// Access to one server.
pub(crate) struct Access {
    server: String,
    url: Url,
    options: OAuthOptions,
    environment: Environment,
    learn: AddSecrets,
    held: Mutex<CachedSignIn>,
    /// The challenge of the server's last rejection.
    challenge: parking_lot::Mutex<Option<String>>,
    /// Whether the last request failed because no sign-in is stored.
    wanting: AtomicBool,
}

/// The sign-in as last read from the vault.
#[derive(Default)]
struct CachedSignIn {
    version: Option<u64>,
    credentials: Option<Credentials>,
}

impl Access {
    /// Returns the access to a server; `None` if it has no URL or a configured token.
    pub(super) fn for_server(
        server: &str,
        options: &ServerOptions,
        environment: &Environment,
        learn: AddSecrets,
    ) -> Option<Arc<Self>> {
        let url = options.url.as_ref()?;
        let is_token = |name: &String| name.eq_ignore_ascii_case(AUTHORIZATION.as_str());
        if options.headers.keys().any(is_token) {
            return None;
        }
        Some(Arc::new(Self {
            server: server.to_owned(),
            url: Url::parse(url).ok()?,
            options: options.oauth.clone(),
            environment: environment.clone(),
            learn,
            held: Mutex::default(),
            challenge: parking_lot::Mutex::default(),
            wanting: AtomicBool::new(false),
        }))
    }

    /// Whether requests fail until a person signs in.
    pub(super) fn needs_sign_in(&self) -> bool {
        self.wanting.load(Ordering::SeqCst)
    }

    /// Whether the server has rejected a request since this process started.
    pub(super) fn was_refused(&self) -> bool {
        self.challenge.lock().is_some()
    }

    /// Returns the token for a request; `None` without a sign-in.
    pub(super) async fn token(&self) -> Result<Option<Secret>, AuthError> {
        let mut held = self.current().await?;
        let Some(credentials) = &held.credentials else {
            return Ok(None);
        };
        if self.is_fresh(credentials) {
            return Ok(Some(Secret::new(&credentials.access_token)));
        }
        let ending = credentials.access_token.clone();
        let renewed = self.renew(&mut held, Some(&ending), &[]).await?;
        // A token that cannot be renewed is tried anyway: the clock may be wrong, and the server's
        // response contains its requirements.
        Ok(Some(renewed.unwrap_or_else(|| Secret::new(ending))))
    }

    /// Returns a token to replace a rejected one; `None` if that requires a person.
    pub(super) async fn after_refusal(
        &self,
        sent: Option<&Secret>,
        challenge: &str,
    ) -> Result<Option<Secret>, AuthError> {
        *self.challenge.lock() = Some(challenge.to_owned());
        let mut held = self.current().await?;
        let sent = sent.map(Secret::expose);
        let found = self.renew(&mut held, sent, &[]).await?;
        self.wanting.store(found.is_none(), Ordering::SeqCst);
        Ok(found)
    }

    /// Returns a token with more scopes, to replace one with too few; `None` if that requires a person.
    pub(super) async fn after_missing_scope(
        &self,
        sent: Option<&Secret>,
        challenge: &str,
    ) -> Result<Option<Secret>, AuthError> {
        let missing = WWWAuthenticateParams::parse(challenge, &self.url);
        if !missing.is_insufficient_scope() {
            return Ok(None);
        }
        *self.challenge.lock() = Some(challenge.to_owned());
        match self.options.grant {
            Grant::AuthorizationCode => Ok(None),
            Grant::ClientCredentials => {
                let mut held = self.current().await?;
                let scopes = words(missing.scope.as_deref().unwrap_or_default());
                self.renew(&mut held, sent.map(Secret::expose), &scopes)
                    .await
            }
        }
    }

    /// Returns the current sign-in in the vault: another process may have signed in or out, or renewed
    /// it.
    async fn current(&self) -> Result<MutexGuard<'_, CachedSignIn>, AuthError> {
        let mut held = self.held.lock().await;
        let version = self.environment.vault.version(&self.server);
        if held.version != Some(version) {
            self.read(&mut held).await?;
        }
        Ok(held)
    }

    async fn read(&self, held: &mut CachedSignIn) -> Result<(), AuthError> {
        let (vault, server) = (self.environment.vault.clone(), self.server.clone());
        let version = vault.version(&server);
        let loaded = run_blocking(move || vault.load(&server)).await?;
        // A token must only be sent to the server that it was granted for; the configured URL may have
        // changed.
        let loaded = loaded.filter(|found| found.url == self.url.as_str());
        self.hold(held, version, loaded);
        Ok(())
    }

    fn hold(&self, held: &mut CachedSignIn, version: u64, credentials: Option<Credentials>) {
        if let Some(credentials) = &credentials {
            self.wanting.store(false, Ordering::SeqCst);
            let mut redaction = Redaction::default();
            for secret in credentials.secrets() {
                redaction.add(&Secret::new(secret), HIDDEN);
            }
            (self.learn)(&redaction);
        }
        *held = CachedSignIn {
            version: Some(version),
            credentials,
        };
    }

    async fn store(
        &self,
        held: &mut CachedSignIn,
        credentials: Credentials,
    ) -> Result<(), AuthError> {
        let (vault, server) = (self.environment.vault.clone(), self.server.clone());
        let stored = credentials.clone();
        let version = run_blocking(move || {
            vault.save(&server, &stored)?;
            Ok(vault.version(&server))
        });
        let version = version.await?;
        self.hold(held, version, Some(credentials));
        Ok(())
    }

    /// Returns a token different from the rejected one, by any means that require no person.
    async fn renew(
        &self,
        held: &mut CachedSignIn,
        sent: Option<&str>,
        scopes: &[String],
    ) -> Result<Option<Secret>, AuthError> {
        let vault = self.environment.vault.clone();
        let _alone = run_blocking(move || vault.lock()).await?;
        self.read(held).await?;
        let other = held.credentials.as_ref().filter(|found| {
            Some(found.access_token.as_str()) != sent && scopes.is_empty() && self.is_fresh(found)
        });
        if let Some(found) = other {
            return Ok(Some(Secret::new(&found.access_token)));
        }
        let granted = match (self.options.grant, &held.credentials) {
            (Grant::ClientCredentials, known) => {
                Some(self.ask_for_own(known.as_ref(), scopes).await?)
            }
            (Grant::AuthorizationCode, Some(known)) => self.refresh(known).await?,
            (Grant::AuthorizationCode, None) => None,
        };
        let Some(granted) = granted else {
            self.give_up(held).await?;
            return Ok(None);
        };
        let token = Secret::new(&granted.access_token);
        self.store(held, granted).await?;
        Ok(Some(token))
    }

    /// Stores that a sign-in cannot be renewed, so that no caller tries again.
    async fn give_up(&self, held: &mut CachedSignIn) -> Result<(), AuthError> {
        match held.credentials.clone() {
            Some(known) if known.refresh_token.is_some() => {
                let ended = Credentials {
                    refresh_token: None,
                    expires_at: Some((self.environment.now)()),
                    ..known
                };
                self.store(held, ended).await
            }
            Some(_) | None => Ok(()),
        }
    }

    fn is_fresh(&self, credentials: &Credentials) -> bool {
        let now: Timestamp = (self.environment.now)();
        credentials
            .expires_at
            .is_none_or(|end| end.duration_since(now) > RENEW_BEFORE_EXPIRY)
    }
}

fn words(text: &str) -> Vec<String> {
    text.split_whitespace().map(str::to_owned).collect()
}

/// Returns the union of two lists of scopes, in order of first occurrence.
fn union(one: &[String], other: &[String]) -> Vec<String> {
    let mut all: Vec<String> = Vec::new();
    for scope in one.iter().chain(other) {
        if !all.contains(scope) {
            all.push(scope.clone());
        }
    }
    all
}

/// Runs slow work, such as access to a keyring, without blocking other tasks.
async fn run_blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, String> + Send + 'static,
) -> Result<T, AuthError> {
    match tokio::task::spawn_blocking(work).await {
        Ok(done) => done.map_err(AuthError::CredentialStoreError),
        Err(problem) => Err(AuthError::CredentialStoreError(problem.to_string())),
    }
}
