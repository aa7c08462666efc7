//! The router's options: servers, and limits of the built-in tools.
//!
//! Plain data with defaults. Not here: reading a configuration file, resolving secrets and opening
//! connections.

mod oauth;
mod pipeline;
mod reexport;
mod seconds;
mod telegram;

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::secret::Reference;

pub use oauth::{Grant, OAuthOptions};
pub use pipeline::{Pipeline, Rule};
pub use reexport::Reexport;
pub use telegram::TelegramOptions;

/// All options of the router.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Options {
    /// The MCP servers, by name; the name prefixes the server's tools.
    #[serde(deserialize_with = "servers")]
    pub servers: BTreeMap<String, ServerOptions>,
    /// Limits of `http.request`.
    pub http: HttpOptions,
    /// Limits of the `file.*` tools.
    pub file: FileOptions,
    /// Whether `shell.run` is enabled, and which programs it may run.
    pub shell: ShellOptions,
    /// The bot for `telegram_send_message`.
    pub telegram: TelegramOptions,
    /// The repairs of arguments that a model wrote.
    pub pipeline: Pipeline,
    /// The largest reply of a tool, in bytes; a larger one fails only its call.
    pub max_reply_bytes: usize,
    /// Secrets of other parts of the configuration, such as the keys of model providers. No tool
    /// receives them, and they are removed from every result.
    pub withheld: Vec<Reference>,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            servers: BTreeMap::new(),
            http: HttpOptions::default(),
            file: FileOptions::default(),
            shell: ShellOptions::default(),
            telegram: TelegramOptions::default(),
            pipeline: Pipeline::default(),
            max_reply_bytes: 8 * 1024 * 1024,
            withheld: Vec::new(),
        }
    }
}

impl Options {
    /// Returns every secret that a tool's result could contain, from all parts of the configuration.
    pub(crate) fn references(&self) -> impl Iterator<Item = &Reference> {
        let servers = self.servers.values();
        let servers = servers.flat_map(|server| {
            let texts = server.env.values().chain(server.headers.values());
            texts.chain(&server.oauth.client_secret)
        });
        let all = self.withheld.iter().chain(&self.telegram.token);
        all.chain(servers).filter(|reference| reference.is_secret())
    }
}

/// One MCP server: a command to run, or a URL to connect to.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct ServerOptions {
    /// The program of a server that communicates over stdin and stdout.
    pub command: Option<String>,
    /// The program's arguments.
    pub args: Vec<String>,
    /// Environment variables for the program; values may be `env:NAME` or `file:PATH`.
    pub env: BTreeMap<String, Reference>,
    /// The program's working folder.
    pub cwd: Option<PathBuf>,
    /// The URL of a server that speaks streamable HTTP.
    pub url: Option<String>,
    /// Headers for the URL; values may be `env:NAME`, `file:PATH` or `Bearer env:NAME`.
    pub headers: BTreeMap<String, Reference>,
    /// How to sign in, if the server requires it.
    pub oauth: OAuthOptions,
    /// Whether the server is in use.
    pub enabled: bool,
    /// The maximum number of calls in flight.
    pub concurrency: usize,
    /// The timeout of a call if the caller sets none; in seconds when deserialized.
    #[serde(with = "seconds")]
    pub timeout: Duration,
    /// The timeout for starting the server and listing its tools.
    #[serde(with = "seconds")]
    pub startup_timeout: Duration,
    /// If not empty, only these tools are available; a trailing `*` matches any suffix.
    pub include_tools: Vec<String>,
    /// These tools are not available; a trailing `*` matches any suffix.
    pub exclude_tools: Vec<String>,
    /// Whether deft's own MCP server offers this server's tools, prompts and resources.
    pub reexport: Reexport,
}

impl Default for ServerOptions {
    fn default() -> Self {
        Self {
            command: None,
            args: Vec::new(),
            env: BTreeMap::new(),
            cwd: None,
            url: None,
            headers: BTreeMap::new(),
            oauth: OAuthOptions::default(),
            enabled: true,
            concurrency: 8,
            timeout: Duration::from_mins(1),
            startup_timeout: Duration::from_secs(30),
            include_tools: Vec::new(),
            exclude_tools: Vec::new(),
            reexport: Reexport::Off,
        }
    }
}

/// How to connect to a server.
pub(crate) enum ServerAddress<'a> {
    Command(&'a str),
    Url(&'a str),
}

impl ServerOptions {
    /// Returns options for a server that is a program.
    pub fn command(command: impl Into<String>, args: &[&str]) -> Self {
        Self {
            command: Some(command.into()),
            args: args.iter().map(|&arg| arg.to_owned()).collect(),
            ..Self::default()
        }
    }

    /// Returns options for a server at a URL.
    pub fn url(url: impl Into<String>) -> Self {
        Self {
            url: Some(url.into()),
            ..Self::default()
        }
    }

    pub(crate) fn address(&self) -> Result<ServerAddress<'_>, &'static str> {
        match (&self.command, &self.url) {
            (Some(command), None) => Ok(ServerAddress::Command(command)),
            (None, Some(url)) => Ok(ServerAddress::Url(url)),
            (Some(_), Some(_)) => Err("it has both `command` and `url`"),
            (None, None) => Err("it has neither `command` nor `url`"),
        }
    }

    /// Returns an identifier of the server, without any secret: a stored catalog is valid only while it
    /// stays the same.
    pub(crate) fn source(&self) -> String {
        match self.address() {
            Ok(ServerAddress::Command(command)) => {
                let words = std::iter::once(command).chain(self.args.iter().map(String::as_str));
                format!("stdio:{}", words.collect::<Vec<_>>().join(" "))
            }
            Ok(ServerAddress::Url(url)) => format!("http:{url}"),
            Err(_) => String::new(),
        }
    }

    /// Whether `include_tools` and `exclude_tools` allow a tool.
    pub(crate) fn shows(&self, tool: &str) -> bool {
        let in_list = |list: &[String]| list.iter().any(|pattern| fits(pattern, tool));
        (self.include_tools.is_empty() || in_list(&self.include_tools))
            && !in_list(&self.exclude_tools)
    }
}

fn fits(pattern: &str, name: &str) -> bool {
    match pattern.strip_suffix('*') {
        Some(start) => name.starts_with(start),
        None => name == pattern,
    }
}

/// Limits of `http.request`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct HttpOptions {
    /// Allowed hosts: `api.example.com`, `*.example.com`, `*`, each also with `:PORT`. Private and
    /// loopback addresses need their own entry, without `*`.
    pub allow: Vec<String>,
    /// The timeout of a request.
    #[serde(with = "seconds")]
    pub timeout: Duration,
    /// The largest body to read, in bytes.
    pub max_bytes: usize,
}

impl Default for HttpOptions {
    fn default() -> Self {
        Self {
            allow: Vec::new(),
            timeout: Duration::from_secs(30),
            max_bytes: 4 * 1024 * 1024,
        }
    }
}

/// Limits of the `file.*` tools.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct FileOptions {
    /// Folders whose contents may be read.
    pub folders: Vec<PathBuf>,
    /// Whether files in the folders may also be changed.
    pub write: bool,
    /// The largest file to read or write, in bytes.
    pub max_bytes: usize,
}

impl Default for FileOptions {
    fn default() -> Self {
        Self {
            folders: Vec::new(),
            write: false,
            max_bytes: 4 * 1024 * 1024,
        }
    }
}

/// Whether `shell.run` is enabled, and which programs it may run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct ShellOptions {
    /// Whether the tool is enabled; off by default.
    pub enabled: bool,
    /// If not empty, only these programs, as names or absolute paths, and no command lines.
    pub allow: Vec<String>,
    /// The timeout of a program.
    #[serde(with = "seconds")]
    pub timeout: Duration,
    /// The maximum number of bytes of output to keep.
    pub max_bytes: usize,
}

impl Default for ShellOptions {
    fn default() -> Self {
        Self {
            enabled: false,
            allow: Vec::new(),
            timeout: Duration::from_mins(1),
            max_bytes: 512 * 1024,
        }
    }
}

fn servers<'de, D: serde::Deserializer<'de>>(
    from: D,
) -> Result<BTreeMap<String, ServerOptions>, D::Error> {
    let servers = BTreeMap::<String, ServerOptions>::deserialize(from)?;
    for (name, server) in &servers {
        // With a dot, `a.b.c` would be ambiguous.
        if name.is_empty() || name.contains(['.', '/', ' ']) {
            return Err(serde::de::Error::custom(format!(
                "the server name `{name}` must not be empty or contain a dot, a slash or a space"
            )));
        }
        if let Err(problem) = server.address() {
            return Err(serde::de::Error::custom(format!(
                "the server `{name}` cannot be used: {problem}"
            )));
        }
    }
    Ok(servers)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn read(value: serde_json::Value) -> Result<Options, String> {
        serde_json::from_value(value).map_err(|error| error.to_string())
    }

    #[test]
    fn a_server_is_a_command_or_a_url() {
        let options = read(json!({"servers": {"a": {"command": "x", "timeout": 5}, "b": {"url": "http://h/mcp", "startup_timeout": 90}}})).unwrap();
        assert_eq!(options.servers["a"].timeout, Duration::from_secs(5));
        assert_eq!(
            options.servers["b"].startup_timeout,
            Duration::from_secs(90)
        );
        assert_eq!(options.servers["a"].concurrency, 8);
        for bad in [
            json!({"servers": {"a": {}}}),
            json!({"servers": {"a": {"command": "x", "url": "y"}}}),
            json!({"servers": {"a.b": {"command": "x"}}}),
            json!({"servers": {"a": {"comand": "x"}}}),
            json!({"servers": {"a": {"command": "x", "timeout": -1}}}),
        ] {
            assert!(read(bad.clone()).is_err(), "{bad}");
        }
    }

    #[test]
    fn tools_are_chosen_by_name_or_prefix() {
        let server = ServerOptions {
            include_tools: vec!["git_*".to_owned(), "echo".to_owned()],
            exclude_tools: vec!["git_push".to_owned()],
            ..ServerOptions::command("x", &[])
        };
        let shown: Vec<_> = ["git_log", "git_push", "echo", "echoes"]
            .into_iter()
            .filter(|tool| server.shows(tool))
            .collect();
        assert_eq!(shown, ["git_log", "echo"]);
    }
}
