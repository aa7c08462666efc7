//! Parsing of a line typed in a chat: a message, or a command.

/// A line typed in a chat.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Entry<'a> {
    Nothing,
    Say(&'a str),
    Help,
    Skills,
    Cost,
    Stop,
    New,
    History,
    Quit,
    /// Resume a conversation by its id, or the latest one.
    Resume(Option<&'a str>),
    /// Switch to an agent by its name, or show the current one.
    Agent(Option<&'a str>),
    /// Switch to a model by its name, or list all models.
    Model(Option<&'a str>),
    /// Remove the last exchange.
    Undo,
    Search(&'a str),
    /// An unknown command.
    Unknown {
        given: &'a str,
        near: Option<&'static str>,
    },
}

/// Commands with their arguments and descriptions.
pub(super) const COMMANDS: &[(&str, &str, &str)] = &[
    ("/help", "", "list the commands"),
    ("/skills", "", "list the agent's skills"),
    ("/cost", "", "show the cost of this chat and of today"),
    (
        "/stop",
        "",
        "stop a waiting answer (ctrl-c stops one in progress)",
    ),
    ("/new", "", "start a new conversation"),
    (
        "/resume",
        "[ID]",
        "continue a conversation, or the latest one",
    ),
    (
        "/agent",
        "[NAME]",
        "switch to another agent, in a new conversation",
    ),
    (
        "/model",
        "[NAME]",
        "list the models, or switch the model of this chat",
    ),
    (
        "/undo",
        "",
        "remove the last message and its answer (effects of tools remain)",
    ),
    ("/history", "", "show this conversation"),
    ("/search", "TEXT", "search all conversations"),
    ("/quit", "", "end the chat (also ctrl-d)"),
];

impl<'a> Entry<'a> {
    pub(super) fn read(line: &'a str) -> Self {
        let text = line.trim();
        // A path such as `/etc/hosts` is a message.
        let word = text.split_whitespace().next().unwrap_or_default();
        if !word.starts_with('/') || word[1..].contains('/') {
            return if text.is_empty() {
                Self::Nothing
            } else {
                Self::Say(text)
            };
        }
        let rest = text[word.len()..].trim();
        let given = (!rest.is_empty()).then_some(rest);
        match word {
            "/help" | "/?" => Self::Help,
            "/skills" => Self::Skills,
            "/cost" => Self::Cost,
            "/stop" => Self::Stop,
            "/new" => Self::New,
            "/history" => Self::History,
            "/quit" | "/exit" => Self::Quit,
            "/resume" => Self::Resume(given),
            "/agent" => Self::Agent(given),
            "/model" => Self::Model(given),
            "/undo" => Self::Undo,
            "/search" => Self::Search(rest),
            _ => Self::Unknown {
                given: word,
                near: deft_wire::model::nearest(word, COMMANDS.iter().map(|(name, _, _)| *name)),
            },
        }
    }
}

/// Returns the help of the chat commands.
pub(super) fn help() -> String {
    let rows: Vec<Vec<String>> = COMMANDS
        .iter()
        .map(|(name, takes, does)| vec![format!("{name} {takes}"), (*does).to_owned()])
        .collect();
    let mut text = crate::output::table(&rows, None);
    text.push_str(
        "`@path` attaches a text file (tab completes the path)\na backslash at the end of a line, \
         or alt-enter, continues on the next line",
    );
    text
}

#[cfg(test)]
mod tests {
    use super::Entry::{self, *};

    /// `docs/chat.md` lists exactly these commands, in this order.
    #[test]
    fn the_commands_are_documented() {
        let document = include_str!("../../../../../docs/chat.md");
        let documented: Vec<String> = document
            .lines()
            .filter_map(|line| Some(line.strip_prefix("| `/")?.split('`').next()?.to_owned()))
            .collect();
        let known = super::COMMANDS.iter();
        let known: Vec<String> = known
            .map(|(name, takes, _)| format!("{name} {takes}").trim().replacen('/', "", 1))
            .collect();
        assert_eq!(documented, known);
    }

    #[test]
    fn messages_and_commands_are_distinguished() {
        for (line, expected) in [
            ("", Nothing),
            ("  \n", Nothing),
            (" hi there ", Say("hi there")),
            ("/etc/hosts is what?", Say("/etc/hosts is what?")),
            ("/help", Help),
            ("/resume", Resume(None)),
            ("/resume conv_1", Resume(Some("conv_1"))),
            ("/agent  scout ", Agent(Some("scout"))),
            ("/model", Model(None)),
            ("/model big", Model(Some("big"))),
            ("/undo", Undo),
            ("/search two words", Search("two words")),
            ("/exit", Quit),
            (
                "/hlep",
                Unknown {
                    given: "/hlep",
                    near: Some("/help"),
                },
            ),
            (
                "/xyzzy",
                Unknown {
                    given: "/xyzzy",
                    near: None,
                },
            ),
        ] {
            assert_eq!(Entry::read(line), expected, "{line}");
        }
    }
}
