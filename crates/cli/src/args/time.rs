//! `deft up`, `deft tick`, `deft jobs …`, `deft notices …`, `deft init` and `deft doctor`.

use std::time::Duration;

use clap::{Args as ClapArgs, Subcommand, ValueEnum};

use crate::pages::Extent;

#[derive(Debug, ClapArgs)]
pub(crate) struct Up {
    /// How long runs may go on after the signal to stop, such as `30s`
    #[arg(long, value_name = "TIME", value_parser = duration)]
    pub grace: Option<Duration>,
    /// Stop by itself after a while
    #[arg(long = "for", value_name = "TIME", value_parser = duration)]
    pub only_for: Option<Duration>,
    /// How log lines are written to the terminal
    #[arg(long, value_name = "FORM", default_value = "text")]
    pub log: LogForm,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum LogForm {
    /// For people
    Text,
    /// One JSON object per line
    Json,
}

#[derive(Debug, ClapArgs)]
pub(crate) struct Tick {
    /// The time that schedules are held against; leases use the real clock
    #[arg(long, value_name = "TIME")]
    pub now: Option<String>,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Jobs {
    /// Queue a job, as `queue_task` takes it
    Queue {
        /// Arguments as `name=value`; what is JSON is taken as JSON
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
        /// Its id, or the beginning of it
        id: String,
    },
    /// Let no job begin
    Halt,
    /// Let jobs begin again
    Resume,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Notices {
    /// List messages to people and what became of them, newest first
    List {
        /// Only those that were given up
        #[arg(long)]
        dead: bool,
        #[command(flatten)]
        extent: Extent,
    },
    /// Try messages again that were given up
    Retry {
        /// Its number; all of them if none is given
        id: Option<i64>,
    },
}

fn duration(text: &str) -> Result<Duration, String> {
    let length = deft_schedule::parse_duration(text).map_err(|error| error.message)?;
    Duration::try_from(length).map_err(|_| "it must not be negative".to_owned())
}
