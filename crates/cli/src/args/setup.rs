//! `deft setup`, `deft secrets …`, `deft tokens …` and `deft hooks …`.

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
    /// The model, as the provider calls it
    #[arg(long, value_name = "MODEL")]
    pub model: Option<String>,
    /// The address of the provider, or of any server with the chat completions API
    #[arg(long, value_name = "URL")]
    pub base_url: Option<String>,
    /// Look for model servers here instead of at the usual ports; `none` for nowhere (repeatable)
    #[arg(long, value_name = "ADDRESS")]
    pub probe: Vec<String>,
    /// Do not call the model
    #[arg(long)]
    pub no_test: bool,
    /// Add no skill folders
    #[arg(long)]
    pub no_skills: bool,
    /// Import no MCP servers
    #[arg(long)]
    pub no_mcp: bool,
    /// Install the service that starts deft by itself
    #[arg(long, conflicts_with = "no_service")]
    pub service: bool,
    /// Do not offer the service
    #[arg(long)]
    pub no_service: bool,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Tokens {
    /// Make a token; it is shown once
    Add {
        /// Its name, such as the program or device that uses it
        name: String,
        /// What it allows: looking, also running skills, or everything
        #[arg(long, value_enum)]
        scope: TokenScopeArg,
    },
    /// List tokens and what they allow; never the tokens themselves
    List,
    /// End a token
    Revoke {
        /// Its name
        name: String,
    },
}

#[derive(Debug, Subcommand)]
pub(crate) enum Hooks {
    /// List hooks with their addresses and skills
    List,
    /// Send a signed delivery to the daemon that is up
    Test {
        /// The hook
        name: String,
        /// The body, a file with JSON; `-` reads it from stdin [default: one that deft makes up]
        #[arg(long, value_name = "FILE")]
        payload: Option<PathBuf>,
    },
}

/// The scope of a token.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum TokenScopeArg {
    /// Look at everything but secrets
    Read,
    /// Also run skills, call tools and answer questions
    Run,
    /// Also change skills, schedules and settings
    Admin,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Secrets {
    /// Store a secret: type it at the prompt, or pipe it in
    Set {
        /// Its name, such as `ANTHROPIC_API_KEY`
        name: String,
        /// Store it in a file of the home, also where there is a keyring
        #[arg(long)]
        file: bool,
    },
    /// List secrets and where they are; never their values
    List,
    /// Remove a stored secret
    Rm {
        /// Its name
        name: String,
    },
    /// Check that secrets can be read
    Test {
        /// Their names [default: all]
        names: Vec<String>,
    },
}
