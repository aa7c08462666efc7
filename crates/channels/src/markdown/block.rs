//! Kinds of lines, recognised by their first characters.

use super::style::Style;

/// The kind of a line.
#[derive(Debug, PartialEq)]
pub(super) enum LineStart {
    Blank,
    Fence(Fence),
    /// A horizontal rule.
    Rule,
    /// A line of a table.
    Table,
    /// Words. The first `cut` bytes of the line are replaced by `indent` blanks and `mark`.
    Words {
        cut: usize,
        indent: usize,
        mark: String,
        style: Style,
    },
}

/// The opening fence of a code block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Fence {
    mark: char,
    length: usize,
    pub(super) indent: usize,
}

impl Fence {
    fn parse(rest: &str, indent: usize) -> Option<Self> {
        let mark = rest.chars().next().filter(|c| matches!(c, '`' | '~'))?;
        let length = run(rest, mark);
        // A line such as ```` ```x``` ```` is inline code.
        let inline = mark == '`' && rest[length..].contains('`');
        (length >= 3 && !inline).then_some(Self {
            mark,
            length,
            indent,
        })
    }

    /// Whether `line` closes the block; `None` if that cannot be known yet.
    pub(super) fn line(self, line: &str, complete: bool) -> Option<bool> {
        let rest = line.trim();
        let marks = run(rest, self.mark);
        let only = marks == rest.len();
        if complete {
            return Some(only && marks >= self.length);
        }
        (!only).then_some(false)
    }

    /// Returns how many leading blanks of a code line belong to the indentation of the block.
    pub(super) fn cut(self, line: &str) -> usize {
        run(line, ' ').min(self.indent)
    }
}

impl LineStart {
    /// Returns the kind of a line, or `None` if that cannot be known yet.
    pub(super) fn parse(line: &str, complete: bool, styled: bool) -> Option<Self> {
        let indent = run(line, ' ');
        let rest = &line[indent..];
        let Some(first) = rest.chars().next() else {
            return complete.then_some(Self::Blank);
        };
        match first {
            '`' | '~' => {
                let length = run(rest, first);
                let open = length == rest.len() || length >= 3;
                if open && !complete {
                    return None;
                }
                match Fence::parse(rest, indent) {
                    Some(fence) => return Some(Self::Fence(fence)),
                    None => return Some(words(indent, indent, "", Style::PLAIN)),
                }
            }
            '|' => return Some(Self::Table),
            _ if !styled => return Some(words(indent, indent, "", Style::PLAIN)),
            _ => {}
        }
        match first {
            '#' => heading(rest, indent, complete),
            '-' | '*' | '+' | '_' => bullet(rest, first, indent, complete),
            '>' => match rest.as_bytes().get(1) {
                None if !complete => None,
                Some(b' ') => Some(words(indent + 2, indent, "│ ", Style::DIM)),
                _ => Some(words(indent + 1, indent, "│ ", Style::DIM)),
            },
            '0'..='9' => number(rest, indent, complete),
            _ => Some(words(indent, indent, "", Style::PLAIN)),
        }
    }
}

fn words(cut: usize, indent: usize, mark: &str, style: Style) -> LineStart {
    LineStart::Words {
        cut,
        indent,
        mark: mark.to_owned(),
        style,
    }
}

fn heading(rest: &str, indent: usize, complete: bool) -> Option<LineStart> {
    let level = run(rest, '#');
    match rest.as_bytes().get(level) {
        None if !complete => None,
        Some(b' ') if level <= 6 => Some(words(indent + level + 1, 0, "", Style::BOLD)),
        _ => Some(words(indent, indent, "", Style::PLAIN)),
    }
}

fn bullet(rest: &str, first: char, indent: usize, complete: bool) -> Option<LineStart> {
    let length = run(rest, first);
    if length == rest.trim_end().len() && first != '+' {
        // A horizontal rule, or an incomplete line.
        return match complete {
            true if length >= 3 => Some(LineStart::Rule),
            true => Some(words(indent, indent, "", Style::PLAIN)),
            false => None,
        };
    }
    if length == rest.len() && !complete {
        return None;
    }
    if length == 1 && first != '_' && rest.as_bytes().get(1) == Some(&b' ') {
        return Some(words(indent + 2, indent, "• ", Style::PLAIN));
    }
    Some(words(indent, indent, "", Style::PLAIN))
}

fn number(rest: &str, indent: usize, complete: bool) -> Option<LineStart> {
    let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
    let bytes = rest.as_bytes();
    match (bytes.get(digits), bytes.get(digits + 1)) {
        (None, _) | (Some(b'.' | b')'), None) if !complete => None,
        (Some(b'.' | b')'), Some(b' ')) if digits <= 9 => {
            let cut = digits + 2;
            Some(words(indent + cut, indent, &rest[..cut], Style::PLAIN))
        }
        _ => Some(words(indent, indent, "", Style::PLAIN)),
    }
}

/// Counts how often the ASCII character `mark` repeats at the start of `text`.
pub(super) fn run(text: &str, mark: char) -> usize {
    text.chars().take_while(|c| *c == mark).count()
}
