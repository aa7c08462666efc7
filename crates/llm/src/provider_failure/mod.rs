//! Failures of providers, and what follows from them.
//!
//! Not here: the reaction to them (`tries.rs`), and the error formats of providers, which the wire formats
//! convert to [`Words`].

mod overflow;
mod status;

use std::time::Duration;

use deft_model::{Failure, FailureClass, clip};

pub use self::overflow::Overflow;
pub(crate) use self::status::Words;
use crate::ModelOptions;

/// Maximum number of characters of a provider's text that are quoted.
const MAX_MESSAGE_CHARS: usize = 300;

/// Fewer leading bytes of a key reveal nothing about it.
const SHORTEST_CUT: usize = 4;

/// A failed attempt.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProviderFailure {
    /// The failure for people and policies.
    pub failure: Failure,
    /// Whether the same request may succeed a little later.
    pub passing: bool,
    /// The delay after which the provider asks to retry.
    pub after: Option<Duration>,
    /// Set if the prompt does not fit into the model's context.
    pub overflow: Option<Box<Overflow>>,
}

impl From<Failure> for ProviderFailure {
    fn from(failure: Failure) -> Self {
        Self {
            failure,
            passing: false,
            after: None,
            overflow: None,
        }
    }
}

impl ProviderFailure {
    /// Creates a permanent failure.
    pub(crate) fn permanent(class: FailureClass, message: impl Into<String>) -> Self {
        Failure::new(class, message).into()
    }

    /// Creates a transient failure.
    pub(crate) fn transient(class: FailureClass, message: impl Into<String>) -> Self {
        Self {
            passing: true,
            ..Self::permanent(class, message)
        }
    }

    /// The stream ended before the reply did.
    pub(crate) fn cut() -> Self {
        let message = "the answer was cut off before its end";
        Self::transient(FailureClass::Network, message)
            .hint("the model server or a proxy closed the connection; check its log")
    }

    /// A response without a reply.
    pub(crate) fn empty() -> Self {
        let message = "the provider's response contains no reply";
        Self::transient(FailureClass::Other, message)
    }

    pub(crate) fn too_large(most: usize) -> Self {
        let message = format!("the answer is larger than {} MB", most / (1024 * 1024));
        Self::permanent(FailureClass::Limit, message)
    }

    /// A response that cannot be parsed although its status reports success.
    pub(crate) fn not_json(body: &[u8]) -> Self {
        if is_page(body) {
            let message = "the provider answered with a web page";
            return Self::transient(FailureClass::Network, message)
                .hint("`base_url` may point at something else, or a proxy may be in between");
        }
        if body.trim_ascii().is_empty() {
            return Self::transient(FailureClass::Network, "the answer is empty");
        }
        let message = format!(
            "the answer is not JSON: {}",
            quote(&String::from_utf8_lossy(body))
        );
        Self::transient(FailureClass::Network, message)
    }

    /// An event of a stream that cannot be parsed.
    pub(crate) fn bad_event(data: &str) -> Self {
        let message = format!("a part of the answer is not JSON: {}", quote(data));
        Self::transient(FailureClass::Network, message)
    }

    pub(crate) fn hint(mut self, hint: impl Into<String>) -> Self {
        self.failure = self.failure.hint(hint);
        self
    }

    /// Removes the model's key, which a provider may have repeated.
    pub(crate) fn redact(mut self, options: &ModelOptions) -> Self {
        if let Some(key) = options.key() {
            self.failure.message = without_key(&self.failure.message, key);
            self.failure.hint = self.failure.hint.map(|hint| without_key(&hint, key));
        }
        self
    }
}

/// Removes a key from a text, even if the key was cut off together with the text.
fn without_key(text: &str, key: &str) -> String {
    let mut text = text.replace(key, "***");
    let Some(start) = text.strip_suffix('…') else {
        return text;
    };
    let cuts = key.char_indices().map(|(at, _)| &key[..at]);
    let cut = cuts.filter(|cut| cut.len() >= SHORTEST_CUT).rev();
    if let Some(cut) = cut.into_iter().find(|cut| start.ends_with(cut)) {
        let end = start.len() - cut.len();
        text.replace_range(end..start.len(), "***");
    }
    text
}

fn is_page(body: &[u8]) -> bool {
    let start: Vec<u8> = body.trim_ascii_start().iter().take(14).copied().collect();
    let start = start.to_ascii_lowercase();
    start.starts_with(b"<!doctype") || start.starts_with(b"<html") || start.starts_with(b"<?xml")
}

/// Returns the first part of a foreign text, on one line.
fn quote(text: &str) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    clip(&line, MAX_MESSAGE_CHARS)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_truncated_key_is_hidden() {
        let key = "sk-0123456789";
        for (text, hidden) in [
            ("bad key sk-0123456789", "bad key ***"),
            ("bad key sk-01234…", "bad key ***…"),
            ("bad key sk-…", "bad key sk-…"),
            ("bad key sk-01234", "bad key sk-01234"),
        ] {
            assert_eq!(without_key(text, key), hidden);
        }
    }
}
