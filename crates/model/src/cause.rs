//! What starts a run.

use std::fmt;

use serde::{Deserialize, Serialize};

/// What started a run. It is stored and shown as a word.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(from = "String", into = "String")]
pub enum Cause {
    /// A person, at the terminal.
    Cli,
    /// A command line, given to `deft cmd` or the API.
    Command,
    /// A slot of its schedule.
    Schedule,
    /// An event, such as a delivery to a hook.
    Event,
    /// A program, over HTTP or as a tool.
    Api,
    /// A client of the MCP server.
    Mcp,
    /// A message in a chat.
    Message,
    /// An agent.
    Agent,
    /// A job that was queued for later.
    Job,
    /// A person, who does not watch the run.
    Detached,
    /// A person or program that repeats another run.
    Rerun,
    /// A word of another program or another version of deft.
    Other(Box<str>),
}

/// All causes that deft knows.
const KNOWN: [Cause; 11] = [
    Cause::Cli,
    Cause::Command,
    Cause::Schedule,
    Cause::Event,
    Cause::Api,
    Cause::Mcp,
    Cause::Message,
    Cause::Agent,
    Cause::Job,
    Cause::Detached,
    Cause::Rerun,
];

impl Cause {
    /// The word that is stored and shown.
    pub fn as_str(&self) -> &str {
        match self {
            Self::Cli => "cli",
            Self::Command => "cmd",
            Self::Schedule => "schedule",
            Self::Event => "event",
            Self::Api => "api",
            Self::Mcp => "mcp",
            Self::Message => "message",
            Self::Agent => "agent",
            Self::Job => "job",
            Self::Detached => "detached",
            Self::Rerun => "rerun",
            Self::Other(word) => word,
        }
    }
}

/// No word, for requests that do not name a cause.
impl Default for Cause {
    fn default() -> Self {
        Self::Other(Box::default())
    }
}

impl fmt::Display for Cause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

impl From<&str> for Cause {
    fn from(word: &str) -> Self {
        let known = KNOWN.iter().find(|cause| cause.as_str() == word);
        known.cloned().unwrap_or_else(|| Self::Other(word.into()))
    }
}

impl From<String> for Cause {
    fn from(word: String) -> Self {
        Self::from(word.as_str())
    }
}

impl From<Cause> for String {
    fn from(cause: Cause) -> Self {
        cause.as_str().to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_round_trip() {
        let other = Cause::Other("crash test".into());
        for cause in KNOWN.into_iter().chain([other, Cause::default()]) {
            assert_eq!(Cause::from(cause.as_str()), cause);
        }
        let words: Vec<String> = KNOWN.iter().map(Cause::to_string).collect();
        assert_eq!(
            words.join(" "),
            "cli cmd schedule event api mcp message agent job detached rerun"
        );
    }
}
