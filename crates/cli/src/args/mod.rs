//! The command line.

mod chat;
mod examples;
mod rewrite;
mod runs;
mod schedule;
mod setup;
mod skills;
mod time;
mod tools;

use std::path::PathBuf;

use clap::{Args as ClapArgs, Parser, Subcommand, ValueEnum};
use deft_service::Workspace;

use crate::output::{ColorWhen, Output};
use crate::progress::say_above;

pub(crate) use chat::{Budget, BudgetSet, Chat, Conversations};
pub(crate) use examples::command as command_with_examples;
pub(crate) use rewrite::{
    is_own_flag, mistaken_flag, own_flag_hint, rewrite, skill_to_explain, skill_to_run,
};
pub(crate) use runs::{Approvals, Export as RunExport, Resume, Run, RunList, RunPrune, Runs};
pub(crate) use schedule::{Next, Preview, Remind, Schedule, ScheduleAdd, Simulate};
pub(crate) use setup::{Hooks, Open, Secrets, Setup, TokenScopeArg, Tokens};
pub(crate) use skills::{
    Export, ExportFormat, Format, Import, List, New, NewKind, ProfileName, Prompt, PromptFormat,
    Skills, SourceFormat, Validate,
};
pub(crate) use time::{Demo, Jobs, LogForm, Logs, Notices, Status, Tick, Up};
pub(crate) use tools::{
    Config, HostName, Mcp, McpAdd, McpInstall, McpLogin, ScopeName, ToolCall, ToolList, Tools,
};

/// A skill engine for AI assistants.
#[derive(Debug, Parser)]
#[command(name = "deft", version, about, after_help = EXIT_CODES)]
pub(crate) struct Args {
    #[command(flatten)]
    pub global: Global,
    #[command(subcommand)]
    pub command: Option<Command>,
}

const EXIT_CODES: &str = "Exit codes: 0 success or skipped, 1 failed or errors found, 2 usage or \
     input error, 4 timeout, 5 approval needed, 6 limit reached, 70 internal error, 130 \
     interrupted.";

#[derive(Clone, Debug, ClapArgs)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag")]
pub(crate) struct Global {
    /// The home folder [default: `$DEFT_HOME`, else `~/.deft`]
    #[arg(long, global = true, value_name = "DIR")]
    pub home: Option<PathBuf>,
    /// Print one JSON document on stdout, even on failure
    #[arg(long, global = true)]
    pub json: bool,
    /// Print only results and errors
    #[arg(long, short, global = true)]
    pub quiet: bool,
    /// Never prompt
    #[arg(long, global = true)]
    pub no_input: bool,
    /// When to use colours
    #[arg(long, global = true, value_name = "WHEN", default_value = "auto")]
    pub color: ColorWhen,
    /// Print each table row on one line, with full ids
    #[arg(long, global = true)]
    pub wide: bool,
}

impl Global {
    /// Options for printing the help of a skill: `--home` from `words`, quiet and without prompts.
    pub(crate) fn from_words(words: &[std::ffi::OsString]) -> Self {
        let home = words.iter().position(|word| word == "--home");
        let home = home.and_then(|at| words.get(at + 1));
        Self {
            home: home.map(PathBuf::from),
            json: false,
            quiet: true,
            no_input: true,
            color: ColorWhen::Auto,
            wide: false,
        }
    }

    /// Returns the [`Output`] that these options ask for.
    pub(crate) fn output(&self) -> Output {
        Output::new(self.json, self.quiet, self.color, self.wide)
    }

    /// Returns the workspace with the home from `--home` and without extra skill folders.
    pub(crate) fn workspace(&self) -> Workspace {
        Workspace {
            home: self.home.clone(),
            roots: Vec::new(),
            tell: say_above,
            quiet: self.quiet,
            live: None,
        }
    }

    /// Like [`Self::workspace`], with the skill folders from `--root`.
    pub(crate) fn workspace_of(&self, roots: &Roots) -> Workspace {
        self.workspace().with_roots(&roots.roots)
    }
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Start deft: run schedules and queued jobs
    Up(Up),
    /// Set deft up: find keys, models, skills and MCP servers, and connect them
    Setup(Setup),
    /// Open deft in your browser and sign it in
    Open(Open),
    /// Show the state of the home on one screen
    Status(Status),
    /// Show the log of the daemon
    Logs(Logs),
    /// Create the home folder with default skills and examples
    Init {
        /// Has no effect: `deft init` never asks
        #[arg(long)]
        yes: bool,
    },
    /// Check your setup and suggest fixes
    Doctor {
        /// Apply the fixes that need no decision
        #[arg(long)]
        fix: bool,
    },
    /// List, check, create, import, enable and disable skills
    #[command(subcommand)]
    Skills(Skills),
    /// Export skills to other programs such as Claude Code (short for `deft skills export`)
    Export(Export),
    /// Run a skill now and show its progress
    Run(Run),
    /// Chat with an agent, or send one message with `-p`
    Chat(Chat),
    /// Show and set limits on model usage
    #[command(subcommand)]
    Budget(Budget),
    /// List, show, resume and cancel runs
    #[command(subcommand)]
    Runs(Runs),
    /// Set a reminder in words: `deft remind drink water in 5m`
    Remind(Remind),
    /// Show, change and simulate schedules
    #[command(subcommand)]
    Schedule(Schedule),
    /// Run due schedules and queued jobs once, without a daemon
    Tick(Tick),
    /// Queue and show background jobs
    #[command(subcommand)]
    Jobs(Jobs),
    /// Show notices and their delivery
    #[command(subcommand)]
    Notices(Notices),
    /// Show and answer pending approvals
    #[command(subcommand)]
    Approvals(Approvals),
    /// List, show and call tools
    #[command(subcommand)]
    Tools(Tools),
    /// Manage MCP servers
    #[command(subcommand)]
    Mcp(Mcp),
    /// Show and change settings
    #[command(subcommand)]
    Config(Config),
    /// Store, list, remove and test secrets
    #[command(subcommand)]
    Secrets(Secrets),
    /// Create, list and revoke HTTP API tokens
    #[command(subcommand)]
    Tokens(Tokens),
    /// List and test hooks: addresses that other programs call to start skills
    #[command(subcommand)]
    Hooks(Hooks),
    /// Undo the last deletion
    Undo {
        /// List what can be restored
        #[arg(long)]
        list: bool,
    },
    /// Run one command line exactly as a model would write it
    Cmd {
        /// The command line, such as `get_skill: email` or `tasks.search --help`
        line: String,
        #[command(flatten)]
        roots: Roots,
    },
    /// Demonstrate recovery from a crash
    #[command(subcommand)]
    Demo(Demo),
    /// Print JSON Schemas for editors and other programs
    Schema {
        /// The document that the schema describes
        what: SchemaName,
    },
    /// Print a completion script for a shell
    Completions {
        /// The shell
        shell: clap_complete::Shell,
    },
    /// Write manual pages
    Man {
        /// The folder to write the pages to
        #[arg(long, value_name = "DIR")]
        dir: PathBuf,
    },
    /// Run the sandbox for compute blocks; deft starts it itself
    #[command(hide = true)]
    ComputeWorker,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum SchemaName {
    /// The frontmatter of a SKILL.md
    Skill,
    /// A YAML workflow
    Workflow,
    /// A record, as `memory_store_skill` accepts it
    Record,
    /// The frontmatter of an AGENT.md
    Agent,
    /// `config.toml`
    Config,
    /// The events of a run
    Events,
}

/// Folders to search for skills.
#[derive(Clone, Debug, Default, ClapArgs)]
pub(crate) struct Roots {
    /// Use this folder instead of the home (repeatable)
    #[arg(long = "root", value_name = "DIR")]
    pub roots: Vec<PathBuf>,
}
