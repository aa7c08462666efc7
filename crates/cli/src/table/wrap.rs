//! Wrapping of text to a width.

use unicode_width::UnicodeWidthChar;

/// Returns the width of `text` in terminal columns; wide characters take two.
pub(crate) fn columns_of(text: &str) -> usize {
    text.chars().map(|c| c.width().unwrap_or_default()).sum()
}

/// Wraps `text` between words. A word longer than a line is broken at the end of the line.
pub(crate) fn wrap(text: &str, width: usize) -> Vec<String> {
    let width = width.max(1);
    let mut lines = vec![String::new()];
    let mut used = 0;
    for word in text.split_whitespace() {
        let length = columns_of(word);
        if used > 0 && used + 1 + length > width {
            lines.push(String::new());
            used = 0;
        }
        let line = lines.len() - 1;
        if used > 0 {
            lines[line].push(' ');
            used += 1;
        }
        for c in word.chars() {
            let wide = c.width().unwrap_or_default();
            if used + wide > width && used > 0 {
                lines.push(String::new());
                used = 0;
            }
            if let Some(line) = lines.last_mut() {
                line.push(c);
            }
            used += wide;
        }
    }
    lines
}

/// Like [`wrap`], but returns at most `most` lines, the last with an ellipsis if lines were dropped.
pub(crate) fn wrap_at_most(text: &str, width: usize, most: usize) -> Vec<String> {
    let mut lines = wrap(text, width);
    if lines.len() > most {
        lines.truncate(most);
        if let Some(last) = lines.last_mut() {
            while columns_of(last) + 2 > width {
                // Remove whole words, unless only one is left.
                let end = last.rfind(' ').unwrap_or(last.len().saturating_sub(1));
                last.truncate(last.floor_char_boundary(end));
            }
            last.push_str(" …");
        }
    }
    lines
}
