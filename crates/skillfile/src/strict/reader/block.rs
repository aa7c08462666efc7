//! Block scalars, introduced by `|` and `>`.

use super::cursor::{END, is_break, is_line_end, is_space};
use super::scan::Scanner;
use super::{ReadResult, syntax};
use crate::diagnostic::Diagnostic;
use crate::span::Span;
use crate::yaml::{Scalar, Style};

/// The header of a block scalar: the rest of the line with the `|`.
struct Header {
    /// `+` keeps the trailing line breaks, `-` removes them.
    keep: Option<bool>,
    /// The indentation relative to the key.
    deeper: Option<usize>,
}

/// A block scalar that is being scanned.
struct Block {
    text: String,
    /// The line break of the last line, which is only used if another line follows.
    last: Option<char>,
    /// The empty lines after it.
    breaks: String,
    /// Whether the last line started with a word and can therefore be folded.
    flush: bool,
    end: usize,
}

impl Scanner {
    /// Scans a block scalar.
    pub(super) fn block_scalar(&mut self) -> ReadResult<()> {
        let start = self.cursor.place();
        let folded = self.cursor.peek() == '>';
        self.cursor.forward(1);
        let header = self.block_header()?;
        self.block_header_end()?;
        let (indent, breaks) = self.block_indent(&header);
        let mut block = self.block_lines(indent, folded, breaks);
        if header.keep != Some(false) {
            block.text.extend(block.last);
        }
        if header.keep == Some(true) {
            block.text.push_str(&block.breaks);
        }
        let scalar = Scalar {
            text: block.text,
            style: if folded {
                Style::Folded
            } else {
                Style::Literal
            },
        };
        self.push_scalar(scalar, Span::new(start, block.end));
        Ok(())
    }

    /// Scans the lines of the text; `breaks` are the empty lines before the first.
    fn block_lines(&mut self, indent: usize, folded: bool, breaks: String) -> Block {
        let mut block = Block {
            text: String::new(),
            last: None,
            breaks,
            flush: false,
            end: self.cursor.place(),
        };
        while self.cursor.column == indent && self.cursor.peek() != END {
            let flush = !is_space(self.cursor.peek());
            let folds = folded && flush && block.flush && block.last == Some('\n');
            if !folds {
                block.text.extend(block.last);
            } else if block.breaks.is_empty() {
                block.text.push(' ');
            }
            block.text.push_str(&block.breaks);
            while !is_line_end(self.cursor.peek()) {
                self.cursor.take(1, &mut block.text);
            }
            block.flush = flush;
            block.end = self.cursor.place();
            block.last = self.cursor.line_break();
            block.breaks = self.block_breaks(indent);
        }
        block
    }

    /// Scans the indicators after `|`, in either order.
    fn block_header(&mut self) -> ReadResult<Header> {
        let mut header = Header {
            keep: self.block_keep(),
            deeper: None,
        };
        header.deeper = match self.cursor.peek() {
            '0' => None,
            digit => digit.to_digit(10).map(|digit| digit as usize),
        };
        if header.deeper.is_some() {
            self.cursor.forward(1);
            header.keep = header.keep.or_else(|| self.block_keep());
        }
        match self.cursor.peek() {
            ' ' => Ok(header),
            c if is_line_end(c) => Ok(header),
            _ => Err(self.bad_header()),
        }
    }

    fn block_keep(&mut self) -> Option<bool> {
        let keep = match self.cursor.peek() {
            '+' => true,
            '-' => false,
            _ => return None,
        };
        self.cursor.forward(1);
        Some(keep)
    }

    /// Checks that only a comment follows the header.
    fn block_header_end(&mut self) -> ReadResult<()> {
        self.cursor.pass(|c| c == ' ');
        if self.cursor.peek() == '#' {
            self.cursor.pass(|c| !is_line_end(c));
        }
        if !is_line_end(self.cursor.peek()) {
            return Err(self.bad_header());
        }
        self.cursor.line_break();
        Ok(())
    }

    fn bad_header(&self) -> Diagnostic {
        syntax(
            self.cursor.here(),
            "only `+`, `-`, a digit from 1 to 9 and a comment may follow `|` or `>`",
            "start the text on the next line, or put it in quotes",
        )
    }

    /// Returns the indentation of the text, and the empty lines before it.
    fn block_indent(&mut self, header: &Header) -> (usize, String) {
        if let Some(deeper) = header.deeper {
            let indent = self.indent.max(1) + deeper - 1;
            return (indent, self.block_breaks(indent));
        }
        let mut breaks = String::new();
        let mut widest = 0;
        loop {
            if let Some(one) = self.cursor.line_break() {
                breaks.push(one);
            } else if self.cursor.peek() == ' ' {
                self.cursor.forward(1);
                widest = widest.max(self.cursor.column);
            } else {
                return (self.indent.max(widest), breaks);
            }
        }
    }

    /// Scans empty lines, and the indentation of the next line.
    fn block_breaks(&mut self, indent: usize) -> String {
        let mut breaks = String::new();
        loop {
            while self.cursor.column < indent && self.cursor.peek() == ' ' {
                self.cursor.forward(1);
            }
            if !is_break(self.cursor.peek()) {
                return breaks;
            }
            breaks.extend(self.cursor.line_break());
        }
    }
}
