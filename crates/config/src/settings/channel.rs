//! The kinds of channels that notices can go to.
//!
//! Not here: sending anything (`deft-channels`).

/// The kinds of channels.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ChannelKind {
    /// `logs/notices.log`, and the terminal that deft runs in.
    Log,
    /// A message on the desktop of this host.
    Desktop,
    /// A Telegram chat.
    Telegram,
    /// A POST to an address.
    Webhook,
    /// A call of the named tool.
    Tool(String),
}

impl ChannelKind {
    /// The words for the kinds in the configuration, besides `tool:NAME`.
    pub const WORDS: &'static [&'static str] = &["log", "desktop", "telegram", "webhook"];

    /// Parses a word of the configuration; `None` if it is unknown.
    pub fn from_word(word: &str) -> Option<Self> {
        match word {
            "log" => Some(Self::Log),
            "desktop" => Some(Self::Desktop),
            "telegram" => Some(Self::Telegram),
            "webhook" => Some(Self::Webhook),
            other => {
                let name = other.strip_prefix("tool:")?.trim();
                (!name.is_empty()).then(|| Self::Tool(name.to_owned()))
            }
        }
    }

    /// Whether `tool` may not carry notices: a tool that leaves a notice, or starts work that may leave one,
    /// would cause an endless loop.
    pub fn is_circle(tool: &str) -> bool {
        deft_engine::needs_engine(tool)
    }

    /// Returns the name of the tool, if notices go to a tool.
    pub fn tool(&self) -> Option<&str> {
        match self {
            Self::Tool(name) => Some(name),
            Self::Log | Self::Desktop | Self::Telegram | Self::Webhook => None,
        }
    }
}
