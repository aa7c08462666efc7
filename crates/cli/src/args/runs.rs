//! `deft run`, `deft runs …` and `deft approvals …`.

use std::path::PathBuf;

use clap::{ArgGroup, Args as ClapArgs, Subcommand, ValueEnum};

use super::Roots;
use crate::pages::Extent;

#[derive(Debug, ClapArgs)]
pub(crate) struct Run {
    /// The skill, by id or name
    pub name: String,
    /// An input as `name=value`; `--name value` works too, as the skill calls its inputs
    #[arg(long = "input", value_name = "NAME=VALUE")]
    pub inputs: Vec<String>,
    /// A JSON file with inputs; `-` reads stdin
    #[arg(long = "inputs", value_name = "FILE")]
    pub file: Option<PathBuf>,
    /// Show what would happen and call nothing
    #[arg(long = "dry-run")]
    pub only_show: bool,
    /// Runs with the same key happen once
    #[arg(long, value_name = "KEY")]
    pub key: Option<String>,
    /// Only queue the run; `deft up` or `deft runs resume` drives it
    #[arg(long)]
    pub detach: bool,
    /// Answer confirmations with yes; the record says so
    #[arg(long)]
    pub yes: bool,
    #[command(flatten)]
    pub roots: Roots,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Runs {
    /// List runs, newest first
    List(RunList),
    /// Show one run and its steps
    Show {
        /// Its id, or the beginning of it
        id: String,
    },
    /// Show the events of a run
    Logs {
        /// Its id, or the beginning of it
        id: String,
        /// Go on until the run ends
        #[arg(long, short)]
        follow: bool,
    },
    /// Ask a run to stop
    Cancel {
        /// Its id, or the beginning of it
        id: String,
    },
    /// Let an ended run go on from where it failed
    Resume(Resume),
    /// Make a new run of an old one
    Rerun {
        /// Its id, or the beginning of it
        id: String,
        /// Take the results of the steps before this one as they were
        #[arg(long, value_name = "STEP")]
        from: Option<String>,
        /// Answer confirmations with yes; the record says so
        #[arg(long)]
        yes: bool,
        #[command(flatten)]
        roots: Roots,
    },
    /// Write a run with all its events and its skill as one JSON document
    Export(Export),
    /// Delete runs that are over and old, with their events and results
    Prune(RunPrune),
}

#[derive(Debug, ClapArgs)]
#[command(group(ArgGroup::new("age").required(true).args(["before", "older_than"])))]
pub(crate) struct RunPrune {
    /// Runs that ended before this instant, such as `2026-01-31` or `2026-01-31T12:00:00Z`
    #[arg(long, value_name = "TIME")]
    pub before: Option<String>,
    /// Runs that ended so long ago, such as `30d`
    #[arg(long, value_name = "LENGTH")]
    pub older_than: Option<String>,
    /// Delete nothing and say what would go
    #[arg(long)]
    pub dry_run: bool,
}

#[derive(Debug, ClapArgs)]
pub(crate) struct RunList {
    /// Only runs of this skill
    #[arg(long)]
    pub skill: Option<String>,
    /// Only runs in this state
    #[arg(long, value_parser = ["queued", "running", "waiting", "done"])]
    pub status: Option<String>,
    /// Only runs that ended so
    #[arg(long, value_parser = ["success", "error", "skipped", "missed", "blocked", "cancelled", "interrupted"])]
    pub outcome: Option<String>,
    #[command(flatten)]
    pub extent: Extent,
}

#[derive(Debug, ClapArgs)]
pub(crate) struct Resume {
    /// Its id, or the beginning of it
    pub id: String,
    /// Which revision of the skill to go on with, if it has changed
    #[arg(long, value_name = "WHICH")]
    pub revision: Option<WhichRevision>,
    /// Answer confirmations with yes; the record says so
    #[arg(long)]
    pub yes: bool,
    #[command(flatten)]
    pub roots: Roots,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum WhichRevision {
    /// The one that the run began with
    Old,
}

#[derive(Debug, ClapArgs)]
pub(crate) struct Export {
    /// Its id, or the beginning of it
    pub id: String,
    /// The file to write [default: print]
    #[arg(long, value_name = "FILE")]
    pub to: Option<PathBuf>,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Approvals {
    /// List questions that wait
    List {
        /// Also those that were answered
        #[arg(long)]
        all: bool,
    },
    /// Answer yes
    Approve {
        /// The question's id, or the beginning of it
        id: String,
        /// Do not ask again for this revision and operation, or for this tool in chats
        #[arg(long)]
        always: bool,
        /// With `--always`: this argument may differ, as the pattern says (`to=*@example.com`)
        #[arg(long, value_name = "ARGUMENT=PATTERN", requires = "always")]
        allow: Vec<String>,
    },
    /// List answers that stand (`approve --always`)
    Grants,
    /// Take a standing answer back
    Revoke {
        /// The grant's id, or the beginning of it
        id: String,
    },
    /// Answer no, which stops the run
    Reject {
        /// The question's id, or the beginning of it
        id: String,
        /// Leave out only this step and let the run go on
        #[arg(long)]
        skip: bool,
    },
}
