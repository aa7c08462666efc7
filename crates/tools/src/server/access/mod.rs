//! Access to a server that asks for OAuth: the token of a request, and what follows when one is refused.
//!
//! A token is taken from the vault, renewed before it ends, and renewed once more when the server refuses
//! it. What only a person can do is never waited for here: the call fails and says how to sign in.
//!
//! Not here: signing in (`sign_in.rs`), the words of OAuth, which the protocol library knows, and requests
//! with a header of the configuration, which need none of this.

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

/// A token is renewed this long before it ends, so that it does not end on its way.
const EARLY: SignedDuration = SignedDuration::from_secs(60);

/// Takes what must not be seen.
pub(super) type Learn = Box<dyn Fn(&Redaction) + Send + Sync>;

/// Access to one server.
pub(crate) struct Access {
    server: String,
    url: Url,
    options: OAuthOptions,
    environment: Environment,
    learn: Learn,
    held: Mutex<VaultCopy>,
    /// What the server said when it last refused a request.
    challenge: parking_lot::Mutex<Option<String>>,
    /// Whether the last request failed for want of a sign-in.
    wanting: AtomicBool,
}

/// The sign-in as it was last read from the vault.
#[derive(Default)]
struct VaultCopy {
    version: Option<u64>,
    credentials: Option<Credentials>,
}

impl Access {
    /// The access to a server, unless it has no address or is given a token by the configuration.
    pub(super) fn for_server(
        server: &str,
        options: &ServerOptions,
        environment: &Environment,
        learn: Learn,
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

    /// Whether the server has refused a request since this process started.
    pub(super) fn was_refused(&self) -> bool {
        self.challenge.lock().is_some()
    }

    /// The token for a request, if there is one.
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
        // One that cannot be renewed is tried all the same: the clock may be wrong, and the server says
        // what it wants.
        Ok(Some(renewed.unwrap_or_else(|| Secret::new(ending))))
    }

    /// A token in the place of one that the server refused, if that can be had without a person.
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

    /// A token that allows more, in the place of one that allows too little.
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

    /// The sign-in as the vault has it now: another process may have signed in or out, or renewed it.
    async fn current(&self) -> Result<MutexGuard<'_, VaultCopy>, AuthError> {
        let mut held = self.held.lock().await;
        let version = self.environment.vault.version(&self.server);
        if held.version != Some(version) {
            self.read(&mut held).await?;
        }
        Ok(held)
    }

    async fn read(&self, held: &mut VaultCopy) -> Result<(), AuthError> {
        let (vault, server) = (self.environment.vault.clone(), self.server.clone());
        let version = vault.version(&server);
        let loaded = blocking(move || vault.load(&server)).await?;
        // Tokens are for the server that they were granted for; the configuration may name another now.
        let loaded = loaded.filter(|found| found.url == self.url.as_str());
        self.hold(held, version, loaded);
        Ok(())
    }

    fn hold(&self, held: &mut VaultCopy, version: u64, credentials: Option<Credentials>) {
        if let Some(credentials) = &credentials {
            self.wanting.store(false, Ordering::SeqCst);
            let mut redaction = Redaction::default();
            for secret in credentials.secrets() {
                redaction.add(&Secret::new(secret), HIDDEN);
            }
            (self.learn)(&redaction);
        }
        *held = VaultCopy {
            version: Some(version),
            credentials,
        };
    }

    async fn store(&self, held: &mut VaultCopy, credentials: Credentials) -> Result<(), AuthError> {
        let (vault, server) = (self.environment.vault.clone(), self.server.clone());
        let stored = credentials.clone();
        let version = blocking(move || {
            vault.save(&server, &stored)?;
            Ok(vault.version(&server))
        });
        let version = version.await?;
        self.hold(held, version, Some(credentials));
        Ok(())
    }

    /// A token other than the one that was sent, by whatever means need no person.
    async fn renew(
        &self,
        held: &mut VaultCopy,
        sent: Option<&str>,
        scopes: &[String],
    ) -> Result<Option<Secret>, AuthError> {
        let vault = self.environment.vault.clone();
        let _alone = blocking(move || vault.lock()).await?;
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

    /// Stores that a sign-in cannot be renewed, so that nothing tries it again.
    async fn give_up(&self, held: &mut VaultCopy) -> Result<(), AuthError> {
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
            .is_none_or(|end| end.duration_since(now) > EARLY)
    }
}

fn words(text: &str) -> Vec<String> {
    text.split_whitespace().map(str::to_owned).collect()
}

/// The union of two lists of scopes, in the order in which they were first named.
fn union(one: &[String], other: &[String]) -> Vec<String> {
    let mut all: Vec<String> = Vec::new();
    for scope in one.iter().chain(other) {
        if !all.contains(scope) {
            all.push(scope.clone());
        }
    }
    all
}

/// Something that may take a while and must not hold up other tasks, such as a keyring.
async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, String> + Send + 'static,
) -> Result<T, AuthError> {
    match tokio::task::spawn_blocking(work).await {
        Ok(done) => done.map_err(AuthError::CredentialStoreError),
        Err(problem) => Err(AuthError::CredentialStoreError(problem.to_string())),
    }
}
