//! The command line.

mod chat;
mod rewrite;
mod runs;
mod schedule;
mod skills;
mod time;
mod tools;

use std::path::PathBuf;

use clap::{Args as ClapArgs, Parser, Subcommand, ValueEnum};

pub(crate) use chat::{Budget, BudgetSet, Chat, Conversations};
pub(crate) use rewrite::{is_own_flag, mistaken_flag, own_flag_hint, rewrite};
pub(crate) use runs::{Approvals, Export as RunExport, Resume, Run, RunList, RunPrune, Runs};
pub(crate) use schedule::{Next, Preview, Schedule, Simulate};
pub(crate) use skills::{
    Export, ExportFormat, Format, Import, List, New, NewKind, ProfileName, Prompt, PromptFormat,
    Skills, Validate,
};
pub(crate) use time::{Jobs, LogForm, Notices, Tick, Up};
pub(crate) use tools::{Config, Mcp, McpAdd, ToolCall, ToolList, Tools};

/// A skill engine for AI assistants.
#[derive(Debug, Parser)]
#[command(name = "deft", version, about, after_help = EXIT_CODES)]
pub(crate) struct Args {
    #[command(flatten)]
    pub global: Global,
    #[command(subcommand)]
    pub command: Option<Command>,
}

const EXIT_CODES: &str = "Exit codes: 0 done or skipped, 1 it ran and did not succeed, or errors were found, \
     2 usage or bad input, 4 timed out waiting, 5 stopped at an approval, \
     6 a limit was reached, 130 interrupted.";

#[derive(Clone, Debug, ClapArgs)]
pub(crate) struct Global {
    /// The folder that holds everything [default: `$DEFT_HOME`, else `~/.deft`]
    #[arg(long, global = true, value_name = "DIR")]
    pub home: Option<PathBuf>,
    /// One JSON document on stdout, also on failure
    #[arg(long, global = true)]
    pub json: bool,
    /// Only results and errors
    #[arg(long, short, global = true)]
    pub quiet: bool,
    /// Never ask anything
    #[arg(long, global = true)]
    pub no_input: bool,
    /// Colours
    #[arg(long, global = true, value_name = "WHEN", default_value = "auto")]
    pub color: ColorWhen,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ColorWhen {
    Auto,
    Always,
    Never,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Fire what is due and drive what is queued, until stopped
    Up(Up),
    /// Put a home in order: its folders, default skills and examples
    Init {
        /// Take every default without asking
        #[arg(long)]
        yes: bool,
    },
    /// Check everything, and say how to mend what is wrong
    Doctor {
        /// Mend what can be mended without a question
        #[arg(long)]
        fix: bool,
    },
    /// Skills: list, check, write, move, switch on and off
    #[command(subcommand)]
    Skills(Skills),
    /// Run a skill now and show how it goes
    Run(Run),
    /// Talk to an agent, or say one thing with `-p`
    Chat(Chat),
    /// What models may use, and what they have used
    #[command(subcommand)]
    Budget(Budget),
    /// Past and present runs
    #[command(subcommand)]
    Runs(Runs),
    /// When skills fire, and what would become of their slots
    #[command(subcommand)]
    Schedule(Schedule),
    /// Fire what is due and run it, once, without a daemon
    Tick(Tick),
    /// Background jobs
    #[command(subcommand)]
    Jobs(Jobs),
    /// Messages to people, and whether they arrived
    #[command(subcommand)]
    Notices(Notices),
    /// Questions that wait for an answer
    #[command(subcommand)]
    Approvals(Approvals),
    /// Tools of servers and of deft itself
    #[command(subcommand)]
    Tools(Tools),
    /// MCP servers
    #[command(subcommand)]
    Mcp(Mcp),
    /// The configuration
    #[command(subcommand)]
    Config(Config),
    /// Run one command line exactly as a model would write it
    Cmd {
        /// For example `get_skill: email` or `tasks.search --help`
        line: String,
        #[command(flatten)]
        roots: Roots,
    },
    /// JSON Schemas for editors and other programs
    Schema {
        /// What the schema describes
        what: SchemaName,
    },
    /// Completions for a shell
    Completions {
        /// The shell
        shell: clap_complete::Shell,
    },
    /// The sandbox that compute blocks run in; deft starts it by itself
    #[command(hide = true)]
    ComputeWorker,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum SchemaName {
    /// The frontmatter of a SKILL.md
    Skill,
    /// A YAML workflow
    Workflow,
    /// A record, as `memory_store_skill` takes it
    Record,
    /// The frontmatter of an AGENT.md
    Agent,
    /// `config.toml`
    Config,
    /// The events of a run
    Events,
}

/// Where skills are looked for.
#[derive(Clone, Debug, Default, ClapArgs)]
pub(crate) struct Roots {
    /// Look here instead of in the home (can be given more than once)
    #[arg(long = "root", value_name = "DIR")]
    pub roots: Vec<PathBuf>,
}
