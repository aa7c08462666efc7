//! `deft setup`, `deft open`, `deft secrets …`, `deft tokens …` and `deft hooks …`.

use std::path::PathBuf;

use clap::{Args as ClapArgs, Subcommand, ValueEnum};

#[derive(Debug, ClapArgs)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is a flag of the command line"
)]
pub(crate) struct Setup {
    /// Accept every proposal without asking
    #[arg(long)]
    pub yes: bool,
    /// The provider of the model, such as `anthropic`, `openai` or `ollama`
    #[arg(long, value_name = "NAME")]
    pub provider: Option<String>,
    /// The provider's name for the model
    #[arg(long, value_name = "MODEL")]
    pub model: Option<String>,
    /// The URL of the provider, or of any server with the chat completions API
    #[arg(long, value_name = "URL")]
    pub base_url: Option<String>,
    /// Probe this address for a model server instead of the usual ports; `none` probes nothing (repeatable)
    #[arg(long, value_name = "ADDRESS")]
    pub probe: Vec<String>,
    /// Do not test the model with a call
    #[arg(long)]
    pub no_test: bool,
    /// Do not add skill folders
    #[arg(long)]
    pub no_skills: bool,
    /// Do not import MCP servers
    #[arg(long)]
    pub no_mcp: bool,
    /// Install a service that starts deft at login
    #[arg(long, conflicts_with = "no_service")]
    pub service: bool,
    /// Do not offer the service
    #[arg(long)]
    pub no_service: bool,
}

#[derive(Debug, ClapArgs)]
pub(crate) struct Open {
    /// Print the address instead of starting a browser
    #[arg(long)]
    pub no_browser: bool,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Tokens {
    /// Create a token; it is shown only once
    Add {
        /// A name for the token, such as the program or device that uses it
        name: String,
        /// What the token allows
        #[arg(long, value_enum)]
        scope: TokenScopeArg,
    },
    /// List tokens and what they allow, without the tokens themselves
    List,
    /// Revoke a token
    Revoke {
        /// The token's name
        name: String,
    },
}

#[derive(Debug, Subcommand)]
pub(crate) enum Hooks {
    /// List hooks with their addresses and skills
    List,
    /// Send a signed test delivery to the running daemon
    Test {
        /// The hook's name
        name: String,
        /// A JSON file to send as the body; `-` reads stdin [default: a generated body]
        #[arg(long, value_name = "FILE")]
        payload: Option<PathBuf>,
    },
}

/// The scope of a token.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum TokenScopeArg {
    /// Read everything except secrets
    Read,
    /// Also run skills, call tools and answer approvals
    Run,
    /// Also change skills, schedules and settings
    Admin,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Secrets {
    /// Store a secret, typed at the prompt or piped in
    Set {
        /// The secret's name, such as `ANTHROPIC_API_KEY`
        name: String,
        /// Store it in a file of the home, even if a keyring is available
        #[arg(long)]
        file: bool,
    },
    /// List secrets and where they are stored, without their values
    List,
    /// Remove a stored secret
    Rm {
        /// The secret's name
        name: String,
    },
    /// Check that secrets can be read
    Test {
        /// Names of secrets [default: all]
        names: Vec<String>,
    },
}
