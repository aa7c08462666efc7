//! Desktop notifications, shown by a program of the host: `notify-send`, or `osascript` on macOS.
//!
//! No shell is involved, and a message is never parsed as an option or a script. Not here: whether the
//! host has a desktop, and which messages go to it.

use std::path::PathBuf;
use std::process::Stdio;
use std::time::Duration;

use deft_model::{Failure, FailureClass, visible};
use tokio::process::Command;

/// The target for messages on this host: its desktop or its log.
pub const LOCAL_TARGET: &str = "local";

/// The timeout of the program; it only passes the message on.
const PROGRAM_TIMEOUT: Duration = Duration::from_secs(10);

/// The maximum number of characters of a title and a text; the log has the complete message.
const TITLE: usize = 80;
const TEXT: usize = 600;

/// A script that shows its arguments as a notification.
const SCRIPT: [&str; 3] = [
    "on run argv",
    "display notification (item 2 of argv) with title (item 1 of argv)",
    "end run",
];

/// A program that shows notifications.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Notifier {
    /// `notify-send` of libnotify.
    NotifySend(PathBuf),
    /// `osascript` of macOS.
    Osascript(PathBuf),
}

impl Notifier {
    /// Shows a message.
    pub async fn show(&self, title: &str, text: &str) -> Result<(), Failure> {
        let (program, arguments) = match self {
            Self::NotifySend(program) => (program, notify_send(title, text)),
            Self::Osascript(program) => (program, osascript(title, text)),
        };
        let name = program.display();
        let ended = Command::new(program)
            .args(arguments)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .kill_on_drop(true)
            .output();
        let ended = tokio::time::timeout(PROGRAM_TIMEOUT, ended)
            .await
            .map_err(|_| {
                let limit = PROGRAM_TIMEOUT.as_secs();
                Failure::new(
                    FailureClass::Timeout,
                    format!("`{name}` did not end within {limit} s"),
                )
            })?;
        let ended = ended.map_err(|error| {
            Failure::new(
                FailureClass::Other,
                format!("cannot start `{name}`: {error}"),
            )
        })?;
        if ended.status.success() {
            return Ok(());
        }
        let stderr = String::from_utf8_lossy(&ended.stderr);
        let stderr = clip(stderr.trim(), TEXT);
        let message = format!("`{name}` failed ({}): {stderr}", ended.status);
        Err(Failure::new(FailureClass::Other, message))
    }
}

fn notify_send(title: &str, text: &str) -> Vec<String> {
    // Arguments after `--` are never options. `notify-send` interprets escapes in the text, and
    // desktops interpret tags.
    let text = clip(text, TEXT).replace('\\', "\\\\");
    let text = text.replace('&', "&amp;").replace('<', "&lt;");
    let text = text.replace('>', "&gt;");
    vec![
        "--app-name=deft".to_owned(),
        "--".to_owned(),
        clip(title, TITLE),
        text,
    ]
}

fn osascript(title: &str, text: &str) -> Vec<String> {
    let script = SCRIPT.iter().flat_map(|line| ["-e", line]);
    let script = script.map(str::to_owned);
    // The first argument that is not an option ends the options, so the prefix keeps the title from
    // looking like one.
    let arguments = [format!("deft: {}", clip(title, TITLE)), clip(text, TEXT)];
    script.chain(arguments).collect()
}

/// Shortens a text to `most` characters and removes control characters.
fn clip(text: &str, most: usize) -> String {
    deft_model::clip(&visible(text.trim()), most)
}

#[cfg(test)]
mod tests {
    use super::*;

    const HOSTILE: &str = "--hint=x; $(touch /tmp/owned) <b>&\\n\"'\u{1b}[2J";

    #[test]
    fn text_is_neither_an_option_nor_a_script() {
        assert_eq!(
            notify_send(HOSTILE, HOSTILE),
            [
                "--app-name=deft",
                "--",
                "--hint=x; $(touch /tmp/owned) <b>&\\n\"'\\x1b[2J",
                "--hint=x; $(touch /tmp/owned) &lt;b&gt;&amp;\\\\n\"'\\\\x1b[2J",
            ]
        );
        let arguments = osascript(HOSTILE, HOSTILE);
        assert_eq!(arguments.len(), 8);
        assert_eq!(arguments[5], "end run");
        assert!(arguments[6].starts_with("deft: --hint"), "{arguments:?}");
        assert!(arguments[7].starts_with("--hint"), "{arguments:?}");
    }

    #[test]
    fn long_texts_are_cut() {
        let [.., text] = &notify_send("t", &"x".repeat(700))[..] else {
            panic!("no text");
        };
        assert_eq!(text.chars().count(), TEXT + 1);
    }
}
