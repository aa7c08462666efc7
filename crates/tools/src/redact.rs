//! Secrets taken out of texts again, also where they come back in another form.
//!
//! A tool may quote a secret inside JSON, in a URL or in base64, on its own or
//! as part of something longer such as `user:password`. All of these forms are
//! worked out once per secret and then looked for in everything that comes back.
//!
//! Not here: which secrets there are, and forms that only somebody who wants to
//! leak a secret would choose.

use std::borrow::Cow;
use std::cmp::Reverse;
use std::collections::BTreeSet;
use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, STANDARD_NO_PAD, URL_SAFE, URL_SAFE_NO_PAD};
use deft_model::Failure;
use serde_json::Value;

use crate::secret::Secret;

/// Hiding a letter or two would hide half of every text and no secret.
const SHORTEST: usize = 4;
/// Shorter pieces of base64 turn up by chance.
const SHORTEST_PIECE: usize = 8;
/// A shorter line of a secret of several lines says nothing by itself.
const SHORTEST_LINE: usize = 16;

/// What to look for, and what to put in its place.
#[derive(Clone, Default)]
pub struct Redaction {
    /// The longest first, so that one secret inside another does not leave the rest of it visible.
    forms: Vec<(String, Arc<str>)>,
}

impl Redaction {
    /// Looks for one more secret, and puts this in its place.
    pub fn add(&mut self, secret: &Secret, instead: &str) {
        let instead: Arc<str> = instead.into();
        let forms = forms(secret.expose());
        self.forms
            .extend(forms.into_iter().map(|form| (form, instead.clone())));
        self.forms.sort_by_key(|(form, _)| Reverse(form.len()));
    }

    /// Whether there is nothing to look for.
    pub fn is_empty(&self) -> bool {
        self.forms.is_empty()
    }

    /// The text without any secret.
    pub fn text<'a>(&self, text: &'a str) -> Cow<'a, str> {
        let mut text = Cow::Borrowed(text);
        for (form, instead) in &self.forms {
            if text.contains(form) {
                text = Cow::Owned(text.replace(form, instead));
            }
        }
        text
    }

    /// The value without any secret in its texts and names.
    pub fn value(&self, value: Value) -> Value {
        if self.is_empty() {
            return value;
        }
        match value {
            Value::String(text) => Value::String(self.owned(text)),
            Value::Array(items) => items.into_iter().map(|item| self.value(item)).collect(),
            Value::Object(fields) => fields
                .into_iter()
                .map(|(name, field)| (self.owned(name), self.value(field)))
                .collect(),
            Value::Null | Value::Bool(_) | Value::Number(_) => value,
        }
    }

    /// The failure without any secret in what it says.
    pub(crate) fn failure(&self, failure: Failure) -> Failure {
        Failure {
            message: self.owned(failure.message),
            hint: failure.hint.map(|hint| self.owned(hint)),
            ..failure
        }
    }

    pub(crate) fn owned(&self, text: String) -> String {
        match self.text(&text) {
            // Moved, not copied: the text may be large.
            Cow::Borrowed(_) => text,
            Cow::Owned(hidden) => hidden,
        }
    }
}

impl std::fmt::Debug for Redaction {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Redaction of {} forms", self.forms.len())
    }
}

/// Every form in which a secret may come back.
fn forms(secret: &str) -> BTreeSet<String> {
    if secret.len() < SHORTEST {
        return BTreeSet::new();
    }
    let mut forms = BTreeSet::from([secret.to_owned(), percent(secret)]);
    forms.extend(json(secret));
    for engine in [&STANDARD, &STANDARD_NO_PAD, &URL_SAFE, &URL_SAFE_NO_PAD] {
        forms.insert(engine.encode(secret));
    }
    for engine in [&STANDARD_NO_PAD, &URL_SAFE_NO_PAD] {
        forms.extend((0..3).filter_map(|before| piece(engine, secret, before)));
    }
    // Logs and error output are read line by line.
    let lines = secret.lines().map(str::trim);
    let telling = |line: &&str| line.len() >= SHORTEST_LINE && !line.starts_with("-----");
    forms.extend(lines.filter(telling).map(str::to_owned));
    forms
}

/// As part of a JSON text: as most write it, with a slash escaped, and in ASCII only.
fn json(secret: &str) -> [String; 3] {
    let quoted = Value::from(secret).to_string();
    let plain = quoted[1..quoted.len() - 1].to_owned();
    let mut ascii = String::new();
    for letter in plain.chars() {
        if letter.is_ascii() {
            ascii.push(letter);
        } else {
            let units = &mut [0; 2];
            for unit in letter.encode_utf16(units) {
                ascii.push_str(&format!("\\u{unit:04x}"));
            }
        }
    }
    [plain.replace('/', "\\/"), plain, ascii]
}

/// As part of a URL.
fn percent(secret: &str) -> String {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~".contains(&byte);
    secret.bytes().fold(String::new(), |mut text, byte| {
        if plain(byte) {
            text.push(byte.into());
        } else {
            text.push_str(&format!("%{byte:02X}"));
        }
        text
    })
}

/// The letters of base64 that depend on the secret alone when so many bytes (modulo three) stand
/// before it and anything may follow.
fn piece(engine: &impl base64::Engine, secret: &str, before: usize) -> Option<String> {
    let mut bytes = vec![0; before];
    bytes.extend_from_slice(secret.as_bytes());
    let text = engine.encode(&bytes);
    // Letters hold six bits: those at the border belong to the neighbours too.
    let (start, end) = ((before * 8).div_ceil(6), bytes.len() * 8 / 6);
    let piece = text.get(start..end)?;
    (piece.len() >= SHORTEST_PIECE).then(|| piece.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn redaction(secret: &str) -> Redaction {
        let mut redaction = Redaction::default();
        redaction.add(&Secret::new(secret), "***");
        redaction
    }

    #[test]
    fn every_form_is_hidden() {
        // Needs escaping in JSON and in URLs, and both alphabets of base64 differ on it.
        let secret = "p\"ä/s~~?\n>>w?\u{1f600}rd";
        let redaction = redaction(secret);
        let ascii = "p\\\"\\u00e4/s~~?\\n>>w?\\ud83d\\ude00rd";
        for form in [
            secret.to_owned(),
            Value::from(secret).to_string().trim_matches('"').to_owned(),
            ascii.to_owned(),
            "p%22%C3%A4%2Fs~~%3F%0A%3E%3Ew%3F%F0%9F%98%80rd".to_owned(),
            STANDARD.encode(secret),
            STANDARD_NO_PAD.encode(secret),
            URL_SAFE.encode(secret),
            URL_SAFE_NO_PAD.encode(secret),
        ] {
            let text = format!("<{form}>");
            assert_eq!(redaction.text(&text), "<***>", "{form}");
        }
        assert_ne!(STANDARD.encode(secret), URL_SAFE.encode(secret));
    }

    #[test]
    fn base64_of_something_longer_shows_nothing_either() {
        let redaction = redaction("correct-horse");
        for user in ["", "a", "ab", "abc"] {
            for after in ["", "x", "xy", "xyz"] {
                let text = STANDARD.encode(format!("{user}:correct-horse{after}"));
                let hidden = redaction.text(&text).into_owned();
                assert!(hidden.contains("***"), "{user} {after} {hidden}");
                // At most a letter's worth of bits is left on either side.
                let left = hidden.len() - "***".len();
                assert!(
                    left <= (user.len() + after.len() + 1) * 4 / 3 + 5,
                    "{hidden}"
                );
            }
        }
    }

    #[test]
    fn values_lose_secrets_in_texts_and_names_only() {
        let redaction = redaction("s3cret");
        let value = json!({"s3cret": ["a s3cret", 1, null], "other": true});
        assert_eq!(
            redaction.value(value),
            json!({"***": ["a ***", 1, null], "other": true})
        );
    }

    #[test]
    fn longer_secrets_go_first_and_short_ones_are_left() {
        let mut redaction = Redaction::default();
        redaction.add(&Secret::new("pass"), "<short>");
        redaction.add(&Secret::new("password"), "<long>");
        redaction.add(&Secret::new("is"), "<tiny>");
        assert_eq!(
            redaction.text("this password, that pass"),
            "this <long>, that <short>"
        );
    }

    #[test]
    fn a_key_of_several_lines_is_hidden_line_by_line() {
        let redaction = redaction("-----BEGIN KEY-----\nMIIEvQIBADANBgkqhkiG\n-----END KEY-----\n");
        assert_eq!(redaction.text("read MIIEvQIBADANBgkqhkiG"), "read ***");
        assert_eq!(redaction.text("-----BEGIN KEY-----"), "-----BEGIN KEY-----");
    }
}
