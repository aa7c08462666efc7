//! Exit codes for failures, and errors in the command line.

use std::process::ExitCode;

use deft_wire::FailureKind;

use crate::exit::Exit;
use crate::terminal::{Stream, StyledText};

pub(crate) use deft_wire::Failure;

/// The result of a command or of a part of one.
pub(crate) type Done<T = ExitCode> = deft_wire::Done<T>;

/// Returns the exit code for a kind of failure. Internal errors have a code of their own.
pub(crate) fn exit_code(kind: FailureKind) -> ExitCode {
    ExitCode::from(match kind {
        FailureKind::Input => Exit::Input,
        FailureKind::Unsuccessful => Exit::Unsuccessful,
        FailureKind::Interrupted => Exit::Interrupted,
        FailureKind::Internal => Exit::Internal,
    })
}

/// Prints clap's message and returns the exit code: 0 for help and version, 2 for errors.
pub(crate) fn usage(problem: &clap::Error, hint: Option<String>) -> ExitCode {
    let wants_json = std::env::args_os().any(|arg| arg == "--json");
    if problem.use_stderr() && wants_json {
        let mut failure = explain(problem);
        failure.hint = hint.or(failure.hint);
        let document = serde_json::json!(failure.document());
        // If stdout is closed, the failure cannot be reported anyway.
        drop(Stream::Out.write_json(&format!("{document:#}\n")));
    } else {
        drop(print_usage(problem));
        let hint = hint.filter(|_| problem.use_stderr());
        drop(hint.map(|hint| Stream::Err.write(format!("hint: {hint}\n"))));
    }
    ExitCode::from(if problem.use_stderr() {
        Exit::Input
    } else {
        Exit::Success
    })
}

/// Prints help to stdout and errors to stderr. Errors quote words of the command line, which may come from
/// a script, so control characters are escaped.
fn print_usage(problem: &clap::Error) -> std::io::Result<()> {
    let (stream, rendered) = if problem.use_stderr() {
        (Stream::Err, problem.render())
    } else {
        (Stream::Out, problem.render())
    };
    if stream.is_terminal() && deft_config::env::get(deft_config::env::NO_COLOR).is_none() {
        return stream.write(StyledText::from_renderer(&rendered.ansi().to_string()));
    }
    stream.write(rendered.to_string())
}

/// Converts clap's error to a [`Failure`], without the usage lines, which are meant for people.
fn explain(problem: &clap::Error) -> Failure {
    use clap::error::ErrorKind;
    if problem.kind() == ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand {
        return Failure::input("usage", "a subcommand is missing").hint("`--help` lists them");
    }
    let text = problem.to_string();
    let words = |part: &str| part.split_whitespace().collect::<Vec<_>>().join(" ");
    let mut parts = text
        .split("\n\n")
        .map(str::trim)
        .filter(|part| !part.is_empty());
    let message = words(parts.next().unwrap_or_default());
    let tip = parts.find_map(|part| part.strip_prefix("tip: ")).map(words);
    let hint = tip.unwrap_or_else(|| "`deft --help` lists the commands".to_owned());
    Failure::input("usage", message.strip_prefix("error: ").unwrap_or(&message)).hint(hint)
}
