//! The contents of string and bytes literals: escapes.
//!
//! It does not find where a literal ends (the lexer does), nor the braces of f-strings. Two
//! escapes of Python are refused: `\N{…}` needs the Unicode name table, and a lone surrogate
//! such as `\ud800` is no text outside Python.

use crate::error::SyntaxError;

/// Appends `text`, which begins at `base` in the condition, with its escapes decoded.
pub(super) fn unescape(text: &str, base: usize, out: &mut String) -> Result<(), SyntaxError> {
    let mut rest = text;
    while let Some(at) = rest.find('\\') {
        out.push_str(&rest[..at]);
        let escape = &rest[at + 1..];
        let start = base + text.len() - rest.len() + at;
        let (char, used) = match simple(escape) {
            Some(found) => found,
            None => coded(escape, start)?,
        };
        match char {
            Decoded::Char(char) => out.push(char),
            Decoded::Nothing => {}
            Decoded::Unknown => out.push('\\'),
        }
        rest = &escape[used..];
    }
    out.push_str(rest);
    Ok(())
}

enum Decoded {
    Char(char),
    /// A backslash before a line end joins the lines.
    Nothing,
    /// Python keeps the backslash of an escape that it does not know.
    Unknown,
}

/// Escapes that are one character long, with the bytes they take after the backslash.
fn simple(escape: &str) -> Option<(Decoded, usize)> {
    let char = match escape.bytes().next()? {
        b'\n' => return Some((Decoded::Nothing, 1)),
        b'\r' if escape.starts_with("\r\n") => return Some((Decoded::Nothing, 2)),
        b'\\' => '\\',
        b'\'' => '\'',
        b'"' => '"',
        b'a' => '\x07',
        b'b' => '\x08',
        b'f' => '\x0c',
        b'n' => '\n',
        b'r' => '\r',
        b't' => '\t',
        b'v' => '\x0b',
        _ => return None,
    };
    Some((Decoded::Char(char), 1))
}

/// Escapes with a number in them.
fn coded(escape: &str, start: usize) -> Result<(Decoded, usize), SyntaxError> {
    let width = match escape.bytes().next() {
        Some(b'0'..=b'7') => return Ok(octal(escape)),
        Some(b'x') => 2,
        Some(b'u') => 4,
        Some(b'U') => 8,
        Some(b'N') => {
            let message = "`\\N{…}` is not supported";
            let error = SyntaxError::new(message, start..start + 2);
            return Err(error.with_hint("write the character itself"));
        }
        Some(_) | None => return Ok((Decoded::Unknown, 0)),
    };
    let digits = escape.get(1..=width).filter(|digits| is_hex(digits));
    let Some(digits) = digits else {
        let message = format!("`\\{}` needs {width} hex digits", &escape[..1]);
        return Err(SyntaxError::new(message, start..start + 2));
    };
    let code = u32::from_str_radix(digits, 16).unwrap_or(u32::MAX);
    match char::from_u32(code) {
        Some(char) => Ok((Decoded::Char(char), width + 1)),
        None => Err(SyntaxError::new(
            format!("`\\{}` is not a character", &escape[..=width]),
            start..start + width + 2,
        )),
    }
}

fn is_hex(digits: &str) -> bool {
    digits.bytes().all(|b| b.is_ascii_hexdigit())
}

/// One to three octal digits; three of them stay below `U+0200`.
fn octal(escape: &str) -> (Decoded, usize) {
    let digits = escape.bytes().take(3);
    let len = digits.take_while(|b| matches!(b, b'0'..=b'7')).count();
    let code = u32::from_str_radix(&escape[..len], 8).unwrap_or(0);
    (Decoded::Char(char::from_u32(code).unwrap_or('\0')), len)
}

/// Decodes the contents of a bytes literal.
pub(super) fn bytes(text: &str, base: usize, raw: bool) -> Result<Vec<u8>, SyntaxError> {
    if let Some((at, char)) = text.char_indices().find(|(_, c)| !c.is_ascii()) {
        let span = base + at..base + at + char.len_utf8();
        let message = format!("bytes cannot hold `{char}`");
        return Err(SyntaxError::new(message, span));
    }
    if raw {
        return Ok(text.as_bytes().to_vec());
    }
    let mut out = Vec::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('\\') {
        out.extend_from_slice(&rest.as_bytes()[..at]);
        let escape = &rest[at + 1..];
        let start = base + text.len() - rest.len() + at;
        let used = byte_escape(escape, start, &mut out)?;
        rest = &escape[used..];
    }
    out.extend_from_slice(rest.as_bytes());
    Ok(out)
}

/// Decodes one escape; `\u`, `\U` and `\N` are plain text in bytes.
fn byte_escape(escape: &str, start: usize, out: &mut Vec<u8>) -> Result<usize, SyntaxError> {
    let known = match escape.bytes().next() {
        Some(b'x' | b'0'..=b'7') => Some(coded(escape, start)?),
        _ => simple(escape),
    };
    match known {
        // An octal escape wraps at 256, as in Python.
        Some((Decoded::Char(char), used)) => {
            out.push((u32::from(char) & 0xff) as u8);
            Ok(used)
        }
        Some((Decoded::Nothing, used)) => Ok(used),
        Some((Decoded::Unknown, _)) | None => {
            out.push(b'\\');
            Ok(0)
        }
    }
}
