//! Splits a Markdown file into frontmatter and body, with offsets.
//!
//! Not here: parsing of the YAML.

use crate::span::Span;

/// The two parts of a Markdown file, as byte ranges.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Split {
    /// The YAML between the fences.
    pub yaml: Span,
    /// Everything after the line of the closing fence.
    pub body: Span,
}

/// Why a file has no valid frontmatter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum MissingFence {
    /// The file does not start with `---`.
    Opening,
    /// No line closes the frontmatter.
    Closing,
}

/// Finds the frontmatter of a file that starts at `start`, which may be after a byte order mark.
///
/// A fence is a line that starts with `---`, as in the reference validator; unlike there, a `---` inside a
/// line does not close the frontmatter.
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

/// Returns the length of the first line with its line break. A single carriage return is a line break, as in
/// YAML.
fn line_length(text: &str) -> usize {
    match text.find(['\n', '\r']) {
        Some(at) if text[at..].starts_with("\r\n") => at + 2,
        Some(at) => at + 1,
        None => text.len(),
    }
}
