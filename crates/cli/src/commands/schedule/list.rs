//! `deft schedule list`.

use std::process::ExitCode;

use deft_service::schedule;
use deft_wire::schedule::ScheduleView;

use crate::args::{Global, Roots};
use crate::commands::skills::failure_words;
use crate::failure::Done;
use crate::output::{Fit, Output, table_of};

pub(super) fn run(global: &Global, roots: &Roots, output: &Output) -> Done {
    let list = schedule::list(&global.workspace_of(roots))?;
    if output.json {
        output.document(&list)?;
    } else if list.schedules.is_empty() {
        output.note("no skill fires by the clock\nhint: `schedule: \"0 9 * * 1-5\"` in a skill makes it; `deft schedule preview` shows when that is");
    } else {
        let head = ["SKILL", "NEXT", "ZONE", "FIRES"]
            .map(str::to_owned)
            .to_vec();
        let rows: Vec<Vec<String>> = std::iter::once(head)
            .chain(list.schedules.iter().map(row))
            .collect();
        output.data(table_of(&rows, &[Fit::Cut, Fit::Keep], output.width()))?;
    }
    Ok(ExitCode::SUCCESS)
}

fn row(schedule: &ScheduleView) -> Vec<String> {
    let when = match (schedule.disabled_reason, &schedule.next) {
        (Some(reason), _) => format!("off: {reason}"),
        (None, Some(next)) => next.clone(),
        (None, None) => "over".to_owned(),
    };
    let words = &schedule.words;
    vec![
        schedule.skill.clone(),
        when,
        schedule.zone.clone(),
        match failure_words(schedule.failures, schedule.backoff_until.as_deref()) {
            Some(failures) => format!("{words}; {failures}"),
            None => words.clone(),
        },
    ]
}
