//! What is typed while an answer is written stands in the next line that is edited, and not in the
//! middle of the answer.
//!
//! Not here: lines that are edited, which the editor shows itself.

use std::io;

use rustix::termios::{LocalModes, OptionalActions, Termios, tcgetattr, tcsetattr};

/// Keeps the terminal from showing what is typed, as long as it lives.
pub(super) struct Unseen(Termios);

impl Unseen {
    /// Nothing, if there is no terminal.
    pub(super) fn begin() -> Option<Self> {
        let before = tcgetattr(io::stdin()).ok()?;
        let mut unseen = before.clone();
        unseen.local_modes.remove(LocalModes::ECHO);
        tcsetattr(io::stdin(), OptionalActions::Now, &unseen).ok()?;
        Some(Self(before))
    }
}

impl Drop for Unseen {
    fn drop(&mut self) {
        // A terminal that went away shows nothing anyway.
        let _restored = tcsetattr(io::stdin(), OptionalActions::Now, &self.0);
    }
}
