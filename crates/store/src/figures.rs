//! Statistics over runs, for dashboards.

use std::collections::BTreeMap;

use deft_model::Outcome;
use jiff::Timestamp;

use crate::RunRow;

/// The length of the intervals in which outcomes are counted, in seconds. In every time zone, midnight falls
/// between two intervals.
pub(crate) const INTERVAL_SECONDS: i64 = 900;

/// The number of runs of a skill with the same outcome that were admitted in one interval.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OutcomeCount {
    /// The skill.
    pub skill: String,
    /// Their outcome; `None` for runs that have not ended.
    pub outcome: Option<Outcome>,
    /// The start of the interval.
    pub from: Timestamp,
    /// The number of runs.
    pub runs: u64,
}

/// A revision of a skill that runs used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UsedRevision {
    /// The hash of the revision.
    pub revision: String,
    /// The number of runs that used it.
    pub runs: u64,
    /// When the first of these runs was admitted.
    pub first: Timestamp,
    /// When the last of these runs was admitted.
    pub last: Timestamp,
}

/// Returns the start of the interval with this number.
pub(crate) fn stretch(number: i64) -> Timestamp {
    Timestamp::from_second(number.saturating_mul(INTERVAL_SECONDS)).unwrap_or(Timestamp::MIN)
}

/// Counts runs by skill, outcome and interval.
pub(crate) fn count_outcomes(runs: &[RunRow]) -> Vec<OutcomeCount> {
    let mut counts: BTreeMap<(&str, Option<&str>, i64), OutcomeCount> = BTreeMap::new();
    for run in runs {
        let number = run.admitted_at.as_second().div_euclid(INTERVAL_SECONDS);
        let word = run.outcome.map(deft_model::Choice::word);
        let count = counts.entry((&run.skill, word, number));
        let count = count.or_insert_with(|| OutcomeCount {
            skill: run.skill.clone(),
            outcome: run.outcome,
            from: stretch(number),
            runs: 0,
        });
        count.runs += 1;
    }
    counts.into_values().collect()
}

/// Returns the revisions that `runs` used, latest first. `runs` must be sorted newest first.
pub(crate) fn count_revisions(runs: &[RunRow]) -> Vec<UsedRevision> {
    let mut found: Vec<UsedRevision> = Vec::new();
    for run in runs {
        let known = found.iter_mut().find(|one| one.revision == run.revision);
        match known {
            Some(known) => {
                known.runs += 1;
                known.first = known.first.min(run.admitted_at);
                known.last = known.last.max(run.admitted_at);
            }
            None => found.push(UsedRevision {
                revision: run.revision.clone(),
                runs: 1,
                first: run.admitted_at,
                last: run.admitted_at,
            }),
        }
    }
    found
}
