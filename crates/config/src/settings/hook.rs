//! The `[hooks.NAME]` sections: signed deliveries of other programs that fire skills.

use std::time::Duration;

use serde_json::Value;

use super::read::{Reader, length, texts};

/// The signature scheme of deliveries. All schemes use HMAC with SHA-256.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HookScheme {
    /// Standard Webhooks: the id, time and body are signed.
    Standard,
    /// GitHub: the body is signed.
    Github,
    /// Stripe: the time and body are signed.
    Stripe,
    /// The body is signed; the configuration names the header with the signature.
    Plain,
}

impl HookScheme {
    /// The words for the schemes in the configuration.
    pub const WORDS: &'static [&'static str] = &["standard", "github", "stripe", "plain"];

    /// Returns the word for the scheme in the configuration.
    pub fn word(self) -> &'static str {
        match self {
            Self::Standard => "standard",
            Self::Github => "github",
            Self::Stripe => "stripe",
            Self::Plain => "plain",
        }
    }

    fn from_word(word: &str) -> Option<Self> {
        let all = [Self::Standard, Self::Github, Self::Stripe, Self::Plain];
        all.into_iter().find(|scheme| scheme.word() == word)
    }
}

/// A hook.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HookConfig {
    /// The name, which is the last part of the hook's address.
    pub name: String,
    /// A reference to the secret.
    pub secret: String,
    /// The signature scheme.
    pub scheme: HookScheme,
    /// The header with the signature, for [`HookScheme::Plain`].
    pub header: String,
    /// The kinds of deliveries that fire skills; empty for all.
    pub events: Vec<String>,
    /// Maximum age of a delivery.
    pub tolerance: Duration,
}

impl Reader<'_> {
    pub(super) fn hooks(&self) -> Vec<HookConfig> {
        let hooks = self.named_tables(&["hooks"]).into_iter();
        let hook = hooks.map(|(name, fields)| {
            let text = |key: &str| fields.get(key).and_then(Value::as_str);
            let scheme = text("scheme").and_then(HookScheme::from_word);
            HookConfig {
                name,
                secret: text("secret").unwrap_or_default().to_owned(),
                scheme: scheme.unwrap_or(HookScheme::Standard),
                header: text("header").unwrap_or("X-Signature").to_owned(),
                events: fields.get("events").map(texts).unwrap_or_default(),
                tolerance: fields
                    .get("tolerance")
                    .and_then(length)
                    .unwrap_or(Duration::from_mins(5)),
            }
        });
        hook.collect()
    }
}
