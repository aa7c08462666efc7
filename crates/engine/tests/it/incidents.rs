//! An outage that several processes meet at once is reported by one of them, and none loses what another stored.

use std::sync::Arc;

use deft_model::Outage;
use deft_store::{Settings as _, Sqlite, SqliteOptions, Store};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::time_world::at;
use crate::world::World;

const SKILLS_PER_PROCESS: usize = 20;

fn open(folder: &TempDir) -> Arc<Sqlite> {
    let path = folder.path().join("deft.db");
    Arc::new(Sqlite::open(&path, &SqliteOptions::default()).unwrap())
}

/// Returns two engines with handles of their own on one database, as two processes have them.
fn open_twice(folder: &TempDir) -> [World; 2] {
    let world = |store| World::with(store, &[], |_| {});
    [open(folder), open(folder)].map(|store| world(store as Arc<dyn Store>))
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn runs_of_two_processes_join_one_incident() {
    let folder = tempfile::tempdir().unwrap();
    let worlds = open_twice(&folder);

    let mut joins = Vec::new();
    for number in 0..SKILLS_PER_PROCESS {
        for (process, world) in worlds.iter().enumerate() {
            let engine = world.engine.clone();
            joins.push(tokio::spawn(async move {
                let name = format!("skill-{process}-{number:02}");
                let outage = Outage::Server("mail".to_owned());
                let incidents = engine.incidents();
                incidents
                    .join(&outage, &name, &format!("run of {name}"), at("13:00"))
                    .await
                    .unwrap()
            }));
        }
    }
    let mut reports = 0;
    for join in joins {
        reports += u32::from(!join.await.unwrap());
    }

    let stored = open(&folder).setting("incidents").await.unwrap().unwrap();
    let stored: Value = serde_json::from_str(&stored).unwrap();
    let mut skills: Vec<String> = (0..SKILLS_PER_PROCESS)
        .flat_map(|number| [0, 1].map(|process| format!("skill-{process}-{number:02}")))
        .collect();
    skills.sort();
    assert_eq!(stored[0]["skills"], json!(skills));
    assert_eq!(stored.as_array().unwrap().len(), 1, "{stored:#}");
    assert_eq!(reports, 1);
}

/// All affected skills work again at the same time, in two processes: one run ends the incident and reports
/// it.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn one_of_two_processes_ends_an_incident() {
    let folder = tempfile::tempdir().unwrap();
    let worlds = open_twice(&folder);
    let outage = Outage::Server("mail".to_owned());
    let names = |process| (0..SKILLS_PER_PROCESS).map(move |n| format!("skill-{process}-{n:02}"));
    for name in (0..2).flat_map(names) {
        let incidents = worlds[0].engine.incidents();
        incidents
            .join(&outage, &name, "run_1", at("13:00"))
            .await
            .unwrap();
        incidents
            .join(&outage, &name, &name, at("13:00"))
            .await
            .unwrap();
    }

    let mut ends = Vec::new();
    for (process, world) in worlds.iter().enumerate() {
        for name in names(process) {
            let engine = world.engine.clone();
            ends.push(tokio::spawn(async move {
                engine
                    .incidents()
                    .end_for(&name, at("13:30"))
                    .await
                    .unwrap()
            }));
        }
    }
    let mut reports = Vec::new();
    for end in ends {
        reports.extend(end.await.unwrap());
    }
    assert_eq!(reports.len(), 1, "{reports:?}");
    assert_eq!(reports[0].others.len(), 2 * SKILLS_PER_PROCESS - 1);
    let stored = open(&folder).setting("incidents").await.unwrap();
    assert_eq!(stored.as_deref(), Some("[]"));
}
