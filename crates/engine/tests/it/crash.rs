//! A process that drives runs is killed repeatedly. Afterwards every run is complete or marked as
//! interrupted, no finished step was repeated and no event is missing. The log of the tool server is the
//! witness.

use std::collections::{HashMap, HashSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use deft_model::{Effects, Outcome, RunStatus};
use deft_store::prelude::*;
use deft_store::{RunFilter, RunRow, Sqlite, SqliteOptions};
use deft_testkit::{Arguments, Kind, Script, server_binary, witness};
use deft_workflow::{Call, Event, Next};
use serde_json::json;

const KILLS: usize = 300;
const SKILLS: [(&str, &str); 4] = [
    (
        "serial",
        "name: serial\ndescription: d\nsteps:\n  - {id: a, tool: act}\n  - {id: b, tool: put}\n  - {id: c, tool: look}\n  - {id: d, tool: act, condition: \"c\"}\n  - {id: e, tool: put}\n",
    ),
    (
        "group",
        "name: group\ndescription: d\nsteps:\n  - {id: a, tool: put, parallel_group: 1}\n  - {id: b, tool: look, parallel_group: 1}\n  - {id: c, tool: act, parallel_group: 1}\n  - {id: d, tool: put, depends_on: [a, b]}\n  - {id: e, tool: act}\n",
    ),
    (
        "careful",
        "name: careful\ndescription: d\nmax_heals: 50\nexpect: {that: \"10 ** 60 > 1\"}\nsteps:\n  - {id: think, compute: \"result = 1\"}\n  - {id: a, tool: put, condition: \"10 ** 60 > 1\"}\n  - {id: b, tool: wobbly, heal: [{when: auth, tool: mend}]}\n  - {id: c, tool: act, expect: {that: \"hash(result) != 10 ** 60\"}}\n  - {id: d, tool: put}\nconfirmations:\n  - {step: c, message: Really?}\n",
    ),
    (
        "mixed",
        "name: mixed\ndescription: d\nsteps:\n  - {id: list, tool: look}\n  - {id: each, loop: [1, 2, 3], loop_var: n, loop_concurrency: 2, tool: put, args: {n: \"{{ n }}\"}}\n  - {id: inner, skill: serial}\n  - {id: last, tool: act}\n",
    ),
];

struct World {
    home: tempfile::TempDir,
    server: PathBuf,
    arguments: Arguments,
    driver: PathBuf,
}

impl World {
    fn new() -> Self {
        let home = tempfile::tempdir().unwrap();
        let skills = home.path().join("skills");
        fs::create_dir(&skills).unwrap();
        for (name, text) in SKILLS {
            fs::write(skills.join(format!("{name}.yaml")), text).unwrap();
        }
        // A short delay inside each call, so that most kills hit a call in flight.
        let tool =
            |hints: serde_json::Value| json!({"annotations": hints, "delay_ms": 2, "text": "done"});
        let script = Script::new()
            .tool("act", tool(json!({})))
            .tool("put", tool(json!({"idempotentHint": true})))
            .tool("mend", tool(json!({"idempotentHint": true})))
            .tool("look", tool(json!({"readOnlyHint": true})));
        let arguments = script.write(home.path(), "world");
        Self {
            home,
            server: server_binary(),
            arguments,
            driver: example("crash_driver"),
        }
    }

    fn start(&self, total: usize) -> Child {
        Command::new(&self.driver)
            .arg("steps")
            .arg(self.home.path())
            .arg(&self.server)
            .arg(total.to_string())
            .args(self.arguments.list())
            .stdin(Stdio::null())
            .spawn()
            .unwrap()
    }

    fn store(&self) -> Sqlite {
        let path = self.home.path().join("deft.db");
        Sqlite::open(&path, &SqliteOptions::default()).unwrap()
    }
}

/// Returns the path of an example, which cargo builds next to the tests.
pub(crate) fn example(name: &str) -> PathBuf {
    let test = std::env::current_exe().unwrap();
    let profile = test.parent().and_then(Path::parent).unwrap();
    let driver = profile.join("examples").join(name);
    assert!(driver.exists(), "cargo builds examples with the tests");
    driver
}

/// Returns a pseudorandom number that is the same in every run of the test.
pub(crate) fn scatter(n: usize) -> u64 {
    let mut x = (n as u64).wrapping_add(0x9e37_79b9_7f4a_7c15);
    x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ (x >> 31)
}

#[tokio::test]
async fn no_call_is_lost_or_repeated_over_300_kills() {
    let world = World::new();
    let mut in_flight = 0;
    let mut kills = 0;
    while kills < KILLS {
        let mut child = world.start(usize::MAX);
        // Not a wait for an event, but the time of the kill.
        let moment = Duration::from_millis(25 + scatter(kills) % 100);
        tokio::time::sleep(moment).await;
        assert!(
            child.try_wait().unwrap().is_none(),
            "the driver ended by itself"
        );
        child.kill().unwrap();
        child.wait().unwrap();
        kills += 1;
        if !world.home.path().join("deft.db").exists() {
            continue;
        }
        let running = RunFilter {
            statuses: vec![RunStatus::Running],
            ..RunFilter::default()
        };
        in_flight += usize::from(!world.store().runs(running).await.unwrap().is_empty());
    }
    let runs = world
        .store()
        .runs(RunFilter::default())
        .await
        .unwrap()
        .len();
    let status = world.start(runs).wait().unwrap();
    assert!(status.success(), "what was left could not be finished");
    let report = check(&world).await;
    println!("{kills} kills, {in_flight} hit a run in flight; {report:?}");
    assert!(
        in_flight * 2 > kills,
        "only {in_flight} of {kills} kills hit a run"
    );
    assert!(report.success > 0 && report.interrupted > 0, "{report:?}");
    let seldom = [
        report.thoughts,
        report.judged,
        report.mended,
        report.answered,
    ];
    assert!(seldom.into_iter().all(|times| times > 10), "{report:?}");
}

#[derive(Debug, Default)]
struct Report {
    runs: usize,
    success: usize,
    interrupted: usize,
    calls: usize,
    repeated: usize,
    /// Successful code blocks, checked results, successful heal rules, and answered questions.
    thoughts: usize,
    judged: usize,
    mended: usize,
    answered: usize,
}

async fn check(world: &World) -> Report {
    let store = world.store();
    let mut started: HashMap<String, usize> = HashMap::new();
    for event in witness(&world.arguments.witness) {
        if event.kind == Kind::Started {
            *started.entry(event.key.unwrap()).or_default() += 1;
        }
    }
    let mut report = Report::default();
    for run in store.runs(RunFilter::default()).await.unwrap() {
        report.runs += 1;
        match run.outcome {
            Some(Outcome::Success) => report.success += 1,
            Some(Outcome::Interrupted) => report.interrupted += 1,
            other => panic!("{run:?} ended as {other:?}"),
        }
        check_run(&store, &run, &started, &mut report).await;
    }
    report
}

/// Compares the journal of a run with the calls that the server received.
async fn check_run(
    store: &Sqlite,
    run: &RunRow,
    started: &HashMap<String, usize>,
    report: &mut Report,
) {
    let stored = store.events(Some(&run.id), 0, u32::MAX).await.unwrap();
    let events: Vec<Event> = stored
        .iter()
        .map(|event| serde_json::from_str(&event.body).unwrap())
        .collect();
    assert!(matches!(events.first(), Some(Event::Started(_))), "{run:?}");
    assert!(matches!(events.last(), Some(Event::Finished(_))), "{run:?}");
    let mut begun: HashMap<String, (usize, Effects)> = HashMap::new();
    let mut done: HashMap<String, usize> = HashMap::new();
    let mut healed: Vec<String> = Vec::new();
    let mut answered: HashSet<String> = HashSet::new();
    for event in &events {
        match event {
            // Repeating the check of a result does no harm; repeating its call would.
            Event::Begun(intent) if matches!(*intent.call, Call::Expect { .. }) => {
                report.judged += 1;
            }
            Event::Begun(intent) => {
                let path = intent.path.to_string();
                assert!(
                    !done.contains_key(&path),
                    "`{path}` of {} began again",
                    run.id
                );
                let entry = begun.entry(path).or_insert((0, intent.effects));
                entry.0 += 1;
            }
            Event::Ended(ended) if ended.next == Next::Done => {
                if ended.path.as_str().ends_with("think") {
                    // The same step of the same run always gets the same seed.
                    let seed = deft_model::scatter(format!("{}/{}", run.id, ended.path).bytes());
                    assert_eq!(ended.value.as_deref(), Some(&json!(seed)), "{run:?}");
                    report.thoughts += 1;
                }
                *done.entry(ended.path.to_string()).or_default() += 1;
            }
            Event::Healed {
                path, error: None, ..
            } => {
                report.mended += 1;
                healed.push(path.to_string());
            }
            Event::Answered { path, .. } => {
                report.answered += 1;
                let first = answered.insert(path.to_string());
                assert!(first, "`{path}` of {} was answered twice", run.id);
            }
            _ => {}
        }
    }
    for (nth, path) in healed.iter().enumerate() {
        let key = format!("{}/{path}#heal{}", run.id, nth + 1);
        assert!(started.contains_key(&key), "{key} mended without a call");
    }
    for (path, (intents, effects)) in &begun {
        let key = format!("{}/{path}", run.id);
        let seen = started.get(&key).copied().unwrap_or(0);
        report.calls += seen;
        report.repeated += seen.saturating_sub(1);
        match effects {
            // The intent of a call without effects need not be stored before the call, so a crash may lose
            // it; a call with effects is never made without its intent.
            Effects::None => {}
            Effects::Idempotent => assert!(seen <= *intents, "{key}: {seen} calls"),
            Effects::Once => assert!(seen <= 1, "{key} was called {seen} times"),
        }
        assert!(
            done.get(path).copied().unwrap_or(0) <= 1,
            "{key} ended twice"
        );
    }
}
