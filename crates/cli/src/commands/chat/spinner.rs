//! The progress line of an answer: the current activity, the elapsed time and the tokens.

use std::time::{Duration, Instant};

use crate::output::clip;

const FRAMES: [&str; 10] = ["⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏"];

/// The elapsed time from which the line shows it.
const SHOW_ELAPSED_AFTER: Duration = Duration::from_secs(1);

/// The progress of an answer.
#[derive(Debug, Default)]
pub(super) struct Spinner {
    frame: usize,
    begun: Option<Instant>,
    tokens: u64,
}

impl Spinner {
    /// Starts the clock and resets the tokens for a new answer.
    pub(super) fn begin(&mut self) {
        self.begun = Some(Instant::now());
        self.tokens = 0;
    }

    pub(super) fn turn(&mut self) {
        self.frame += 1;
    }

    /// Adds the tokens of a reply.
    pub(super) fn add_tokens(&mut self, tokens: u64) {
        self.tokens += tokens;
    }

    /// Formats the line, at most `width` columns wide.
    pub(super) fn line(&self, what: &str, width: usize) -> String {
        let elapsed = self.begun.map_or(Duration::ZERO, |begun| begun.elapsed());
        line(self.frame, what, elapsed, self.tokens, width)
    }
}

fn line(frame: usize, what: &str, elapsed: Duration, tokens: u64, width: usize) -> String {
    let mut behind = String::new();
    if elapsed >= SHOW_ELAPSED_AFTER {
        behind.push_str(&format!("  {}", seconds(elapsed.as_secs())));
    }
    if tokens > 0 {
        behind.push_str(&format!("  {} tokens", short_count(tokens)));
    }
    let frame = FRAMES[frame % FRAMES.len()];
    // The activity may be long and is truncated; the elapsed time never is.
    let room = width.saturating_sub(behind.chars().count() + 3);
    format!("{frame} {}{behind}", clip(what, room))
}

fn seconds(seconds: u64) -> String {
    match seconds {
        0..60 => format!("{seconds} s"),
        _ => format!("{} min {} s", seconds / 60, seconds % 60),
    }
}

/// Formats a number of tokens in few characters: `950`, `1.2k`, `34k`, `1.2M`.
pub(super) fn short_count(count: u64) -> String {
    match count {
        0..1000 => count.to_string(),
        1000..10_000 => format!("{}.{}k", count / 1000, count % 1000 / 100),
        10_000..1_000_000 => format!("{}k", count / 1000),
        _ => format!("{}.{}M", count / 1_000_000, count % 1_000_000 / 100_000),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_and_tokens_follow_the_current_activity() {
        let long = "⚙ a_tool_with_a_long_name {\"query\":\"from:ada\"}";
        for (what, elapsed, tokens, width, expected) in [
            ("thinking", 0, 0, 80, "⠋ thinking"),
            ("thinking", 12, 0, 80, "⠋ thinking  12 s"),
            (
                "thinking",
                75,
                1250,
                80,
                "⠋ thinking  1 min 15 s  1.2k tokens",
            ),
            (
                long,
                3,
                34_900,
                40,
                "⠋ ⚙ a_tool_with_a_lon…  3 s  34k tokens",
            ),
        ] {
            let elapsed = Duration::from_secs(elapsed);
            assert_eq!(line(0, what, elapsed, tokens, width), expected);
        }
        assert_eq!(short_count(1_250_000), "1.2M");
    }
}
