//! Visible forms of characters that control a terminal or deceive a reader.
//!
//! Text from skills, servers and models may contain any character. Here `ESC` becomes `\x1b` and a character
//! that changes the text direction becomes `\u{202e}`. Not here: the callers, and deft's own colours, which
//! are added afterwards.

/// Returns `text` with deceptive characters in a visible form. Line breaks and tabs stay.
pub fn visible(text: &str) -> String {
    visible_after(None, text)
}

/// Like [`visible`], for a piece of a text; `before` is the character in front of the piece.
pub fn visible_after(before: Option<char>, text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut before = before;
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        // `\r\n` is a line end of Windows and stays.
        let ends_line = c == '\r' && chars.peek() == Some(&'\n');
        if !ends_line {
            push_visible(c, before, &mut out);
        }
        before = Some(c);
    }
    out
}

fn push_visible(c: char, before: Option<char>, out: &mut String) {
    if matches!(c, '\n' | '\t') || !(is_deceptive(c) || is_lone_joiner(c, before)) {
        out.push(c);
    } else if u32::from(c) < 0x100 {
        out.push_str(&format!("\\x{:02x}", u32::from(c)));
    } else {
        out.push_str(&format!("\\u{{{:x}}}", u32::from(c)));
    }
}

/// Returns `json` with deceptive characters as JSON escapes; the value stays the same.
///
/// Control characters below a space are already escaped: JSON allows no others.
pub fn visible_json(json: &str) -> String {
    let mut out = String::with_capacity(json.len());
    for c in json.chars() {
        if is_deceptive(c) && u32::from(c) >= 0x7f {
            let mut units = [0; 2];
            for unit in c.encode_utf16(&mut units) {
                out.push_str(&format!("\\u{unit:04x}"));
            }
        } else {
            out.push(c);
        }
    }
    out
}

/// Control characters, characters that change the text direction, and invisible characters.
fn is_deceptive(c: char) -> bool {
    c.is_control()
        || matches!(c,
            // Invisible: soft hyphen, grapheme joiner, fillers, zero-width and blank characters.
            '\u{ad}' | '\u{34f}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}'
            | '\u{180b}'..='\u{180e}' | '\u{200b}' | '\u{2060}'..='\u{2064}' | '\u{2800}'
            | '\u{3164}' | '\u{feff}' | '\u{ffa0}' | '\u{fff9}'..='\u{fffb}'
            // Text direction.
            | '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}'
            | '\u{2066}'..='\u{206f}'
            // Line ends that a log or a table does not expect.
            | '\u{2028}' | '\u{2029}'
            // Tags and selectors that can carry hidden text.
            | '\u{e0000}'..='\u{e0fff}')
}

/// Joiners form emoji and letters of some scripts; after plain ASCII text they only hide.
fn is_lone_joiner(c: char, before: Option<char>) -> bool {
    matches!(c, '\u{200c}' | '\u{200d}') && before.is_none_or(|before| before.is_ascii())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn deceptive_characters_are_made_visible() {
        for (given, shown) in [
            ("plain\ttext\nwith lines", "plain\ttext\nwith lines"),
            ("a\u{1b}[31mred", "a\\x1b[31mred"),
            (
                "bell\x07 back\x08 del\x7f nul\0",
                "bell\\x07 back\\x08 del\\x7f nul\\x00",
            ),
            ("windows\r\nunder\rover", "windows\nunder\\x0dover"),
            ("csi\u{9b}2J osc\u{9d}", "csi\\x9b2J osc\\x9d"),
            (
                "a\u{202e}b\u{2066}c\u{200f}",
                "a\\u{202e}b\\u{2066}c\\u{200f}",
            ),
            ("no\u{200b}width\u{feff}", "no\\u{200b}width\\u{feff}"),
            ("tag\u{e0041}", "tag\\u{e0041}"),
            ("gmail\u{200d}_send", "gmail\\u{200d}_send"),
            ("\u{200c}begin", "\\u{200c}begin"),
            // Ordinary text stays unchanged.
            (
                "👩\u{200d}💻 ❤\u{fe0f} naïve Ж 漢字 می\u{200c}روم",
                "👩\u{200d}💻 ❤\u{fe0f} naïve Ж 漢字 می\u{200c}روم",
            ),
        ] {
            assert_eq!(visible(given), shown);
        }
    }

    #[test]
    fn a_piece_continues_the_previous_piece() {
        assert_eq!(visible_after(Some('👩'), "\u{200d}💻"), "\u{200d}💻");
        assert_eq!(visible_after(Some('a'), "\u{200d}💻"), "\\u{200d}💻");
    }

    #[test]
    fn escaped_json_keeps_its_value() {
        let value = serde_json::json!({
            "k\u{202e}": "a\u{1b}[2J \u{9b}m \u{7f} \u{202e} \u{200b} \u{e0041} 👩\u{200d}💻 \n",
        });
        for text in [value.to_string(), format!("{value:#}")] {
            let shown = visible_json(&text);
            assert!(
                !shown.chars().any(|c| c != '\n' && is_deceptive(c)),
                "{shown}"
            );
            assert_eq!(
                serde_json::from_str::<serde_json::Value>(&shown).unwrap(),
                value
            );
        }
    }
}
