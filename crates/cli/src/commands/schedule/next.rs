//! `deft schedule next` and `deft schedule preview`.

use std::process::ExitCode;

use deft_schedule::Schedule;
use deft_skillfile::Moment;
use jiff::Timestamp;
use jiff::tz::TimeZone;

use super::source::Source;
use super::{document, instant_or, refused};
use crate::args::{Global, Next, Preview};
use crate::failure::Done;
use crate::output::{Output, table};
use deft_config::system_moment;

pub(super) fn next(args: &Next, global: &Global, output: &Output) -> Done {
    let source = Source::open(global, &args.roots)?;
    let now = source.moment.now;
    // Found once for its zone, in which `--from` is read.
    let zone = source.find(&args.name, now)?.zone;
    let from = instant_or(args.from.as_ref(), &zone, now)?;
    let entry = source.find(&args.name, from.min(now))?;
    let schedule = &entry.timed.schedule;
    let fires = schedule.next(from, many(args.n));
    if output.json {
        let mut document = document(schedule, &zone, &fires);
        document["skill"] = entry.timed.name.into();
        document["enabled"] = entry.disabled.is_none().into();
        output.document(&document)?;
        return Ok(ExitCode::SUCCESS);
    }
    if let Some(reason) = entry.disabled {
        output.note(&format!(
            "`{}` is disabled ({reason}); enabled, it would fire so:",
            entry.timed.name
        ));
    }
    print(schedule, &zone, from, &fires, output)
}

pub(super) fn preview(args: &Preview, global: &Global, output: &Output) -> Done {
    let moment = moment(global, args)?;
    let from = instant_or(args.from.as_ref(), &moment.zone, moment.now)?;
    let text = args.words.join(" ");
    let moment = Moment {
        now: from,
        ..moment
    };
    let schedule = deft_records::read_schedule(&text, &moment).map_err(refused)?;
    let fires = schedule.next(from, many(args.n));
    if output.json {
        output.document(&document(&schedule, &moment.zone, &fires))?;
        return Ok(ExitCode::SUCCESS);
    }
    print(&schedule, &moment.zone, from, &fires, output)
}

/// A zone that is given needs no home, and no configuration that is in order.
fn moment(global: &Global, args: &Preview) -> Done<Moment> {
    let Some(name) = &args.tz else {
        return global.workspace().home_to_read().map(|home| home.moment());
    };
    Ok(Moment {
        zone: deft_schedule::parse_zone(name).map_err(refused)?,
        ..system_moment()
    })
}

fn many(n: u32) -> usize {
    usize::try_from(n).unwrap_or(usize::MAX)
}

fn print(
    schedule: &Schedule,
    zone: &TimeZone,
    from: Timestamp,
    fires: &[Timestamp],
    output: &Output,
) -> Done {
    let words = schedule.words(zone);
    output.note(&match schedule {
        Schedule::At(_) => words,
        Schedule::Cron { .. } | Schedule::Interval { .. } => {
            format!("{words} ({})", deft_schedule::zone_name(zone))
        }
    });
    if fires.is_empty() {
        output.note(&format!(
            "no fire after {}",
            deft_schedule::show(from, zone)
        ));
        return Ok(ExitCode::SUCCESS);
    }
    let mut last = from;
    let mut rows = Vec::with_capacity(fires.len());
    for fire in fires {
        rows.push(vec![
            deft_schedule::show(*fire, zone),
            zone.to_datetime(*fire).strftime("%a").to_string(),
            change(zone, last, *fire),
        ]);
        last = *fire;
    }
    output.data(table(&rows, output.width()))?;
    Ok(ExitCode::SUCCESS)
}

/// Says when the clock changed since the last fire.
fn change(zone: &TimeZone, last: Timestamp, fire: Timestamp) -> String {
    let (before, after) = (zone.to_offset(last), zone.to_offset(fire));
    if before == after {
        return String::new();
    }
    let what = if after > before { "forward" } else { "back" };
    format!("the clock went {what}, from {before} to {after}")
}
