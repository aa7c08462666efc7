//! `deft remind`: sets a reminder from words. Also formats the sentence about a changed schedule.

use std::process::ExitCode;

use deft_service::time::spoken_length;
use deft_wire::schedule::{ScheduleAction, ScheduleChange};
use deft_wire::words::disabled_words;
use jiff::{SignedDuration, Timestamp};

use super::NOT_RUNNING_HINT;
use crate::args::{Global, Remind};
use crate::confirm;
use crate::failure::Done;
use crate::output::Output;

pub(crate) fn run(args: &Remind, global: &Global, output: &Output) -> Done {
    let zone = args.tz.as_deref();
    let change = deft_service::remind::remind(&global.workspace(), &args.words, zone)?;
    say_change("reminder", &change, output)
}

/// Prints a change of a schedule as one sentence.
pub(crate) fn say_change(noun: &str, change: &ScheduleChange, output: &Output) -> Done {
    if output.json {
        output.document(change)?;
        return Ok(ExitCode::SUCCESS);
    }
    output.prose(sentence(noun, change, Timestamp::now()))?;
    if change.change == ScheduleAction::Deleted {
        output.note(confirm::UNDO);
    }
    let will_fire = matches!(change.change, ScheduleAction::Set | ScheduleAction::Resumed);
    if let Some(reason) = change.disabled_reason.filter(|_| will_fire) {
        let (skill, reason) = (&change.skill, disabled_words(reason));
        output.note(&format!(
            "hint: it is disabled ({reason}); `deft schedule resume {skill}` enables it"
        ));
    } else if will_fire && !change.daemon_running {
        output.note(&format!("hint: {NOT_RUNNING_HINT}"));
    }
    Ok(ExitCode::SUCCESS)
}

fn sentence(noun: &str, change: &ScheduleChange, now: Timestamp) -> String {
    let name = format!("{noun} `{}`", change.name);
    let when = describe_timing(change, now);
    match change.change {
        ScheduleAction::Set => format!("{name} set: {when}"),
        ScheduleAction::Resumed => format!("{name} resumed: {when}"),
        ScheduleAction::Paused => {
            let skill = &change.skill;
            format!("{name} paused; `deft schedule resume {skill}` resumes it")
        }
        ScheduleAction::Removed => {
            let skill = &change.skill;
            format!("{name} removed; `{skill}` has no schedule now")
        }
        ScheduleAction::Deleted => format!("reminder `{}` deleted", change.name),
    }
}

/// Describes a schedule and its next fire: "once, today at 15:05 (Europe/Berlin), in 5 min".
fn describe_timing(change: &ScheduleChange, now: Timestamp) -> String {
    let words = change.words.as_deref().unwrap_or("no schedule");
    let next = change.next.as_deref().and_then(|text| text.parse().ok());
    let Some(next) = next else {
        return words.to_owned();
    };
    let distance = distance(next, now);
    match &change.next_words {
        // The words of a one-shot schedule already contain the instant.
        Some(at) if !words.contains(at.as_str()) => format!("{words}, next {at}, {distance}"),
        Some(_) | None => format!("{words}, {distance}"),
    }
}

/// Added to round durations: a moment has passed since "in 2 hours" was parsed.
const HALF_A_MINUTE: SignedDuration = SignedDuration::from_secs(30);

/// Formats the time until an instant: "in 5 min" within the hour, otherwise "in 3 hours".
fn distance(at: Timestamp, now: Timestamp) -> String {
    let ahead = at.duration_since(now);
    match ahead.as_secs() {
        ..60 => format!("in {} s", ahead.as_secs().max(0)),
        seconds @ 60..3600 => format!("in {} min", (seconds + 30) / 60),
        _ => format!("in {}", spoken_length(ahead + HALF_A_MINUTE)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn describe(change: ScheduleAction, words: &str, next: Option<(&str, &str)>) -> String {
        let change = ScheduleChange {
            skill: "drink-water".to_owned(),
            name: "Drink water".to_owned(),
            change,
            words: Some(words.to_owned()),
            zone: "Europe/Berlin".to_owned(),
            next: next.map(|(at, _)| at.to_owned()),
            next_words: next.map(|(_, words)| words.to_owned()),
            enabled: true,
            disabled_reason: None,
            daemon_running: true,
        };
        sentence(
            "reminder",
            &change,
            "2026-02-14T14:00:00.2Z".parse().unwrap(),
        )
    }

    #[test]
    fn a_change_is_one_sentence() {
        let once = "once, today at 15:05 (Europe/Berlin)";
        let at = Some(("2026-02-14T15:05:00+01:00", "today at 15:05"));
        assert_eq!(
            describe(ScheduleAction::Set, once, at),
            "reminder `Drink water` set: once, today at 15:05 (Europe/Berlin), in 5 min"
        );
        let daily = "every day at 09:00 (Europe/Berlin)";
        let at = Some(("2026-02-15T09:00:00+01:00", "tomorrow at 09:00"));
        assert_eq!(
            describe(ScheduleAction::Resumed, daily, at),
            "reminder `Drink water` resumed: every day at 09:00 (Europe/Berlin), \
             next tomorrow at 09:00, in 18 hours"
        );
        assert_eq!(
            describe(ScheduleAction::Deleted, daily, None),
            "reminder `Drink water` deleted"
        );
    }
}
