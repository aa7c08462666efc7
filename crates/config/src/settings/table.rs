//! The table of all keys in `config.toml`. The checks, suggestions, `deft config show`, the JSON Schema and
//! the reference in `docs/configuration.md` are derived from it.
//!
//! Not here: the kinds of values (`kind.rs`), and the effect of the settings.

use deft_llm::ProviderKind;
use deft_model::DEFAULT_AGENT;

use super::hook::HookScheme;
use super::kind::Kind;

/// A key of the file.
#[derive(Debug)]
pub(super) struct Key {
    /// The dotted path; a part in capitals stands for any name.
    pub path: &'static str,
    pub kind: Kind,
    pub preset: KeyDefault,
    /// A one-line description.
    pub doc: &'static str,
}

/// The default of a key.
#[derive(Clone, Copy, Debug)]
pub(super) enum KeyDefault {
    /// This value, in TOML.
    Value(&'static str),
    /// This string.
    Text(&'static str),
    /// A default that is not a single value, described in words.
    Words(&'static str),
    /// No default: the key is required.
    Needed,
}

use KeyDefault::{Needed, Text, Value, Words};

impl KeyDefault {
    /// Returns the default in TOML, if it is a single value.
    pub(super) fn toml(self) -> Option<String> {
        match self {
            Value(text) => Some(text.to_owned()),
            Text(text) => Some(format!("{text:?}")),
            Words(_) | Needed => None,
        }
    }
}

const fn key(path: &'static str, kind: Kind, preset: KeyDefault, doc: &'static str) -> Key {
    Key {
        path,
        kind,
        preset,
        doc,
    }
}

/// How a server's tools appear to clients of deft's MCP server.
const REEXPORTS: &[&str] = &["off", "prefixed", "plain"];

/// OAuth grants for MCP servers.
const GRANTS: &[&str] = &["authorization_code", "client_credentials"];

/// Actions when a budget is used up.
const EXHAUSTED: &[&str] = &["pause", "skip", "ask"];

/// All keys, in the order in which they are shown.
#[rustfmt::skip]
pub(super) const KEYS: &[Key] = &[
    key("skills.paths", Kind::Texts, Value("[]"),
        "Folders of skills in addition to `skills/` in the home; `~/` and paths relative to the home work"),
    key("time.zone", Kind::Zone, Words("`TZ`, else the host's zone"),
        "Default time zone"),

    key("engine.max_running", Kind::Count, Value("64"),
        "Maximum number of concurrent runs over all processes; 0 for no limit"),
    key("engine.tool_timeout", Kind::Duration, Words("the server's `timeout`, else `1m`"),
        "Default tool-call timeout"),
    key("engine.run_timeout", Kind::Duration, Words("no limit"),
        "Default run timeout, for skills without `timeout`"),
    key("engine.lease", Kind::Duration, Value("\"30s\""),
        "How long a process that stopped responding keeps its runs; then another process takes over"),
    key("engine.max_result_bytes", Kind::Positive, Value("1048576"),
        "Maximum size in bytes of a step result in the database; larger results go to a file"),
    key("engine.max_results_bytes", Kind::Positive, Value("67108864"),
        "Maximum total size of the results of one run, in bytes"),
    key("engine.park_after", Kind::Duration, Value("\"30s\""),
        "A run that waits longer than this is parked: it no longer counts towards `max_running`"),
    key("engine.health_report_hours", Kind::Count, Value("6"),
        "Hours between health reports, which run the checks of `deft doctor` and send what has changed; 0 for none"),
    key("engine.workspace_uri", Kind::Text, Words("the current folder, as `file://…`"),
        "Default folder or project that runs work on"),
    key("engine.heal", Kind::Heals, Value("[]"),
        "`heal` rules for every skill: `{when = \"auth\", tool = \"NAME\", args = {…}}`; `when` is a failure class or a list of them"),

    key("store.url", Kind::Store, Value("\"sqlite://data/deft.db\""),
        "The database: `sqlite://` and a path, relative to the home unless it starts with `/`"),

    key("logs.max_mb", Kind::Positive, Value("10"),
        "The size in megabytes at which `logs/deft.log` and `logs/notices.log` are rotated"),
    key("logs.keep", Kind::Count, Value("5"),
        "How many rotated files of each log are kept: `deft.log.1` is the newest"),
    key("logs.max_age", Kind::Duration, Value("\"30d\""),
        "Maximum age of a log before it is rotated, and of rotated files before they are removed"),
    key("logs.sessions_max_age", Kind::Duration, Value("\"365d\""),
        "How long the dated logs in `sessions/` are kept"),

    key("mcp_servers.NAME.command", Kind::Text, Words("none; either this or `url`"),
        "The program of a server that communicates over stdin and stdout"),
    key("mcp_servers.NAME.args", Kind::Texts, Value("[]"),
        "Arguments of `command`"),
    key("mcp_servers.NAME.env.KEY", Kind::Reference, Words("none"),
        "An environment variable of the server; secrets as `env:NAME` or `file:PATH`"),
    key("mcp_servers.NAME.cwd", Kind::Text, Words("where deft was started"),
        "Working directory of the server"),
    key("mcp_servers.NAME.url", Kind::Url, Words("none; either this or `command`"),
        "The URL of a streamable HTTP server"),
    key("mcp_servers.NAME.headers.KEY", Kind::Reference, Words("none"),
        "A header of every request to the server; secrets as `env:NAME`, `file:PATH` or `Bearer env:NAME`"),
    key("mcp_servers.NAME.oauth.client_id", Kind::Text, Words("deft registers itself"),
        "The id of the client that you registered for deft with the authorization server of the MCP server"),
    key("mcp_servers.NAME.oauth.client_secret", Kind::Secret, Words("none"),
        "The secret of `oauth.client_id`, as `env:NAME`, `file:PATH` or `keyring:NAME`"),
    key("mcp_servers.NAME.oauth.client_metadata_url", Kind::Url, Words("none"),
        "The `https` address of a client metadata document, used as the client id if the authorization server supports it"),
    key("mcp_servers.NAME.oauth.scopes", Kind::Texts, Words("what the server asks for"),
        "Scopes to request"),
    key("mcp_servers.NAME.oauth.grant", Kind::Words(GRANTS), Value("\"authorization_code\""),
        "How deft gets a token: `authorization_code` after a sign-in with `deft mcp login`, `client_credentials` with `client_id` and `client_secret` only"),
    key("mcp_servers.NAME.oauth.callback_port", Kind::Count, Value("0"),
        "The port of this machine to which the browser returns, if the authorization server requires a fixed one; 0 for any free port"),
    key("mcp_servers.NAME.enabled", Kind::Truth, Value("true"),
        "Whether deft uses this server"),
    key("mcp_servers.NAME.concurrency", Kind::Positive, Value("8"),
        "Maximum number of concurrent calls"),
    key("mcp_servers.NAME.timeout", Kind::Duration, Value("\"1m\""),
        "Default timeout of a call"),
    key("mcp_servers.NAME.startup_timeout", Kind::Duration, Value("\"30s\""),
        "Timeout for starting the server and listing its tools"),
    key("mcp_servers.NAME.include_tools", Kind::Texts, Value("[]"),
        "Use only these tools; a trailing `*` is a wildcard"),
    key("mcp_servers.NAME.exclude_tools", Kind::Texts, Value("[]"),
        "Hide these tools; a trailing `*` is a wildcard"),
    key("mcp_servers.NAME.reexport", Kind::Words(REEXPORTS), Value("\"off\""),
        "Whether deft's MCP server passes this server's tools, prompts and resources on: `off`, `prefixed` (as `SERVER_TOOL`) or `plain` (original names)"),

    key("tools.max_reply_bytes", Kind::Positive, Value("8388608"),
        "Maximum size in bytes of a reply of an MCP server; a larger reply fails the call"),
    key("tools.http.allow", Kind::Texts, Value("[]"),
        "Hosts that `http.request` may call: `api.example.com`, `*.example.com`, `*`, each also with `:PORT`; private addresses need an entry of their own"),
    key("tools.http.timeout", Kind::Duration, Value("\"30s\""),
        "Timeout of a request"),
    key("tools.http.max_bytes", Kind::Positive, Value("4194304"),
        "Maximum size in bytes of a response body"),
    key("tools.file.folders", Kind::Texts, Value("[]"),
        "Folders whose contents the `file.*` tools may read"),
    key("tools.file.write", Kind::Truth, Value("false"),
        "Whether the `file.*` tools may change files in these folders"),
    key("tools.file.max_bytes", Kind::Positive, Value("4194304"),
        "The largest file that is read or written"),
    key("tools.shell.enabled", Kind::Truth, Value("false"),
        "Whether `shell.run` is enabled"),
    key("tools.shell.allow", Kind::Texts, Value("[]"),
        "If set, only these programs may run; shell command lines are refused"),
    key("tools.shell.timeout", Kind::Duration, Value("\"1m\""),
        "Timeout of a program"),
    key("tools.shell.max_bytes", Kind::Positive, Value("524288"),
        "Maximum output size of `shell.run` in bytes; the rest is dropped"),

    key("secrets.KEY", Kind::Secret, Words("none"),
        "A secret that skills may name, and where its value is: `env:NAME`, `file:PATH` or `keyring:NAME`; `deft secrets set` writes it"),

    key("server.enabled", Kind::Truth, Value("true"),
        "Whether `deft up` serves the API over HTTP"),
    key("server.listen", Kind::Address, Value("\"127.0.0.1:9876\""),
        "The address of the API; port 0 takes a free port. An address that other machines can reach needs `server.tls_cert` and `server.tls_key`"),
    key("server.reads_per_second", Kind::Positive, Value("20000"),
        "Maximum read requests per second and token; more get 429"),
    key("server.changes_per_second", Kind::Positive, Value("2000"),
        "Maximum changing requests per second and token; more get 429"),
    key("server.tls_cert", Kind::Text, Words("none: the API is not encrypted"),
        "PEM file with the certificate chain of the API; reloaded when it changes"),
    key("server.tls_key", Kind::Text, Words("none"),
        "The PEM file with the private key of the certificate"),
    key("server.hosts", Kind::Texts, Value("[]"),
        "Further names that requests may use for this machine, as in `https://NAME:9876`"),
    key("server.request_timeout", Kind::Duration, Value("\"10s\""),
        "Timeout for receiving the request headers, and again for the body"),
    key("server.max_connections", Kind::Positive, Value("512"),
        "Maximum number of open connections; when it is reached, a new connection closes the longest-idle one"),

    key("hooks.NAME.secret", Kind::Secret, Needed,
        "The secret that signs deliveries to `/hooks/NAME`, as `env:NAME`, `file:PATH` or `keyring:NAME`"),
    key("hooks.NAME.scheme", Kind::Words(HookScheme::WORDS), Value("\"standard\""),
        "How deliveries are signed: `standard` (Standard Webhooks), `github`, `stripe`, or `plain`, the HMAC-SHA256 of the body in one header"),
    key("hooks.NAME.header", Kind::Text, Value("\"X-Signature\""),
        "The header with the signature, for the scheme `plain`"),
    key("hooks.NAME.events", Kind::Texts, Value("[]"),
        "If set, only deliveries of these kinds fire skills: the header `X-GitHub-Event`, or `type` in the body"),
    key("hooks.NAME.tolerance", Kind::Duration, Value("\"5m\""),
        "How old a delivery may be, for schemes that sign the time"),

    key("telemetry.endpoint", Kind::Url, Words("`OTEL_EXPORTER_OTLP_ENDPOINT`, else nothing is exported"),
        "The OTLP receiver to which traces and metrics are exported over HTTP, such as `http://localhost:4318`"),
    key("telemetry.headers.KEY", Kind::Reference, Words("`OTEL_EXPORTER_OTLP_HEADERS`"),
        "A header of every export request; secrets as `env:NAME`, `file:PATH` or `Bearer env:NAME`"),
    key("telemetry.traces", Kind::Truth, Value("true"),
        "Whether traces of runs are exported"),
    key("telemetry.metrics", Kind::Truth, Value("true"),
        "Whether `deft up` exports metrics"),
    key("telemetry.metrics_interval", Kind::Duration, Value("\"1m\""),
        "The time between two exports of metrics"),
    key("telemetry.content", Kind::Truth, Value("false"),
        "Whether traces include arguments and results of tools, texts of models and error messages"),
    key("telemetry.open_metrics", Kind::Truth, Value("false"),
        "Whether `/metrics` needs no token while the API listens on a loopback address"),

    key("llm.NAME.provider", Kind::Words(ProviderKind::WORDS), Needed,
        "The kind of model server; `openai` is any server with the chat completions API"),
    key("llm.NAME.model", Kind::Text, Needed,
        "The model, as the server calls it"),
    key("llm.NAME.base_url", Kind::Url, Words("the provider's own"),
        "The address of the model server"),
    key("llm.NAME.api_key", Kind::Secret, Words("none"),
        "The key, as `env:NAME`, `file:PATH` or `keyring:NAME`"),
    key("llm.NAME.tools", Kind::Truth, Value("true"),
        "Whether the model can call tools; if not, it writes `cmd` blocks"),
    key("llm.NAME.max_tokens", Kind::Positive, Value("4096"),
        "Maximum number of tokens in an answer"),
    key("llm.NAME.context_tokens", Kind::Positive, Words("not known"),
        "Context size in tokens; older messages are dropped to fit"),
    key("llm.NAME.temperature", Kind::Number, Words("the server's own"),
        "Sampling temperature"),
    key("llm.NAME.timeout", Kind::Duration, Value("\"2m\""),
        "Timeout of one attempt"),
    key("llm.NAME.retries", Kind::Count, Value("2"),
        "Maximum number of retries after a temporary failure"),
    key("llm.NAME.fallback", Kind::Texts, Value("[]"),
        "Other `llm` sections to try, in this order, if this model does not answer"),
    key("llm.NAME.concurrency", Kind::Positive, Value("4"),
        "Maximum number of concurrent calls"),
    key("llm.NAME.price_input", Kind::Number, Words("not known"),
        "USD per million input tokens"),
    key("llm.NAME.price_cached", Kind::Number, Words("same as `price_input`"),
        "USD per million cached input tokens"),
    key("llm.NAME.price_cache_write", Kind::Number,
        Words("1.25 times `price_input` for `anthropic`, else `price_input`"),
        "USD per million input tokens written to the cache"),
    key("llm.NAME.price_output", Kind::Number, Words("not known"),
        "USD per million output tokens"),
    key("llm.NAME.extra.KEY", Kind::Any, Words("none"),
        "An additional field of every request, with the provider's name for it"),

    key("agent.default", Kind::Text, Text(DEFAULT_AGENT),
        "Default agent of skills and chats"),
    key("agent.llm", Kind::Text, Words("the only `[llm.NAME]` section"),
        "The name of the `llm` section that agents use by default"),
    key("agent.approve", Kind::Texts, Value("[\"destructive\"]"),
        "Tools that need approval before an agent calls them: names (a trailing `*` is a wildcard), or `destructive` for tools that are marked as destructive and, in attended chats, tools whose servers do not say whether they are"),
    key("agent.tools", Kind::Texts, Value("[\"needed\"]"),
        "Tools for chats: names (a trailing `*` is a wildcard) are always offered; `needed` adds all other tools on demand"),
    key("agent.offer_tokens", Kind::Count, Value("1000"),
        "With `needed`: offer all tools if their descriptions take at most this many tokens in total"),
    key("agent.user", Kind::Text, Words("nothing"),
        "What agents should know about you: your name, location, how you like answers"),
    key("agent.max_steps", Kind::Positive, Value("10"),
        "Maximum number of turns (model requests) in one run"),
    key("agent.max_calls", Kind::Positive, Value("100"),
        "Maximum number of tool calls in one run, over all its agents"),
    key("agent.may_schedule", Kind::Truth, Value("false"),
        "Whether agents in scheduled runs may create schedules"),
    key("agent.max_depth", Kind::Count, Value("2"),
        "Maximum depth of dispatched agents"),
    key("agent.fan_out", Kind::Positive, Value("4"),
        "Maximum number of agents dispatched in one turn"),

    key("chat.history_tokens", Kind::Positive, Value("12000"),
        "How many tokens of earlier messages the model gets"),

    key("notify.channel", Kind::Channel, Words("`telegram` if there is a bot and a chat, else `desktop` if there is one, else `log`"),
        "Where notices go: `log` (`logs/notices.log`), `desktop` (`notify-send`, or `osascript` on macOS), `telegram`, `webhook`, or a tool such as `tool:slack_post`"),
    key("notify.target", Kind::Text, Words("the first of `telegram.allowed_chats`"),
        "Where notices go: the primary chat (also used by tool calls that name no chat), the URL of the webhook, or the target argument of the tool"),
    key("notify.text_argument", Kind::Text, Words("`text`, `message`, …, depending on the tool's schema"),
        "The argument of the tool that takes the text"),
    key("notify.target_argument", Kind::Text, Words("`chat_id`, `target`, …, depending on the tool's schema"),
        "The argument of the tool that takes `notify.target`"),
    key("notify.interval_minutes", Kind::Count, Value("0"),
        "Minimum minutes between two completion notices of one skill; `SKILL_NOTIFY_INTERVAL_MINUTES` sets it too"),

    key("telegram.token", Kind::Secret, Words("none"),
        "The token of the bot, as `env:NAME` or `file:PATH`; it enables `telegram_send_message`"),
    key("telegram.base_url", Kind::Url, Value("\"https://api.telegram.org\""),
        "The address of the bot API"),
    key("telegram.timeout", Kind::Duration, Value("\"30s\""),
        "Timeout of a request to the bot API"),
    key("telegram.allowed_chats", Kind::Chats, Value("[]"),
        "Chats that the bot answers; if set, tools may send only to these and the primary chat"),
    key("telegram.chat", Kind::Truth, Value("true"),
        "Whether `deft up` answers messages in these chats (needs a model)"),

    key("budget.tokens_per_day", Kind::Count, Words("no limit"),
        "Maximum number of tokens per day over all models, input and output"),
    key("budget.usd_per_day", Kind::Number, Words("no limit"),
        "Maximum cost per day over all models, in US dollars"),
    key("budget.on_exhausted", Kind::Words(EXHAUSTED), Value("\"pause\""),
        "What happens when the limit is reached: `pause` the agent (the run fails), `skip` the run, or `ask` a person"),
    key("budget.agents.NAME.tokens_per_day", Kind::Count, Words("no limit"),
        "Maximum number of tokens per day for this agent"),
    key("budget.agents.NAME.usd_per_day", Kind::Number, Words("no limit"),
        "Maximum cost per day of this agent, in US dollars"),
    key("budget.agents.NAME.on_exhausted", Kind::Words(EXHAUSTED), Words("`budget.on_exhausted`"),
        "What happens when a limit of this agent is reached"),
    key("budget.agents.NAME.spike_tokens", Kind::Count, Words("500000, or 20 times its usual tokens per hour if that is more"),
        "Pause the agent and send a notice after this many tokens in one hour"),
    key("budget.agents.NAME.spike_factor", Kind::Number, Words("no limit"),
        "Pause the agent and send a notice when its usage in one hour exceeds the usual by this factor"),
];

/// The meaning of a path in the file.
#[derive(Debug)]
pub(super) enum PathKind {
    /// A value.
    Leaf(&'static Key),
    /// Further keys.
    Section,
    /// Not part of the configuration.
    Unknown,
}

/// Returns the meaning of `path`.
pub(super) fn kind_of_path<S: AsRef<str>>(path: &[S]) -> PathKind {
    let fits = |key: &&Key| starts(key, path);
    let mut below = KEYS.iter().filter(fits).peekable();
    let first = below.peek().copied();
    match below.find(|key| key.depth() == path.len()) {
        Some(key) => PathKind::Leaf(key),
        None if first.is_some() => PathKind::Section,
        None => PathKind::Unknown,
    }
}

/// Returns the names allowed below `path`; empty if any name is allowed.
pub(super) fn names_below<S: AsRef<str>>(path: &[S]) -> Vec<&'static str> {
    let mut names = Vec::new();
    for key in KEYS.iter().filter(|key| starts(key, path)) {
        match key.parts().nth(path.len()) {
            Some(part) if !is_any(part) && !names.contains(&part) => names.push(part),
            _ => {}
        }
    }
    names
}

/// Whether a part of a key's path stands for any name.
pub(super) fn is_any(part: &str) -> bool {
    part.starts_with(|first: char| first.is_ascii_uppercase())
}

/// Whether `path` is the key or a section above it.
fn starts<S: AsRef<str>>(key: &Key, path: &[S]) -> bool {
    key.depth() >= path.len()
        && key
            .parts()
            .zip(path)
            .all(|(part, given)| is_any(part) || part == given.as_ref())
}

impl Key {
    /// Returns the parts of the path.
    pub(super) fn parts(&self) -> impl Iterator<Item = &'static str> + use<> {
        self.path.split('.')
    }

    fn depth(&self) -> usize {
        self.parts().count()
    }

    /// Returns the default, if it is a single value.
    pub(super) fn default_value(&self) -> Option<serde_json::Value> {
        super::tree::value_of(&self.preset.toml()?)
    }
}
