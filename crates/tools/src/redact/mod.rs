//! Removes secrets from texts, also in encoded forms.
//!
//! A tool may quote a secret inside JSON (also JSON in JSON), in a URL or a form, in base64 or in
//! hexadecimal, alone or as part of a longer text such as `user:password`, on one line or several.
//! `decodings.rs` removes escapes, `forms.rs` searches the rest.
//!
//! Not here: which secrets to remove, and encodings that only an attacker who wants to leak a secret
//! would choose.

mod decodings;
mod forms;

use std::borrow::Cow;
use std::sync::{Arc, OnceLock};

use deft_model::Failure;
use serde_json::Value;

use self::decodings::View;
use self::forms::{Hit, SHORTEST, Search};
use crate::secret::Secret;

/// The replacement for a configured secret.
pub(crate) const HIDDEN: &str = "***";

/// The maximum number of layers of escapes to remove: JSON in JSON in a URL.
const DECODINGS: usize = 3;

/// The minimum number of bytes to decode at a time.
const STEP: usize = 64 * 1024;
/// The maximum number of bytes for one escaped byte of a secret, as in `\\\\u0041` with blanks around
/// it.
const MAX_ESCAPE_LEN: usize = 16;
/// The longest escape of one character, in bytes.
const ESCAPE: usize = 12;

/// A set of secrets and their replacements.
#[derive(Clone, Default)]
pub struct Redaction {
    /// Secrets and their replacements.
    secrets: Vec<(Arc<str>, Arc<str>)>,
    /// Built lazily, at the first search.
    search: OnceLock<Arc<Search>>,
}

impl Redaction {
    /// Adds a secret and its replacement. Secrets that are too short are ignored.
    pub fn add(&mut self, secret: &Secret, instead: &str) {
        if secret.expose().len() >= SHORTEST {
            self.secrets.push((secret.expose().into(), instead.into()));
            self.search = OnceLock::new();
        }
    }

    /// Adds all secrets of another redaction.
    pub fn merge(&mut self, other: &Self) {
        for entry in &other.secrets {
            if !self.secrets.iter().any(|(secret, _)| *secret == entry.0) {
                self.secrets.push(entry.clone());
                self.search = OnceLock::new();
            }
        }
    }

    /// Whether no secrets are set.
    pub fn is_empty(&self) -> bool {
        self.secrets.is_empty()
    }

    /// Removes all secrets from a text.
    pub fn text<'a>(&self, text: &'a str) -> Cow<'a, str> {
        if self.is_empty() || text.len() < SHORTEST {
            return Cow::Borrowed(text);
        }
        let search = self
            .search
            .get_or_init(|| Search::new(&self.secrets).into());
        let mut hits = Vec::new();
        for (start, end) in windows(text, self.longest_form()) {
            let known = hits.len();
            search.find(&View::from_text(&text[start..end]), DECODINGS, &mut hits);
            for hit in &mut hits[known..] {
                hit.0 += start;
                hit.1 += start;
            }
        }
        if hits.is_empty() {
            return Cow::Borrowed(text);
        }
        Cow::Owned(replace_hits(text, hits))
    }

    /// Returns the maximum length of an escaped secret, in bytes.
    fn longest_form(&self) -> usize {
        let longest = self.secrets.iter().map(|(secret, _)| secret.len()).max();
        MAX_ESCAPE_LEN * longest.unwrap_or_default()
    }

    /// Removes all secrets from the strings, keys and numbers of a value.
    pub fn value(&self, value: Value) -> Value {
        if self.is_empty() {
            return value;
        }
        match value {
            Value::String(text) => Value::String(self.redact_owned(text)),
            Value::Array(items) => items.into_iter().map(|item| self.value(item)).collect(),
            Value::Object(fields) => fields
                .into_iter()
                .map(|(name, field)| (self.redact_owned(name), self.value(field)))
                .collect(),
            Value::Number(number) => {
                let text = number.to_string();
                let mut secrets = self.secrets.iter();
                // Only a whole number counts: the digits can occur in a longer number by chance.
                match secrets.find(|(secret, _)| **secret == *text) {
                    Some((_, instead)) => Value::String((**instead).to_owned()),
                    None => Value::Number(number),
                }
            }
            Value::Null | Value::Bool(_) => value,
        }
    }

    /// Removes all secrets from a failure's message and hint.
    pub fn failure(&self, failure: Failure) -> Failure {
        Failure {
            message: self.redact_owned(failure.message),
            hint: failure.hint.map(|hint| self.redact_owned(hint)),
            ..failure
        }
    }

    pub(crate) fn redact_owned(&self, text: String) -> String {
        match self.text(&text) {
            // Moved, not copied: the text may be large.
            Cow::Borrowed(_) => text,
            Cow::Owned(hidden) => hidden,
        }
    }
}

impl std::fmt::Debug for Redaction {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Redaction of {} secrets", self.secrets.len())
    }
}

/// Splits a text into ranges that overlap by `overlap` bytes. Decoding needs many times the memory of
/// the text, so a large text is not decoded at once.
fn windows(text: &str, overlap: usize) -> Vec<(usize, usize)> {
    let step = overlap.max(STEP);
    let (mut windows, mut start) = (Vec::new(), 0);
    loop {
        let end = text.ceil_char_boundary(start + step + overlap);
        windows.push((start, end));
        if end == text.len() {
            return windows;
        }
        start = between_escapes(text, start + step);
    }
}

/// Returns an offset at or shortly before `at` that is not inside an escape.
fn between_escapes(text: &str, at: usize) -> usize {
    let bytes = text.as_bytes();
    let is_clear = |at: &usize| {
        let before = &bytes[at.saturating_sub(ESCAPE)..*at];
        !before.contains(&b'\\') && !before.contains(&b'%')
    };
    let places = (at.saturating_sub(STEP / 2)..=at).rev();
    let mut clear = places.filter(is_clear);
    text.floor_char_boundary(clear.next().unwrap_or(at))
}

/// Replaces the ranges in `hits`. Where ranges overlap, the longest one determines the replacement.
fn replace_hits(text: &str, mut hits: Vec<Hit>) -> String {
    hits.sort_by_key(|(start, end, _)| (*start, std::cmp::Reverse(*end)));
    let mut merged: Vec<Hit> = Vec::new();
    let mut longest = 0;
    for (start, end, instead) in hits {
        match merged.last_mut() {
            Some(last) if start < last.1 => {
                last.1 = last.1.max(end);
                if end - start > longest {
                    (longest, last.2) = (end - start, instead);
                }
            }
            _ => {
                longest = end - start;
                merged.push((start, end, instead));
            }
        }
    }
    let (mut out, mut done) = (String::with_capacity(text.len()), 0);
    for (start, end, instead) in merged {
        let (start, end) = (
            text.floor_char_boundary(start),
            text.ceil_char_boundary(end),
        );
        out.push_str(&text[done..start]);
        out.push_str(&instead);
        done = end;
    }
    out.push_str(&text[done..]);
    out
}

#[cfg(test)]
mod tests {
    use base64::Engine as _;
    use base64::engine::general_purpose::{STANDARD, STANDARD_NO_PAD, URL_SAFE, URL_SAFE_NO_PAD};
    use serde_json::json;

    use super::*;

    fn redaction(secret: &str) -> Redaction {
        let mut redaction = Redaction::default();
        redaction.add(&Secret::new(secret), "***");
        redaction
    }

    #[test]
    fn every_form_is_hidden() {
        // Needs escaping in JSON and in URLs, and is different in the two alphabets of base64.
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
    fn a_secret_inside_longer_base64_is_hidden() {
        let redaction = redaction("correct-horse");
        for user in ["", "a", "ab", "abc"] {
            for after in ["", "x", "xy", "xyz"] {
                let text = STANDARD.encode(format!("{user}:correct-horse{after}"));
                let hidden = redaction.text(&text).into_owned();
                assert!(hidden.contains("***"), "{user} {after} {hidden}");
                // On each side at most one character's worth of bits remains.
                let left = hidden.len() - "***".len();
                assert!(
                    left <= (user.len() + after.len() + 1) * 4 / 3 + 5,
                    "{hidden}"
                );
            }
        }
    }

    #[test]
    fn secrets_are_redacted_in_strings_and_keys_only() {
        let redaction = redaction("s3cret");
        let value = json!({"s3cret": ["a s3cret", 1, null], "other": true});
        assert_eq!(
            redaction.value(value),
            json!({"***": ["a ***", 1, null], "other": true})
        );
    }

    #[test]
    fn longer_secrets_are_redacted_first_and_short_ones_never() {
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

    fn wrap(text: &str, width: usize, end: &str) -> String {
        let lines = text.as_bytes().chunks(width);
        let lines: Vec<_> = lines.map(|line| str::from_utf8(line).unwrap()).collect();
        lines.join(end)
    }

    #[test]
    fn hexadecimal_digits_are_hidden_in_any_case_and_with_separators() {
        let redaction = redaction("s3cret/Key");
        let lower: String = "s3cret/Key".bytes().map(|b| format!("{b:02x}")).collect();
        let pairs = |before: &str, between: &str| {
            let pairs: Vec<String> = "s3cret/Key"
                .bytes()
                .map(|byte| format!("{before}{byte:02X}"))
                .collect();
            pairs.join(between)
        };
        for form in [
            lower.clone(),
            lower.to_uppercase(),
            wrap(&lower, 6, "\n"),
            pairs("", ":"),
            pairs("", " "),
            pairs("\\x", ""),
        ] {
            let text = format!("<{form}>");
            let hidden = redaction.text(&text).into_owned();
            assert!(
                matches!(hidden.as_str(), "<***>" | "<\\x***>"),
                "{form}: {hidden}"
            );
        }
    }

    #[test]
    fn wrapped_base64_is_hidden_at_every_alignment() {
        let secret = "correct horse/battery?staple>>and~~more";
        let redaction = redaction(secret);
        for before in ["", "a", "ab"] {
            let whole = format!("{before}{secret}");
            for encoded in [
                STANDARD.encode(&whole),
                STANDARD_NO_PAD.encode(&whole),
                URL_SAFE.encode(&whole),
                URL_SAFE_NO_PAD.encode(&whole),
            ] {
                for end in ["\n", "\r\n", "\n    ", "\\n", "\\r\\n"] {
                    let text = format!("<{}>", wrap(&encoded, 16, end));
                    let hidden = redaction.text(&text).into_owned();
                    // Only characters at the borders remain; they depend on neighbouring bytes too.
                    assert!(hidden.contains("***") && hidden.len() < 16, "{hidden}");
                }
            }
        }
    }

    #[test]
    fn secrets_in_forms_and_urls_are_hidden_in_every_encoding() {
        let redaction = redaction("a b+c/d&é");
        for form in [
            "a+b%2Bc%2Fd%26%C3%A9",
            "a+b%2bc%2fd%26%c3%a9",
            "a%20b+c/d%26%C3%A9",
            "a%20b%2Bc%2Fd%26é",
            "%61%20%62%2B%63%2F%64%26%C3%A9",
            "a%2520b%252Bc%252Fd%2526%25C3%25A9",
        ] {
            let text = format!("q={form};");
            assert_eq!(redaction.text(&text), "q=***;", "{form}");
        }
        assert_eq!(redaction.text("100% of a+b"), "100% of a+b");
    }

    #[test]
    fn secrets_in_nested_json_are_hidden() {
        let secret = "p\"ä\\/s\n>>w\u{1f600}";
        let redaction = redaction(secret);
        let mut text = secret.to_owned();
        for depth in 1..=3 {
            text = json!({ "k": text }).to_string();
            let hidden = redaction.text(&text).into_owned();
            assert!(
                hidden.contains("***") && !hidden.contains("w\u{1f600}"),
                "{depth}: {hidden}"
            );
        }
        let escaped: String = secret
            .encode_utf16()
            .map(|unit| format!("\\u{unit:04X}"))
            .collect();
        assert_eq!(redaction.text(&escaped), "***");
        assert_eq!(redaction.text(&escaped.replace('\\', "\\\\")), "***");
    }

    #[test]
    fn a_number_that_is_a_secret_is_hidden() {
        let redaction = redaction("48151623");
        assert_eq!(
            redaction.value(json!({"pin": 48_151_623, "other": 481_516_234})),
            json!({"pin": "***", "other": 481_516_234})
        );
    }

    #[test]
    fn a_secret_is_found_at_every_position_of_a_large_text() {
        let redaction = redaction("p\"s\\w/ord");
        let form = "p\\\"s\\\\w\\/ord";
        for noise in ["x", "\\\\", "%41", "é"] {
            for shift in 0..40 {
                let before = noise.repeat((STEP - 20) / noise.len()) + &"y".repeat(shift);
                let text = format!("{before}{form}{}", "z".repeat(3 * STEP));
                let hidden = redaction.text(&text).into_owned();
                assert_eq!(hidden.len(), text.len() - form.len() + 3, "{noise} {shift}");
                assert!(
                    hidden[before.len()..].starts_with("***z"),
                    "{noise} {shift}"
                );
            }
        }
    }

    #[test]
    fn two_redactors_are_merged() {
        let mut both = redaction("first-secret");
        both.merge(&redaction("second-secret"));
        assert_eq!(both.text("first-secret second-secret"), "*** ***");
    }
}
