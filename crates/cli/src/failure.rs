//! Why a command could not be carried out, sorted by who must act.

use std::fmt::Display;
use std::path::Path;
use std::process::ExitCode;

use serde_json::{Value, json};

use crate::terminal::{Stream, Styled};

/// A command that could not be carried out.
#[derive(Debug)]
pub(crate) struct Failure {
    /// A stable word for programs.
    pub code: &'static str,
    /// What is wrong.
    pub message: String,
    /// What to do about it.
    pub hint: Option<String>,
    /// The exit code.
    pub exit: u8,
}

/// Everything that is done returns one of these.
pub(crate) type Done<T = ExitCode> = Result<T, Failure>;

impl Failure {
    /// Bad input: the caller must change something.
    pub(crate) fn input(code: &'static str, message: impl Into<String>) -> Self {
        Self {
            code,
            message: message.into(),
            hint: None,
            exit: 2,
        }
    }

    /// The same with a remedy.
    pub(crate) fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    /// The same with a remedy, if anybody knows one.
    pub(crate) fn maybe_hint(mut self, hint: Option<String>) -> Self {
        self.hint = hint;
        self
    }

    /// Something about a file or folder.
    pub(crate) fn file(path: &Path, what: &str, problem: &dyn Display) -> Self {
        let problem = problem.to_string();
        let message = format!("cannot {what} `{}`: {problem}", path.display());
        let refused = ["Permission denied", "Read-only file system"];
        let refused = refused.iter().any(|words| problem.starts_with(words));
        let hint = "mend who may use it (`ls -ld`), or choose another home with `--home DIR`";
        Self::input("file", message).maybe_hint(refused.then(|| hint.to_owned()))
    }

    /// The document that `--json` prints.
    pub(crate) fn document(&self) -> Value {
        json!({
            "ok": false,
            "error": {"code": self.code, "message": self.message, "hint": self.hint},
        })
    }
}

/// Prints what clap has to say: help and version are no failures.
pub(crate) fn usage(problem: &clap::Error, hint: Option<String>) -> ExitCode {
    let wants_json = std::env::args_os().any(|arg| arg == "--json");
    if problem.use_stderr() && wants_json {
        let mut failure = explain(problem);
        failure.hint = hint.or(failure.hint);
        let document = failure.document();
        // A closed stdout leaves no way to report that it is closed.
        drop(Stream::Out.write_json(&format!("{document:#}\n")));
    } else {
        drop(print_usage(problem));
        let hint = hint.filter(|_| problem.use_stderr());
        drop(hint.map(|hint| Stream::Err.write(format!("hint: {hint}\n"))));
    }
    ExitCode::from(if problem.use_stderr() { 2 } else { 0 })
}

/// Help goes to stdout, mistakes to stderr. Words of the command line may come from a script.
fn print_usage(problem: &clap::Error) -> std::io::Result<()> {
    let (stream, rendered) = if problem.use_stderr() {
        (Stream::Err, problem.render())
    } else {
        (Stream::Out, problem.render())
    };
    if stream.is_terminal() && crate::env::get(crate::env::NO_COLOR).is_none() {
        return stream.write(Styled::from_renderer(&rendered.ansi().to_string()));
    }
    stream.write(rendered.to_string())
}

/// What clap says, without the usage lines that are for people.
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

#[cfg(test)]
mod tests {
    use std::io::{Error, ErrorKind};

    use super::*;

    #[test]
    fn who_may_not_write_is_told_what_to_do() {
        let file = |problem: Error| Failure::file(Path::new("/home/x"), "open", &problem);
        for kind in [libc_error(13), libc_error(30)] {
            let failure = file(kind);
            assert!(failure.hint.is_some(), "{}", failure.message);
        }
        assert_eq!(file(Error::from(ErrorKind::NotFound)).hint, None);
    }

    /// `EACCES` is 13 and `EROFS` is 30 wherever deft runs.
    fn libc_error(code: i32) -> Error {
        Error::from_raw_os_error(code)
    }
}
