//! A fresh home as `deft init` leaves it, with the servers that a case names and a model that answers by a script.
//!
//! `bot` is the built-in Telegram bot; `telegram` and `telegram_strict` are MCP servers instead of it, the second of which
//! insists on a chat. Every other word is a server in `servers/`; `work` is the one of `testkit`.

use std::path::{Path, PathBuf};

use deft_testkit::{
    BotApi, Dialect, Event, Kind, ModelAnswer, ModelServer, Script, server_binary, start_work,
    witness,
};
use serde_json::{Value, json};

use crate::support::World;

/// The chat that every home writes to.
pub(crate) const CHAT: &str = "4711";

pub(crate) struct Home {
    pub(crate) world: World,
    pub(crate) model: ModelServer,
    bot: Option<BotApi>,
    logs: Vec<PathBuf>,
}

/// Everything that has reached the outside so far.
#[derive(Default)]
pub(crate) struct OutsideWorld {
    /// Calls of tools: the name and the arguments.
    pub(crate) calls: Vec<(String, Value)>,
    /// Messages in Telegram: the chat and the text.
    pub(crate) messages: Vec<(String, String)>,
    /// Questions to the model.
    pub(crate) questions: Vec<Value>,
}

impl Home {
    pub(crate) fn new(words: &[String], answers: Vec<ModelAnswer>) -> Self {
        let world = World::new();
        let model = ModelServer::start(Dialect::OpenAi, answers);
        let mut home = Self {
            world,
            model,
            bot: None,
            logs: Vec::new(),
        };
        let mut config = String::new();
        for word in words {
            config.push_str(&home.section(word));
        }
        if !words.iter().any(|word| word == "nomodel") {
            config.push_str(&format!(
                "[llm.main]\nprovider = \"openai\"\nmodel = \"double\"\nbase_url = {}\nretries = 0\n",
                json!(home.model.url)
            ));
        }
        home.world.write("home/config.toml", config);
        assert_eq!(home.world.code(&["init", "--yes"]), 0);
        home
    }

    fn section(&mut self, word: &str) -> String {
        match word {
            "plain" | "nomodel" => String::new(),
            "bot" => {
                let bot = BotApi::start();
                self.world.write("token", format!("{}\n", bot.token));
                let token = format!("file:{}", self.world.path("token").display());
                let section = format!(
                    "[telegram]\ntoken = {}\nbase_url = {}\nallowed_chats = [{CHAT}]\n\n",
                    json!(token),
                    json!(bot.url)
                );
                self.bot = Some(bot);
                section
            }
            "telegram" | "telegram_strict" => format!(
                "[notify]\nchannel = \"tool:telegram_send_message\"\ntarget = \"{CHAT}\"\n\n{}",
                self.server(word)
            ),
            _ => self.server(word),
        }
    }

    fn server(&mut self, word: &str) -> String {
        self.world.write("servers/x", "");
        let arguments = script(word).write(&self.world.path("servers"), word);
        self.logs.push(arguments.witness.clone());
        format!(
            "[mcp_servers.{word}]\ncommand = {}\nargs = {}\n\n",
            json!(server_binary()),
            json!(arguments.list())
        )
    }

    pub(crate) fn reached(&self) -> OutsideWorld {
        let mut events: Vec<Event> = self.logs.iter().flat_map(|log| witness(log)).collect();
        events.retain(|event| event.kind == Kind::Finished);
        events.sort_by_key(|event| event.at);
        let mut reached = OutsideWorld {
            questions: self.model.requests(),
            ..OutsideWorld::default()
        };
        for event in events {
            if event.tool == "telegram_send_message" {
                let text = |key: &str| plain(&event.arguments[key]);
                reached.messages.push((text("chat_id"), text("message")));
            } else {
                reached.calls.push((event.tool, event.arguments));
            }
        }
        for sent in self.bot.iter().flat_map(|bot| bot.calls_of("sendMessage")) {
            let text = |key: &str| plain(&sent[key]);
            reached.messages.push((text("chat_id"), text("text")));
        }
        reached
    }
}

fn plain(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

fn script(word: &str) -> Script {
    if word == "work" {
        return start_work();
    }
    let file = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join(format!("../../tests/seeds/servers/{word}.json"));
    let text = std::fs::read_to_string(&file)
        .unwrap_or_else(|problem| panic!("unknown server `{word}`: {problem}"));
    let tools: Value = serde_json::from_str(&text).unwrap();
    let tools = tools.as_object().unwrap().iter();
    tools.fold(Script::new(), |script, (name, words)| {
        script.tool(name, words.clone())
    })
}
