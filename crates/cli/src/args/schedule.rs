//! `deft remind` and `deft schedule …`.

use clap::{Args as ClapArgs, Subcommand};

use super::Roots;
use crate::complete;

#[derive(Debug, Subcommand)]
pub(crate) enum Schedule {
    /// List scheduled skills, next one first
    List {
        #[command(flatten)]
        roots: Roots,
    },
    /// Show the next runs of a skill
    Next(Next),
    /// Show the next times of a schedule expression
    Preview(Preview),
    /// Simulate a period and show which slots run, are missed or are coalesced
    Simulate(Simulate),
    /// Set the schedule of a skill, in words or as a cron expression
    Add(ScheduleAdd),
    /// Disable a skill until it is resumed
    Pause {
        /// The skill, by id or name
        #[arg(required = true, add = complete::skills())]
        name: Vec<String>,
    },
    /// Resume a paused skill
    Resume {
        /// The skill, by id or name
        #[arg(required = true, add = complete::skills())]
        name: Vec<String>,
    },
    /// Remove the schedule of a skill; a reminder is deleted
    Remove {
        /// The skill, by id or name
        #[arg(required = true, add = complete::skills())]
        name: Vec<String>,
    },
}

#[derive(Debug, ClapArgs)]
pub(crate) struct Remind {
    /// The text and the time, in either order; quotes are optional
    #[arg(required = true, value_name = "TEXT WHEN")]
    pub words: Vec<String>,
    /// The time zone [default: the host's]
    #[arg(long, value_name = "ZONE")]
    pub tz: Option<String>,
}

#[derive(Debug, ClapArgs)]
pub(crate) struct ScheduleAdd {
    /// The skill, by id or name
    #[arg(add = complete::skills())]
    pub name: String,
    /// The schedule, in words or as a cron expression
    #[arg(required = true, value_name = "WHEN")]
    pub when: Vec<String>,
    /// The time zone [default: the host's]
    #[arg(long, value_name = "ZONE")]
    pub tz: Option<String>,
}

#[derive(Debug, ClapArgs)]
pub(crate) struct Next {
    /// The skill, by id or name
    #[arg(add = complete::skills())]
    pub name: String,
    /// Number of runs to show
    #[arg(short, default_value_t = 5, value_parser = count())]
    pub n: u32,
    /// Show runs after this time [default: now]
    #[arg(long, value_name = "TIME")]
    pub from: Option<String>,
    #[command(flatten)]
    pub roots: Roots,
}

#[derive(Debug, ClapArgs)]
pub(crate) struct Preview {
    /// A cron expression, `every 30m`, `in 1h30m`, or an instant such as `2026-02-14T15:00`
    #[arg(required = true, value_name = "EXPR")]
    pub words: Vec<String>,
    /// The time zone [default: the host's]
    #[arg(long, value_name = "ZONE")]
    pub tz: Option<String>,
    /// Show runs after this time [default: now]
    #[arg(long, value_name = "TIME")]
    pub from: Option<String>,
    /// Number of runs to show
    #[arg(short, default_value_t = 5, value_parser = count())]
    pub n: u32,
}

#[derive(Debug, ClapArgs)]
pub(crate) struct Simulate {
    /// Start of the period [default: now]
    #[arg(long, value_name = "TIME")]
    pub from: Option<String>,
    /// End of the period [default: one day later]
    #[arg(long, value_name = "TIME")]
    pub to: Option<String>,
    /// A period during which the machine is down (repeatable)
    #[arg(long, value_name = "TIME..TIME")]
    pub down: Vec<String>,
    /// Only this skill, even if it is disabled (repeatable)
    #[arg(long = "skill", value_name = "NAME")]
    pub skills: Vec<String>,
    #[command(flatten)]
    pub roots: Roots,
}

/// Returns the parser of `-n`. Its maximum keeps the result small enough for memory.
fn count() -> clap::builder::RangedI64ValueParser<u32> {
    clap::value_parser!(u32).range(1..=100_000)
}
