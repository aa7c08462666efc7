//! Secrets: references, resolution and redaction.
//!
//! Secrets are kept only for the process or call that needs them. Not here: where secrets are stored;
//! that is a [`SecretSource`].

use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;

use deft_model::{Failure, FailureClass};
use serde::{Deserialize, Serialize};

/// A secret value. It can be used but not printed.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(String);

impl Secret {
    /// Wraps a value.
    pub fn new(value: impl Into<String>) -> Self {
        Self(value.into())
    }

    /// Returns the value; the distinctive name makes uses easy to find.
    pub fn expose(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret")
    }
}

/// A source of secrets: the environment, files, a keyring.
pub trait SecretSource: Send + Sync {
    /// Returns the secret for a reference such as `env:GITHUB_TOKEN`, or the reason why it is
    /// unavailable.
    fn secret(&self, reference: &str) -> Result<Secret, String>;

    /// Whether looking up a reference runs a program. The program of a keyring waits until its user has
    /// unlocked it, which may take a minute.
    fn runs_program(&self, _reference: &str) -> bool {
        false
    }
}

/// Looks up a secret. If that runs a program, it waits for the program on another thread, because a blocked thread of
/// the runtime delays all other tasks, such as the renewal of leases.
pub async fn look_up_secret(
    source: &Arc<dyn SecretSource>,
    reference: &str,
) -> Result<Secret, String> {
    if !source.runs_program(reference) {
        return source.secret(reference);
    }
    let (source, reference) = (Arc::clone(source), reference.to_owned());
    let lookup = tokio::task::spawn_blocking(move || source.secret(&reference));
    lookup
        .await
        .unwrap_or_else(|error| Err(format!("the lookup crashed: {error}")))
}

/// Inserts secrets into the strings of a call, and removes them from the result.
///
/// Skills see opaque placeholders; only the router, right before sending, inserts the real values.
pub trait Reveal: Send + Sync {
    /// Replaces every placeholder by its secret.
    fn reveal<'a>(&self, text: &'a str) -> Cow<'a, str>;

    /// Replaces every secret by its placeholder.
    fn hide<'a>(&self, text: &'a str) -> Cow<'a, str>;
}

/// A [`Reveal`] for calls without secrets.
pub struct Plain;

impl Reveal for Plain {
    fn reveal<'a>(&self, text: &'a str) -> Cow<'a, str> {
        Cow::Borrowed(text)
    }

    fn hide<'a>(&self, text: &'a str) -> Cow<'a, str> {
        Cow::Borrowed(text)
    }
}

/// A configured string that may name a secret: `env:NAME`, `file:PATH`, `keyring:NAME`, each also after
/// a scheme word as in `Bearer env:NAME`.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Reference(String);

const SOURCES: [&str; 3] = ["env:", "file:", "keyring:"];
const SCHEMES: [&str; 4] = ["Bearer ", "Basic ", "Token ", "token "];

impl Reference {
    /// Wraps a reference or a plain string.
    pub fn new(text: impl Into<String>) -> Self {
        Self(text.into())
    }

    /// Returns the scheme word and the reference after it, if the string is a reference.
    fn parts(&self) -> Option<(&str, &str)> {
        let scheme = SCHEMES
            .into_iter()
            .find(|scheme| self.0.starts_with(scheme))
            .unwrap_or("");
        let rest = self.0.strip_prefix(scheme)?;
        SOURCES
            .into_iter()
            .any(|source| rest.starts_with(source))
            .then_some((scheme, rest))
    }

    /// Whether the string names a secret, as opposed to being the value itself.
    pub fn is_secret(&self) -> bool {
        self.parts().is_some()
    }

    /// Returns the value, for use outside the router. Blocks if the lookup runs a program. `what` names where the
    /// reference is used, for messages.
    pub fn read(&self, source: &dyn SecretSource, what: &str) -> Result<Secret, Failure> {
        let Some((scheme, reference)) = self.parts() else {
            return Ok(Secret::new(self.0.clone()));
        };
        let secret = source.secret(reference);
        let secret = secret.map_err(|reason| unavailable(reference, what, &reason))?;
        Ok(with_scheme(scheme, &secret))
    }

    /// Returns the value and its secret part.
    pub(crate) async fn resolve(
        &self,
        source: &Arc<dyn SecretSource>,
        what: &str,
    ) -> Result<ResolvedReference, Failure> {
        let Some((scheme, reference)) = self.parts() else {
            return Ok(ResolvedReference {
                text: Secret::new(self.0.clone()),
                secret: None,
            });
        };
        let secret = look_up_secret(source, reference).await;
        let secret = secret.map_err(|reason| unavailable(reference, what, &reason))?;
        Ok(ResolvedReference {
            text: with_scheme(scheme, &secret),
            secret: Some(secret),
        })
    }
}

fn with_scheme(scheme: &str, secret: &Secret) -> Secret {
    Secret::new(format!("{scheme}{}", secret.expose()))
}

fn unavailable(reference: &str, what: &str, reason: &str) -> Failure {
    let message = format!("the secret `{reference}` for {what} is not available: {reason}");
    Failure::new(FailureClass::Auth, message)
        .hint("set it, or change the reference in the configuration")
        .mark_blocked()
}

/// The value of a [`Reference`].
#[derive(Clone, Debug)]
pub(crate) struct ResolvedReference {
    /// The whole string, including the scheme word.
    pub(crate) text: Secret,
    /// The secret part; `None` for a plain string.
    pub(crate) secret: Option<Secret>,
}

impl fmt::Debug for Reference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // A plain string might be a secret too.
        f.write_str(if self.is_secret() { &self.0 } else { "<text>" })
    }
}

impl From<&str> for Reference {
    fn from(text: &str) -> Self {
        Self::new(text)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;
    use std::time::Duration;

    use parking_lot::Mutex;

    use super::*;

    struct FixedSecret;

    impl SecretSource for FixedSecret {
        fn secret(&self, reference: &str) -> Result<Secret, String> {
            match reference {
                "env:TOKEN" => Ok(Secret::new("s3cret")),
                _ => Err("it is not set".to_owned()),
            }
        }
    }

    #[tokio::test]
    async fn references_are_resolved_and_other_strings_are_not() {
        let source: Arc<dyn SecretSource> = Arc::new(FixedSecret);
        let secret = Some(Secret::new("s3cret"));
        for (text, value, secret) in [
            ("env:TOKEN", "s3cret", secret.clone()),
            ("Bearer env:TOKEN", "Bearer s3cret", secret),
            ("plain", "plain", None),
        ] {
            let reference = Reference::new(text);
            let resolved = reference.resolve(&source, "header `X`").await.unwrap();
            assert_eq!((resolved.text.expose(), resolved.secret), (value, secret));
            let read = reference.read(&*source, "header `X`").unwrap();
            assert_eq!(read.expose(), value);
        }
        let missing = Reference::new("env:OTHER");
        let failure = missing.resolve(&source, "header `X`").await.unwrap_err();
        assert_eq!(failure.class, FailureClass::Auth);
        assert!(failure.blocked);
        assert_eq!(missing.read(&*source, "header `X`").unwrap_err(), failure);
    }

    /// A keyring that waits until its user has unlocked it.
    struct LockedKeyring(Mutex<mpsc::Receiver<()>>);

    impl SecretSource for LockedKeyring {
        fn secret(&self, _: &str) -> Result<Secret, String> {
            let unlocked = self.0.lock().recv_timeout(Duration::from_secs(30));
            unlocked
                .map(|()| Secret::new("s3cret"))
                .map_err(|_| "it was not unlocked".to_owned())
        }

        fn runs_program(&self, _: &str) -> bool {
            true
        }
    }

    /// The runtime of this test has one thread: it must be free for the task that unlocks the keyring.
    #[tokio::test]
    async fn a_locked_keyring_does_not_block_other_tasks() {
        let (user, unlocked) = mpsc::channel();
        let source: Arc<dyn SecretSource> = Arc::new(LockedKeyring(Mutex::new(unlocked)));
        tokio::spawn(async move { user.send(()).unwrap() });
        let secret = look_up_secret(&source, "keyring:MAIL").await.unwrap();
        assert_eq!(secret.expose(), "s3cret");
    }

    #[test]
    fn secrets_are_not_printed() {
        assert_eq!(format!("{:?}", Secret::new("s3cret")), "Secret");
        assert_eq!(format!("{:?}", Reference::new("hunter2")), "<text>");
        assert_eq!(format!("{:?}", Reference::new("env:TOKEN")), "env:TOKEN");
    }
}
