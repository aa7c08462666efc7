//! Where words go: data to stdout, everything else to stderr.

use std::io;
use std::process::ExitCode;

use clap::ValueEnum;
use jiff::Timestamp;
use jiff::tz::TimeZone;
use serde::Serialize;
use unicode_width::UnicodeWidthChar;

use crate::failure::{Done, Failure, exit_code};
use crate::terminal::{Stream, StyledText};
use deft_config::env;
use deft_wire::model::visible;

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
}

impl Output {
    pub(crate) fn new(json: bool, quiet: bool, color: ColorWhen) -> Self {
        Self { json, quiet, color }
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
            say(text);
        }
    }

    /// Says what went wrong beside the data, also when only results and errors are wanted.
    pub(crate) fn complain(&self, text: &str) {
        if !self.json {
            say(text);
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
            let mut text = paint("1;31", "error").with(format!(": {}", failure.message));
            if let Some(hint) = &failure.hint {
                text = text.with("\n").with(paint("1;36", "hint"));
                text.push(format!(": {hint}"));
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
    /// are needed when a program reads.
    pub(crate) fn width(&self) -> Option<usize> {
        let terminal = Stream::Out.is_terminal();
        terminal.then(terminal_width).flatten()
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

/// How wide the terminal is now, if there is one.
pub(crate) fn terminal_width() -> Option<usize> {
    terminal_size::terminal_size().map(|(width, _)| usize::from(width.0))
}

/// How a column of a table shrinks on a narrow terminal.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fit {
    /// It is cut, the longest first, and says so.
    Cut,
    /// It stays as it is: half an instant says nothing.
    Keep,
    /// Names that commands take: they lose their ends as long as they differ in what is left, since
    /// commands take beginnings too.
    Id,
}

/// No name gets shorter than this.
const SHORTEST_ID: usize = 16;

/// No text gets shorter than this.
const SHORTEST: usize = 8;

/// Rows as aligned columns, which are cut where the terminal is narrow.
pub(crate) fn table(rows: &[Vec<String>], width: Option<usize>) -> String {
    table_of(rows, &[], width)
}

/// The same, with what the first columns can bear; the others can be cut.
pub(crate) fn table_of(rows: &[Vec<String>], fits: &[Fit], width: Option<usize>) -> String {
    lines_of(rows, fits, width).concat()
}

/// The lines of such a table, one for each row.
pub(crate) fn lines_of(rows: &[Vec<String>], fits: &[Fit], width: Option<usize>) -> Vec<String> {
    let width = width.unwrap_or(usize::MAX);
    let rows: Vec<Vec<String>> = rows
        .iter()
        .map(|row| row.iter().map(|cell| one_line(cell)).collect())
        .collect();
    let widths = widths(&rows, fits, width);
    let line = |row: &Vec<String>| {
        let mut line = String::new();
        for (column, (cell, width)) in row.iter().zip(&widths).enumerate() {
            let cell = match fits.get(column) {
                Some(Fit::Id) => cell.chars().take(*width).collect(),
                Some(Fit::Cut | Fit::Keep) | None => clip(cell, *width),
            };
            line.push_str(&cell);
            line.extend(std::iter::repeat_n(' ', width - columns_of(&cell) + 2));
        }
        clip(line.trim_end(), width) + "\n"
    };
    rows.iter().map(line).collect()
}

/// A cell as it is shown: a line break in it would look like another row.
fn one_line(cell: &str) -> String {
    visible(cell).replace(['\n', '\t'], " ")
}

/// How wide the columns are, so that a row fits if that can be.
fn widths(rows: &[Vec<String>], fits: &[Fit], width: usize) -> Vec<usize> {
    let columns = rows.iter().map(Vec::len).max().unwrap_or_default();
    let cells = |column: usize| rows.iter().filter_map(move |row| row.get(column));
    let widest = |column: usize| cells(column).map(|cell| columns_of(cell)).max();
    let mut widths: Vec<usize> = (0..columns)
        .map(|column| widest(column).unwrap_or_default())
        .collect();
    let room = width.saturating_sub(2 * columns.saturating_sub(1));
    let fit = |column: usize| fits.get(column).copied().unwrap_or(Fit::Cut);
    for column in 0..columns {
        if fit(column) == Fit::Id && widths.iter().sum::<usize>() > room {
            widths[column] = widths[column].min(distinct(cells(column)));
        }
    }
    while widths.iter().sum::<usize>() > room {
        let may_be_cut =
            |(column, width): &(usize, &mut usize)| fit(*column) == Fit::Cut && **width > SHORTEST;
        let longest = widths.iter_mut().enumerate().filter(may_be_cut);
        match longest.max_by_key(|(_, width)| **width) {
            Some((_, width)) => *width -= 1,
            None => break,
        }
    }
    widths
}

/// How many characters of some names tell them apart.
fn distinct<'a>(names: impl Iterator<Item = &'a String>) -> usize {
    let mut names: Vec<&str> = names.map(String::as_str).collect();
    names.sort_unstable();
    names.dedup();
    // Those that are most alike are neighbours.
    let alike = |pair: &[&str]| {
        pair[0]
            .chars()
            .zip(pair[1].chars())
            .take_while(|(a, b)| a == b)
            .count()
    };
    let most = names.windows(2).map(alike).max().unwrap_or_default();
    SHORTEST_ID.max(most + 1)
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
    fn a_table_that_fits_is_not_cut() {
        let rows = rows(&[
            &["run", "skill"],
            &["run_01a1dfed18e073f3b94e", "a long name of one"],
        ]);
        let shown = table_of(&rows, &[Fit::Id], Some(44));
        let wanted =
            "run                       skill\nrun_01a1dfed18e073f3b94e  a long name of one\n";
        assert_eq!(shown, wanted);
    }

    #[test]
    fn the_longest_texts_give_way_and_instants_stay() {
        let rows = rows(&[&[
            "run_01a1dfed18e073f3b94e",
            "a name that is long",
            "2026-11-15 15:57:00",
            "every day",
        ]]);
        let fits = [Fit::Id, Fit::Cut, Fit::Keep];
        let shown = table_of(&rows, &fits, Some(62));
        assert_eq!(
            shown,
            "run_01a1dfed18e0  a name that…  2026-11-15 15:57:00  every day\n"
        );
    }

    #[test]
    fn names_keep_what_tells_them_apart() {
        let rows = rows(&[
            &["run_01a1dfed18e073f3b94e", "x"],
            &["run_01a1dfed18e073f4b94e", "x"],
        ]);
        let shown = table_of(&rows, &[Fit::Id], Some(10));
        assert_eq!(shown.lines().next(), Some("run_01a1d…"));
        let shown = table_of(&rows, &[Fit::Id], Some(24));
        assert_eq!(shown, "run_01a1dfed18e073f3  x\nrun_01a1dfed18e073f4  x\n");
    }
}
