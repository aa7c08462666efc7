//! Single keys of a terminal, and the alternate screen.
//!
//! The terminal is restored when [`Keyboard`] is dropped: after `q`, after a signal, after a failure and
//! after a panic.

use std::collections::VecDeque;
use std::io::{self, IsTerminal, PipeReader};
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::termios::{LocalModes, OptionalActions, Termios, tcgetattr, tcsetattr};
use tokio::signal::unix::{SignalKind, signal};

use crate::failure::{Done, Failure};
use crate::terminal::{Stream, StyledText};

/// A key, or a reason to end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Key {
    Up,
    Down,
    Approve,
    Reject,
    Quit,
    /// Ctrl-c, a signal, or the end of input.
    Interrupt,
    Other,
}

/// The keyboard of the terminal, with the alternate screen.
pub(super) struct Keyboard {
    before: Termios,
    signals: PipeReader,
    /// Keys that were read together with the last one.
    typed: VecDeque<Key>,
}

impl Keyboard {
    /// Takes over the terminal: keys are read without waiting for a line, and are not echoed.
    pub(super) fn take() -> Done<Self> {
        if !io::stdin().is_terminal() || !Stream::Out.is_terminal() {
            let message = "`--watch` needs a terminal";
            let hint = "`deft status` prints the same once";
            return Err(Failure::input("no_terminal", message).hint(hint));
        }
        let broken = |problem: io::Error| {
            Failure::internal("terminal", format!("cannot use the terminal: {problem}"))
        };
        let signals = listen().map_err(broken)?;
        let before = tcgetattr(io::stdin()).map_err(|error| broken(error.into()))?;
        let mut keys = before.clone();
        keys.local_modes -= LocalModes::ICANON | LocalModes::ECHO | LocalModes::ISIG;
        tcsetattr(io::stdin(), OptionalActions::Now, &keys)
            .map_err(|error| broken(error.into()))?;
        let keyboard = Self {
            before,
            signals,
            typed: VecDeque::new(),
        };
        Stream::Out
            .write(StyledText::enter_screen())
            .map_err(broken)?;
        Ok(keyboard)
    }

    /// Waits for a key. Returns `None` after `timeout`.
    pub(super) fn next(&mut self, timeout: Duration) -> Option<Key> {
        if let Some(key) = self.typed.pop_front() {
            return Some(key);
        }
        let stdin = io::stdin();
        let timeout = Timespec::try_from(timeout).ok();
        let mut ready = [
            PollFd::new(&stdin, PollFlags::IN),
            PollFd::new(&self.signals, PollFlags::IN),
        ];
        match poll(&mut ready, timeout.as_ref()) {
            Err(Errno::INTR) | Ok(0) => None,
            Err(_) => Some(Key::Interrupt),
            Ok(_) if !ready[1].revents().is_empty() => Some(Key::Interrupt),
            Ok(_) => {
                self.typed = read_keys();
                self.typed.pop_front()
            }
        }
    }
}

impl Drop for Keyboard {
    fn drop(&mut self) {
        // A closed terminal does not need restoring.
        drop(Stream::Out.write(StyledText::leave_screen()));
        let _restored = tcsetattr(io::stdin(), OptionalActions::Now, &self.before);
    }
}

/// Reads the typed keys. The end of input counts as an interrupt.
fn read_keys() -> VecDeque<Key> {
    let mut bytes = [0; 256];
    // Bypass the buffer of the standard library, because `poll` does not see its contents.
    match rustix::io::read(io::stdin(), &mut bytes) {
        Ok(0) | Err(_) => VecDeque::from([Key::Interrupt]),
        Ok(length) => keys(&bytes[..length]),
    }
}

/// Decodes bytes to keys. Arrow keys are three bytes.
fn keys(mut bytes: &[u8]) -> VecDeque<Key> {
    let mut keys = VecDeque::new();
    while !bytes.is_empty() {
        let (key, length) = match bytes {
            [0x1b, b'[' | b'O', b'A', ..] => (Key::Up, 3),
            [0x1b, b'[' | b'O', b'B', ..] => (Key::Down, 3),
            [0x1b, b'[' | b'O', ..] => (Key::Other, bytes.len()),
            [b'k', ..] => (Key::Up, 1),
            [b'j', ..] => (Key::Down, 1),
            [b'a', ..] => (Key::Approve, 1),
            [b'r', ..] => (Key::Reject, 1),
            [b'q', ..] | [0x1b] => (Key::Quit, 1),
            [3 | 4, ..] => (Key::Interrupt, 1),
            _ => (Key::Other, 1),
        };
        keys.push_back(key);
        bytes = bytes.get(length..).unwrap_or_default();
    }
    keys
}

/// Returns a pipe that is closed when a signal asks this process to end.
fn listen() -> io::Result<PipeReader> {
    let (reader, writer) = io::pipe()?;
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    let kinds = [
        SignalKind::interrupt(),
        SignalKind::terminate(),
        SignalKind::hangup(),
    ];
    let inside = runtime.enter();
    let [mut interrupt, mut terminate, mut hangup] =
        [signal(kinds[0])?, signal(kinds[1])?, signal(kinds[2])?];
    drop(inside);
    std::thread::spawn(move || {
        runtime.block_on(async {
            tokio::select! {
                _ = interrupt.recv() => {}
                _ = terminate.recv() => {}
                _ = hangup.recv() => {}
            }
        });
        drop(writer);
    });
    Ok(reader)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn key_sequences_of_terminals_are_read() {
        for (bytes, expected) in [
            (&b"\x1b[A"[..], &[Key::Up][..]),
            (b"\x1bOB\x1b[Aa", &[Key::Down, Key::Up, Key::Approve]),
            (b"r", &[Key::Reject]),
            (b"q", &[Key::Quit]),
            (b"\x1b", &[Key::Quit]),
            (b"\x03", &[Key::Interrupt]),
            (b"x\x1b[5~", &[Key::Other, Key::Other]),
        ] {
            assert_eq!(keys(bytes), expected, "{bytes:?}");
        }
    }
}
