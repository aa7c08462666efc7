//! Confirmation before a deletion.
//!
//! Only a person at a terminal is asked: a script is explicit about what it wants, and `deft undo` restores
//! deleted items. Not here: approvals of runs ([`crate::prompt`]).

use std::io::{self, IsTerminal};
use std::process::ExitCode;

use crate::args::Global;
use crate::fold::fold;
use crate::output::{Output, message_width};
use crate::terminal::Stream;

/// The hint after a deletion.
pub(crate) const UNDO: &str = "hint: `deft undo` restores it";

/// Whether to ask: a person is at the terminal, and neither `yes` nor a global option skips the question.
pub(crate) fn is_needed(yes: bool, global: &Global) -> bool {
    let terminal = io::stdin().is_terminal() && Stream::Err.is_terminal();
    terminal && !yes && !global.no_input && !global.json
}

/// Asks `question` and returns true if the answer is `y` or `yes`.
pub(crate) fn ask(question: &str) -> bool {
    let question = fold(&format!("{question}? [y/N]"), message_width());
    drop(Stream::Err.write(format!("{question} ")));
    let mut answer = String::new();
    let read = io::stdin().read_line(&mut answer);
    read.is_ok() && matches!(answer.trim().to_lowercase().as_str(), "y" | "yes")
}

/// Reports that nothing was deleted, and returns the exit code.
pub(crate) fn report_refusal(output: &Output) -> ExitCode {
    output.note("nothing was deleted");
    ExitCode::FAILURE
}
