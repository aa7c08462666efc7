//! Outcomes of runs, by skill and day.

use std::collections::BTreeMap;

use deft_engine::CHAT_SKILL;
use deft_model::Choice;
use deft_store::OutcomeCount;
use deft_wire::Done;
use deft_wire::stats::{DayOutcomes, OutcomeStats, SkillOutcomes};
use jiff::tz::TimeZone;

use super::Days;
use crate::app::App;
use crate::store;

/// Counts the outcomes of runs in the last `days`, by skill. Chats are excluded.
pub fn outcomes(app: &App, days: Option<u32>) -> Done<OutcomeStats> {
    let days = Days::last(app, days)?;
    let counts = app.engine.store().outcomes(days.start(app)?);
    let counts = app.block_on(counts);
    let counts = counts.map_err(|error| store::failure(&error))?;
    Ok(OutcomeStats {
        from: days.from.to_string(),
        to: days.to.to_string(),
        skills: by_skill(counts, &app.zone),
    })
}

type Counts = BTreeMap<String, u64>;

fn by_skill(counts: Vec<OutcomeCount>, zone: &TimeZone) -> Vec<SkillOutcomes> {
    let mut skills: BTreeMap<String, (u64, BTreeMap<String, Counts>)> = BTreeMap::new();
    for count in counts.into_iter().filter(|count| count.skill != CHAT_SKILL) {
        let (runs, days) = skills.entry(count.skill).or_default();
        *runs += count.runs;
        if let Some(outcome) = count.outcome {
            let day = count.from.to_zoned(zone.clone()).date().to_string();
            let day = days.entry(day).or_default();
            *day.entry(outcome.word().to_owned()).or_default() += count.runs;
        }
    }
    let skill = |(skill, (runs, days)): (String, (u64, BTreeMap<String, Counts>))| {
        let mut outcomes = Counts::new();
        for (word, count) in days.values().flatten() {
            *outcomes.entry(word.clone()).or_default() += count;
        }
        let day = |(day, outcomes)| DayOutcomes { day, outcomes };
        SkillOutcomes {
            skill,
            runs,
            outcomes,
            days: days.into_iter().map(day).collect(),
        }
    };
    skills.into_iter().map(skill).collect()
}

#[cfg(test)]
mod tests {
    use deft_model::Outcome;

    use super::*;

    #[test]
    fn days_begin_at_midnight_in_the_zone() {
        let count = |at: &str, outcome, runs| OutcomeCount {
            skill: "report".to_owned(),
            outcome,
            from: at.parse().unwrap(),
            runs,
        };
        let counts = vec![
            count("2026-03-01T22:30:00Z", Some(Outcome::Success), 2),
            count("2026-03-01T23:30:00Z", Some(Outcome::Success), 3),
            count("2026-03-01T23:30:00Z", Some(Outcome::Error), 1),
            count("2026-03-01T23:30:00Z", None, 1),
        ];
        let berlin = TimeZone::get("Europe/Berlin").unwrap();
        let [report] = by_skill(counts, &berlin).try_into().unwrap();
        let total = [("error", 1), ("success", 5)].map(|(word, count)| (word.to_owned(), count));
        assert_eq!((report.runs, report.outcomes), (7, Counts::from(total)));
        let days: Vec<&str> = report.days.iter().map(|day| day.day.as_str()).collect();
        assert_eq!(days, ["2026-03-01", "2026-03-02"]);
        assert_eq!(report.days[1].outcomes["success"], 3);
    }
}
