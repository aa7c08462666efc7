//! What is looked for on behalf of a secret.
//!
//! Not here: escapes, which `views.rs` removes before anything is looked for.

use std::sync::Arc;

use aho_corasick::{AhoCorasick, MatchKind};
use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, STANDARD_NO_PAD, URL_SAFE, URL_SAFE_NO_PAD};

use super::views::View;

/// Hiding a letter or two would hide half of every text and no secret.
pub(super) const SHORTEST: usize = 4;
/// Shorter pieces of base64 turn up by chance.
const SHORTEST_PIECE: usize = 8;
/// The shortest secret in base64 without padding.
const SHORTEST_ENCODED: usize = 6;
/// A shorter line of a secret of several lines says nothing by itself.
const SHORTEST_LINE: usize = 16;

/// A range of a text, and what stands there instead.
pub(super) type Hit = (usize, usize, Arc<str>);

/// The search for a set of secrets.
pub(super) struct Search {
    /// Secrets, and lines of them, as they are.
    plain: Needles,
    /// Secrets in base64, looked for in a text without blanks and line breaks.
    wrapped: Needles,
    /// Secrets in hexadecimal digits, looked for in a text without separators.
    hex: Needles,
    /// Whether a plus sign for a blank could hide a secret.
    has_blank: bool,
}

impl Search {
    pub(super) fn new(secrets: &[(Arc<str>, Arc<str>)]) -> Self {
        let (mut plain, mut wrapped, mut hex) = (Vec::new(), Vec::new(), Vec::new());
        for (secret, instead) in secrets {
            let each = |form: String| (form, instead.clone());
            plain.extend(plain_forms(secret).into_iter().map(each));
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

    /// Adds every place of a secret in a view, and in what it decodes to.
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
        for decoded in [view.unescaped(), view.unquoted(), form]
            .into_iter()
            .flatten()
        {
            self.find(&decoded, decodings - 1, hits);
        }
    }
}

/// `de:ad be-ef` and `\xde\xad` are the same digits.
fn separates_digits(byte: u8) -> bool {
    byte.is_ascii_whitespace() || matches!(byte, b':' | b'-' | b',' | b'\\' | b'x')
}

/// Texts to look for, and what stands in the place of each.
struct Needles {
    automaton: Option<AhoCorasick>,
    insteads: Vec<Arc<str>>,
}

impl Needles {
    fn new(forms: Vec<(String, Arc<str>)>, any_case: bool) -> Self {
        let (forms, insteads): (Vec<_>, Vec<_>) = forms.into_iter().unzip();
        // A longer secret goes first, or the rest of it would stay visible.
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

/// The secret, and those lines of it that say something by themselves: logs and error output are
/// read line by line.
fn plain_forms(secret: &str) -> Vec<String> {
    let mut forms = vec![secret.to_owned()];
    let lines = secret.lines().map(str::trim);
    let telling = |line: &&str| line.len() >= SHORTEST_LINE && !line.starts_with("-----");
    forms.extend(lines.filter(telling).map(str::to_owned));
    forms
}

/// The secret in base64, alone and inside of something longer, and a secret of several lines
/// without its line breaks.
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
