//! Secrets: references, resolution and redaction.
//!
//! Secrets are kept only for the process or call that needs them. Not here: where secrets are stored;
//! that is a [`SecretSource`].

use std::borrow::Cow;
use std::fmt;

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

    /// Returns the value, for use outside the router.
    pub fn read(&self, source: &dyn SecretSource, what: &str) -> Result<Secret, Failure> {
        Ok(self.resolve(source, what)?.text)
    }

    /// Returns the value and its secret part. `what` names where the reference is used, for messages.
    pub(crate) fn resolve(
        &self,
        source: &dyn SecretSource,
        what: &str,
    ) -> Result<ResolvedReference, Failure> {
        let Some((scheme, reference)) = self.parts() else {
            return Ok(ResolvedReference {
                text: Secret::new(self.0.clone()),
                secret: None,
            });
        };
        match source.secret(reference) {
            Ok(secret) => Ok(ResolvedReference {
                text: Secret::new(format!("{scheme}{}", secret.expose())),
                secret: Some(secret),
            }),
            Err(reason) => Err(Failure::new(
                FailureClass::Auth,
                format!("the secret `{reference}` for {what} is not available: {reason}"),
            )
            .hint("set it, or change the reference in the configuration")
            .mark_blocked()),
        }
    }
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

    #[test]
    fn references_are_resolved_and_other_strings_are_not() {
        let resolve = |text: &str| Reference::new(text).resolve(&FixedSecret, "header `X`");
        assert_eq!(resolve("env:TOKEN").unwrap().text.expose(), "s3cret");
        let bearer = resolve("Bearer env:TOKEN").unwrap();
        assert_eq!(bearer.text.expose(), "Bearer s3cret");
        assert_eq!(bearer.secret.unwrap().expose(), "s3cret");
        let plain = resolve("plain").unwrap();
        assert_eq!((plain.text.expose(), plain.secret), ("plain", None));
        let missing = resolve("env:OTHER").unwrap_err();
        assert_eq!(missing.class, FailureClass::Auth);
        assert!(missing.blocked);
    }

    #[test]
    fn secrets_are_not_printed() {
        assert_eq!(format!("{:?}", Secret::new("s3cret")), "Secret");
        assert_eq!(format!("{:?}", Reference::new("hunter2")), "<text>");
        assert_eq!(format!("{:?}", Reference::new("env:TOKEN")), "env:TOKEN");
    }
}
