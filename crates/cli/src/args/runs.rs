//! `deft run`, `deft runs …` and `deft approvals …`.

use std::path::PathBuf;

use clap::{ArgGroup, Args as ClapArgs, Subcommand, ValueEnum};

use super::Roots;
use crate::complete;
use crate::pages::Extent;

#[derive(Debug, ClapArgs)]
pub(crate) struct Run {
    /// The skill, by id or name
    #[arg(add = complete::skills())]
    pub name: String,
    /// An input as `name=value`; `--name value` works too
    #[arg(long = "input", value_name = "NAME=VALUE")]
    pub inputs: Vec<String>,
    /// A JSON file with inputs; `-` reads stdin
    #[arg(long = "inputs", value_name = "FILE")]
    pub file: Option<PathBuf>,
    /// Show what would happen without calling anything
    #[arg(long = "dry-run")]
    pub only_show: bool,
    /// Idempotency key: a skill runs only once per key
    #[arg(long, value_name = "KEY")]
    pub key: Option<String>,
    /// Queue the run for `deft up` and return
    #[arg(long)]
    pub detach: bool,
    /// Approve every confirmation; this is recorded
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
        /// The run id, a prefix of it, or `last`
        #[arg(add = complete::runs())]
        id: String,
    },
    /// Show the events of a run
    Logs {
        /// The run id, a prefix of it, or `last`
        #[arg(add = complete::runs())]
        id: String,
        /// Follow until the run ends
        #[arg(long, short)]
        follow: bool,
    },
    /// Cancel a run
    Cancel {
        /// The run id, a prefix of it, or `last`
        #[arg(add = complete::runs())]
        id: String,
    },
    /// Resume a failed run
    Resume(Resume),
    /// Run again with the same inputs
    Rerun {
        /// The run id, a prefix of it, or `last`
        #[arg(add = complete::runs())]
        id: String,
        /// Reuse the results of the steps before this one
        #[arg(long, value_name = "STEP")]
        from: Option<String>,
        /// Approve every confirmation; this is recorded
        #[arg(long)]
        yes: bool,
        #[command(flatten)]
        roots: Roots,
    },
    /// Export a run with its events and its skill as one JSON document
    Export(Export),
    /// Delete old finished runs with their events and results; `deft undo` restores them
    Prune(RunPrune),
}

#[derive(Debug, ClapArgs)]
#[command(group(ArgGroup::new("age").required(true).args(["before", "older_than"])))]
pub(crate) struct RunPrune {
    /// Delete runs that ended before this time, such as `2026-01-31` or `2026-01-31T12:00:00Z`
    #[arg(long, value_name = "TIME")]
    pub before: Option<String>,
    /// Delete runs that ended longer ago than this, such as `30d`
    #[arg(long, value_name = "LENGTH")]
    pub older_than: Option<String>,
    /// Show what would be deleted without deleting it
    #[arg(long)]
    pub dry_run: bool,
    /// Delete permanently instead of moving to the trash
    #[arg(long)]
    pub no_trash: bool,
    /// Delete without asking
    #[arg(long, short)]
    pub yes: bool,
}

#[derive(Debug, ClapArgs)]
pub(crate) struct RunList {
    /// Only runs of this skill
    #[arg(long)]
    pub skill: Option<String>,
    /// Only runs in this state
    #[arg(long, value_parser = ["queued", "running", "waiting", "done"])]
    pub status: Option<String>,
    /// Only runs with this outcome
    #[arg(long, value_parser = ["success", "error", "skipped", "missed", "blocked", "cancelled", "interrupted"])]
    pub outcome: Option<String>,
    /// Include chat answers
    #[arg(long)]
    pub chats: bool,
    #[command(flatten)]
    pub extent: Extent,
}

#[derive(Debug, ClapArgs)]
pub(crate) struct Resume {
    /// The run id, a prefix of it, or `last`
    #[arg(add = complete::runs())]
    pub id: String,
    /// The skill revision to resume with, if the skill has changed
    #[arg(long, value_name = "WHICH")]
    pub revision: Option<WhichRevision>,
    /// Approve every confirmation; this is recorded
    #[arg(long)]
    pub yes: bool,
    #[command(flatten)]
    pub roots: Roots,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum WhichRevision {
    /// The revision that the run started with
    Old,
}

#[derive(Debug, ClapArgs)]
pub(crate) struct Export {
    /// The run id, a prefix of it, or `last`
    #[arg(add = complete::runs())]
    pub id: String,
    /// The file to write [default: print]
    #[arg(long, value_name = "FILE")]
    pub to: Option<PathBuf>,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Approvals {
    /// List pending approvals
    List {
        /// Include answered approvals
        #[arg(long)]
        all: bool,
    },
    /// Approve a pending operation
    Approve {
        /// The approval id, a prefix of it, or `last`
        id: String,
        /// Do not ask again for this revision and operation, or for this tool in chats
        #[arg(long)]
        always: bool,
        /// With `--always`: allow other values of this argument that match the pattern (`to=*@example.com`)
        #[arg(long, value_name = "ARGUMENT=PATTERN", requires = "always")]
        allow: Vec<String>,
    },
    /// List standing approvals (`approve --always`)
    Grants,
    /// Revoke a standing approval
    Revoke {
        /// The grant id, a prefix of it, or `last`
        id: String,
    },
    /// Reject a pending operation and stop its run
    Reject {
        /// The approval id, a prefix of it, or `last`
        id: String,
        /// Skip only this step and continue the run
        #[arg(long)]
        skip: bool,
    },
}
