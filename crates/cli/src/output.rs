//! Where words go: data to stdout, everything else to stderr.

use std::io;
use std::process::ExitCode;

use clap::ValueEnum;
use jiff::Timestamp;
use jiff::tz::TimeZone;
use serde::Serialize;
use unicode_width::UnicodeWidthChar;

use crate::failure::{Done, Failure, exit_code};
use crate::fold::fold;
use crate::table::{Cell, Column, Paper, Row, Table, columns_of};
use crate::terminal::{Stream, StyledText, pager};
use deft_config::env;

/// When to use colours.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ColorWhen {
    Auto,
    Always,
    Never,
}

/// How to print.
#[derive(Clone, Debug)]
pub(crate) struct Output {
    /// One JSON document instead of text.
    pub json: bool,
    /// Only results and errors.
    pub quiet: bool,
    color: ColorWhen,
    /// One line for each row of a table, however long.
    wide: bool,
}

impl Output {
    pub(crate) fn new(json: bool, quiet: bool, color: ColorWhen, wide: bool) -> Self {
        Self {
            json,
            quiet,
            color,
            wide,
        }
    }

    /// Shows the data of this command page by page if it is longer than the screen.
    pub(crate) fn page(&self) {
        if !self.json {
            pager::begin();
        }
    }

    /// Prints a table.
    pub(crate) fn table(&self, table: &Table) -> Done<()> {
        self.data(table.print(Paper {
            width: self.width(),
            color: self.styles_stdout(),
        }))
    }

    /// Prints data as text for people. Characters that would command a terminal are shown instead of
    /// obeyed, also in a pipe: `--json` has them as they are.
    pub(crate) fn data(&self, text: impl Into<StyledText>) -> Done<()> {
        let mut text = text.into();
        if !text.as_str().ends_with('\n') {
            text.push("\n");
        }
        written(Stream::Out.write(text))
    }

    /// Prints sentences, or a page of names and values, folded to the width of the terminal.
    pub(crate) fn prose(&self, text: impl AsRef<str>) -> Done<()> {
        self.data(fold(text.as_ref(), self.width()))
    }

    /// Prints the content of a file, or a text that a model reads, byte for byte. Only a terminal gets
    /// a visible form of it.
    pub(crate) fn content(&self, text: &str) -> Done<()> {
        let line_break = if text.ends_with('\n') { "" } else { "\n" };
        written(Stream::Out.write_content(&format!("{text}{line_break}")))
    }

    /// Prints the JSON document of a command.
    pub(crate) fn document(&self, document: &impl Serialize) -> Done<()> {
        let text = serde_json::to_string_pretty(document);
        let text = text.map_err(|problem| unprintable(&problem))?;
        written(Stream::Out.write_json(&format!("{text}\n")))
    }

    /// Prints a JSON value on one line, for a command that prints many.
    pub(crate) fn line_of_json(&self, value: &impl Serialize) -> Done<()> {
        let text = serde_json::to_string(value).map_err(|problem| unprintable(&problem))?;
        written(Stream::Out.write_json(&format!("{text}\n")))
    }

    /// Says something beside the data.
    pub(crate) fn note(&self, text: &str) {
        if !self.quiet && !self.json {
            say(fold(text, message_width()));
        }
    }

    /// Says what went wrong beside the data, also when only results and errors are wanted.
    pub(crate) fn complain(&self, text: &str) {
        if !self.json {
            say(fold(text, message_width()));
        }
    }

    /// Notes each warning.
    pub(crate) fn warn(&self, warnings: Vec<String>) {
        for warning in warnings {
            self.note(&format!("warning: {warning}"));
        }
    }

    /// The same, if something went wrong.
    pub(crate) fn complain_if(&self, text: Option<String>) {
        text.into_iter().for_each(|text| self.complain(&text));
    }

    /// Says why the command could not be carried out.
    pub(crate) fn fail(&self, failure: &Failure) -> ExitCode {
        if self.json {
            drop(self.document(&failure.document()));
        } else {
            let paint = |code, text| StyledText::paint(code, text, self.styles_stderr());
            let width = message_width();
            // The word in front is folded with its text and then painted.
            let line = |word: &str, text: &str| {
                let folded = fold(&format!("{word}: {text}"), width);
                folded[word.len()..].to_owned()
            };
            let message = line("error", &failure.message);
            let mut text = paint("1;31", "error").with(message);
            if let Some(hint) = &failure.hint {
                text = text.with("\n").with(paint("1;36", "hint"));
                text.push(line("hint", hint));
            }
            say(text);
        }
        exit_code(failure.kind)
    }

    /// Whether stdout takes colours.
    pub(crate) fn styles_stdout(&self) -> bool {
        self.styles(Stream::Out.is_terminal())
    }

    pub(crate) fn styles_stderr(&self) -> bool {
        self.styles(Stream::Err.is_terminal())
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
    /// are needed when a program reads or `--wide` is given.
    pub(crate) fn width(&self) -> Option<usize> {
        let limited = Stream::Out.is_terminal() && !self.wide;
        limited.then(terminal_width).flatten()
    }
}

fn unprintable(problem: &serde_json::Error) -> Failure {
    Failure::internal(
        "json",
        format!("cannot write the result as JSON: {problem}"),
    )
}

/// A reader that went away, such as `head`, ends the program quietly.
pub(crate) fn written(done: io::Result<()>) -> Done<()> {
    match done {
        Err(problem) if problem.kind() == io::ErrorKind::BrokenPipe => std::process::exit(0),
        Err(problem) => Err(Failure::input(
            "stdout",
            format!("cannot write to stdout: {problem}"),
        )),
        Ok(()) => Ok(()),
    }
}

/// Writes a line to stderr.
pub(crate) fn say(text: impl Into<StyledText>) {
    // A message that cannot be shown is no reason to fail.
    drop(Stream::Err.write(text.into().with("\n")));
}

/// How wide a message may be, if a person reads it.
pub(crate) fn message_width() -> Option<usize> {
    let terminal = Stream::Err.is_terminal();
    terminal.then(terminal_width).flatten()
}

/// How wide the terminal is now, if there is one.
pub(crate) fn terminal_width() -> Option<usize> {
    terminal_size::terminal_size().map(|(width, _)| usize::from(width.0))
}

/// Aligned columns without a header.
pub(crate) fn table(rows: &[Vec<String>], width: Option<usize>) -> String {
    let columns = rows.iter().map(Vec::len).max().unwrap_or_default();
    let column = |at| {
        if at + 1 == columns {
            Column::text("")
        } else {
            Column::keep("")
        }
    };
    let rows = rows.iter().map(|row| Row::new(row.iter().map(Cell::from)));
    let table = Table::new((0..columns).map(column), rows).headless();
    let color = false;
    table.print(Paper { width, color }).as_str().to_owned()
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
