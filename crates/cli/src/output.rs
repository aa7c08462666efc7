//! Where words go: data to stdout, everything else to stderr.

use std::io::{self, IsTerminal, Write};
use std::ops::Range;
use std::process::ExitCode;

use jiff::Timestamp;
use jiff::tz::TimeZone;
use serde_json::Value;
use unicode_width::UnicodeWidthChar;

use crate::args::{ColorWhen, Global};
use crate::env;
use crate::failure::{Done, Failure};

/// How to print.
#[derive(Clone, Debug)]
pub(crate) struct Output {
    /// One JSON document instead of text.
    pub json: bool,
    /// Only results and errors.
    pub quiet: bool,
    color: ColorWhen,
}

impl Output {
    pub(crate) fn new(global: &Global) -> Self {
        Self {
            json: global.json,
            quiet: global.quiet,
            color: global.color,
        }
    }

    /// Prints data. On a terminal, characters that would command it are shown
    /// instead of obeyed: the text may come from anybody's skill.
    pub(crate) fn data(&self, text: &str) -> Done<()> {
        if io::stdout().is_terminal() {
            return self.raw(&harmless(text));
        }
        self.raw(text)
    }

    /// Prints text that deft itself has coloured. A reader that went away, such
    /// as `head`, ends the program quietly.
    pub(crate) fn raw(&self, text: &str) -> Done<()> {
        let mut out = io::stdout().lock();
        let line_break = if text.ends_with('\n') { "" } else { "\n" };
        match write!(out, "{text}{line_break}").and_then(|()| out.flush()) {
            Err(problem) if problem.kind() == io::ErrorKind::BrokenPipe => std::process::exit(0),
            Err(problem) => Err(Failure::input(
                "stdout",
                format!("cannot write to stdout: {problem}"),
            )),
            Ok(()) => Ok(()),
        }
    }

    /// Prints the JSON document of a command.
    pub(crate) fn document(&self, document: &Value) -> Done<()> {
        self.data(&format!("{document:#}"))
    }

    /// Says something beside the data.
    pub(crate) fn note(&self, text: &str) {
        if !self.quiet && !self.json {
            // What cannot be said is not worth failing for.
            drop(writeln!(io::stderr(), "{text}"));
        }
    }

    /// Says what went wrong beside the data, also when only results and errors are wanted.
    pub(crate) fn complain(&self, text: &str) {
        if !self.json {
            // What cannot be said is not worth failing for.
            drop(writeln!(io::stderr(), "{}", harmless(text)));
        }
    }

    /// Says why the command could not be carried out.
    pub(crate) fn fail(&self, failure: &Failure) -> ExitCode {
        if self.json {
            drop(self.document(&failure.document()));
        } else {
            let style = |code: &str, text: &str| {
                if self.styles_stderr() {
                    format!("\x1b[{code}m{text}\x1b[0m")
                } else {
                    text.to_owned()
                }
            };
            let mut text = format!("{}: {}", style("1;31", "error"), failure.message);
            if let Some(hint) = &failure.hint {
                text.push_str(&format!("\n{}: {hint}", style("1;36", "hint")));
            }
            drop(writeln!(io::stderr(), "{text}"));
        }
        ExitCode::from(failure.exit)
    }

    /// Whether stdout takes colours.
    pub(crate) fn styles_stdout(&self) -> bool {
        self.styles(io::stdout().is_terminal())
    }

    pub(crate) fn styles_stderr(&self) -> bool {
        self.styles(io::stderr().is_terminal())
    }

    fn styles(&self, terminal: bool) -> bool {
        match self.color {
            ColorWhen::Always => true,
            ColorWhen::Never => false,
            ColorWhen::Auto => {
                let forced = env::get(env::CLICOLOR_FORCE).is_some_and(|value| value != "0");
                let dumb = env::get(env::TERM).is_some_and(|value| value == "dumb");
                env::get(env::NO_COLOR).is_none() && (forced || (terminal && !dumb))
            }
        }
    }

    /// How many columns a line may have: those of the terminal, or all that
    /// are needed when a program reads.
    pub(crate) fn width(&self) -> Option<usize> {
        let terminal = io::stdout().is_terminal();
        terminal.then(terminal_width).flatten()
    }
}

/// How wide the terminal is now, if there is one.
pub(crate) fn terminal_width() -> Option<usize> {
    terminal_size::terminal_size().map(|(width, _)| usize::from(width.0))
}

/// The text with control and direction characters made visible.
pub(crate) fn harmless(text: &str) -> String {
    let is_command = |c: char| {
        (c.is_control() && !matches!(c, '\n' | '\t'))
            || matches!(c, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
    };
    let show = |c: char| if is_command(c) { '\u{fffd}' } else { c };
    text.chars().map(show).collect()
}

/// Rows as aligned columns, each row a line. Where a terminal is narrow, see [`blocks`].
pub(crate) fn table(rows: &[Vec<String>], width: Option<usize>) -> String {
    blocks(rows, width).concat()
}

/// Rows as aligned columns, one text for each row. Where a terminal is narrow the widest texts give
/// way, as much as they have to; ids and instants never do, because nobody can use half of one. What
/// still does not fit goes on in further lines.
pub(crate) fn blocks(rows: &[Vec<String>], width: Option<usize>) -> Vec<String> {
    let columns = rows.iter().map(Vec::len).max().unwrap_or_default();
    let cells = |column: usize| rows.iter().filter_map(move |row| row.get(column));
    let widest = |column| cells(column).map(|cell| columns_of(cell)).max();
    let mut widths: Vec<usize> = (0..columns).filter_map(widest).collect();
    let whole: Vec<bool> = (0..columns)
        .map(|column| cells(column).any(|cell| is_whole(cell)))
        .collect();
    let width = width.unwrap_or(usize::MAX);
    let lines = lines(&mut widths, &whole, width);
    rows.iter().map(|row| block(row, &widths, &lines)).collect()
}

/// A row, column by column.
fn block(row: &[String], widths: &[usize], lines: &[Range<usize>]) -> String {
    let mut out = String::new();
    for columns in lines {
        let mut line = String::from(if columns.start > 0 { INDENT } else { "" });
        for (cell, width) in row.iter().zip(widths).take(columns.end).skip(columns.start) {
            let cell = clip(cell, *width);
            line.push_str(&cell);
            line.extend(std::iter::repeat_n(' ', width - columns_of(&cell) + GAP));
        }
        let line = line.trim_end();
        if columns.start == 0 || !line.is_empty() {
            out.push_str(line);
            out.push('\n');
        }
    }
    out
}

/// The least that a text is cut to, where a terminal is narrow.
const LEAST: usize = 12;
/// Between columns.
const GAP: usize = 2;
/// Before what goes on in a further line.
const INDENT: &str = "  ";

/// Which columns stand in one line, after texts have given way.
fn lines(widths: &mut [usize], whole: &[bool], width: usize) -> Vec<Range<usize>> {
    let columns = widths.len();
    let cut = |most: usize| {
        let own = widths.iter().zip(whole);
        let own = own.map(|(own, whole)| if *whole { *own } else { (*own).min(most) });
        own.collect::<Vec<_>>()
    };
    let fits = |widths: &[usize]| {
        let gaps = GAP * columns.saturating_sub(1);
        widths.iter().sum::<usize>().saturating_add(gaps) <= width
    };
    let natural = widths.iter().copied().max().unwrap_or_default();
    let natural = natural.min(width);
    let most = (LEAST.min(natural)..=natural).rev();
    let fitting = most.map(cut).find(|widths| fits(widths));
    let Some(fitting) = fitting else {
        return further_lines(widths, width);
    };
    widths.copy_from_slice(&fitting);
    std::iter::once(0..columns).collect()
}

/// So many columns in a line as fit; one that fills a line alone is cut to it.
fn further_lines(widths: &mut [usize], width: usize) -> Vec<Range<usize>> {
    let room = width.saturating_sub(INDENT.len()).max(LEAST);
    let (mut lines, mut start, mut used) = (Vec::new(), 0, 0);
    for (column, own) in widths.iter_mut().enumerate() {
        *own = (*own).min(room);
        let more = if column == start { *own } else { *own + GAP };
        let here = if start == 0 { width } else { room };
        if used + more > here && column > start {
            lines.push(start..column);
            (start, used) = (column, *own);
        } else {
            used += more;
        }
    }
    lines.push(start..widths.len());
    lines
}

/// Whether a cell is an id or an instant.
fn is_whole(cell: &str) -> bool {
    let id = cell.split_once('_').is_some_and(|(kind, number)| {
        let kind = kind.bytes().all(|byte| byte.is_ascii_lowercase());
        kind && number.len() >= 16 && number.bytes().all(|byte| byte.is_ascii_hexdigit())
    });
    let digits = |text: Option<&str>| {
        text.is_some_and(|text| text.bytes().all(|byte| byte.is_ascii_digit()))
    };
    let dated = cell.as_bytes().get(4) == Some(&b'-') && digits(cell.get(..4));
    id || dated && cell.len() <= 40
}

/// How many columns of a terminal a text takes; wide characters take two.
fn columns_of(text: &str) -> usize {
    text.chars().map(|c| c.width().unwrap_or_default()).sum()
}

/// The text cut to so many columns, with a mark where it was cut.
pub(crate) fn clip(text: &str, width: usize) -> String {
    if columns_of(text) <= width {
        return text.to_owned();
    }
    let mut cut = String::new();
    let mut used = 1;
    for c in text.chars() {
        used += c.width().unwrap_or_default();
        if used > width {
            break;
        }
        cut.push(c);
    }
    cut.push('…');
    cut
}

/// An instant in the zone of the person who looks.
pub(crate) fn local(at: Timestamp, zone: &TimeZone) -> String {
    let at = at.to_zoned(zone.clone());
    at.strftime("%Y-%m-%d %H:%M:%S %:z").to_string()
}

/// A count with its noun.
pub(crate) fn counted(count: usize, noun: &str) -> String {
    let s = if count == 1 { "" } else { "s" };
    format!("{count} {noun}{s}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows(rows: &[&[&str]]) -> Vec<Vec<String>> {
        let row = |row: &&[&str]| row.iter().map(|cell| (*cell).to_owned()).collect();
        rows.iter().map(row).collect()
    }

    #[test]
    fn only_what_does_not_fit_gives_way() {
        let all = rows(&[
            &["run", "skill", "started", "cause"],
            &[
                "run_0123456789abcdef0123456789abcdef",
                "grid",
                "2026-01-26 13:00:00 +00:00",
                "schedule",
            ],
        ]);
        let natural = "\
run                                   skill  started                     cause
run_0123456789abcdef0123456789abcdef  grid   2026-01-26 13:00:00 +00:00  schedule
";
        assert_eq!(table(&all, None), natural);
        assert_eq!(table(&all, Some(81)), natural);
        assert_eq!(
            table(&all, Some(72)),
            "\
run                                   skill  started
  cause
run_0123456789abcdef0123456789abcdef  grid   2026-01-26 13:00:00 +00:00
  schedule
"
        );
        let text = rows(&[
            &["at", "text", "kind"],
            &["2026-01-26T13:00:00Z", "words that are many", "message"],
        ]);
        assert_eq!(
            table(&text, Some(45)),
            "\
at                    text            kind
2026-01-26T13:00:00Z  words that ar…  message
"
        );
    }
}
