//! Output of commands: data to stdout, everything else to stderr.

use std::io;
use std::process::ExitCode;

use clap::ValueEnum;
use jiff::Timestamp;
use jiff::tz::TimeZone;
use serde::Serialize;
use unicode_width::UnicodeWidthChar;

use crate::audit;
use crate::failure::{Done, Failure, exit_code};
use crate::fold::fold;
use crate::table::{Cell, Column, Row, Table, TableStyle, columns_of};
use crate::terminal::{Stream, StyledText, pager};
use deft_config::env;
pub(crate) use deft_service::words::format_count;

/// When to use colours.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ColorWhen {
    Auto,
    Always,
    Never,
}

/// The output options of a command.
#[derive(Clone, Debug)]
pub(crate) struct Output {
    /// Whether to print one JSON document instead of text.
    pub json: bool,
    /// Whether to print only results and errors.
    pub quiet: bool,
    color: ColorWhen,
    /// Whether each table row is printed on one line, however long.
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

    /// Shows the data of this command in a pager if it is longer than the screen.
    pub(crate) fn page(&self) {
        if !self.json {
            pager::begin();
        }
    }

    /// Prints a table.
    pub(crate) fn table(&self, table: &Table) -> Done<()> {
        self.data(table.print(TableStyle {
            width: self.width(),
            color: self.styles_stdout(),
        }))
    }

    /// Prints data as text for people. Control characters are escaped, also in a pipe; `--json` keeps them
    /// unchanged.
    pub(crate) fn data(&self, text: impl Into<StyledText>) -> Done<()> {
        let mut text = text.into();
        if !text.as_str().ends_with('\n') {
            text.push("\n");
        }
        check_write(Stream::Out.write(text))
    }

    /// Prints sentences, or a page of names and values, folded to the width of the terminal.
    pub(crate) fn prose(&self, text: impl AsRef<str>) -> Done<()> {
        self.data(fold(text.as_ref(), self.width()))
    }

    /// Prints the content of a file, or a text for a model, byte for byte. Control characters are escaped
    /// only on a terminal.
    pub(crate) fn content(&self, text: &str) -> Done<()> {
        let line_break = if text.ends_with('\n') { "" } else { "\n" };
        check_write(Stream::Out.write_content(&format!("{text}{line_break}")))
    }

    /// Prints the JSON document of a command.
    pub(crate) fn document(&self, document: &impl Serialize) -> Done<()> {
        let text = serde_json::to_string_pretty(document);
        let text = text.map_err(|problem| unprintable(&problem))?;
        check_write(Stream::Out.write_json(&format!("{text}\n")))
    }

    /// Prints a JSON value on one line, for a command that prints many values.
    pub(crate) fn line_of_json(&self, value: &impl Serialize) -> Done<()> {
        let text = serde_json::to_string(value).map_err(|problem| unprintable(&problem))?;
        check_write(Stream::Out.write_json(&format!("{text}\n")))
    }

    /// Prints a message to stderr, except with `--quiet` or `--json`.
    pub(crate) fn note(&self, text: &str) {
        if !self.quiet && !self.json {
            say(fold(text, message_width()));
        }
    }

    /// Prints an error message to stderr, also with `--quiet` but not with `--json`.
    pub(crate) fn complain(&self, text: &str) {
        if !self.json {
            say(fold(text, message_width()));
        }
    }

    /// Prints warnings with [`Self::note`].
    pub(crate) fn warn(&self, warnings: Vec<String>) {
        for warning in warnings {
            self.note(&format!("warning: {warning}"));
        }
    }

    /// Like [`Self::complain`]; does nothing for `None`.
    pub(crate) fn maybe_error_message(&self, text: Option<String>) {
        text.into_iter().for_each(|text| self.complain(&text));
    }

    /// Prints the failure of the command and returns its exit code.
    pub(crate) fn fail(&self, failure: &Failure) -> ExitCode {
        if self.json {
            drop(self.document(&failure.document()));
        } else {
            let paint = |code, text| StyledText::paint(code, text, self.styles_stderr());
            let width = message_width();
            // The label is folded together with its text, then coloured.
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

    /// Whether to use colours on stdout.
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

    /// Returns the width of the terminal, or `None` (no limit) without a terminal or with `--wide`.
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

/// Converts the result of a write to stdout. If the reader has exited, as with `head`, exits silently.
pub(crate) fn check_write(done: io::Result<()>) -> Done<()> {
    match done {
        Err(problem) if problem.kind() == io::ErrorKind::BrokenPipe => {
            audit::end(ExitCode::SUCCESS);
            std::process::exit(0)
        }
        Err(problem) => Err(Failure::input(
            "stdout",
            format!("cannot write to stdout: {problem}"),
        )),
        Ok(()) => Ok(()),
    }
}

/// Writes a line to stderr.
pub(crate) fn say(text: impl Into<StyledText>) {
    // A message that cannot be printed is not worth failing for.
    drop(Stream::Err.write(text.into().with("\n")));
}

/// Returns the width for messages on stderr, or `None` if stderr is not a terminal.
pub(crate) fn message_width() -> Option<usize> {
    let terminal = Stream::Err.is_terminal();
    terminal.then(terminal_width).flatten()
}

/// Returns the current width of the terminal, or `None` without a terminal.
pub(crate) fn terminal_width() -> Option<usize> {
    terminal_size::terminal_size().map(|(width, _)| usize::from(width.0))
}

/// Formats `rows` as aligned columns without a header.
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
    table.print(TableStyle { width, color }).as_str().to_owned()
}

/// Truncates `text` to `width` columns, with an ellipsis if something was cut.
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

/// Formats an instant in `zone`, with its offset.
pub(crate) fn local(at: Timestamp, zone: &TimeZone) -> String {
    let at = at.to_zoned(zone.clone());
    at.strftime("%Y-%m-%d %H:%M:%S %:z").to_string()
}
