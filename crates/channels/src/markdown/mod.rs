//! Markdown on a terminal, written while it arrives.
//!
//! What was written stays: nothing is drawn twice, so nothing flickers. A word is written when it is
//! over, a mark such as `**` when its other half is there, so the result does not depend on the
//! pieces in which a text arrives. Lines of a text stay lines; code is left as it is. A table waits until
//! it is over, because the width of its columns is known only then.
//!
//! Not here: where the text goes. Nothing of it can command a terminal.

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

/// A text on its way to a terminal.
pub struct Renderer {
    /// False for plain text: marks are shown as they were written.
    styled: bool,
    /// The width of the terminal.
    width: Option<usize>,
    out: Wrap,
    /// What of the current line is not written yet.
    line: String,
    /// The character before that.
    before: Option<char>,
    /// The last character that was pushed.
    last: Option<char>,
    state: State,
    /// A blank line is owed before the next one.
    blank: bool,
    /// Something was written.
    begun: bool,
    /// Lines of a table that is not over; none where tables stay as they are, because characters have no
    /// fixed width.
    table: Option<Vec<String>>,
}

enum State {
    /// A line begins.
    Start,
    /// In a line with words, all of them in a style.
    Words(Style),
    /// In a line that is left as it is.
    Raw,
    /// In a line of a table.
    TableLine,
    /// At the beginning of a line of code.
    Code(Fence),
    /// Within a line of code.
    CodeLine(Fence),
}

impl Renderer {
    /// A text in styles, or as it is; as wide as the terminal, if there is one.
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

    /// Takes more of the text, and gives what can be written of it.
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

    /// Gives what is left, and ends the line.
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

    /// A whole text without marks and without styles, for channels that show neither. Everything else is as
    /// on a terminal: a text cannot begin an escape sequence, so all of them are deft's.
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

    /// The whole of a text at once.
    pub fn whole(text: &str, styled: bool, width: Option<usize>) -> String {
        let mut renderer = Self::new(styled, width);
        let mut out = renderer.push(text);
        out.push_str(&renderer.finish());
        out
    }

    /// Whether a line is begun and not ended.
    pub fn is_midline(&self) -> bool {
        self.out.is_midline()
    }

    /// Whether lines are held back until a table is over.
    pub fn is_holding(&self) -> bool {
        let lines = self.table.as_ref().map_or(0, Vec::len);
        lines > 0 || matches!(self.state, State::TableLine)
    }

    /// Writes what can be written of the line; all of it if it is complete.
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

    /// Decides what a line is, as soon as that can be known.
    fn open(&mut self, complete: bool) {
        if let State::Code(fence) = &self.state {
            match fence.line(&self.line, complete) {
                None => {}
                Some(true) => self.close_fence(),
                Some(false) => {
                    let (fence, cut) = (*fence, fence.cut(&self.line));
                    self.line.drain(..cut);
                    self.owe();
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
                    self.owe();
                    self.out.raw(&line, Style::PLAIN);
                    self.out.end_line();
                }
                self.state = State::Code(fence);
            }
            LineStart::Rule => {
                self.line.clear();
                self.owe();
                self.out.raw("────────", Style::DIM);
                self.out.end_line();
            }
            LineStart::Table => {
                self.owe();
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
                self.owe();
                self.line.drain(..cut);
                self.out.begin(indent, &mark);
                self.state = State::Words(style);
            }
        }
    }

    /// Writes a table that is over; lines that are none as they are.
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

    /// Writes the blank line that is owed.
    fn owe(&mut self) {
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
