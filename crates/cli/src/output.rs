//! Where words go: data to stdout, everything else to stderr.

use std::io::{self, IsTerminal, Write};
use std::process::ExitCode;

use serde_json::Value;

use crate::args::{ColorWhen, Global};
use crate::env;
use crate::failure::{Done, Failure};

/// How to print.
#[derive(Clone, Debug)]
pub(crate) struct Output {
    /// One JSON document instead of text.
    pub json: bool,
    quiet: bool,
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

    /// Prints data. A reader that went away, such as `head`, ends the program
    /// quietly.
    pub(crate) fn data(&self, text: &str) -> Done<()> {
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

    fn styles_stderr(&self) -> bool {
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
        let size = io::stdout()
            .is_terminal()
            .then(terminal_size::terminal_size)
            .flatten();
        size.map(|(width, _)| usize::from(width.0))
    }
}

/// Rows as aligned columns, the last one cut to fit.
pub(crate) fn table(rows: &[Vec<String>], width: Option<usize>) -> String {
    let columns = rows.iter().map(Vec::len).max().unwrap_or_default();
    let widest = |column: usize| {
        let cells = rows.iter().filter_map(|row| row.get(column));
        cells
            .map(|cell| cell.chars().count())
            .max()
            .unwrap_or_default()
    };
    let widths: Vec<usize> = (0..columns).map(widest).collect();
    let mut out = String::new();
    for row in rows {
        let mut line = String::new();
        for (cell, width) in row.iter().zip(&widths) {
            line.push_str(&format!("{cell:width$}  "));
        }
        out.push_str(&clip(line.trim_end(), width));
        out.push('\n');
    }
    out
}

fn clip(line: &str, width: Option<usize>) -> String {
    match width {
        Some(width) if line.chars().count() > width && width > 1 => {
            let mut cut: String = line.chars().take(width - 1).collect();
            cut.push('…');
            cut
        }
        _ => line.to_owned(),
    }
}

/// A count with its noun.
pub(crate) fn counted(count: usize, noun: &str) -> String {
    let s = if count == 1 { "" } else { "s" };
    format!("{count} {noun}{s}")
}
