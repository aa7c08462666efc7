//! Tables for people, designed for 80 columns.
//!
//! Key columns are never truncated. On a narrow terminal ids are shortened to prefixes, texts wrap between
//! words, and columns without room move to a second line below the row. With `--wide` and in pipes each row
//! is one line. Not here: the colours of outcomes ([`Tone`] names them), and the selection of rows.

mod layout;
mod wrap;

use deft_wire::model::{Outcome, visible};

use crate::terminal::StyledText;

pub(crate) use wrap::{columns_of, wrap, wrap_at_most};

/// How a column adapts if there is not enough room.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fit {
    /// Never truncated: half a name or half an instant is useless.
    Keep,
    /// Shortened to a prefix that still distinguishes the ids: commands accept prefixes too.
    Id,
    /// Moves below the row.
    Extra,
    /// Wraps between words, or moves below the row.
    Text,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Column {
    head: &'static str,
    fit: Fit,
}

impl Column {
    /// Creates a column for names, outcomes or instants.
    pub(crate) const fn keep(head: &'static str) -> Self {
        let fit = Fit::Keep;
        Self { head, fit }
    }

    /// Creates a column for ids that commands accept.
    pub(crate) const fn id(head: &'static str) -> Self {
        let fit = Fit::Id;
        Self { head, fit }
    }

    /// Creates a column for optional facts.
    pub(crate) const fn extra(head: &'static str) -> Self {
        let fit = Fit::Extra;
        Self { head, fit }
    }

    /// Creates a column for sentences.
    pub(crate) const fn text(head: &'static str) -> Self {
        let fit = Fit::Text;
        Self { head, fit }
    }
}

/// The meaning of a cell, shown as a colour. The text expresses it too: colour is never the only sign.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Tone {
    #[default]
    Plain,
    Good,
    Warning,
    Bad,
    /// Less important than the rest.
    Dim,
}

impl Tone {
    /// Returns the SGR code.
    fn code(self) -> Option<&'static str> {
        match self {
            Self::Plain => None,
            Self::Good => Some("32"),
            Self::Warning => Some("33"),
            Self::Bad => Some("31"),
            Self::Dim => Some("2"),
        }
    }
}

impl From<Option<Outcome>> for Tone {
    fn from(outcome: Option<Outcome>) -> Self {
        match outcome {
            Some(Outcome::Success) => Self::Good,
            Some(Outcome::Error | Outcome::Interrupted) => Self::Bad,
            Some(Outcome::Blocked | Outcome::Missed | Outcome::Cancelled) => Self::Warning,
            Some(Outcome::Skipped) => Self::Dim,
            None => Self::Plain,
        }
    }
}

#[derive(Clone, Debug)]
pub(crate) struct Cell {
    text: String,
    tone: Tone,
}

impl Cell {
    pub(crate) fn with_tone(text: impl Into<String>, tone: Tone) -> Self {
        let text = one_line(&text.into());
        Self { text, tone }
    }
}

impl<T: Into<String>> From<T> for Cell {
    fn from(text: T) -> Self {
        Self::with_tone(text, Tone::Plain)
    }
}

/// Escapes control characters and replaces line breaks, which would look like further rows.
fn one_line(cell: &str) -> String {
    visible(cell).replace(['\n', '\t'], " ")
}

/// The maximum number of lines of a sentence below a row, such as the reason of a failure.
const BELOW_LINES: usize = 6;

#[derive(Clone, Debug)]
pub(crate) struct Row {
    cells: Vec<Cell>,
    /// Sentences about the whole row, each on its own lines.
    below: Vec<BelowText>,
}

/// A text below a row.
#[derive(Clone, Debug)]
struct BelowText {
    cell: Cell,
    /// The maximum number of lines.
    most: usize,
}

impl Row {
    pub(crate) fn new(cells: impl IntoIterator<Item = Cell>) -> Self {
        let cells = cells.into_iter().collect();
        let below = Vec::new();
        Self { cells, below }
    }

    pub(crate) fn with_below(self, below: Option<impl Into<Cell>>) -> Self {
        self.below_at_most(below, BELOW_LINES)
    }

    /// Adds a text below the row, truncated to one line.
    pub(crate) fn line_below(self, below: Option<impl Into<Cell>>) -> Self {
        self.below_at_most(below, 1)
    }

    fn below_at_most(mut self, below: Option<impl Into<Cell>>, most: usize) -> Self {
        let below = below.map(Into::into);
        self.below
            .extend(below.map(|cell| BelowText { cell, most }));
        self
    }
}

/// The width and the colours of the output.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TableStyle {
    /// The width of a line, or `None` for no limit: in a pipe, or with `--wide`.
    pub(crate) width: Option<usize>,
    pub(crate) color: bool,
}

/// Rows below a header.
#[derive(Clone, Debug)]
pub(crate) struct Table {
    columns: Vec<Column>,
    head: bool,
    rows: Vec<Row>,
}

impl Table {
    pub(crate) fn new(
        columns: impl IntoIterator<Item = Column>,
        rows: impl IntoIterator<Item = Row>,
    ) -> Self {
        Self {
            columns: columns.into_iter().collect(),
            head: true,
            rows: rows.into_iter().collect(),
        }
    }

    /// Removes the header, for a second page or a list that needs none.
    pub(crate) fn headless(mut self) -> Self {
        self.head = false;
        self
    }

    pub(crate) fn print(&self, paper: TableStyle) -> StyledText {
        layout::print(self, paper)
    }
}

#[cfg(test)]
mod tests;
