//! Table of phrases with their meaning in each field.

use super::*;

fn field_of(key: &str) -> PhraseField {
    match key {
        "schedule" => PhraseField::Schedule,
        "every" => PhraseField::Every,
        "in" => PhraseField::In,
        "at" => PhraseField::At,
        "when" => PhraseField::When,
        other => panic!("no such field: {other}"),
    }
}

/// Parses `text` on Saturday, 14 February 2026, at 14:00 in Berlin.
fn read_in(field: &str, text: &str) -> String {
    let zone = crate::parse_zone("Europe/Berlin").unwrap();
    let clock = PhraseClock {
        now: "2026-02-14T13:00:00Z".parse().unwrap(),
        zone: &zone,
    };
    match read_phrase(text, field_of(field), &clock) {
        Ok(None) => "not prose".to_owned(),
        Ok(Some(FireTime::Cron(cron))) => format!("cron {cron}"),
        Ok(Some(FireTime::Minutes(minutes))) => format!("every {minutes}m"),
        Ok(Some(FireTime::At(at))) => format!("at {}", crate::show(at, &zone)),
        Err(refused) => format!("refused: {}", refused.message),
    }
}

#[test]
fn phrases() {
    let cases = include_str!("../../tests/prose/fields.txt");
    let mut wrong = Vec::new();
    for line in cases
        .lines()
        .filter(|line| !line.is_empty() && !line.starts_with('#'))
    {
        let parts: Vec<&str> = line.split(" | ").collect();
        let [field, text, wanted] = parts[..] else {
            panic!("not a case: {line}");
        };
        let found = read_in(field, text);
        if found != wanted {
            wrong.push(format!("{field} | {text} | {found}"));
        }
    }
    assert!(
        wrong.is_empty(),
        "these were read otherwise:\n{}",
        wrong.join("\n")
    );
}
