//! JSON as clients write it: with comments and a comma after the last item.
//!
//! Syntax that JSON does not have is replaced by blanks of the same length, so positions in error messages
//! stay correct.

/// Returns the text as plain JSON.
pub(crate) fn plain(text: &str) -> String {
    replace(text, Commas::Replaced)
}

/// Returns the text without comments. A comma after the last item stays.
pub(crate) fn without_comments(text: &str) -> String {
    replace(text, Commas::Kept)
}

/// Whether commas after last items are replaced.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Commas {
    Replaced,
    Kept,
}

fn replace(text: &str, commas: Commas) -> String {
    let mut out: Vec<u8> = text.bytes().collect();
    let mut at = if text.starts_with('\u{feff}') {
        blank(&mut out, 0, 3);
        3
    } else {
        0
    };
    // Offset of the last comma, as long as nothing follows it.
    let mut comma = None;
    while let Some(&byte) = out.get(at) {
        match (byte, out.get(at + 1)) {
            (b'"', _) => {
                comma = None;
                at = end_of_text(&out, at);
                continue;
            }
            (b'/', Some(b'/')) => {
                let end = find(&out, at, b"\n").unwrap_or(out.len());
                blank(&mut out, at, end);
            }
            (b'/', Some(b'*')) => {
                let end = find(&out, at + 2, b"*/").map_or(out.len(), |end| end + 2);
                blank(&mut out, at, end);
            }
            (b',', _) => comma = Some(at),
            (b'}' | b']', _) => {
                if let Some(comma) = comma.take().filter(|_| commas == Commas::Replaced) {
                    blank(&mut out, comma, comma + 1);
                }
            }
            (byte, _) if !byte.is_ascii_whitespace() => comma = None,
            _ => {}
        }
        at += 1;
    }
    // Only whole characters were replaced, so the bytes are still valid UTF-8.
    String::from_utf8(out).unwrap_or_else(|_| text.to_owned())
}

/// Returns the offset after the quoted string that begins at `start`.
pub(crate) fn end_of_text(bytes: &[u8], start: usize) -> usize {
    let mut at = start + 1;
    while let Some(byte) = bytes.get(at) {
        match byte {
            b'\\' => at += 1,
            b'"' => return at + 1,
            _ => {}
        }
        at += 1;
    }
    bytes.len()
}

fn find(bytes: &[u8], from: usize, what: &[u8]) -> Option<usize> {
    let rest = bytes.get(from..)?;
    let found = rest.windows(what.len()).position(|part| part == what)?;
    Some(from + found)
}

fn blank(bytes: &mut [u8], from: usize, to: usize) {
    for byte in bytes.iter_mut().take(to).skip(from) {
        if *byte != b'\n' {
            *byte = b' ';
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::plain;

    #[test]
    fn comments_and_trailing_commas_are_accepted() {
        for (text, expected) in [
            (
                "{\"a\": [1, 2, /* three */ ], // end\n}",
                json!({"a": [1, 2]}),
            ),
            (
                r#"{"url": "http://x//y/*z*/,]"}"#,
                json!({"url": "http://x//y/*z*/,]"}),
            ),
            (r#"{"q": "a\"//b", }"#, json!({"q": "a\"//b"})),
            ("\u{feff}{} // ü", json!({})),
            ("{\"a\": 1 /* , */ , \n // x\n }", json!({"a": 1})),
        ] {
            let read: Value = serde_json::from_str(&plain(text)).unwrap();
            assert_eq!(read, expected, "{text}");
        }
    }

    #[test]
    fn invalid_json_stays_invalid() {
        for text in ["[1,,2]", "{\"a\" 1}", "/* open", "\"open", "{\"a\": 1} x"] {
            assert!(
                serde_json::from_str::<Value>(&plain(text)).is_err(),
                "{text}"
            );
        }
    }
}
