//! The exit codes of the binary. Tests compare them with the help, `docs/running.md` and `docs/errors`.

use std::process::ExitCode;

/// An exit code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Exit {
    /// Done, or skipped.
    Success = 0,
    /// The command ran and did not succeed, or found errors.
    Unsuccessful = 1,
    /// The usage or the input is wrong.
    Input = 2,
    /// A wait ended without a result.
    TimedOut = 4,
    /// A run stopped at an approval.
    Waiting = 5,
    /// A run met a limit.
    Limit = 6,
    /// deft itself failed.
    Internal = 70,
    /// The user interrupted the command.
    Interrupted = 130,
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit as u8)
    }
}
