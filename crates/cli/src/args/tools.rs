//! `deft tools …`, `deft mcp …` and `deft config …`.

use std::path::PathBuf;

use clap::{Args as ClapArgs, Subcommand};

use crate::complete;

#[derive(Debug, Subcommand)]
pub(crate) enum Tools {
    /// List tools
    List(ToolList),
    /// Show one tool and its parameters
    Show {
        /// Its name
        #[arg(add = complete::tools())]
        name: String,
    },
    /// Ask again before calls of a tool in chats (takes back an `always`)
    Forget {
        /// Its name
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
    /// Ask the servers again instead of using the stored list
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
    /// Timeout in seconds
    #[arg(long, value_name = "SECONDS")]
    pub timeout: Option<u64>,
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
        /// Its name
        name: String,
    },
    /// Connect to a server and show what it offers
    Probe {
        /// The server's name [default: all]
        name: Option<String>,
    },
    /// Import servers from another host's file (`mcpServers`, `servers`, or Codex's `mcp_servers`)
    Import {
        /// The JSON or TOML file
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
        /// Such as `time.zone`
        key: String,
    },
    /// Change one setting in the file
    Set {
        /// Such as `time.zone`
        key: String,
        /// The value; TOML values are parsed
        value: String,
    },
    /// Check the configuration file
    Validate,
    /// Print the path of the configuration file
    Path,
}
