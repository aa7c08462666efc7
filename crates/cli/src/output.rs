//! Where words go: data to stdout, everything else to stderr.

use std::io::{self, IsTerminal, Write};
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

/// How much of the last column of a table is worth seeing, if it has so much.
const LAST: usize = 16;

/// Rows as aligned columns. Where the terminal is narrow the columns in the middle
/// give way, so that the last one still says something.
pub(crate) fn table(rows: &[Vec<String>], width: Option<usize>) -> String {
    let columns = rows.iter().map(Vec::len).max().unwrap_or_default();
    let widest = |column: usize| {
        let cells = rows.iter().filter_map(|row| row.get(column));
        let widths = cells.map(|cell| columns_of(cell));
        widths.max().unwrap_or_default()
    };
    let mut widths: Vec<usize> = (0..columns).map(widest).collect();
    if let (Some(width), [first @ .., last]) = (width, widths.as_mut_slice()) {
        let taken: usize = first.iter().map(|column| column + 2).sum();
        // Whole as long as something of the last column is seen; the first one names the row, and
        // is what people give to another command.
        if taken + LAST.min(*last) > width {
            let most = (width / columns).max(12);
            for column in first.iter_mut().skip(1) {
                *column = most.min(*column);
            }
        }
    }
    let mut out = String::new();
    for row in rows {
        let mut line = String::new();
        for (cell, width) in row.iter().zip(&widths) {
            let cell = clip(cell, *width);
            line.push_str(&cell);
            line.extend(std::iter::repeat_n(' ', width - columns_of(&cell) + 2));
        }
        out.push_str(&clip(line.trim_end(), width.unwrap_or(usize::MAX)));
        out.push('\n');
    }
    out
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

/// The same to the minute, for lists.
pub(crate) fn local_minute(at: Timestamp, zone: &TimeZone) -> String {
    let at = at.to_zoned(zone.clone());
    at.strftime("%Y-%m-%d %H:%M").to_string()
}

/// A count with its noun.
pub(crate) fn counted(count: usize, noun: &str) -> String {
    let s = if count == 1 { "" } else { "s" };
    format!("{count} {noun}{s}")
}

#[cfg(test)]
mod tests {
    use super::table;

    /// The first column is whole, and the others as far as something of the last one is seen.
    #[test]
    fn narrow_tables_keep_their_names() {
        let row = |cells: [&str; 3]| cells.map(str::to_owned).to_vec();
        let rows = [
            row([
                "run_0123456789abcdef",
                "waits for somebody",
                "a question for a person",
            ]),
            row(["run_1", "done", "short"]),
        ];
        for (width, expected) in [
            (
                None,
                "run_0123456789abcdef  waits for somebody  a question for a person\n\
                 run_1                 done                short\n",
            ),
            (
                Some(60),
                "run_0123456789abcdef  waits for somebody  a question for a …\n\
                 run_1                 done                short\n",
            ),
            (
                Some(50),
                "run_0123456789abcdef  waits for someb…  a questio…\n\
                 run_1                 done              short\n",
            ),
        ] {
            assert_eq!(table(&rows, width), expected, "{width:?}");
        }
    }
}
