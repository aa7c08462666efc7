//! `deft schedule …`.

use clap::{Args as ClapArgs, Subcommand};

use super::Roots;

#[derive(Debug, Subcommand)]
pub(crate) enum Schedule {
    /// List all skills that fire by the clock, the next one first
    List {
        #[command(flatten)]
        roots: Roots,
    },
    /// Show when a skill fires next
    Next(Next),
    /// Show when an expression would fire
    Preview(Preview),
    /// Play through a stretch of time: what would run, be missed, be coalesced
    Simulate(Simulate),
}

#[derive(Debug, ClapArgs)]
pub(crate) struct Next {
    /// The skill, by id or name
    pub name: String,
    /// How many fires
    #[arg(short, default_value_t = 5, value_parser = count())]
    pub n: u32,
    /// Only fires later than this instant [default: now]
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
    /// The zone of its times [default: the host's]
    #[arg(long, value_name = "ZONE")]
    pub tz: Option<String>,
    /// Only fires later than this instant [default: now]
    #[arg(long, value_name = "TIME")]
    pub from: Option<String>,
    /// How many fires
    #[arg(short, default_value_t = 5, value_parser = count())]
    pub n: u32,
}

#[derive(Debug, ClapArgs)]
pub(crate) struct Simulate {
    /// After this instant [default: now]
    #[arg(long, value_name = "TIME")]
    pub from: Option<String>,
    /// Up to this instant [default: a day later]
    #[arg(long, value_name = "TIME")]
    pub to: Option<String>,
    /// A stretch during which the machine is down (can be given more than once)
    #[arg(long, value_name = "TIME..TIME")]
    pub down: Vec<String>,
    /// Only this skill, also when it is disabled (can be given more than once)
    #[arg(long = "skill", value_name = "NAME")]
    pub skills: Vec<String>,
    #[command(flatten)]
    pub roots: Roots,
}

/// Enough for every purpose, and the answer still fits into memory.
fn count() -> clap::builder::RangedI64ValueParser<u32> {
    clap::value_parser!(u32).range(1..=100_000)
}
