//! Case files: each line is a trigger, and the snapshot contains the result.

use std::fmt::Write as _;

use deft_schedule::{
    Cron, Error, FireTime, Schedule, instant_after, minutes, parse_at, parse_duration,
    parse_future, parse_zone, show, split_reminder,
};
use jiff::tz::TimeZone;

#[test]
fn cases() {
    insta::glob!("../cases", "*.txt", |path| {
        let text = std::fs::read_to_string(path).expect("a case file");
        let mut out = String::new();
        for line in text.lines() {
            match line {
                "" => {}
                line if line.starts_with("##") => writeln!(out, "{line}\n").expect("a string"),
                line => writeln!(out, "{line}\n{}", outcome(line)).expect("a string"),
            }
        }
        insta::assert_snapshot!(out);
    });
}

/// Evaluates `kind | zone | from | n | text`. The text keeps its white space, because spans count it.
fn outcome(line: &str) -> String {
    let parts: Vec<&str> = line.splitn(5, " | ").collect();
    let [kind, zone, from, n, text] = parts[..] else {
        panic!("not a case: {line}");
    };
    match run(kind, zone, from, n, text) {
        Ok(out) => out,
        Err(error) => refusal(text, &error),
    }
}

/// A timing as records spell it.
fn spelled(when: &FireTime, zone: &TimeZone) -> String {
    match when {
        FireTime::Cron(cron) => format!("schedule: {cron}"),
        FireTime::Minutes(count) => format!("interval_minutes: {count}"),
        FireTime::At(at) => format!("at: {}", show(*at, zone)),
    }
}

fn run(kind: &str, zone: &str, from: &str, n: &str, text: &str) -> Result<String, Error> {
    if kind == "zone" {
        return parse_zone(text).map(|zone| format!("  {}\n", deft_schedule::zone_name(&zone)));
    }
    let zone = parse_zone(zone)?;
    let from = parse_at(from, &zone)?;
    let mut out = String::new();
    let schedule = match kind {
        "when" => {
            let when = parse_future(text, &zone, from)?;
            writeln!(out, "  {}", spelled(&when, &zone)).expect("a string");
            when.schedule(&zone, from)?
        }
        "remind" => {
            let words: Vec<&str> = text.split('/').collect();
            let reminder = split_reminder(&words, &zone, from)?;
            writeln!(out, "  {:?}, {:?}", reminder.text, reminder.when).expect("a string");
            parse_future(&reminder.when, &zone, from)?.schedule(&zone, from)?
        }
        "cron" => {
            let cron = Cron::parse(text)?;
            cron.check(&zone, from)?;
            Schedule::Cron {
                cron,
                zone: zone.clone(),
            }
        }
        "phrase" => Schedule::parse(text, &zone, from)?,
        "at" => Schedule::At(parse_at(text, &zone)?),
        "in" => Schedule::At(instant_after(from, parse_duration(text)?)?),
        "every" => {
            let every = minutes(text.parse().expect("a number"))?;
            Schedule::Interval {
                every,
                anchor: from,
            }
        }
        kind => panic!("no such kind of case: {kind}"),
    };
    writeln!(out, "  {}", schedule.words(&zone)).expect("a string");
    for fire in schedule.next(from, n.parse().expect("a number")) {
        writeln!(out, "  {}", show(fire, &zone)).expect("a string");
    }
    Ok(out)
}

fn refusal(text: &str, error: &Error) -> String {
    let mut out = format!("  error: {error}\n");
    if let Some(span) = &error.span {
        writeln!(out, "  at {span:?}: {:?}", &text[span.clone()]).expect("a string");
    }
    if let Some(hint) = &error.hint {
        writeln!(out, "  hint: {hint}").expect("a string");
    }
    out
}
