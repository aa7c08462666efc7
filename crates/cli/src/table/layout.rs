//! The layout of a table: the widths of its columns, and its lines.

use super::wrap::{columns_of, wrap_at_most};
use super::{Cell, Fit, Row, Table, TableStyle, Tone};
use crate::terminal::StyledText;

/// The number of spaces between two cells.
const GAP: usize = 2;

/// The minimum width of an id.
const SHORTEST_ID: usize = 16;

/// The minimum width of a text column. A narrower one moves below its row.
const NARROWEST_TEXT: usize = 24;

/// The maximum number of lines of a text in a row. `show` and `--wide` print the full text.
const MAX_LINES: usize = 2;

/// The maximum number of lines for columns moved below their row.
const MOVED_LINES: usize = 1;

/// The indentation of lines below a row.
const INDENT: usize = 4;

/// The widths of the columns.
struct Layout {
    /// The width of each column in the row, or `None` for a column that moves below it.
    widths: Vec<Option<usize>>,
    room: usize,
}

pub(super) fn print(table: &Table, paper: TableStyle) -> StyledText {
    let layout = Layout::new(table, paper.width);
    let mut out = StyledText::default();
    if table.head {
        out.push(layout.head(table, paper.color));
    }
    for row in &table.rows {
        out.push(layout.row(table, row, paper));
    }
    out
}

impl Layout {
    fn new(table: &Table, width: Option<usize>) -> Self {
        // A person does not need empty columns; a program relies on the number of columns.
        let is_shown = |column: &usize| width.is_none() || !is_empty(table, *column);
        let natural = (0..table.columns.len())
            .map(|column| is_shown(&column).then(|| widest(table, column, width)));
        let mut layout = Self {
            widths: natural.collect(),
            room: width.unwrap_or(usize::MAX),
        };
        layout.shorten_ids(table);
        layout.shrink_texts(table);
        while layout.excess() > 0 && layout.move_below(table) {
            layout.widen_texts(table, width);
        }
        layout
    }

    /// Returns by how many columns the row exceeds the room.
    fn excess(&self) -> usize {
        let widths = self.widths.iter().flatten();
        let (count, sum) = widths.fold((0, 0), |(count, sum), width| (count + 1, sum + width));
        (sum + GAP * count.max(1) - GAP).saturating_sub(self.room)
    }

    fn shorten_ids(&mut self, table: &Table) {
        for (at, column) in table.columns.iter().enumerate() {
            if column.fit == Fit::Id && self.excess() > 0 {
                let needed = distinct(table, at).max(columns_of(column.head));
                self.widths[at] = self.widths[at].map(|width| width.min(needed));
            }
        }
    }

    /// Shrinks the widest text columns until the row fits or all of them have their minimum width.
    fn shrink_texts(&mut self, table: &Table) {
        let excess = self.excess();
        for _ in 0..excess {
            let texts = self.widths.iter_mut().zip(&table.columns);
            let widths = texts
                .filter(|(_, column)| column.fit == Fit::Text)
                .filter_map(|(width, _)| width.as_mut())
                .filter(|width| **width > NARROWEST_TEXT);
            match widths.max() {
                Some(width) => *width -= 1,
                None => break,
            }
        }
    }

    /// Moves the last movable column below the row. Returns false if no column is movable.
    fn move_below(&mut self, table: &Table) -> bool {
        let movable = |(width, column): &(&Option<usize>, &super::Column)| {
            width.is_some() && matches!(column.fit, Fit::Extra | Fit::Text)
        };
        let mut columns = self.widths.iter().zip(&table.columns);
        match columns.rposition(|pair| movable(&pair)) {
            Some(at) => {
                self.widths[at] = None;
                true
            }
            None => false,
        }
    }

    /// Widens text columns into the room of a column that moved below the row.
    fn widen_texts(&mut self, table: &Table, width: Option<usize>) {
        for (at, column) in table.columns.iter().enumerate() {
            if column.fit == Fit::Text && self.widths[at].is_some() {
                self.widths[at] = Some(widest(table, at, width));
            }
        }
        self.shrink_texts(table);
    }

    fn head(&self, table: &Table, color: bool) -> StyledText {
        let mut line = String::new();
        for (column, width) in table.columns.iter().zip(&self.widths) {
            if let Some(width) = width {
                let head = column.head.to_uppercase();
                line.push_str(&format!("{head:<width$}  "));
            }
        }
        StyledText::paint("1", line.trim_end(), color).with("\n")
    }

    fn row(&self, table: &Table, row: &Row, paper: TableStyle) -> StyledText {
        let mut out = self.cells(table, row, paper.color);
        for line in self.lines_below(row, paper) {
            out.push(line);
        }
        out
    }

    /// Renders the cells in the row, with as many lines as the longest text takes.
    fn cells(&self, table: &Table, row: &Row, color: bool) -> StyledText {
        let cells: Vec<(usize, Tone, Vec<String>)> = self
            .widths
            .iter()
            .zip(&table.columns)
            .zip(&row.cells)
            .filter_map(|((width, column), cell)| {
                let width = (*width)?;
                Some((width, cell.tone, self.lines(cell, column.fit, width)))
            })
            .collect();
        let height = cells.iter().map(|(_, _, lines)| lines.len()).max();
        let mut out = StyledText::default();
        for height in 0..height.unwrap_or_default() {
            let lines = cells.iter().map(|(width, tone, lines)| {
                let text = lines.get(height).map_or("", String::as_str);
                (*width, *tone, text)
            });
            out.push(line(lines, color).with("\n"));
        }
        out
    }

    fn lines(&self, cell: &Cell, fit: Fit, width: usize) -> Vec<String> {
        match fit {
            Fit::Id => vec![cell.text.chars().take(width).collect()],
            Fit::Text if self.room < usize::MAX => wrap_at_most(&cell.text, width, MAX_LINES),
            Fit::Text | Fit::Keep | Fit::Extra => vec![cell.text.clone()],
        }
    }

    /// Renders the lines below the row: its moved columns, then its own texts.
    fn lines_below(&self, row: &Row, paper: TableStyle) -> Vec<StyledText> {
        let moved = self.widths.iter().zip(&row.cells);
        let moved: Vec<&str> = moved
            .filter(|(width, cell)| width.is_none() && !cell.text.is_empty())
            .map(|(_, cell)| cell.text.as_str())
            .collect();
        let moved = (!moved.is_empty()).then(|| Cell::with_tone(moved.join(" · "), Tone::Dim));
        let width = paper.width.map_or(usize::MAX, |width| {
            width.saturating_sub(INDENT).max(NARROWEST_TEXT)
        });
        let mut out = Vec::new();
        let moved = moved.iter().map(|cell| (cell, MOVED_LINES));
        let below = row.below.iter().map(|text| (&text.cell, text.most));
        for (cell, most) in moved.chain(below) {
            for line in wrap_at_most(&cell.text, width, most) {
                let line = paint(&line, cell.tone, paper.color);
                out.push(StyledText::from(" ".repeat(INDENT)).with(line).with("\n"));
            }
        }
        out
    }
}

/// Renders one line of cells. Padding is written only before text, so no line ends with spaces. After a cell
/// longer than its column, the line breaks.
fn line<'a>(cells: impl Iterator<Item = (usize, Tone, &'a str)>, color: bool) -> StyledText {
    let mut line = StyledText::default();
    let (mut start, mut used) = (0, 0);
    for (width, tone, text) in cells {
        if !text.is_empty() {
            if used > start {
                line.push("\n");
                used = 0;
            }
            line.push(" ".repeat(start - used));
            line.push(paint(text, tone, color));
            used = start + columns_of(text);
        }
        start += width + GAP;
    }
    line
}

fn paint(text: &str, tone: Tone, color: bool) -> StyledText {
    match tone.code() {
        Some(code) => StyledText::paint(code, text, color),
        None => StyledText::from(text),
    }
}

fn is_empty(table: &Table, column: usize) -> bool {
    let mut cells = table.rows.iter().filter_map(|row| row.cells.get(column));
    cells.all(|cell| cell.text.is_empty())
}

/// Returns the natural width of a column. A very long name does not widen the column for all rows; its own
/// row breaks after it.
fn widest(table: &Table, column: usize, width: Option<usize>) -> usize {
    let cells = table.rows.iter().filter_map(|row| row.cells.get(column));
    let widths = cells.map(|cell| columns_of(&cell.text));
    let most = match (table.columns[column].fit, width) {
        (Fit::Keep, Some(width)) => width / 2,
        (Fit::Keep | Fit::Id | Fit::Extra | Fit::Text, _) => usize::MAX,
    };
    let widest = widths.filter(|width| *width <= most).max();
    let head = if table.head {
        columns_of(table.columns[column].head)
    } else {
        0
    };
    widest.unwrap_or_default().max(head)
}

/// Returns the length of the prefix that distinguishes the ids in a column.
fn distinct(table: &Table, column: usize) -> usize {
    let cells = table.rows.iter().filter_map(|row| row.cells.get(column));
    let mut ids: Vec<&str> = cells.map(|cell| cell.text.as_str()).collect();
    ids.sort_unstable();
    ids.dedup();
    // In sorted order, the ids with the longest common prefix are neighbours.
    let alike = |pair: &[&str]| {
        let pairs = pair[0].chars().zip(pair[1].chars());
        pairs.take_while(|(a, b)| a == b).count()
    };
    let most = ids.windows(2).map(alike).max().unwrap_or_default();
    SHORTEST_ID.max(most + 1)
}
