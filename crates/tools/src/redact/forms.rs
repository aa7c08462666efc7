//! The search patterns for a secret.
//!
//! Not here: escapes, which `decodings.rs` removes before the search.

use std::sync::Arc;

use aho_corasick::{AhoCorasick, MatchKind};
use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, STANDARD_NO_PAD, URL_SAFE, URL_SAFE_NO_PAD};

use super::decodings::View;

/// The shortest secret to redact: shorter ones would match everywhere in ordinary text.
pub(super) const SHORTEST: usize = 4;
/// The shortest base64 fragment to search for; shorter ones occur by chance.
const SHORTEST_PIECE: usize = 8;
/// The length of the shortest secret in base64 without padding.
const SHORTEST_ENCODED: usize = 6;
/// The shortest line of a multi-line secret to search for; shorter lines reveal nothing.
const SHORTEST_LINE: usize = 16;

/// A byte range of a text, and its replacement.
pub(super) type Hit = (usize, usize, Arc<str>);

/// The search patterns for a set of secrets.
pub(super) struct Search {
    /// Secrets, and their lines, verbatim.
    plain: Needles,
    /// Secrets in base64; matched against a text without white space.
    wrapped: Needles,
    /// Secrets in hexadecimal; matched against a text without separators.
    hex: Needles,
    /// Whether a secret contains a blank, which a form encodes as a plus sign.
    has_blank: bool,
}

impl Search {
    pub(super) fn new(secrets: &[(Arc<str>, Arc<str>)]) -> Self {
        let (mut plain, mut wrapped, mut hex) = (Vec::new(), Vec::new(), Vec::new());
        for (secret, instead) in secrets {
            let each = |form: String| (form, instead.clone());
            plain.extend(verbatim_patterns(secret).into_iter().map(each));
            wrapped.extend(wrapped_forms(secret).into_iter().map(each));
            hex.push(each(hex_form(secret)));
        }
        Self {
            plain: Needles::new(plain, false),
            wrapped: Needles::new(wrapped, false),
            hex: Needles::new(hex, true),
            has_blank: secrets.iter().any(|(secret, _)| secret.contains(' ')),
        }
    }

    /// Adds every occurrence of a secret in a view and in its decoded forms, up to `decodings` layers.
    pub(super) fn find(&self, view: &View<'_>, decodings: usize, hits: &mut Vec<Hit>) {
        if view.bytes.len() < SHORTEST {
            return;
        }
        self.plain.find(view, hits);
        if view.bytes.len() >= SHORTEST_ENCODED {
            let wrapped = view.without(|byte| byte.is_ascii_whitespace());
            self.wrapped.find(&wrapped, hits);
            self.hex.find(&view.without(separates_digits), hits);
        }
        if decodings == 0 {
            return;
        }
        let form = self.has_blank.then(|| view.unquoted_form()).flatten();
        for decoded in [view.decode_json(), view.decode_percent(), form]
            .into_iter()
            .flatten()
        {
            self.find(&decoded, decodings - 1, hits);
        }
    }
}

/// Whether a byte may separate hexadecimal digits: `de:ad be-ef` and `\xde\xad` are the same digits.
fn separates_digits(byte: u8) -> bool {
    byte.is_ascii_whitespace() || matches!(byte, b':' | b'-' | b',' | b'\\' | b'x')
}

/// A set of patterns with their replacements.
struct Needles {
    automaton: Option<AhoCorasick>,
    insteads: Vec<Arc<str>>,
}

impl Needles {
    fn new(forms: Vec<(String, Arc<str>)>, any_case: bool) -> Self {
        let (forms, insteads): (Vec<_>, Vec<_>) = forms.into_iter().unzip();
        // The longest match wins, or the rest of a longer secret would stay visible.
        let automaton = AhoCorasick::builder()
            .match_kind(MatchKind::LeftmostLongest)
            .ascii_case_insensitive(any_case)
            .build(forms);
        Self {
            automaton: automaton.ok().filter(|_| !insteads.is_empty()),
            insteads,
        }
    }

    fn find(&self, view: &View<'_>, hits: &mut Vec<Hit>) {
        let Some(automaton) = &self.automaton else {
            return;
        };
        for found in automaton.find_iter(&*view.bytes) {
            let (start, end) = view.original(found.start(), found.end());
            let instead = self.insteads[found.pattern().as_usize()].clone();
            hits.push((start, end, instead));
        }
    }
}

/// Returns the secret and its significant lines: logs and error output are processed line by line.
fn verbatim_patterns(secret: &str) -> Vec<String> {
    let mut forms = vec![secret.to_owned()];
    let lines = secret.lines().map(str::trim);
    let telling = |line: &&str| line.len() >= SHORTEST_LINE && !line.starts_with("-----");
    forms.extend(lines.filter(telling).map(str::to_owned));
    forms
}

/// Returns the secret in base64, alone and as part of a longer text, and a multi-line secret without
/// its line breaks.
fn wrapped_forms(secret: &str) -> Vec<String> {
    let mut forms = Vec::new();
    for engine in [&STANDARD, &STANDARD_NO_PAD, &URL_SAFE, &URL_SAFE_NO_PAD] {
        forms.push(engine.encode(secret));
    }
    for engine in [&STANDARD_NO_PAD, &URL_SAFE_NO_PAD] {
        forms.extend((0..3).filter_map(|before| piece(engine, secret, before)));
    }
    let compact: String = secret.split_whitespace().collect();
    if compact.len() >= SHORTEST_LINE && compact.len() < secret.len() {
        forms.push(compact);
    }
    forms
}

fn hex_form(secret: &str) -> String {
    let digits = secret.bytes().map(|byte| format!("{byte:02x}"));
    digits.collect()
}

/// Returns the base64 characters that depend only on the secret when `before` bytes (modulo three)
/// precede it, whatever follows.
fn piece(engine: &impl base64::Engine, secret: &str, before: usize) -> Option<String> {
    let mut bytes = vec![0; before];
    bytes.extend_from_slice(secret.as_bytes());
    let text = engine.encode(&bytes);
    // Each character holds six bits, so those at the borders depend on neighbouring bytes too.
    let (start, end) = ((before * 8).div_ceil(6), bytes.len() * 8 / 6);
    let piece = text.get(start..end)?;
    (piece.len() >= SHORTEST_PIECE).then(|| piece.to_owned())
}
