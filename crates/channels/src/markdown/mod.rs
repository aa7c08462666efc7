//! A streaming markdown renderer for terminals.
//!
//! Output is never redrawn, so it does not flicker. A word is written when it is complete, and a mark such as
//! `**` when its closing half has arrived, so the result does not depend on the pieces in which the text
//! arrives. Line breaks are kept, and code is left unchanged. A table is held back until it is complete,
//! because its column widths are known only then.
//!
//! Not here: where the output goes. Control characters in the text are escaped, so the text cannot control
//! the terminal.

mod block;
mod inline;
mod style;
mod table;
#[cfg(test)]
mod tests;
mod wrap;

use block::{Fence, LineStart};
use style::Style;
use wrap::Wrap;

use deft_model::visible_after;

/// A renderer of one text, which may arrive in pieces.
pub struct Renderer {
    /// Whether marks become styles. If false, they are printed as written.
    styled: bool,
    /// Width of the terminal in columns; `None` disables wrapping.
    width: Option<usize>,
    out: Wrap,
    /// The part of the current line that has not been written yet.
    line: String,
    /// The last character before `line`.
    before: Option<char>,
    /// The last character of the input so far.
    last: Option<char>,
    state: State,
    /// Whether a blank line must precede the next line.
    blank: bool,
    /// Whether anything has been written.
    begun: bool,
    /// Lines of an incomplete table. If `None`, tables are printed unchanged: without styles, or where
    /// characters have no fixed width.
    table: Option<Vec<String>>,
}

enum State {
    /// At the beginning of a line.
    Start,
    /// In a line of words; all of them have this style.
    Words(Style),
    /// In a line that is printed unchanged.
    Raw,
    /// In a line of a table.
    TableLine,
    /// At the beginning of a line of code.
    Code(Fence),
    /// Within a line of code.
    CodeLine(Fence),
}

impl Renderer {
    /// Creates a renderer. `styled` turns marks into terminal styles; `width` is the width of the terminal in
    /// columns, or `None` for no wrapping.
    pub fn new(styled: bool, width: Option<usize>) -> Self {
        Self {
            styled,
            width,
            out: Wrap::new(width),
            line: String::new(),
            before: None,
            last: None,
            state: State::Start,
            blank: false,
            begun: false,
            table: styled.then(Vec::new),
        }
    }

    /// Adds `text` and returns the output that is complete so far.
    pub fn push(&mut self, text: &str) -> String {
        let text = text.replace('\r', "");
        let shown = visible_after(self.last, &text);
        self.last = text.chars().next_back().or(self.last);
        for part in shown.split_inclusive('\n') {
            self.line
                .push_str(&part.trim_end_matches('\n').replace('\t', "    "));
            self.advance(part.ends_with('\n'));
        }
        self.out.take()
    }

    /// Ends the current line and returns the remaining output.
    pub fn finish(&mut self) -> String {
        let open = match &self.state {
            State::Start | State::Code(_) => !self.line.is_empty(),
            State::Words(_) | State::Raw | State::TableLine | State::CodeLine(_) => true,
        };
        if open {
            self.advance(true);
        }
        self.end_table();
        self.state = State::Start;
        (self.blank, self.begun) = (false, false);
        self.out.take()
    }

    /// Renders a whole text without marks and styles, for channels that support neither. Escape sequences in
    /// the input are made visible, so all sequences in the output are deft's own and can be removed.
    pub fn plain(text: &str) -> String {
        let mut renderer = Self::new(true, None);
        renderer.table = None;
        let mut styled = renderer.push(text);
        styled.push_str(&renderer.finish());
        let mut pieces = styled.split('\x1b');
        let mut out = pieces.next().unwrap_or_default().to_owned();
        for piece in pieces {
            out.push_str(piece.split_once('m').map_or("", |(_, rest)| rest));
        }
        out
    }

    /// Renders a whole text at once.
    pub fn whole(text: &str, styled: bool, width: Option<usize>) -> String {
        let mut renderer = Self::new(styled, width);
        let mut out = renderer.push(text);
        out.push_str(&renderer.finish());
        out
    }

    /// Whether the output ends in the middle of a line.
    pub fn is_midline(&self) -> bool {
        self.out.is_midline()
    }

    /// Whether lines are held back until a table is complete.
    pub fn is_holding(&self) -> bool {
        let lines = self.table.as_ref().map_or(0, Vec::len);
        lines > 0 || matches!(self.state, State::TableLine)
    }

    /// Writes as much of the line as can be decided, or all of it if it is `complete`.
    fn advance(&mut self, complete: bool) {
        if matches!(self.state, State::Start | State::Code(_)) {
            self.open(complete);
        }
        match &self.state {
            State::Start | State::Code(_) => return,
            State::Words(style) => {
                let style = *style;
                self.words(style, complete);
            }
            State::Raw => {
                let line = std::mem::take(&mut self.line);
                self.out.raw(&line, Style::PLAIN);
            }
            State::TableLine => {
                if complete {
                    let line = std::mem::take(&mut self.line);
                    self.table.get_or_insert_default().push(line);
                    self.state = State::Start;
                }
                return;
            }
            State::CodeLine(_) => {
                let line = std::mem::take(&mut self.line);
                let style = if self.styled {
                    Style::CODE
                } else {
                    Style::PLAIN
                };
                self.out.raw(&line, style);
            }
        }
        if complete {
            self.out.end_line();
            self.before = None;
            self.state = match std::mem::replace(&mut self.state, State::Start) {
                State::CodeLine(fence) => State::Code(fence),
                State::Start | State::Words(_) | State::Raw | State::TableLine | State::Code(_) => {
                    State::Start
                }
            };
        }
    }

    /// Decides what kind of line this is, as soon as that can be known.
    fn open(&mut self, complete: bool) {
        if let State::Code(fence) = &self.state {
            match fence.line(&self.line, complete) {
                None => {}
                Some(true) => self.close_fence(),
                Some(false) => {
                    let (fence, cut) = (*fence, fence.cut(&self.line));
                    self.line.drain(..cut);
                    self.write_pending_blank();
                    self.out.indent(if self.styled {
                        fence.indent + 2
                    } else {
                        fence.indent
                    });
                    self.state = State::CodeLine(fence);
                }
            }
            return;
        }
        let Some(opening) = LineStart::parse(&self.line, complete, self.styled) else {
            return;
        };
        if opening != LineStart::Table {
            self.end_table();
        }
        match opening {
            LineStart::Blank => {
                self.line.clear();
                self.blank = self.begun;
            }
            LineStart::Fence(fence) => {
                let line = std::mem::take(&mut self.line);
                if !self.styled {
                    self.write_pending_blank();
                    self.out.raw(&line, Style::PLAIN);
                    self.out.end_line();
                }
                self.state = State::Code(fence);
            }
            LineStart::Rule => {
                self.line.clear();
                self.write_pending_blank();
                self.out.raw("────────", Style::DIM);
                self.out.end_line();
            }
            LineStart::Table => {
                self.write_pending_blank();
                self.state = if self.table.is_some() {
                    State::TableLine
                } else {
                    State::Raw
                };
            }
            LineStart::Words {
                cut,
                indent,
                mark,
                style,
            } => {
                self.write_pending_blank();
                self.line.drain(..cut);
                self.out.begin(indent, &mark);
                self.state = State::Words(style);
            }
        }
    }

    /// Writes a complete table. Lines that form no table are printed unchanged.
    fn end_table(&mut self) {
        let lines = self.table.as_mut().map(std::mem::take);
        let Some(lines) = lines.filter(|lines| !lines.is_empty()) else {
            return;
        };
        let text = table::render(&lines, self.width);
        self.out
            .lines(&text.unwrap_or_else(|| lines.join("\n") + "\n"));
    }

    fn close_fence(&mut self) {
        let line = std::mem::take(&mut self.line);
        if !self.styled {
            self.out.raw(&line, Style::PLAIN);
            self.out.end_line();
        }
        self.state = State::Start;
    }

    /// Writes the pending blank line, if any.
    fn write_pending_blank(&mut self) {
        if std::mem::take(&mut self.blank) {
            self.out.end_line();
        }
        self.begun = true;
    }

    fn words(&mut self, style: Style, complete: bool) {
        let used = if self.styled {
            inline::write(&self.line, self.before, style, complete, &mut self.out)
        } else {
            self.out.words(&self.line, Style::PLAIN);
            self.line.len()
        };
        self.before = self.line[..used].chars().next_back().or(self.before);
        self.line.drain(..used);
    }
}
