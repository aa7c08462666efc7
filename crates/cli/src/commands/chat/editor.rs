//! The line that a person edits: history, several lines, keys.

use std::borrow::Cow;
use std::path::{Path, PathBuf};

use rustyline::completion::Completer;
use rustyline::error::ReadlineError;
use rustyline::highlight::Highlighter;
use rustyline::hint::Hinter;
use rustyline::history::DefaultHistory;
use rustyline::validate::{ValidationContext, ValidationResult, Validator};
use rustyline::{Cmd, Config, Context, Editor, ExternalPrinter as _, Helper, KeyEvent};

use super::answer_screen::Printer;
use super::complete::complete;
use crate::failure::{Done, Failure};
use crate::terminal::StyledText;
use deft_wire::model::visible;

/// How many entries are kept.
const HISTORY: usize = 1000;

/// The input of a person at the prompt.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Input {
    Line(String),
    /// They gave up the line.
    Interrupt,
    End,
}

/// Where lines come from.
pub(super) trait Lines: Send {
    fn next(&mut self, prompt: &str) -> Done<Input>;
}

/// The person at the terminal.
pub(super) struct Terminal {
    editor: Editor<Keys, DefaultHistory>,
    history: PathBuf,
}

impl Terminal {
    pub(super) fn open(home: &Path, color: bool) -> Done<Self> {
        let config = Config::builder()
            .max_history_size(HISTORY)
            .and_then(|config| config.history_ignore_dups(true))
            .map_err(|problem| unusable(&problem))?
            .history_ignore_space(true)
            .build();
        let mut editor = Editor::with_config(config).map_err(|problem| unusable(&problem))?;
        editor.set_helper(Some(Keys { color }));
        editor.bind_sequence(KeyEvent::alt('\r'), Cmd::Newline);
        let history = home.join("data").join("chat_history");
        // There is none in a new home, and a pipe in its place would be waited for.
        if history.is_file() {
            drop(editor.load_history(&history));
        }
        Ok(Self { editor, history })
    }

    /// Writes above the line that is being edited, where the terminal can do that.
    pub(super) fn printer(&mut self) -> Option<Printer> {
        let mut printer = self.editor.create_external_printer().ok()?;
        // What cannot be shown is in the log.
        Some(Box::new(move |text| drop(printer.print(text))))
    }
}

impl Lines for Terminal {
    fn next(&mut self, prompt: &str) -> Done<Input> {
        match self.editor.readline(&visible(prompt)) {
            Ok(line) => {
                let line = join(&line);
                if !line.trim().is_empty() {
                    // A chat without a history is still a chat.
                    drop(self.editor.add_history_entry(line.as_str()));
                    if self.history.is_file() || !self.history.exists() {
                        drop(self.editor.append_history(&self.history));
                        restrict(&self.history);
                    }
                }
                Ok(Input::Line(line))
            }
            Err(ReadlineError::Interrupted) => Ok(Input::Interrupt),
            Err(ReadlineError::Eof) => Ok(Input::End),
            Err(problem) => Err(unusable(&problem)),
        }
    }
}

/// Only the owner may read what people said.
fn restrict(path: &Path) {
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        drop(std::fs::set_permissions(
            path,
            std::fs::Permissions::from_mode(0o600),
        ));
    }
}

/// Lines that go on in the next one, as one text.
fn join(text: &str) -> String {
    text.replace("\\\n", "\n")
}

fn unusable(problem: &ReadlineError) -> Failure {
    Failure::input(
        "terminal",
        format!("the terminal cannot be used: {problem}"),
    )
    .hint("`deft chat -p TEXT` needs none")
}

/// Lines without a terminal: what is piped in, line by line.
pub(super) struct PipedLines;

impl Lines for PipedLines {
    fn next(&mut self, _: &str) -> Done<Input> {
        let mut text = String::new();
        loop {
            let read = std::io::stdin().read_line(&mut text);
            let read = read.map_err(|problem| {
                Failure::input("stdin", format!("cannot read from stdin: {problem}"))
            })?;
            let line = text.trim_end_matches(['\n', '\r']);
            if read == 0 && line.is_empty() {
                return Ok(Input::End);
            }
            if read == 0 || !line.ends_with('\\') {
                return Ok(Input::Line(join(line)));
            }
            text = format!("{line}\n");
        }
    }
}

/// Keys beyond the usual ones.
struct Keys {
    color: bool,
}

impl Helper for Keys {}

impl Hinter for Keys {
    type Hint = String;
}

impl Highlighter for Keys {
    fn highlight_prompt<'b, 's: 'b, 'p: 'b>(&'s self, prompt: &'p str, _: bool) -> Cow<'b, str> {
        if self.color {
            Cow::Owned(StyledText::paint("1;32", prompt, true).as_str().to_owned())
        } else {
            Cow::Borrowed(prompt)
        }
    }
}

impl Validator for Keys {
    fn validate(&self, context: &mut ValidationContext<'_>) -> rustyline::Result<ValidationResult> {
        Ok(if context.input().ends_with('\\') {
            ValidationResult::Incomplete
        } else {
            ValidationResult::Valid(None)
        })
    }
}

impl Completer for Keys {
    type Candidate = String;

    fn complete(
        &self,
        line: &str,
        at: usize,
        _: &Context<'_>,
    ) -> rustyline::Result<(usize, Vec<String>)> {
        let given = line.get(..at).unwrap_or_default();
        let folder = std::env::current_dir().unwrap_or_default();
        let home = deft_config::env::user_home();
        Ok(complete(given, &folder, home.as_deref()))
    }
}
