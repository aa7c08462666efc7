//! Converts a checked tree into typed settings.
//!
//! `check` has already validated the values. The remaining errors come from the crates that own the types.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

use deft_model::Heal;
use deft_tools::Reference;
use serde_json::{Map, Value, json};

use super::ChannelKind;
use super::engine::EngineConfig;
use super::kind::{self, Kind, KindError};
use super::problem::Problem;
use super::store::StorePath;
use super::table::{self, PathKind};
use super::tree::{Data, Settings};
use super::{Config, LogConfig, NotifyConfig, ServerConfig};
use crate::paths;

/// Reads all settings.
pub(super) fn config(settings: Settings, home: &Path) -> Result<Config, Problem> {
    let reader = Reader {
        settings: &settings,
        home,
    };
    let zone = match reader.text("time.zone") {
        Some(name) => deft_schedule::parse_zone(&name).ok(),
        None => None,
    };
    Ok(Config {
        skill_paths: reader.texts("skills.paths"),
        zone,
        tools: reader.tools()?,
        engine: reader.engine(),
        secrets: reader.secrets(),
        notify: reader.notify(),
        models: reader.models(),
        agent: reader.agent(),
        budget: reader.budget(),
        telegram_chat: reader.truth("telegram.chat").unwrap_or(true),
        store: StorePath::new(reader.text("store.url").as_deref(), home),
        logs: reader.logs(),
        server: reader.server(),
        telemetry: reader.telemetry(),
        hooks: reader.hooks(),
        home: home.to_owned(),
        settings,
    })
}

pub(super) struct Reader<'a> {
    settings: &'a Settings,
    home: &'a Path,
}

impl Reader<'_> {
    fn value(&self, key: &str) -> Option<Value> {
        let path: Vec<&str> = key.split('.').collect();
        self.settings.get(&path).map(super::tree::Node::json)
    }

    /// Returns the tables of a section that contains named tables only.
    pub(super) fn named_tables(&self, path: &[&str]) -> Vec<(String, Map<String, Value>)> {
        let Some(Data::Table(section)) = self.settings.get(path).map(|node| &node.data) else {
            return Vec::new();
        };
        let table = |(name, node): (&String, &super::tree::Node)| match node.json() {
            Value::Object(fields) => Some((name.clone(), fields)),
            Value::Null
            | Value::Bool(_)
            | Value::Number(_)
            | Value::String(_)
            | Value::Array(_) => None,
        };
        section.iter().filter_map(table).collect()
    }

    pub(super) fn truth(&self, key: &str) -> Option<bool> {
        self.value(key)?.as_bool()
    }

    pub(super) fn decimal(&self, key: &str) -> Option<f64> {
        self.value(key)?.as_f64()
    }

    pub(super) fn text(&self, key: &str) -> Option<String> {
        self.value(key)?.as_str().map(str::to_owned)
    }

    fn texts(&self, key: &str) -> Vec<String> {
        self.list(key).unwrap_or_default()
    }

    /// Returns a list of strings, if it is set.
    pub(super) fn list(&self, key: &str) -> Option<Vec<String>> {
        self.value(key).map(|value| texts(&value))
    }

    pub(super) fn number(&self, key: &str) -> Option<u64> {
        self.value(key)?.as_u64()
    }

    pub(super) fn duration(&self, key: &str) -> Option<Duration> {
        length(&self.value(key)?)
    }

    fn logs(&self) -> LogConfig {
        LogConfig::new(
            self.number("logs.max_mb"),
            self.number("logs.keep"),
            self.duration("logs.max_age"),
            self.duration("logs.sessions_max_age"),
        )
    }

    fn server(&self) -> ServerConfig {
        let listen = self.text("server.listen");
        let rate = |key: &str, usual: u32| {
            let given = self.number(key);
            given.map_or(usual, |most| u32::try_from(most).unwrap_or(u32::MAX))
        };
        let path = |key| Some(paths::resolve(self.home, &self.text(key)?));
        let most = self.number("server.max_connections").unwrap_or(512);
        ServerConfig {
            enabled: self.truth("server.enabled").unwrap_or(true),
            listen: listen.unwrap_or_else(|| "127.0.0.1:9876".to_owned()),
            tls_cert: path("server.tls_cert"),
            tls_key: path("server.tls_key"),
            hosts: self.texts("server.hosts"),
            request_timeout: self
                .duration("server.request_timeout")
                .unwrap_or(Duration::from_secs(10)),
            max_connections: usize::try_from(most).unwrap_or(usize::MAX),
            reads_per_second: rate("server.reads_per_second", 20_000),
            changes_per_second: rate("server.changes_per_second", 2_000),
        }
    }

    fn engine(&self) -> EngineConfig {
        EngineConfig {
            // A larger number becomes the largest that fits.
            max_running: self
                .number("engine.max_running")
                .map(|most| u32::try_from(most).unwrap_or(u32::MAX)),
            tool_timeout: self.duration("engine.tool_timeout"),
            run_timeout: self.duration("engine.run_timeout"),
            lease: self.duration("engine.lease"),
            max_result_bytes: self
                .number("engine.max_result_bytes")
                .map(|most| usize::try_from(most).unwrap_or(usize::MAX)),
            max_results_bytes: self
                .number("engine.max_results_bytes")
                .map(|most| usize::try_from(most).unwrap_or(usize::MAX)),
            park_after: self.duration("engine.park_after"),
            health_report_hours: self.number("engine.health_report_hours"),
            workspace_uri: self.text("engine.workspace_uri"),
            heals: self.heals(),
        }
    }

    fn notify(&self) -> NotifyConfig {
        let minutes = self.number("notify.interval_minutes");
        NotifyConfig {
            channel: self
                .text("notify.channel")
                .and_then(|word| ChannelKind::from_word(&word)),
            target: self.text("notify.target"),
            text_argument: self.text("notify.text_argument"),
            target_argument: self.text("notify.target_argument"),
            interval_minutes: minutes.map(|minutes| u32::try_from(minutes).unwrap_or(u32::MAX)),
        }
    }

    fn heals(&self) -> Vec<Heal> {
        let list = self.value("engine.heal").unwrap_or_default();
        let heal = |entry: &Value| {
            Some(Heal {
                when: kind::classes(entry.get("when")?).ok()?,
                tool: entry.get("tool")?.as_str()?.to_owned(),
                args: entry.get("args").cloned().unwrap_or_else(|| json!({})),
            })
        };
        list.as_array()
            .into_iter()
            .flatten()
            .filter_map(heal)
            .collect()
    }

    /// Returns a table of strings and references, by name.
    pub(super) fn references(&self, key: &str) -> BTreeMap<String, Reference> {
        let fields = self.value(key).unwrap_or_default();
        let fields = fields.as_object().into_iter().flatten();
        fields
            .filter_map(|(name, value)| Some((name.clone(), Reference::new(value.as_str()?))))
            .collect()
    }

    fn secrets(&self) -> BTreeMap<String, String> {
        let Some(Data::Table(secrets)) = self.settings.get(&["secrets"]).map(|node| &node.data)
        else {
            return BTreeMap::new();
        };
        let secret = |(name, node): (&String, &super::tree::Node)| {
            Some((name.clone(), node.json().as_str()?.to_owned()))
        };
        secrets.iter().filter_map(secret).collect()
    }

    /// Returns the options of the router, parsed by the router's own types.
    fn tools(&self) -> Result<deft_tools::Options, Problem> {
        let mut options = match self.section("tools") {
            Value::Object(fields) => fields,
            Value::Null
            | Value::Bool(_)
            | Value::Number(_)
            | Value::String(_)
            | Value::Array(_) => Map::new(),
        };
        options.insert("servers".to_owned(), self.section("mcp_servers"));
        if let Some(servers) = options.get_mut("servers").and_then(Value::as_object_mut) {
            servers
                .values_mut()
                .for_each(|server| self.server_paths(server));
        }
        options.insert("telegram".to_owned(), self.telegram());
        options.insert("withheld".to_owned(), self.withheld());
        if let Some(folders) = options
            .get_mut("file")
            .and_then(|file| file.get_mut("folders"))
        {
            let folders = folders.as_array_mut().into_iter().flatten();
            folders.for_each(|folder| self.resolve(folder));
        }
        serde_json::from_value(Value::Object(options)).map_err(|problem| Problem {
            message: problem.to_string(),
            hint: None,
            origin: None,
            path: Vec::new(),
        })
    }

    /// Returns the references to the API keys of models, the secrets of hooks and the telemetry headers.
    /// Tools may not repeat their values.
    fn withheld(&self) -> Value {
        let secrets = |section: &str, key: &str| {
            let tables = self.named_tables(&[section]).into_iter();
            let found = tables.filter_map(|(_, fields)| fields.get(key).cloned());
            found.collect::<Vec<Value>>()
        };
        let headers = self.value("telemetry.headers").unwrap_or_default();
        let headers = headers.as_object().into_iter().flatten();
        let headers = headers.map(|(_, value)| value.clone()).collect();
        let all = [
            secrets("llm", "api_key"),
            secrets("hooks", "secret"),
            headers,
        ];
        Value::Array(all.concat())
    }

    /// Returns the options of the Telegram bot. The chat of `[notify]` is the primary chat if notices go to
    /// Telegram, by the bot or by a server's tool. The target of any other tool is the primary chat only if
    /// no bot is configured.
    fn telegram(&self) -> Value {
        let mut bot = self.section("telegram");
        // In the file, `chat` enables replies to messages; for the router, it names the primary chat.
        if let Some(bot) = bot.as_object_mut() {
            bot.remove("chat");
        }
        let NotifyConfig {
            channel, target, ..
        } = self.notify();
        let is_primary = match &channel {
            None | Some(ChannelKind::Telegram) => true,
            Some(ChannelKind::Tool(tool)) => {
                bot.get("token").is_none() || tool.to_lowercase().contains("telegram")
            }
            Some(ChannelKind::Log | ChannelKind::Desktop | ChannelKind::Webhook) => false,
        };
        if let Some(chat) = target.filter(|_| is_primary) {
            bot["chat"] = chat.into();
        }
        bot["takes_notices"] = matches!(channel, None | Some(ChannelKind::Telegram)).into();
        bot
    }

    /// Returns a section with durations converted to seconds, which every reader accepts.
    fn section(&self, name: &str) -> Value {
        let mut value = self.value(name).unwrap_or_else(|| json!({}));
        seconds(&mut value, &mut vec![name.to_owned()]);
        value
    }

    fn server_paths(&self, server: &mut Value) {
        if let Some(folder) = server.get_mut("cwd") {
            self.resolve(folder);
        }
        // A bare name is searched in `PATH` and stays as it is.
        if let Some(command) = server.get_mut("command")
            && let Some(path) = command.as_str().and_then(paths::expand)
        {
            *command = json!(path);
        }
    }

    fn resolve(&self, path: &mut Value) {
        if let Some(text) = path.as_str() {
            *path = json!(paths::resolve(self.home, text));
        }
    }
}

fn seconds(value: &mut Value, path: &mut Vec<String>) {
    match table::kind_of_path(path) {
        PathKind::Leaf(key) if key.kind == Kind::Duration => {
            if let Some(length) = length(value) {
                *value = json!(length.as_secs_f64());
            }
        }
        PathKind::Section => {
            for (name, below) in value.as_object_mut().into_iter().flatten() {
                path.push(name.clone());
                seconds(below, path);
                path.pop();
            }
        }
        PathKind::Leaf(_) | PathKind::Unknown => {}
    }
}

pub(super) fn texts(value: &Value) -> Vec<String> {
    let texts = value.as_array().into_iter().flatten();
    texts
        .filter_map(|text| text.as_str().map(str::to_owned))
        .collect()
}

pub(super) fn length(value: &Value) -> Option<Duration> {
    let wrong = || KindError {
        message: String::new(),
        hint: None,
    };
    kind::duration(value, wrong).ok()
}
