//! Secrets of a run: placeholders everywhere, values only inside the router.

use std::borrow::Cow;
use std::sync::Arc;

use deft_model::{Failure, FailureClass};
use deft_tools::{Redaction, Reveal, Secret, SecretSource, look_up_secret};
use deft_workflow::{Event, placeholder, replace_placeholders};
use parking_lot::{RwLock, RwLockReadGuard};
use serde_json::Value;

/// The secrets that a run may pass to its tools. Nested skills add theirs when they are entered.
pub(crate) struct RunSecrets {
    nonce: String,
    known: RwLock<ResolvedSecrets>,
}

#[derive(Default)]
struct ResolvedSecrets {
    secrets: Vec<(String, Secret)>,
    redaction: Redaction,
}

impl RunSecrets {
    /// Returns no secrets, for a run that ends before it calls anything.
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
    pub(crate) async fn resolve(
        names: &[String],
        nonce: &str,
        source: &Arc<dyn SecretSource>,
    ) -> Result<Self, Failure> {
        let secrets = Self::new(nonce);
        secrets.add(names, source).await?;
        Ok(secrets)
    }

    /// Looks up the secrets of another skill that the run enters, except those that the run knows.
    pub(crate) async fn add(
        &self,
        names: &[String],
        source: &Arc<dyn SecretSource>,
    ) -> Result<(), Failure> {
        for name in names {
            if self.knows(name) {
                continue;
            }
            let secret = look_up_secret(source, name).await.map_err(|why| {
                let message = format!("secret `{name}` is not available: {why}");
                let line = format!("{name} = \"env:VARIABLE\"");
                Failure::new(FailureClass::Auth, message)
                    .hint(format!(
                        "set it in `[secrets]` of config.toml, for example `{line}`"
                    ))
                    .mark_blocked()
            })?;
            let mut known = self.known.write();
            // Another step may have entered a skill with this secret meanwhile.
            if !known.secrets.iter().any(|(other, _)| other == name) {
                let hidden = placeholder(&self.nonce, name);
                known.redaction.add(&secret, &hidden);
                known.secrets.push((name.clone(), secret));
            }
        }
        Ok(())
    }

    fn knows(&self, name: &str) -> bool {
        let known = self.read_known();
        known.secrets.iter().any(|(other, _)| other == name)
    }

    fn read_known(&self) -> RwLockReadGuard<'_, ResolvedSecrets> {
        self.known.read()
    }
}

impl RunSecrets {
    /// The nonce in the placeholders of this run.
    pub(crate) fn nonce(&self) -> &str {
        &self.nonce
    }

    /// Whether the run knows every secret whose placeholder the value contains.
    pub(crate) fn knows_all(&self, value: &Value) -> bool {
        let known = self.read_known();
        let mut names = mentioned_secrets(&value.to_string(), &self.nonce).into_iter();
        names.all(|name| known.secrets.iter().any(|(other, _)| *other == name))
    }

    /// Replaces every secret in a value by its placeholder.
    pub(crate) fn hide_value(&self, value: Value) -> Value {
        self.read_known().redaction.value(value)
    }
}

/// Returns the names of the secrets whose placeholders a text contains.
pub(crate) fn mentioned_secrets(text: &str, nonce: &str) -> Vec<String> {
    let mut names = Vec::new();
    replace_placeholders(text, nonce, |name| {
        names.push(name.to_owned());
        String::new()
    });
    names
}

/// Returns the names of the secrets in results that a run reuses from another one. Skills that it does not
/// enter again may have put them there.
pub(crate) fn taken_over<'e>(
    events: impl IntoIterator<Item = &'e Event>,
    nonce: &str,
) -> Vec<String> {
    let values = events.into_iter().filter_map(|event| {
        let Event::Reused { value, .. } = event else {
            return None;
        };
        value.as_ref()
    });
    values
        .flat_map(|value| mentioned_secrets(&value.to_string(), nonce))
        .collect()
}

impl Reveal for RunSecrets {
    fn reveal<'a>(&self, text: &'a str) -> Cow<'a, str> {
        let known = self.read_known();
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
        self.read_known().redaction.text(text)
    }
}

#[cfg(test)]
mod tests {
    use parking_lot::Mutex;

    use super::*;

    /// Notes which secrets are looked up.
    #[derive(Default)]
    struct CountingSource(Mutex<Vec<String>>);

    impl SecretSource for CountingSource {
        fn secret(&self, reference: &str) -> Result<Secret, String> {
            self.0.lock().push(reference.to_owned());
            Ok(Secret::new("s3cret"))
        }
    }

    #[tokio::test]
    async fn a_secret_is_looked_up_once_per_run() {
        let counting = Arc::new(CountingSource::default());
        let source: Arc<dyn SecretSource> = counting.clone();
        let names = |names: &[&str]| -> Vec<String> {
            names.iter().map(|name| (*name).to_owned()).collect()
        };
        let secrets = RunSecrets::resolve(&names(&["A"]), "n", &source).await;
        let secrets = secrets.unwrap();
        secrets.add(&names(&["A", "B"]), &source).await.unwrap();
        secrets.add(&names(&["B"]), &source).await.unwrap();
        assert_eq!(*counting.0.lock(), ["A", "B"]);
    }
}
