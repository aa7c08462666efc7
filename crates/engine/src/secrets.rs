//! Secrets of a run: placeholders everywhere, values only inside the router.

use std::borrow::Cow;
use std::sync::{Arc, PoisonError, RwLock, RwLockReadGuard};

use deft_model::{Failure, FailureClass};
use deft_tools::{Redaction, Reveal, Secret, SecretSource};
use deft_workflow::{placeholder, replace_placeholders};
use serde_json::Value;

/// The secrets that a run may hand to its tools. Nested skills add theirs when they are entered.
pub(crate) struct RunSecrets {
    nonce: String,
    known: RwLock<Known>,
}

#[derive(Default)]
struct Known {
    secrets: Vec<(String, Secret)>,
    redaction: Redaction,
}

impl RunSecrets {
    /// For a run that ends before it calls anything.
    pub(crate) fn none() -> Self {
        Self::new("")
    }

    fn new(nonce: &str) -> Self {
        Self {
            nonce: nonce.to_owned(),
            known: RwLock::default(),
        }
    }

    /// Looks up every secret that a skill names.
    pub(crate) fn resolve(
        names: &[String],
        nonce: &str,
        source: &Arc<dyn SecretSource>,
    ) -> Result<Self, Failure> {
        let secrets = Self::new(nonce);
        secrets.add(names, source)?;
        Ok(secrets)
    }

    /// Looks up the secrets of another skill that the run enters.
    pub(crate) fn add(
        &self,
        names: &[String],
        source: &Arc<dyn SecretSource>,
    ) -> Result<(), Failure> {
        for name in names {
            let secret = source.secret(name).map_err(|why| {
                let message = format!("secret `{name}` is not there: {why}");
                let line = format!("{name} = \"env:VARIABLE\"");
                Failure::new(FailureClass::Auth, message)
                    .hint(format!(
                        "`[secrets]` in config.toml says where it comes from: `{line}`"
                    ))
                    .blocked()
            })?;
            let mut known = self.known.write().unwrap_or_else(PoisonError::into_inner);
            if !known.secrets.iter().any(|(other, _)| other == name) {
                let hidden = placeholder(&self.nonce, name);
                known.redaction.add(&secret, &hidden);
                known.secrets.push((name.clone(), secret));
            }
        }
        Ok(())
    }

    fn known(&self) -> RwLockReadGuard<'_, Known> {
        self.known.read().unwrap_or_else(PoisonError::into_inner)
    }
}

impl RunSecrets {
    /// A value with every secret in it replaced by its placeholder.
    pub(crate) fn hide_value(&self, value: Value) -> Value {
        self.known().redaction.value(value)
    }
}

impl Reveal for RunSecrets {
    fn reveal<'a>(&self, text: &'a str) -> Cow<'a, str> {
        let known = self.known();
        let value = |name: &str| {
            let found = known.secrets.iter().find(|(known, _)| known == name);
            found.map_or_else(String::new, |(_, secret)| secret.expose().to_owned())
        };
        match replace_placeholders(text, &self.nonce, value) {
            Some(text) => Cow::Owned(text),
            None => Cow::Borrowed(text),
        }
    }

    fn hide<'a>(&self, text: &'a str) -> Cow<'a, str> {
        self.known().redaction.text(text)
    }
}
