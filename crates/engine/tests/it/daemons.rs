//! Two daemons on one database, killed and restarted at random. Afterwards every slot has one row, and the
//! log of the tool contains each slot once.

use std::collections::{HashMap, HashSet};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use deft_model::{Outcome, RunStatus};
use deft_store::prelude::*;
use deft_store::{PutResult, RunFilter, RunRow, SkillFilter, Sqlite, SqliteOptions};
use jiff::{SignedDuration, Timestamp};
use serde_json::json;
use tempfile::TempDir;

use crate::crash::{example, scatter};
use crate::time_world::{new_record, record, with};

const SKILLS: usize = 200;
/// Each skill has a slot every second: this many are past when the first daemon starts, and this many are
/// still to come.
const BEHIND: i64 = 35;
const AHEAD: i64 = 15;

fn open(home: &TempDir) -> Sqlite {
    let path = home.path().join("deft.db");
    Sqlite::open(&path, &SqliteOptions::default()).unwrap()
}

fn start(home: &TempDir, how: &str) -> Child {
    Command::new(example("schedule_driver"))
        .arg(home.path())
        .arg(how)
        .stdin(Stdio::null())
        .spawn()
        .unwrap()
}

async fn fill(store: &Sqlite, first: Timestamp) {
    let new = |n: usize| {
        let skill = record(
            &format!("Skill {n}"),
            json!({"schedule": "* * * * * *"}),
            "mark",
        );
        let skill = with(skill, json!({"misfire": "all", "overlap": "allow"}));
        new_record(&skill, first - SignedDuration::from_secs(1))
    };
    let put = store.put_skills((0..SKILLS).map(new).collect()).await;
    assert!(
        put.unwrap()
            .iter()
            .all(|put| matches!(put, PutResult::Stored(_)))
    );
}

/// Whether all slots up to an instant have their rows.
async fn all_slots_decided(store: &Sqlite, last: Timestamp) -> bool {
    store
        .next_due()
        .await
        .unwrap()
        .is_none_or(|next| next > last)
}

#[tokio::test(flavor = "multi_thread")]
async fn two_daemons_and_ten_thousand_slots() {
    let home = tempfile::tempdir().unwrap();
    let now = Timestamp::from_second(Timestamp::now().as_second()).unwrap();
    let first = now - SignedDuration::from_secs(BEHIND - 1);
    let last = now + SignedDuration::from_secs(AHEAD);
    let store = open(&home);
    fill(&store, first).await;
    let mut daemons = [start(&home, "serve"), start(&home, "serve")];
    let mut kills = 0;
    while !all_slots_decided(&store, last).await {
        // Not a wait for an event, but the time of the kill.
        let moment = Duration::from_millis(200 + scatter(kills) % 800);
        tokio::time::sleep(moment).await;
        let unlucky = &mut daemons[usize::try_from(scatter(kills + 1000) % 2).unwrap()];
        assert!(unlucky.try_wait().unwrap().is_none(), "it ended by itself");
        unlucky.kill().unwrap();
        unlucky.wait().unwrap();
        *unlucky = start(&home, "serve");
        kills += 1;
    }
    for daemon in &mut daemons {
        daemon.kill().unwrap();
        daemon.wait().unwrap();
    }
    let status = start(&home, "finish").wait().unwrap();
    assert!(status.success(), "what was left could not be finished");
    let took = Timestamp::now().duration_since(now).as_millis();
    let report = check(&store, home.path(), first, last).await;
    println!("{kills} kills in {took} ms; {report:?}");
    assert!(report.slots >= 10_000, "{report:?}");
    assert!(report.success > report.interrupted, "{report:?}");
    assert!(report.calls >= report.success, "{report:?}");
    assert!(kills > 5, "only {kills} kills");
}

#[derive(Debug, Default)]
struct Report {
    slots: usize,
    success: usize,
    interrupted: usize,
    calls: usize,
}

async fn check(store: &Sqlite, home: &Path, first: Timestamp, last: Timestamp) -> Report {
    let mut seen: HashMap<String, usize> = HashMap::new();
    for key in std::fs::read_to_string(home.join("witness"))
        .unwrap()
        .lines()
    {
        let run = key.split('/').next().unwrap();
        *seen.entry(run.to_owned()).or_default() += 1;
    }
    let mut rows: HashMap<String, Vec<RunRow>> = HashMap::new();
    for run in store.runs(RunFilter::default()).await.unwrap() {
        rows.entry(run.skill.clone()).or_default().push(run);
    }
    let mut report = Report {
        calls: seen.values().sum(),
        ..Report::default()
    };
    let skills = store.skills(SkillFilter::default()).await.unwrap();
    assert_eq!(skills.len(), SKILLS);
    for skill in skills {
        let end = skill.timeline.next_at.unwrap();
        assert!(end > last);
        let rows = rows.remove(&skill.text.skill).unwrap_or_default();
        let slots: HashSet<i64> = rows
            .iter()
            .map(|row| row.slot.unwrap().as_second())
            .collect();
        let planned: HashSet<i64> = (first.as_second()..end.as_second()).collect();
        assert_eq!(slots, planned, "{}", skill.text.skill);
        assert_eq!(slots.len(), rows.len(), "a slot has two rows");
        for row in rows {
            let calls = seen.remove(row.id.as_str()).unwrap_or(0);
            assert_eq!(row.status, RunStatus::Done, "{row:?}");
            report.slots += 1;
            match row.outcome {
                Some(Outcome::Success) => {
                    assert_eq!(calls, 1, "{row:?}");
                    report.success += 1;
                }
                // Cut off inside a `once` call.
                Some(Outcome::Interrupted) => {
                    assert!(calls <= 1, "{row:?}");
                    report.interrupted += 1;
                }
                other => panic!("{row:?} ended as {other:?}"),
            }
        }
    }
    assert!(seen.is_empty(), "calls of runs that nobody knows: {seen:?}");
    report
}
