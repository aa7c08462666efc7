//! Suppression of the terminal's echo while an answer is printed: typed text appears in the next edited
//! line, not in the middle of the answer.
//!
//! Not here: the edited line, which the editor draws.

use std::io;

use rustix::termios::{LocalModes, OptionalActions, Termios, tcgetattr, tcsetattr};

/// Whether the terminal echoes keys while an answer is printed.
#[derive(Default)]
pub(super) enum KeyEcho {
    /// Keys are always echoed.
    #[default]
    Shown,
    /// Keys are hidden on request; `Some` while they are hidden.
    Hidden(Option<DisabledEcho>),
}

impl KeyEcho {
    /// Stops echoing keys, unless they are always shown.
    pub(super) fn hide(&mut self) {
        self.show();
        if let Self::Hidden(unseen) = self {
            *unseen = DisabledEcho::begin();
        }
    }

    /// Echoes keys again.
    pub(super) fn show(&mut self) {
        if let Self::Hidden(unseen) = self {
            *unseen = None;
        }
    }
}

/// Disables the echo of the terminal until dropped.
pub(super) struct DisabledEcho(Termios);

impl DisabledEcho {
    /// Disables the echo. Returns `None` if stdin is not a terminal.
    fn begin() -> Option<Self> {
        let before = tcgetattr(io::stdin()).ok()?;
        let mut unseen = before.clone();
        unseen.local_modes.remove(LocalModes::ECHO);
        tcsetattr(io::stdin(), OptionalActions::Now, &unseen).ok()?;
        Some(Self(before))
    }
}

impl Drop for DisabledEcho {
    fn drop(&mut self) {
        // A closed terminal echoes nothing anyway.
        let _restored = tcsetattr(io::stdin(), OptionalActions::Now, &self.0);
    }
}
