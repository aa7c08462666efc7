//! `deft schedule …`: when skills fire, and what would become of their slots.
//!
//! The maths is in `deft-schedule`; here are arguments and printing.

mod list;
mod next;
mod simulate;
mod source;

use deft_schedule::Schedule;
use jiff::Timestamp;
use jiff::tz::TimeZone;
use serde_json::{Value, json};

use crate::args::{Global, Schedule as Command};
use crate::failure::{Done, Failure};
use crate::output::Output;

pub(crate) fn run(command: &Command, global: &Global, output: &Output) -> Done {
    match command {
        Command::List { roots } => list::run(global, roots, output),
        Command::Next(args) => next::next(args, global, output),
        Command::Preview(args) => next::preview(args, global, output),
        Command::Simulate(args) => simulate::run(args, global, output),
    }
}

/// An instant that somebody gave; without an offset it is wall time in `zone`.
fn instant(text: &str, zone: &TimeZone) -> Done<Timestamp> {
    deft_schedule::parse_at(text, zone).map_err(refused)
}

/// An instant that need not be given.
fn instant_or(text: Option<&String>, zone: &TimeZone, default: Timestamp) -> Done<Timestamp> {
    text.map_or(Ok(default), |text| instant(text, zone))
}

/// What the schedule maths refused.
fn refused(error: deft_schedule::Error) -> Failure {
    Failure::input("schedule", error.message).maybe_hint(error.hint)
}

/// The document of `next` and `preview`.
fn document(schedule: &Schedule, zone: &TimeZone, fires: &[Timestamp]) -> Value {
    let fires = fires.iter().map(|fire| deft_schedule::show(*fire, zone));
    json!({
        "words": schedule.words(zone),
        "zone": deft_schedule::zone_name(zone),
        "fires": fires.collect::<Vec<String>>(),
    })
}
