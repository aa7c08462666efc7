//! Rendering of tables: columns fit the width of the terminal, cells wrap on words.
//!
//! A table is rendered only when it is complete, because its last row may have the widest cell.

use unicode_width::UnicodeWidthStr;

use super::inline;
use super::style::Style;
use super::wrap::Wrap;

/// Blanks between two columns.
const GAP: usize = 2;

/// Width of the narrowest readable column.
const NARROWEST: usize = 4;

/// Alignment of the text in a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Align {
    Left,
    Right,
    Center,
}

/// Renders the lines of a table. Returns `None` if they are not a table or if it does not fit into `width`
/// columns.
pub(super) fn render(lines: &[String], width: Option<usize>) -> Option<String> {
    let [head, rule, body @ ..] = lines else {
        return None;
    };
    let aligns = alignments(rule)?;
    let columns = aligns.len();
    let mut rows = vec![cells(head)];
    if rows[0].len() != columns {
        return None;
    }
    rows.extend(body.iter().map(|line| cells(line)));
    for row in &mut rows {
        row.resize(columns, String::new());
    }
    let widths = widths(&rows, width)?;
    let mut out = String::new();
    for (place, row) in rows.iter().enumerate() {
        let style = if place == 0 {
            Style::BOLD
        } else {
            Style::PLAIN
        };
        write_row(row, &widths, &aligns, style, &mut out);
        if place == 0 {
            let rules = widths.iter().map(|width| "─".repeat(*width));
            let rules: Vec<String> = rules.collect();
            let rules = rules.join(&" ".repeat(GAP));
            let (dim, plain) = (Style::DIM.sequence(), Style::PLAIN.sequence());
            out.push_str(&format!("{dim}{rules}{plain}\n"));
        }
    }
    Some(out)
}

/// Parses the alignments in the line below the head, such as `|:--|--:|`.
fn alignments(rule: &str) -> Option<Vec<Align>> {
    let align = |cell: &String| {
        let (left, right) = (cell.starts_with(':'), cell.ends_with(':'));
        let dashes = cell.trim_matches(':');
        let is_rule = !dashes.is_empty() && dashes.chars().all(|c| c == '-');
        is_rule.then_some(match (left, right) {
            (true, true) => Align::Center,
            (false, true) => Align::Right,
            (true | false, false) => Align::Left,
        })
    };
    cells(rule).iter().map(align).collect()
}

/// Splits a line into cells. A bar inside code or after a backslash is text.
fn cells(line: &str) -> Vec<String> {
    let line = line.trim();
    let line = line.strip_prefix('|').unwrap_or(line);
    let mut cells = vec![String::new()];
    let (mut code, mut escaped) = (false, false);
    for c in line.chars() {
        let last = cells.len() - 1;
        match c {
            '|' if escaped => {
                // The backslash only escapes the bar.
                cells[last].pop();
                cells[last].push(c);
            }
            '|' if !code => cells.push(String::new()),
            _ => cells[last].push(c),
        }
        code ^= c == '`' && !escaped;
        escaped = c == '\\' && !escaped;
    }
    if cells.last().is_some_and(|last| last.trim().is_empty()) {
        cells.pop();
    }
    cells.iter().map(|cell| cell.trim().to_owned()).collect()
}

/// Returns the widths of the columns: those of their widest cells, with the widest columns narrowed until the
/// table fits. `None` if columns would become unreadable.
fn widths(rows: &[Vec<String>], most: Option<usize>) -> Option<Vec<usize>> {
    let columns = rows.first()?.len();
    let widest = |column: usize| {
        let cells = rows.iter().filter_map(|row| row.get(column));
        let widths = cells.map(|cell| visible_width(&render_cell(cell, None, Style::PLAIN)));
        widths.max().unwrap_or(0).max(1)
    };
    let mut widths: Vec<usize> = (0..columns).map(widest).collect();
    let gaps = GAP * columns.saturating_sub(1);
    let Some(room) = most.map(|most| most.saturating_sub(gaps)) else {
        return Some(widths);
    };
    while widths.iter().sum::<usize>() > room {
        let widest = widths.iter_mut().max()?;
        if *widest <= NARROWEST {
            return None;
        }
        *widest -= 1;
    }
    Some(widths)
}

fn write_row(row: &[String], widths: &[usize], aligns: &[Align], style: Style, out: &mut String) {
    let cells = row.iter().zip(widths);
    let cells: Vec<Vec<String>> = cells
        .map(|(cell, width)| {
            let text = render_cell(cell, Some(*width), style);
            text.trim_end_matches('\n')
                .split('\n')
                .map(str::to_owned)
                .collect()
        })
        .collect();
    let height = cells.iter().map(Vec::len).max().unwrap_or(0);
    for place in 0..height {
        let mut line = String::new();
        for (column, cell) in cells.iter().enumerate() {
            let text = cell.get(place).map_or("", String::as_str);
            let free = widths[column].saturating_sub(visible_width(text));
            let before = match aligns[column] {
                Align::Left => 0,
                Align::Right => free,
                Align::Center => free / 2,
            };
            let after = free - before + GAP;
            line.push_str(&" ".repeat(before));
            line.push_str(text);
            line.push_str(&" ".repeat(after));
        }
        out.push_str(line.trim_end());
        out.push('\n');
    }
}

/// Renders a cell with styles, wrapped to `width`.
fn render_cell(cell: &str, width: Option<usize>, style: Style) -> String {
    let mut wrap = width.map_or_else(|| Wrap::new(None), Wrap::narrow);
    inline::write(cell, None, style, true, &mut wrap);
    wrap.end_line();
    wrap.take()
}

/// Returns how many terminal columns `text` takes, without its escape sequences.
fn visible_width(text: &str) -> usize {
    let mut pieces = text.trim_end_matches('\n').split('\x1b');
    let first = pieces.next().unwrap_or_default().width();
    let rest = pieces.map(|piece| piece.split_once('m').map_or(0, |(_, rest)| rest.width()));
    first + rest.sum::<usize>()
}
