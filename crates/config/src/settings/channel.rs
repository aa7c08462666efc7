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
    /// A call of this tool.
    Tool(String),
}

impl ChannelKind {
    /// The words of the configuration, besides `tool:NAME`.
    pub const WORDS: &'static [&'static str] = &["log", "desktop", "telegram", "webhook"];

    /// The kind that the configuration names so.
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

    /// Whether a tool can carry messages at all: one that leaves a message, or makes work that may,
    /// would go round in circles.
    pub fn is_circle(tool: &str) -> bool {
        tool == "notify" || deft_engine::is_own_tool(tool)
    }

    /// The tool, if it is one.
    pub fn tool(&self) -> Option<&str> {
        match self {
            Self::Tool(name) => Some(name),
            Self::Log | Self::Desktop | Self::Telegram | Self::Webhook => None,
        }
    }
}
