//! Secrets: how they are named, asked for and kept out of sight.
//!
//! Nothing here keeps a secret longer than the process or the call it is for,
//! and nothing here knows where secrets come from: that is a [`SecretSource`].

use std::borrow::Cow;
use std::fmt;

use deft_model::{Failure, FailureClass};
use serde::{Deserialize, Serialize};

/// A secret value. It can be used but not shown.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(String);

impl Secret {
    /// Wraps a value.
    pub fn new(value: impl Into<String>) -> Self {
        Self(value.into())
    }

    /// The value itself; the longer name makes its uses easy to find.
    pub fn expose(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret")
    }
}

/// Where secrets come from: the environment, files, a keyring.
pub trait SecretSource: Send + Sync {
    /// The secret behind a reference such as `env:GITHUB_TOKEN`, or why there is none.
    fn secret(&self, reference: &str) -> Result<Secret, String>;
}

/// Puts secrets into the texts of a call, and takes them out of what comes back.
///
/// Skills see opaque placeholders; only the router, right before sending, asks
/// for the real text.
pub trait Reveal: Send + Sync {
    /// The text with every placeholder replaced by its secret.
    fn reveal<'a>(&self, text: &'a str) -> Cow<'a, str>;

    /// The text with every secret replaced by its placeholder.
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

/// A configured text that may name a secret: `env:NAME`, `file:PATH`,
/// `keyring:NAME`, each also after a scheme word as in `Bearer env:NAME`.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Reference(String);

const SOURCES: [&str; 3] = ["env:", "file:", "keyring:"];
const SCHEMES: [&str; 4] = ["Bearer ", "Basic ", "Token ", "token "];

impl Reference {
    /// A reference, or a plain text.
    pub fn new(text: impl Into<String>) -> Self {
        Self(text.into())
    }

    /// The scheme word in front and the reference behind it, if this is one.
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

    /// Whether it names a secret, as opposed to being the text itself.
    pub fn is_secret(&self) -> bool {
        self.parts().is_some()
    }

    /// The text it stands for, for use outside of the router.
    pub fn read(&self, source: &dyn SecretSource, what: &str) -> Result<Secret, Failure> {
        Ok(self.resolve(source, what)?.text)
    }

    /// The text it stands for. `what` names the place it is written in.
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
            .blocked()),
        }
    }
}

/// What a [`Reference`] stands for.
#[derive(Clone, Debug)]
pub(crate) struct ResolvedReference {
    /// The whole text, with a scheme word if there was one.
    pub(crate) text: Secret,
    /// What of it must not be seen, if it came from a reference.
    pub(crate) secret: Option<Secret>,
}

impl fmt::Debug for Reference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // A plain text might be a secret after all.
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
    fn references_are_resolved_and_texts_are_not() {
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
    fn nothing_secret_is_printed() {
        assert_eq!(format!("{:?}", Secret::new("s3cret")), "Secret");
        assert_eq!(format!("{:?}", Reference::new("hunter2")), "<text>");
        assert_eq!(format!("{:?}", Reference::new("env:TOKEN")), "env:TOKEN");
    }
}
