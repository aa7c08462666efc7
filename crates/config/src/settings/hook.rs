//! The `[hooks.NAME]` sections: deliveries of other programs that fire skills.

use std::time::Duration;

use serde_json::Value;

use super::read::{Reader, length, texts};

/// How deliveries are signed. All schemes use HMAC with SHA-256.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HookScheme {
    /// Standard Webhooks: an id, a time and the body.
    Standard,
    /// GitHub: the body.
    Github,
    /// Stripe: a time and the body.
    Stripe,
    /// The body, with the signature in a header that the configuration names.
    Plain,
}

impl HookScheme {
    /// The words of the configuration.
    pub const WORDS: &'static [&'static str] = &["standard", "github", "stripe", "plain"];

    /// Its word.
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

/// One hook.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HookConfig {
    /// Its name, which is the end of its address.
    pub name: String,
    /// Where its secret is.
    pub secret: String,
    /// How deliveries are signed.
    pub scheme: HookScheme,
    /// The header with the signature, for [`HookScheme::Plain`].
    pub header: String,
    /// The kinds of deliveries that fire skills; empty for all.
    pub events: Vec<String>,
    /// How old a delivery may be.
    pub tolerance: Duration,
}

impl Reader<'_> {
    pub(super) fn hooks(&self) -> Vec<HookConfig> {
        let hooks = self.named(&["hooks"]).into_iter();
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
