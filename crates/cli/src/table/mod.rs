//! Tables for people, made for 80 columns.
//!
//! A column that decides is never cut. On a narrow terminal ids lose their ends, texts wrap on words, and
//! what has no room moves to a second line below the row. `--wide` and pipes get one line for each row.
//! Not here: colours of outcomes ([`Tone`] names them), which rows there are.

mod layout;
mod wrap;

use deft_wire::model::{Outcome, visible};

use crate::terminal::StyledText;

pub(crate) use wrap::{columns_of, wrap, wrap_at_most};

/// How a column fits where there is no room for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fit {
    /// It stays whole: half a name or half an instant says nothing.
    Keep,
    /// It loses its end, as long as the ids differ in what is left: commands take prefixes too.
    Id,
    /// It moves below the row.
    Extra,
    /// It wraps on words, or moves below the row.
    Text,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Column {
    head: &'static str,
    fit: Fit,
}

impl Column {
    /// A name, an outcome, an instant.
    pub(crate) const fn keep(head: &'static str) -> Self {
        let fit = Fit::Keep;
        Self { head, fit }
    }

    /// An id that commands take.
    pub(crate) const fn id(head: &'static str) -> Self {
        let fit = Fit::Id;
        Self { head, fit }
    }

    /// A fact that a row can do without.
    pub(crate) const fn extra(head: &'static str) -> Self {
        let fit = Fit::Extra;
        Self { head, fit }
    }

    /// A sentence.
    pub(crate) const fn text(head: &'static str) -> Self {
        let fit = Fit::Text;
        Self { head, fit }
    }
}

/// The meaning of a cell for its row. The words say it too: colour is never alone.
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
    /// The SGR code.
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
    pub(crate) fn toned(text: impl Into<String>, tone: Tone) -> Self {
        let text = one_line(&text.into());
        Self { text, tone }
    }
}

impl<T: Into<String>> From<T> for Cell {
    fn from(text: T) -> Self {
        Self::toned(text, Tone::Plain)
    }
}

/// A cell as it is shown: a line break in it would look like another row.
fn one_line(cell: &str) -> String {
    visible(cell).replace(['\n', '\t'], " ")
}

/// How many lines a sentence about a row may take, such as the reason of a failure.
const BELOW_LINES: usize = 6;

#[derive(Clone, Debug)]
pub(crate) struct Row {
    cells: Vec<Cell>,
    /// Sentences about the whole row, each on lines of its own.
    below: Vec<BelowText>,
}

/// A text below a row.
#[derive(Clone, Debug)]
struct BelowText {
    cell: Cell,
    /// The most lines that it takes.
    most: usize,
}

impl Row {
    pub(crate) fn new(cells: impl IntoIterator<Item = Cell>) -> Self {
        let cells = cells.into_iter().collect();
        let below = Vec::new();
        Self { cells, below }
    }

    pub(crate) fn below(self, below: Option<impl Into<Cell>>) -> Self {
        self.below_at_most(below, BELOW_LINES)
    }

    /// A text of which one line says enough.
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

/// How much room there is, and whether colours are wanted.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Paper {
    /// None for a reader without lines of a certain width: a program, or `--wide`.
    pub(crate) width: Option<usize>,
    pub(crate) color: bool,
}

/// Rows below one header.
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

    /// Without its header: a further page, or a list that explains itself.
    pub(crate) fn headless(mut self) -> Self {
        self.head = false;
        self
    }

    pub(crate) fn print(&self, paper: Paper) -> StyledText {
        layout::print(self, paper)
    }
}

#[cfg(test)]
mod tests;
