//! Lists with more rows than fit on a screen.

use deft_model::{Cause, Overlap, RunId};
use deft_store::prelude::*;
use deft_store::{Admission, NewNotice, Sqlite, SqliteOptions};
use jiff::Timestamp;
use serde_json::{Value, json};

use crate::daemon::used_home;
use crate::support::World;

/// More than two pages, with a partial last one.
const ROWS: usize = 2105;

fn admission(n: usize, skill: &str) -> Admission {
    Admission {
        run: RunId::new(format!("run_{skill}_{n:05}")),
        skill: skill.to_owned(),
        revision: "sha256:1".to_owned(),
        tier: deft_model::Tier::Workflow,
        agent_id: "main".to_owned(),
        cause: Cause::Cli,
        slot: None,
        step: None,
        key: None,
        parent: None,
        inputs: "{}".to_owned(),
        at: Timestamp::UNIX_EPOCH,
        overlap: Overlap::Allow,
        skill_limit: None,
        claim: None,
        aside: Vec::new(),
        writes: Vec::new(),
        closing: Vec::new(),
    }
}

/// Creates a home with [`ROWS`] runs, jobs and notices.
fn world() -> World {
    let world = used_home();
    let path = world.path("home/data/deft.db");
    let store = Sqlite::open(&path, &SqliteOptions::default()).unwrap();
    let runtime = tokio::runtime::Builder::new_current_thread()
        .build()
        .unwrap();
    runtime.block_on(async {
        let skills = ["short", "queue_task"];
        let runs = (0..ROWS).flat_map(|n| skills.map(|skill| store.admit(admission(n, skill))));
        for run in runs.collect::<Vec<_>>() {
            run.await.unwrap();
        }
        let notices = (0..ROWS).map(|n| {
            store.add_notice(NewNotice {
                skill: None,
                key: format!("notice {n}"),
                body: json!({"kind": "message", "title": "", "text": format!("message {n}")})
                    .to_string(),
                at: Timestamp::UNIX_EPOCH,
            })
        });
        for notice in notices.collect::<Vec<_>>() {
            notice.await.unwrap();
        }
    });
    world
}

/// Returns the lines of the table without its header, and stderr.
fn table(world: &World, args: &[&str]) -> (Vec<String>, String) {
    let output = world.output(args);
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    let text = String::from_utf8(output.stdout).unwrap();
    let lines = text.lines().skip(1).map(str::to_owned).collect();
    (lines, String::from_utf8(output.stderr).unwrap())
}

#[test]
fn tables_show_the_latest_rows_and_json_shows_all() {
    let world = world();
    let lists: [(&[&str], &str, &str); 3] = [
        (
            &["runs", "list", "--skill", "short"],
            "runs",
            "run_short_02104",
        ),
        (&["jobs", "list"], "jobs", "run_queue_task_02104"),
        (&["notices", "list"], "notices", "2105"),
    ];
    for (args, name, first) in lists {
        let (lines, said) = table(&world, args);
        assert_eq!(lines.len(), 100, "{name}");
        assert!(lines[0].starts_with(first), "{}", lines[0]);
        assert_eq!(said, "showing the latest 100 of 2105; --all for all\n");
        let (lines, said) = table(&world, &[args, &["--all"]].concat());
        assert_eq!((lines.len(), &*said), (ROWS, ""), "{name}");
        let (lines, said) = table(&world, &[args, &["--limit", "1500"]].concat());
        assert_eq!((lines.len(), &*said), (1500, ""), "{name}");

        // One document, formatted as if it were printed at once.
        let output = world.output(&[args, &["--json"]].concat());
        let text = String::from_utf8(output.stdout).unwrap();
        let document: Value = serde_json::from_str(&text).unwrap();
        assert_eq!(text, format!("{document:#}\n"), "{name}");
        let rows = document[name].as_array().unwrap();
        assert_eq!(rows.len(), ROWS, "{name}");
        let few = world.json(&[args, &["--limit", "7", "--json"]].concat());
        assert_eq!(few[name].as_array().unwrap()[..], rows[..7], "{name}");
    }
}

#[test]
fn an_empty_list_is_a_json_document() {
    let world = used_home();
    for (args, document) in [
        (["runs", "list", "--json"], "{\n  \"runs\": []\n}\n"),
        (["notices", "list", "--json"], "{\n  \"notices\": []\n}\n"),
        (
            ["jobs", "list", "--json"],
            "{\n  \"jobs\": [],\n  \"halted_since\": null\n}\n",
        ),
    ] {
        let output = world.output(&args);
        assert_eq!(String::from_utf8(output.stdout).unwrap(), document);
    }
}
