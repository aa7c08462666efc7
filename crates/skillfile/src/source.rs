//! Decoding of the bytes of a file into text.

use crate::diagnostic::Sink;
use crate::rules::Rule;
use crate::severity::Severity;
use crate::span::Span;

const BOM: &str = "\u{feff}";

/// The text of a file, and where it starts after a byte order mark.
pub(crate) struct Source<'a> {
    pub file: &'a str,
    pub start: usize,
}

/// Decodes a file; reports invalid UTF-8 and returns `None`. A byte order mark is tolerated.
pub(crate) fn decode<'a>(bytes: &'a [u8], sink: &mut Sink) -> Option<Source<'a>> {
    let file = match std::str::from_utf8(bytes) {
        Ok(file) => file,
        Err(problem) => {
            let at = problem.valid_up_to();
            let byte = bytes.get(at).copied().unwrap_or_default();
            sink.report(
                Rule::NotUtf8,
                Span::new(at, at),
                format!("byte 0x{byte:02x} is not UTF-8"),
            )
            .help("save the file as UTF-8");
            return None;
        }
    };
    let start = if file.starts_with(BOM) { BOM.len() } else { 0 };
    if start > 0 {
        sink.report_as(
            Severity::Warning,
            Rule::Bom,
            Span::new(0, start),
            "the file starts with a byte order mark",
        )
        .help("save it as UTF-8 without one");
    }
    Some(Source { file, start })
}
