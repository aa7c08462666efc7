//! `deft tools …`, `deft mcp …` and `deft config …`.

use std::path::PathBuf;
use std::time::Duration;

use clap::{Args as ClapArgs, Subcommand, ValueEnum};

use super::time::{duration, length};
use crate::complete;

#[derive(Debug, Subcommand)]
pub(crate) enum Tools {
    /// List tools
    List(ToolList),
    /// Show one tool and its parameters
    Show {
        /// The tool's name
        #[arg(add = complete::tools())]
        name: String,
    },
    /// Ask again before calls of a tool in chats (revokes an `always`)
    Forget {
        /// The tool's name
        #[arg(add = complete::tools())]
        name: String,
    },
    /// Call a tool
    Call(ToolCall),
    /// Print the catalog that a model gets: names and first sentences, by server
    Catalog,
}

#[derive(Debug, ClapArgs)]
pub(crate) struct ToolList {
    /// Words to search for in names and descriptions
    pub words: Vec<String>,
    /// Only tools of this server
    #[arg(long)]
    pub server: Option<String>,
    /// Query the servers instead of using the stored list
    #[arg(long)]
    pub refresh: bool,
    /// Maximum number of results
    #[arg(long, value_name = "N")]
    pub limit: Option<usize>,
}

#[derive(Debug, ClapArgs)]
pub(crate) struct ToolCall {
    /// The tool's name
    #[arg(add = complete::tools())]
    pub name: String,
    /// Arguments as `name=value`; JSON values are parsed
    #[arg(value_name = "NAME=VALUE")]
    pub pairs: Vec<String>,
    /// All arguments as one JSON object
    #[arg(long, value_name = "JSON")]
    pub args: Option<String>,
    /// Timeout, such as `30s` or `2m`; a bare number is in seconds
    #[arg(long, value_name = "TIME", value_parser = length)]
    pub timeout: Option<Duration>,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Mcp {
    /// Serve deft to an MCP client over stdin and stdout
    Serve,
    /// List servers and their state
    List,
    /// Add a server to the configuration
    Add(McpAdd),
    /// Remove a server from the configuration
    Remove {
        /// The server's name
        name: String,
    },
    /// Sign in to a server that requires OAuth
    Login(McpLogin),
    /// Sign out of a server
    Logout {
        /// The server's name
        name: String,
    },
    /// Connect to a server and show what it offers
    Probe {
        /// The server's name [default: all]
        name: Option<String>,
    },
    /// Add deft to the MCP servers of another program, or remove it
    Install(McpInstall),
    /// Import servers from another program's file
    Import {
        /// The JSON, TOML or YAML file
        file: PathBuf,
        /// Replace existing servers
        #[arg(long)]
        force: bool,
        /// Show what would be done without doing it
        #[arg(long)]
        dry_run: bool,
    },
}

#[derive(Debug, ClapArgs)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag")]
pub(crate) struct McpInstall {
    /// The program to configure
    #[arg(long, value_name = "CLIENT")]
    pub client: HostName,
    /// Configure it for you in every folder, or for the current folder
    #[arg(long, default_value = "user")]
    pub scope: ScopeName,
    /// Connect the program to the daemon instead of letting it start deft
    #[arg(long)]
    pub http: bool,
    /// The name of the entry
    #[arg(long, default_value = "deft")]
    pub name: String,
    /// Remove the entry
    #[arg(long, conflicts_with = "http")]
    pub remove: bool,
    /// Show the change without making it
    #[arg(long)]
    pub dry_run: bool,
    /// Write without asking
    #[arg(long, short)]
    pub yes: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum HostName {
    ClaudeDesktop,
    ClaudeCode,
    Cursor,
    Vscode,
    Codex,
    Goose,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ScopeName {
    User,
    Project,
}

#[derive(Debug, ClapArgs)]
pub(crate) struct McpLogin {
    /// The server's name
    pub name: String,
    /// A scope to request in addition to those that the server names (repeatable)
    #[arg(long = "scope", value_name = "SCOPE")]
    pub scopes: Vec<String>,
    /// Print the sign-in address, and read the URL of the redirect from the prompt or a pipe
    #[arg(long)]
    pub no_browser: bool,
    /// How long to wait for the browser [default: 5m]
    #[arg(long, value_name = "TIME", value_parser = duration)]
    pub timeout: Option<Duration>,
}

#[derive(Debug, ClapArgs)]
pub(crate) struct McpAdd {
    /// The server's name
    pub name: String,
    /// The URL of an HTTP server
    #[arg(long, conflicts_with = "command")]
    pub url: Option<String>,
    /// A header as `Name: value`; secrets as `env:NAME` (repeatable)
    #[arg(long = "header", value_name = "HEADER", requires = "url")]
    pub headers: Vec<String>,
    /// A variable as `NAME=value`; secrets as `env:NAME` (repeatable)
    #[arg(long = "env", value_name = "NAME=VALUE")]
    pub env: Vec<String>,
    /// Replace a server of the same name
    #[arg(long)]
    pub force: bool,
    /// The command that starts the server, after `--`
    #[arg(last = true, value_name = "COMMAND")]
    pub command: Vec<String>,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Config {
    /// Show all settings
    Show {
        /// Show where each value comes from
        #[arg(long)]
        origin: bool,
    },
    /// Show one setting
    Get {
        /// The setting, such as `time.zone`
        key: String,
    },
    /// Change one setting in the configuration file
    Set {
        /// The setting, such as `time.zone`
        key: String,
        /// The value; TOML values are parsed
        value: String,
    },
    /// Check the configuration file
    Validate,
    /// Print the path of the configuration file
    Path,
}
