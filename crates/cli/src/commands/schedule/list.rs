//! `deft schedule list`.

use std::process::ExitCode;

use deft_service::schedule;
use deft_wire::schedule::ScheduleView;
use deft_wire::words::disabled_words;
use jiff::Timestamp;
use jiff::tz::TimeZone;

use crate::args::{Global, Roots};
use crate::commands::skills::failure_words;
use crate::failure::Done;
use crate::output::Output;
use crate::table::{Cell, Column, Row, Table, Tone};
use crate::when;

pub(super) fn run(global: &Global, roots: &Roots, output: &Output) -> Done {
    let list = schedule::list(&global.workspace_of(roots))?;
    if output.json {
        output.document(&list)?;
    } else if list.schedules.is_empty() {
        output.note("no scheduled skills\nhint: add `schedule: \"0 9 * * 1-5\"` to a skill; `deft schedule preview` shows when it runs");
    } else {
        output.page();
        let columns = [
            Column::keep("skill"),
            Column::keep("next"),
            Column::text("fires"),
        ];
        let (now, zone) = (
            Timestamp::now(),
            global.workspace().home_to_read()?.moment().zone,
        );
        let rows = list.schedules.iter().map(|one| row(one, now, &zone));
        output.table(&Table::new(columns, rows))?;
    }
    Ok(ExitCode::SUCCESS)
}

fn row(schedule: &ScheduleView, now: Timestamp, zone: &TimeZone) -> Row {
    let next = match (schedule.disabled_reason, &schedule.next) {
        (Some(reason), _) => Cell::with_tone(
            format!("disabled: {}", disabled_words(reason)),
            Tone::Warning,
        ),
        (None, Some(next)) => match next.parse() {
            Ok(at) => when::short(at, now, zone).into(),
            Err(_) => next.as_str().into(),
        },
        (None, None) => Cell::with_tone("none", Tone::Dim),
    };
    let failures = failure_words(schedule.failures, schedule.backoff_until.as_deref());
    let words = &schedule.words;
    // Instants are shown in the user's zone; the zone is named only if it differs.
    let foreign = zone.iana_name() != Some(&schedule.zone) && !words.contains(&schedule.zone);
    let fires = if schedule.once && schedule.next.is_some() {
        // The previous column shows the instant.
        "once".to_owned()
    } else if foreign {
        format!("{words} ({})", schedule.zone)
    } else {
        words.clone()
    };
    let cells = [schedule.skill.as_str().into(), next, fires.into()];
    Row::new(cells).with_below(failures.map(|words| Cell::with_tone(words, Tone::Bad)))
}
