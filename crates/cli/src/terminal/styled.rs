//! Text with deft's colours.
//!
//! A string that becomes [`StyledText`] is escaped first, so every control sequence in it was written by
//! this module. If styled text is converted to a string and styled again, its sequences are shown as text:
//! the mistake is visible and harmless.

use deft_wire::model::visible;
use unicode_width::UnicodeWidthChar;

use crate::fold::fold;

/// Text whose only control sequences were written by deft.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct StyledText(String);

impl StyledText {
    /// Returns `text` in a colour or weight given by its SGR code, or plain if `color` is false.
    pub(crate) fn paint(code: &str, text: &str, color: bool) -> Self {
        let text = visible(text);
        if color {
            Self(format!("\x1b[{code}m{text}\x1b[0m"))
        } else {
            Self(text)
        }
    }

    /// Wraps the output of a renderer that styles text itself. Its SGR sequences are kept; the renderer must
    /// have escaped the control sequences of its input.
    pub(crate) fn from_renderer(text: &str) -> Self {
        let mut out = String::with_capacity(text.len());
        let mut rest = text;
        while let Some(at) = rest.find('\x1b') {
            let length = sgr_length(&rest[at..]);
            out.push_str(&visible(&rest[..at]));
            let (sequence, after) = rest[at..].split_at(length.max(1));
            if length > 0 {
                out.push_str(sequence);
            } else {
                out.push_str(&visible(sequence));
            }
            rest = after;
        }
        out.push_str(&visible(rest));
        Self(out)
    }

    /// Returns the sequence that moves the cursor to the start of the line and clears the line.
    pub(crate) fn clear_line() -> Self {
        Self("\r\x1b[2K".to_owned())
    }

    /// Returns the sequence that moves the cursor up by `lines`.
    pub(crate) fn cursor_up(lines: usize) -> Self {
        match lines {
            0 => Self::default(),
            lines => Self(format!("\x1b[{lines}A")),
        }
    }

    /// Returns the sequence that enters the alternate screen and hides the cursor.
    pub(crate) fn enter_screen() -> Self {
        Self("\x1b[?1049h\x1b[?25l".to_owned())
    }

    /// Returns the sequence that shows the cursor and leaves the alternate screen.
    pub(crate) fn leave_screen() -> Self {
        Self("\x1b[?25h\x1b[?1049l".to_owned())
    }

    /// Returns the sequence that moves the cursor to the top left.
    pub(crate) fn first_line() -> Self {
        Self("\x1b[H".to_owned())
    }

    /// Returns the sequence that clears from the cursor to the end of the screen.
    pub(crate) fn clear_below() -> Self {
        Self("\x1b[J".to_owned())
    }

    /// Returns this text followed by `more`.
    pub(crate) fn with(mut self, more: impl Into<StyledText>) -> Self {
        self.push(more);
        self
    }

    pub(crate) fn push(&mut self, more: impl Into<StyledText>) {
        self.0.push_str(&more.into().0);
    }

    /// Truncates the text to `width` columns, not counting colours.
    pub(crate) fn fit(&self, width: usize) -> Self {
        let mut out = String::new();
        let mut used = 0;
        let (mut escape, mut styled) = (false, false);
        for c in self.0.chars() {
            escape |= c == '\x1b';
            styled |= escape;
            if !escape {
                used += c.width().unwrap_or(0);
                if used >= width {
                    out.push_str(if styled { "…\x1b[0m" } else { "…" });
                    return Self(out);
                }
            }
            out.push(c);
            escape &= c != 'm';
        }
        Self(out)
    }

    /// Folds lines longer than `width` between words.
    pub(crate) fn fold(&self, width: Option<usize>) -> Self {
        Self(fold(&self.0, width))
    }

    /// Removes trailing white space.
    pub(crate) fn trim_end(&self) -> Self {
        Self(self.0.trim_end().to_owned())
    }

    pub(crate) fn as_str(&self) -> &str {
        &self.0
    }
}

impl From<&str> for StyledText {
    fn from(text: &str) -> Self {
        Self(visible(text))
    }
}

impl From<String> for StyledText {
    fn from(text: String) -> Self {
        Self(visible(&text))
    }
}

impl From<&String> for StyledText {
    fn from(text: &String) -> Self {
        Self(visible(text))
    }
}

impl From<&StyledText> for StyledText {
    fn from(text: &StyledText) -> Self {
        text.clone()
    }
}

/// Returns the length in bytes of the SGR sequence that `text` begins with, or 0 without one.
fn sgr_length(text: &str) -> usize {
    let Some(rest) = text.strip_prefix("\x1b[") else {
        return 0;
    };
    let codes = rest
        .bytes()
        .take_while(|byte| byte.is_ascii_digit() || *byte == b';');
    let length = codes.count();
    if rest.as_bytes().get(length) == Some(&b'm') {
        2 + length + 1
    } else {
        0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_known_escape_sequences_are_used() {
        let hostile = "\x1b[2Jx\u{9b}8m\u{202e}";
        let shown = "\\x1b[2Jx\\x9b8m\\u{202e}";
        assert_eq!(StyledText::from(hostile).as_str(), shown);
        let painted = StyledText::paint("31", hostile, true);
        assert_eq!(painted.as_str(), format!("\x1b[31m{shown}\x1b[0m"));
        assert_eq!(StyledText::paint("31", hostile, false).as_str(), shown);
        let both = StyledText::from("\x1b").with(&painted).with("\x07");
        assert_eq!(both.as_str(), format!("\\x1b\x1b[31m{shown}\x1b[0m\\x07"));
    }

    #[test]
    fn a_renderer_may_only_use_colours() {
        for (given, shown) in [
            ("\x1b[1;31mred\x1b[0m\n", "\x1b[1;31mred\x1b[0m\n"),
            ("\x1b[2Jgone", "\\x1b[2Jgone"),
            ("\x1b]0;title\x07", "\\x1b]0;title\\x07"),
            ("end\x1b", "end\\x1b"),
            ("\x1b\x1b[0m", "\\x1b\x1b[0m"),
            ("\x1b[é", "\\x1b[é"),
        ] {
            assert_eq!(StyledText::from_renderer(given).as_str(), shown);
        }
    }

    #[test]
    fn styles_have_no_width() {
        let text = StyledText::paint("31", "abcdef", true);
        assert_eq!(text.fit(10), text);
        assert_eq!(text.fit(4).as_str(), "\x1b[31mabc…\x1b[0m");
    }
}
