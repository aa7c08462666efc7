//! The line editor of a chat: history, multi-line input, key bindings.

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

/// The maximum number of history entries.
const HISTORY: usize = 1000;

/// Input at the prompt.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Input {
    Line(String),
    /// The person cancelled the line with ctrl-c.
    Interrupt,
    End,
}

/// A source of input lines.
pub(super) trait Lines: Send {
    fn next(&mut self, prompt: &str) -> Done<Input>;
}

/// A line editor at the terminal.
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
        // A new home has no history. Only a regular file is read: reading a pipe would block.
        if history.is_file() {
            drop(editor.load_history(&history));
        }
        Ok(Self { editor, history })
    }

    /// Returns a function that prints above the edited line, or `None` if the terminal does not support it.
    pub(super) fn printer(&mut self) -> Option<Printer> {
        let mut printer = self.editor.create_external_printer().ok()?;
        // A message that cannot be printed is also in the log.
        Some(Box::new(move |text| drop(printer.print(text))))
    }
}

impl Lines for Terminal {
    fn next(&mut self, prompt: &str) -> Done<Input> {
        match self.editor.readline(&visible(prompt)) {
            Ok(line) => {
                let line = join(&line);
                if !line.trim().is_empty() {
                    // The chat works without a history too.
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

/// Makes the history readable only for its owner, because it contains messages.
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

/// Joins lines that end with a backslash with the lines after them.
fn join(text: &str) -> String {
    text.replace("\\\n", "\n")
}

fn unusable(problem: &ReadlineError) -> Failure {
    Failure::input(
        "terminal",
        format!("the terminal cannot be used: {problem}"),
    )
    .hint("`deft chat -p TEXT` works without a terminal")
}

/// Lines of piped input.
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

/// Additional key bindings and completion.
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
