//! Sums over runs, for dashboards.

use std::collections::BTreeMap;

use deft_model::Outcome;
use jiff::Timestamp;

use crate::RunRow;

/// The length of the stretches in which outcomes are counted, in seconds: every zone has its midnight between two.
pub(crate) const STRETCH: i64 = 900;

/// How many runs of a skill, admitted within a stretch of time, ended alike.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OutcomeCount {
    /// The skill.
    pub skill: String,
    /// How they ended; none if they have not.
    pub outcome: Option<Outcome>,
    /// The beginning of the stretch.
    pub from: Timestamp,
    /// How many.
    pub runs: u64,
}

/// A revision of a skill that runs used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UsedRevision {
    /// Its hash.
    pub revision: String,
    /// How many runs used it.
    pub runs: u64,
    /// When the first of them was admitted.
    pub first: Timestamp,
    /// When the last of them was admitted.
    pub last: Timestamp,
}

/// The beginning of the stretch with this number.
pub(crate) fn stretch(number: i64) -> Timestamp {
    Timestamp::from_second(number.saturating_mul(STRETCH)).unwrap_or(Timestamp::MIN)
}

/// Counts how runs ended, by skill, outcome and stretch.
pub(crate) fn count_outcomes(runs: &[RunRow]) -> Vec<OutcomeCount> {
    let mut counts: BTreeMap<(&str, Option<&str>, i64), OutcomeCount> = BTreeMap::new();
    for run in runs {
        let number = run.admitted_at.as_second().div_euclid(STRETCH);
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

/// The revisions that some runs used, the latest first. The runs are newest first.
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
