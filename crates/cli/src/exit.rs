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

/// All exit codes.
const ALL: [Exit; 8] = [
    Exit::Success,
    Exit::Unsuccessful,
    Exit::Input,
    Exit::TimedOut,
    Exit::Waiting,
    Exit::Limit,
    Exit::Internal,
    Exit::Interrupted,
];

impl Exit {
    /// Returns the number of an exit code, which [`ExitCode`] does not reveal.
    pub(crate) fn number(code: ExitCode) -> u8 {
        let exit = ALL.into_iter().find(|exit| ExitCode::from(*exit) == code);
        exit.unwrap_or(Self::Internal) as u8
    }
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit as u8)
    }
}
