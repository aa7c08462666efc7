//! The invariants that must hold after all kills, and the report.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::time::Duration;

use deft_model::{Outcome, RunId, RunStatus};
use deft_store::prelude::*;
use deft_store::{RunFilter, RunRow, Store};
use deft_testkit::{Kind, witness};

use super::{Chaos, runtime};

/// The number of ticks after which an unfinished run counts as lost.
const ROUNDS: usize = 200;

#[derive(Debug, Default)]
pub(super) struct Report {
    runs: usize,
    outcomes: BTreeMap<String, usize>,
    /// The reasons of failed runs. No run should fail.
    failures: BTreeMap<String, usize>,
    /// Calls repeated at a person's request, by resuming an interrupted run.
    repeated_by_wish: usize,
    /// Runs whose id was printed but that are missing, and runs that never end.
    lost: Vec<String>,
    calls: usize,
    once_calls: usize,
    /// Calls that were repeated although they must not be.
    doubled: Vec<String>,
    /// Calls that are recorded in no run.
    unknown: Vec<String>,
    slots: usize,
    gaps: usize,
    doubled_slots: usize,
}

impl Report {
    pub(super) fn verify(&self) {
        assert_eq!(self.lost, Vec::<String>::new());
        assert_eq!(self.doubled, Vec::<String>::new());
        assert_eq!(self.unknown, Vec::<String>::new());
        assert_eq!((self.gaps, self.doubled_slots), (0, 0));
        assert_eq!(self.failures, BTreeMap::new());
        let outcomes: Vec<&String> = self.outcomes.keys().collect();
        assert_eq!(outcomes, ["interrupted", "success"]);
        assert!(self.slots > 2, "{self:?}");
    }
}

impl Chaos {
    /// Drives all remaining runs to their end.
    pub(super) fn finish(&self) {
        let runtime = runtime();
        let store = self.store();
        assert_eq!(self.world.code(&["skills", "disable", "ticking"]), 0);
        for _ in 0..ROUNDS {
            let open = runtime.block_on(store.approvals(false)).unwrap();
            for question in open {
                assert_eq!(
                    self.world
                        .code(&["approvals", "approve", &question.asked.id]),
                    0
                );
            }
            // Exit code 1 is fine: interrupted runs are not successful.
            let said = self.world.run(&["tick"]);
            assert!(
                said.starts_with("exit 0") || said.starts_with("exit 1"),
                "{said}"
            );
            if runtime.block_on(active(&store)).is_empty() {
                return;
            }
        }
    }

    /// Compares the store with the printed ids and with the log of the server.
    pub(super) fn check(&self) -> Report {
        let runtime = runtime();
        let store = self.store();
        let mut report = Report::default();
        let active = runtime.block_on(active(&store));
        report
            .lost
            .extend(active.iter().map(|run| format!("{run:?}")));
        let runs = runtime.block_on(store.runs(RunFilter::default())).unwrap();
        let known: HashSet<&str> = runs.iter().map(|run| run.id.as_str()).collect();
        let record = self.record.lock().unwrap();
        let missing = record
            .promised
            .iter()
            .filter(|id| !known.contains(id.as_str()));
        report.lost.extend(missing.cloned());
        report.runs = runs.len();
        for outcome in runs.iter().filter_map(|run| run.outcome) {
            *report.outcomes.entry(outcome.to_string()).or_default() += 1;
        }
        for run in runs
            .iter()
            .filter(|run| run.outcome == Some(Outcome::Error))
        {
            let why = format!(
                "{}: {}",
                run.skill,
                run.error.as_deref().unwrap_or_default()
            );
            *report.failures.entry(why).or_default() += 1;
        }
        let count_resumed = |run: &str| runtime.block_on(resumed(&store, run));
        self.check_calls(&known, &count_resumed, &mut report);
        check_slots(&runs, &mut report);
        report
    }

    fn check_calls(
        &self,
        known: &HashSet<&str>,
        count_resumed: &dyn Fn(&str) -> usize,
        report: &mut Report,
    ) {
        let mut once: HashMap<String, usize> = HashMap::new();
        for event in witness(&self.world.path("server/demo.log")) {
            if event.kind != Kind::Started {
                continue;
            }
            report.calls += 1;
            if event.tool != "act" {
                continue;
            }
            // `deft tools call` has no run; its argument identifies the call.
            let argument = &event.arguments["once"];
            let direct = (!argument.is_null()).then(|| format!("direct {argument}"));
            let key = direct.clone().or(event.key).unwrap_or_default();
            let run = key.split('/').next().unwrap_or_default();
            if direct.is_none() && !known.contains(run) {
                report.unknown.push(key.clone());
            }
            *once.entry(key).or_default() += 1;
        }
        report.once_calls = once.len();
        for (key, times) in once.into_iter().filter(|(_, times)| *times > 1) {
            // A run may have ended between the query and the command that resumes it.
            let wished = count_resumed(key.split('/').next().unwrap_or_default());
            if times > 1 + wished {
                report
                    .doubled
                    .push(format!("{key}: {times} times, {wished} by request"));
            } else {
                report.repeated_by_wish += times - 1;
            }
        }
    }

    /// Returns the lines of the report.
    pub(super) fn lines(&self, report: &Report, took: Duration) -> Vec<(&'static str, String)> {
        let record = self.record.lock().unwrap();
        let kills = record.kills.iter().map(|(name, times)| (*name, times));
        let outcome = |word: Outcome| {
            let times = report.outcomes.get(&word.to_string());
            times.copied().unwrap_or_default().to_string()
        };
        let mut lines = vec![("kills", record.kills.values().sum::<usize>().to_string())];
        lines.extend(kills.map(|(name, times)| (name, times.to_string())));
        lines.extend([
            ("runs", report.runs.to_string()),
            ("runs that succeeded", outcome(Outcome::Success)),
            (
                "runs that say they were interrupted",
                outcome(Outcome::Interrupted),
            ),
            ("lost runs", report.lost.len().to_string()),
            ("calls made", report.calls.to_string()),
            (
                "calls that must not be repeated",
                report.once_calls.to_string(),
            ),
            (
                "such calls repeated because a person resumed the run",
                report.repeated_by_wish.to_string(),
            ),
            ("calls doubled", report.doubled.len().to_string()),
            ("calls without a record", report.unknown.len().to_string()),
            ("slots", report.slots.to_string()),
            ("gaps", report.gaps.to_string()),
            ("doubled slots", report.doubled_slots.to_string()),
            ("duration", format!("{} s", took.as_secs())),
        ]);
        lines
    }
}

/// Returns how often a finished run was resumed.
async fn resumed(store: &dyn Store, run: &str) -> usize {
    let events = store.events(Some(&RunId::new(run)), 0, u32::MAX).await;
    let events = events.unwrap();
    events
        .iter()
        .filter(|event| event.kind == "resumed")
        .count()
}

/// Returns the runs that have not ended.
async fn active(store: &dyn Store) -> Vec<RunRow> {
    let filter = RunFilter {
        statuses: vec![RunStatus::Queued, RunStatus::Running, RunStatus::Waiting],
        ..RunFilter::default()
    };
    store.runs(filter).await.unwrap()
}

/// Checks that each slot of the scheduled skill, one every two seconds, has exactly one row.
fn check_slots(runs: &[RunRow], report: &mut Report) {
    let slots = runs.iter().filter(|run| run.skill == "ticking");
    let mut slots: Vec<i64> = slots
        .filter_map(|run| run.slot.map(jiff::Timestamp::as_second))
        .collect();
    slots.sort_unstable();
    report.slots = slots.len();
    for pair in slots.windows(2) {
        match pair[1] - pair[0] {
            2 => {}
            0 => report.doubled_slots += 1,
            apart => report.gaps += usize::try_from(apart / 2 - 1).unwrap_or_default(),
        }
    }
}
