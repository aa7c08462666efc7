//! What is typed while an answer is written stands in the next line that is edited, and not in the
//! middle of the answer.
//!
//! Not here: lines that are edited, which the editor shows itself.

use std::io;

use rustix::termios::{LocalModes, OptionalActions, Termios, tcgetattr, tcsetattr};

/// Whether keys are shown while an answer is written.
#[derive(Default)]
pub(super) enum KeyEcho {
    /// The terminal shows them.
    #[default]
    Shown,
    /// They are hidden at times, and perhaps now.
    Hidden(Option<Unseen>),
}

impl KeyEcho {
    /// Hides keys from now on, where they are hidden at all.
    pub(super) fn hide(&mut self) {
        self.show();
        if let Self::Hidden(unseen) = self {
            *unseen = Unseen::begin();
        }
    }

    /// Shows keys again.
    pub(super) fn show(&mut self) {
        if let Self::Hidden(unseen) = self {
            *unseen = None;
        }
    }
}

/// Keeps the terminal from showing what is typed, as long as it lives.
pub(super) struct Unseen(Termios);

impl Unseen {
    /// Nothing, if there is no terminal.
    fn begin() -> Option<Self> {
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
