//! The bot's own messages.

use crate::talk::{describe_usage, dollars};
use deft_model::SpendSubject;
use deft_wire::Failure;
use deft_wire::budget::Spending;
use deft_wire::chat::{ChatAnswer, ChatUsage};

pub(super) const NO_TEXT: &str = "I can only read text.";
pub(super) const FRESH: &str = "New conversation: your next message starts it.";
pub(super) const STOPPING: &str = "Stopping.";
pub(super) const NOTHING: &str = "Nothing is running.";
pub(super) const OLD_BUTTON: &str = "This approval is no longer pending.";
pub(super) const TAKEN: &str = "Got it.";
pub(super) const UNKNOWN: &str = "Unknown command. /help lists all commands.";
pub(super) const HELP: &str = "Send me a message and I answer.\n\n/new starts a new conversation\n\
    /stop stops the current answer\n/skills lists what I can do\n/cost shows the cost\n/help shows \
    this list";

/// Maximum number of skills to list.
const SKILLS: usize = 60;

/// A command of a chat.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Command {
    Help,
    New,
    Stop,
    Cost,
    Skills,
    Unknown,
}

impl Command {
    /// Parses a command; in groups it may include the name of the bot.
    pub(super) fn read(text: &str) -> Option<Self> {
        let word = text.split_whitespace().next()?;
        let name = word.strip_prefix('/')?;
        let name = name.split('@').next().unwrap_or(name);
        // `/etc/hosts` is a path in a message, not a command.
        if name.is_empty() || name.contains('/') {
            return None;
        }
        Some(match name {
            "start" | "help" => Self::Help,
            "new" => Self::New,
            "stop" => Self::Stop,
            "cost" => Self::Cost,
            "skills" => Self::Skills,
            _ => Self::Unknown,
        })
    }
}

/// The text for an answer to an approval that the store did not accept.
pub(super) fn answer_kept(failure: &Failure) -> String {
    let text = format!(
        "{}. I will try to store your answer again.",
        failure.message
    );
    self::failure(&text, failure.hint.as_deref())
}

pub(super) fn failure(message: &str, hint: Option<&str>) -> String {
    match hint {
        Some(hint) => format!("✗ {message}\n{hint}"),
        None => format!("✗ {message}"),
    }
}

pub(super) fn waits(answer: &ChatAnswer) -> String {
    let why = answer.error.as_ref().map(|error| error.message.as_str());
    let why = why.map_or(String::new(), |why| format!(": {why}"));
    format!("… waiting{why}. I will answer when it continues.")
}

pub(super) fn cost(here: &ChatUsage, today: &Spending) -> String {
    let mut text = format!(
        "This chat, since the last restart: {}.",
        describe_usage(here)
    );
    if let Some(all) = today
        .scopes
        .iter()
        .find(|used| used.scope == SpendSubject::All)
    {
        let cost = dollars(all.cost_usd);
        let tokens = all.input_tokens + all.output_tokens;
        text.push_str(&format!("\nEverything today: {tokens} tokens, {cost}."));
    }
    text
}

pub(super) fn skills(skills: &[(String, String)]) -> String {
    if skills.is_empty() {
        return "No skills.".to_owned();
    }
    let first = |text: &str| text.lines().next().unwrap_or_default().to_owned();
    let line = |(id, about): &(String, String)| format!("{id}: {}", first(about));
    let mut lines: Vec<String> = skills.iter().take(SKILLS).map(line).collect();
    if let Some(more) = skills.len().checked_sub(SKILLS).filter(|more| *more > 0) {
        lines.push(format!("… and {more} more"));
    }
    lines.join("\n")
}
