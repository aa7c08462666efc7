//! `deft up`, `deft status`, `deft logs`, `deft demo`, `deft tick`, `deft jobs …`, `deft notices …`,
//! `deft init` and `deft doctor`.

use std::time::Duration;

use clap::{Args as ClapArgs, Subcommand, ValueEnum};
use deft_service::time::{parse_duration, parse_length};

use crate::pages::Extent;

#[derive(Debug, ClapArgs)]
pub(crate) struct Up {
    /// How long to wait for running tasks on shutdown, such as `30s`
    #[arg(long, value_name = "TIME", value_parser = duration)]
    pub grace: Option<Duration>,
    /// Stop after this long
    #[arg(long = "for", value_name = "TIME", value_parser = duration)]
    pub only_for: Option<Duration>,
    /// Format of log lines on the terminal
    #[arg(long, value_name = "FORM", default_value = "text")]
    pub log: LogForm,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum LogForm {
    /// Readable text
    Text,
    /// One JSON object per line
    Json,
}

#[derive(Debug, ClapArgs)]
pub(crate) struct Status {
    /// Redraw the screen on changes, and answer approvals with keys
    #[arg(long)]
    pub watch: bool,
}

#[derive(Debug, ClapArgs)]
pub(crate) struct Logs {
    /// Follow new lines until interrupted
    #[arg(long, short)]
    pub follow: bool,
    /// Number of lines to show
    #[arg(short, default_value_t = 50)]
    pub n: usize,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Demo {
    /// Kill a run with SIGKILL, resume it, and verify that no step ran twice
    Crash,
}

#[derive(Debug, ClapArgs)]
pub(crate) struct Tick {
    /// The time to use for schedules; leases use the real clock
    #[arg(long, value_name = "TIME")]
    pub now: Option<String>,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Jobs {
    /// Queue a job, with the arguments of the tool `queue_task`
    Queue {
        /// Arguments as `name=value`; JSON values are parsed
        #[arg(value_name = "NAME=VALUE")]
        pairs: Vec<String>,
        /// All arguments as one JSON object
        #[arg(long = "args", value_name = "JSON")]
        all: Option<String>,
    },
    /// List jobs, newest first
    List {
        #[command(flatten)]
        extent: Extent,
    },
    /// Show one job
    Show {
        /// The job id, a prefix of it, or `last`
        id: String,
    },
    /// Pause the job queue
    Halt,
    /// Resume the job queue
    Resume,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Notices {
    /// List notices and their delivery state, newest first
    List {
        /// List only notices whose delivery failed
        #[arg(long)]
        dead: bool,
        #[command(flatten)]
        extent: Extent,
    },
    /// Retry notices whose delivery failed
    Retry {
        /// The notice's number, or `last` [default: all of them]
        id: Option<String>,
    },
}

/// Parses a duration, or a number of seconds.
pub(super) fn length(text: &str) -> Result<Duration, String> {
    parse_length(text).map_err(|failure| failure.message)
}

pub(super) fn duration(text: &str) -> Result<Duration, String> {
    let length = parse_duration(text).map_err(|failure| failure.message)?;
    Duration::try_from(length).map_err(|_| "it must not be negative".to_owned())
}
