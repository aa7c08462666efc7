//! Failures for the shell: an exit code, and the mistakes of the command line.

use std::process::ExitCode;

use deft_wire::FailureKind;

use crate::exit::Exit;
use crate::terminal::{Stream, StyledText};

pub(crate) use deft_wire::Failure;

/// The result of everything that a command does.
pub(crate) type Done<T = ExitCode> = deft_wire::Done<T>;

/// The exit code of a kind of failure. A fault of deft itself is told apart from a mistake of its user.
pub(crate) fn exit_code(kind: FailureKind) -> ExitCode {
    ExitCode::from(match kind {
        FailureKind::Input => Exit::Input,
        FailureKind::Unsuccessful => Exit::Unsuccessful,
        FailureKind::Interrupted => Exit::Interrupted,
        FailureKind::Internal => Exit::Internal,
    })
}

/// Prints what clap has to say: help and version are no failures.
pub(crate) fn usage(problem: &clap::Error, hint: Option<String>) -> ExitCode {
    let wants_json = std::env::args_os().any(|arg| arg == "--json");
    if problem.use_stderr() && wants_json {
        let mut failure = explain(problem);
        failure.hint = hint.or(failure.hint);
        let document = serde_json::json!(failure.document());
        // A closed stdout leaves no way to report that it is closed.
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

/// Help goes to stdout, mistakes to stderr. Words of the command line may come from a script.
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

/// The message of clap, without the usage lines that are for people.
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
