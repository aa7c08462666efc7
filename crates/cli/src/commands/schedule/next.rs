//! `deft schedule next` and `deft schedule preview`.

use std::process::ExitCode;

use deft_service::schedule::{self, FiresRequest, UpcomingFires};
use deft_wire::words::disabled_words;
use jiff::Timestamp;
use jiff::tz::TimeZone;

use crate::args::{Global, Next, Preview};
use crate::failure::Done;
use crate::output::{Output, table};

pub(super) fn next(args: &Next, global: &Global, output: &Output) -> Done {
    let workspace = global.workspace_of(&args.roots);
    let request = request(args.from.clone(), args.n);
    let upcoming = schedule::next(&workspace, &args.name, &request)?;
    if let (Some(reason), Some(skill)) = (upcoming.disabled, &upcoming.view.skill) {
        let reason = disabled_words(reason);
        output.note(&format!(
            "`{skill}` is disabled ({reason}); if enabled, it would run at:"
        ));
    }
    print(&upcoming, output)
}

pub(super) fn preview(args: &Preview, global: &Global, output: &Output) -> Done {
    let expression = args.words.join(" ");
    let request = request(args.from.clone(), args.n);
    let zone = args.tz.as_deref();
    let upcoming = schedule::preview(&global.workspace(), &expression, zone, &request)?;
    print(&upcoming, output)
}

fn request(from: Option<String>, n: u32) -> FiresRequest {
    FiresRequest {
        from,
        count: usize::try_from(n).unwrap_or(usize::MAX),
    }
}

fn print(upcoming: &UpcomingFires, output: &Output) -> Done {
    let view = &upcoming.view;
    if output.json {
        output.document(view)?;
        return Ok(ExitCode::SUCCESS);
    }
    output.note(&if upcoming.is_once {
        view.words.clone()
    } else {
        format!("{} ({})", view.words, view.zone)
    });
    if view.fires.is_empty() {
        output.note(&format!("no run after {}", upcoming.from_text));
        return Ok(ExitCode::SUCCESS);
    }
    let (zone, mut last) = (&upcoming.zone, upcoming.from);
    let mut rows = Vec::with_capacity(view.fires.len());
    for (shown, fire) in view.fires.iter().zip(&upcoming.fires) {
        rows.push(vec![
            shown.clone(),
            zone.to_datetime(*fire).strftime("%a").to_string(),
            change(zone, last, *fire),
        ]);
        last = *fire;
    }
    output.data(table(&rows, output.width()))?;
    Ok(ExitCode::SUCCESS)
}

/// Notes a change of the clock since the last fire, such as the start of daylight saving time.
fn change(zone: &TimeZone, last: Timestamp, fire: Timestamp) -> String {
    let (before, after) = (zone.to_offset(last), zone.to_offset(fire));
    if before == after {
        return String::new();
    }
    let what = if after > before { "forward" } else { "back" };
    format!("the clock went {what}, from {before} to {after}")
}
