//! Splits a markdown file into frontmatter and body, keeping offsets.
//!
//! It does not look inside the YAML.

use crate::span::Span;

/// The two parts of a markdown file, as ranges of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Split {
    /// The YAML between the fences.
    pub yaml: Span,
    /// Everything behind the closing fence's line.
    pub body: Span,
}

/// Why a file has no frontmatter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum MissingFence {
    /// It does not start with `---`.
    Opening,
    /// No line closes it.
    Closing,
}

/// Finds the frontmatter of a file that starts at `start`, behind a byte order
/// mark perhaps.
///
/// A fence is a line that starts with `---`, as the reference validator has
/// it; unlike the reference, a `---` inside a line closes nothing.
pub(crate) fn split(file: &str, start: usize) -> Result<Split, MissingFence> {
    let text = &file[start..];
    if !text.starts_with("---") {
        return Err(MissingFence::Opening);
    }
    let yaml = start + 3;
    let mut line = yaml + line_length(&file[yaml..]);
    while line < file.len() {
        let length = line_length(&file[line..]);
        if file[line..].starts_with("---") {
            return Ok(Split {
                yaml: Span::new(yaml, line),
                body: Span::new(line + length, file.len()),
            });
        }
        line += length;
    }
    Err(MissingFence::Closing)
}

/// The length of the first line with its break; a lone carriage return is one,
/// as it is in YAML.
fn line_length(text: &str) -> usize {
    match text.find(['\n', '\r']) {
        Some(at) if text[at..].starts_with("\r\n") => at + 2,
        Some(at) => at + 1,
        None => text.len(),
    }
}
