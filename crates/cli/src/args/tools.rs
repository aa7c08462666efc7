//! `deft tools …`, `deft mcp …` and `deft config …`.

use std::path::PathBuf;

use clap::{Args as ClapArgs, Subcommand};

#[derive(Debug, Subcommand)]
pub(crate) enum Tools {
    /// List tools
    List(ToolList),
    /// Show one tool and its parameters
    Show {
        /// Its name
        name: String,
    },
    /// Ask again before calls of a tool in chats (takes back an `always`)
    Forget {
        /// Its name
        name: String,
    },
    /// Call a tool
    Call(ToolCall),
    /// The catalog that a model gets: names and first sentences, by server
    Catalog,
}

#[derive(Debug, ClapArgs)]
pub(crate) struct ToolList {
    /// Words to look for in names and descriptions
    pub words: Vec<String>,
    /// Only tools of this server
    #[arg(long)]
    pub server: Option<String>,
    /// Ask the servers instead of what they said last
    #[arg(long)]
    pub refresh: bool,
    /// At most so many
    #[arg(long, value_name = "N")]
    pub limit: Option<usize>,
}

#[derive(Debug, ClapArgs)]
pub(crate) struct ToolCall {
    /// The tool's name
    pub name: String,
    /// Arguments as `name=value`; what is JSON is taken as JSON
    #[arg(value_name = "NAME=VALUE")]
    pub pairs: Vec<String>,
    /// All arguments as one JSON object
    #[arg(long, value_name = "JSON")]
    pub args: Option<String>,
    /// The longest the call may take, in seconds
    #[arg(long, value_name = "SECONDS")]
    pub timeout: Option<u64>,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Mcp {
    /// List servers and how they are
    List,
    /// Add a server to the configuration
    Add(McpAdd),
    /// Remove a server from the configuration
    Remove {
        /// Its name
        name: String,
    },
    /// Connect to a server and say what it offers
    Probe {
        /// Its name; all when absent
        name: Option<String>,
    },
    /// Take over servers from another host's file (`mcpServers` or `servers`)
    Import {
        /// The JSON file
        file: PathBuf,
        /// Replace servers that are there already
        #[arg(long)]
        force: bool,
        /// Only say what would be done
        #[arg(long)]
        dry_run: bool,
    },
}

#[derive(Debug, ClapArgs)]
pub(crate) struct McpAdd {
    /// What to call it
    pub name: String,
    /// The address of a server over HTTP
    #[arg(long, conflicts_with = "command")]
    pub url: Option<String>,
    /// A header as `Name: value`; secrets as `env:NAME` (can be given more than once)
    #[arg(long = "header", value_name = "HEADER", requires = "url")]
    pub headers: Vec<String>,
    /// A variable as `NAME=value`; secrets as `env:NAME` (can be given more than once)
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
        /// Also say where each value comes from
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
        /// The value; what is TOML is taken as TOML
        value: String,
    },
    /// Check the file
    Validate,
    /// Show where the file is
    Path,
}
