//! Durable runs: latency, throughput, and the share of the engine.
//!
//! Prints a table; the bars are in `docs/performance.md`. Without `--bench` each is tried once.
#![expect(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a bench stops at the first surprise"
)]

#[path = "engine/batches.rs"]
mod batches;

use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use deft_compute::{Compute, Limits};
use deft_engine::{Attention, Engine, Fire, Options, Parts, SystemClock};
use deft_model::Effects;
use deft_registry::Snapshot;
use deft_skillfile::Moment;
use deft_store::{
    Admission, AdmissionClaim, AdmissionResult, Batch, NewEvent, Sqlite, SqliteOptions, Store,
};
use deft_store_testkit::Memory;
use deft_tools::{Definition, Environment, Router, Secret, SecretSource};
use jiff::Timestamp;
use serde_json::json;
use tokio::runtime::Runtime;

struct NoSecrets;

impl SecretSource for NoSecrets {
    fn secret(&self, _: &str) -> Result<Secret, String> {
        Err("none".to_owned())
    }
}

/// Returns a skill with this many steps, each with an argument made from the result of the previous one.
fn skill(name: &str, steps: usize, tool: &str) -> String {
    let mut text =
        format!("name: {name}\ndescription: d\ninputs:\n  - name: who\n    type: string\nsteps:\n");
    for step in 0..steps {
        let value = match step {
            0 => "{{ inputs.who }}".to_owned(),
            _ => format!("{{{{ s{}.n }}}}", step - 1),
        };
        text.push_str(&format!(
            "  - id: s{step}\n    tool: {tool}\n    args:\n      n: \"{value}\"\n"
        ));
    }
    text
}

fn engine(home: &Path, store: Arc<dyn Store>) -> Engine {
    let root = home.join("skills");
    std::fs::create_dir_all(&root).unwrap();
    for (name, steps, tool) in [
        ("once5", 5, "act"),
        ("none5", 5, "look"),
        ("once100", 100, "act"),
    ] {
        std::fs::write(root.join(format!("{name}.yaml")), skill(name, steps, tool)).unwrap();
    }
    let moment = Moment {
        now: Timestamp::now(),
        zone: jiff::tz::TimeZone::UTC,
    };
    let snapshot = Snapshot::load(&deft_registry::Options::new(vec![root]), &moment);
    assert_eq!(snapshot.skill_count(), 3);
    let router = Router::new(deft_tools::Options::default(), Environment::default());
    for (name, effects) in [("act", Effects::Once), ("look", Effects::None)] {
        let schema = json!({ "type": "object" });
        router.register_fn(
            Definition::new(name, "no-op", effects, schema),
            |args, _| async move { Ok(json!(args)) },
        );
    }
    let parts = Parts {
        models: deft_llm::Models::default(),
        store,
        skills: Arc::new(Arc::new(snapshot)),
        router,
        compute: Compute::new(deft_compute::Options {
            program: "false".into(),
            args: Vec::new(),
            limits: Limits::default(),
        }),
        clock: Arc::new(SystemClock),
        secrets: Arc::new(NoSecrets),
    };
    let mut options = Options::for_home(home);
    options.sessions = None;
    options.max_running = None;
    Engine::new(parts, options).unwrap()
}

fn fire(skill: &str) -> Fire {
    Fire {
        skill: skill.to_owned(),
        inputs: json!({ "who": "Ada" }).as_object().cloned().unwrap(),
        cause: "bench".into(),
        ..Fire::default()
    }
}

async fn run(engine: &Engine, skill: &str) {
    let admitted = engine.run(fire(skill), Attention::default()).await.unwrap();
    let row = admitted.run();
    assert_eq!(
        row.outcome,
        Some(deft_model::Outcome::Success),
        "{:?}",
        row.error
    );
}

fn percentile(times: &mut [Duration], part: f64) -> f64 {
    times.sort();
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        clippy::cast_precision_loss,
        reason = "an index"
    )]
    let at = ((times.len() - 1) as f64 * part) as usize;
    times[at].as_secs_f64() * 1000.0
}

/// Measures the lower bound: one commit of two small events.
fn single_commit(runtime: &Runtime, store: &Arc<dyn Store>, rounds: usize) -> Vec<Duration> {
    let now = Timestamp::now();
    let event = || {
        NewEvent {
        at: now,
        kind: "ended".to_owned(),
        body: "{\"ended\":{\"path\":\"s1\",\"attempt\":1,\"value\":{\"n\":\"Ada\"},\"next\":\"done\",\"ms\":0}}".to_owned(),
    }
    };
    let batch = || Batch {
        events: vec![event(), event()],
        ..Batch::default()
    };
    let admission = Admission {
        run: deft_model::RunId::new(format!("run_floor{}", now.as_nanosecond())),
        skill: "floor".to_owned(),
        revision: "r".to_owned(),
        tier: deft_model::Tier::Workflow,
        agent_id: "thinker".to_owned(),
        cause: "bench".into(),
        slot: None,
        step: None,
        key: None,
        parent: None,
        inputs: "{}".to_owned(),
        at: now,
        overlap: deft_model::Overlap::Allow,
        skill_limit: None,
        claim: Some(AdmissionClaim {
            owner: "bench".to_owned(),
            until: Timestamp::MAX,
            global_limit: None,
            batch: batch(),
        }),
        aside: Vec::new(),
        writes: Vec::new(),
        closing: Vec::new(),
    };
    runtime.block_on(async {
        let AdmissionResult::New { lease, .. } = store.admit(admission).await.unwrap() else {
            panic!("the run is not new");
        };
        let lease = lease.unwrap();
        let mut times = Vec::with_capacity(rounds);
        for _ in 0..rounds {
            let begun = Instant::now();
            store.append(&lease, batch()).await.unwrap();
            times.push(begun.elapsed());
        }
        times
    })
}

fn lone(runtime: &Runtime, engine: &Engine, skill: &str, rounds: usize) -> Vec<Duration> {
    runtime.block_on(async {
        let mut times = Vec::with_capacity(rounds);
        for _ in 0..rounds {
            let begun = Instant::now();
            run(engine, skill).await;
            times.push(begun.elapsed());
        }
        times
    })
}

/// Measures steps per second with this many runs in flight.
fn throughput(runtime: &Runtime, engine: &Engine, flights: usize, each: usize) -> f64 {
    let begun = Instant::now();
    runtime.block_on(async {
        let tasks: Vec<_> = (0..flights)
            .map(|_| {
                let engine = engine.clone();
                tokio::spawn(async move {
                    for _ in 0..each {
                        run(&engine, "once5").await;
                    }
                })
            })
            .collect();
        for task in tasks {
            task.await.unwrap();
        }
    });
    #[expect(clippy::cast_precision_loss, reason = "a rate")]
    let steps = (flights * each * 5) as f64;
    steps / begun.elapsed().as_secs_f64()
}

/// Returns the CPU time of the whole process, user and system.
fn cpu() -> Duration {
    let stat = std::fs::read_to_string("/proc/self/schedstat").unwrap_or_default();
    let own = stat.split(' ').next().and_then(|ns| ns.parse().ok());
    Duration::from_nanos(own.unwrap_or(0))
}

/// Prints the figures that `make bench-peers` compares, as one JSON line.
fn peer(runtime: &Runtime, engine: &Engine) {
    let mut times = lone(runtime, engine, "once5", 500);
    let rate = throughput(runtime, engine, 64, 50);
    let figures = json!({
        "p50_ms": percentile(&mut times, 0.5),
        "p99_ms": percentile(&mut times, 0.99),
        "steps_per_s": rate,
    });
    println!("{figures}");
}

fn main() {
    // `cargo bench` passes `--bench`; `cargo test` only checks that the bench works.
    let given = |name: &str| std::env::args().any(|arg| arg == name);
    let quick = !given("--bench") && !given("--peer");
    let rounds = if quick { 3 } else { 2000 };
    let home = tempfile::tempdir().unwrap();
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .unwrap();
    let open = || -> Arc<dyn Store> {
        let path = home.path().join("bench.db");
        Arc::new(Sqlite::open(&path, &SqliteOptions::default()).unwrap())
    };
    let store = open();
    let durable = engine(home.path(), Arc::clone(&store));
    lone(&runtime, &durable, "once5", rounds / 20 + 1);
    if given("--peer") {
        return peer(&runtime, &durable);
    }

    println!(
        "{:<44} {:>9} {:>9}",
        "durable, SQLite WAL FULL (ms)", "p50", "p99"
    );
    let show = |name: &str, times: &mut [Duration]| {
        println!(
            "{name:<44} {:>9.3} {:>9.3}",
            percentile(times, 0.5),
            percentile(times, 0.99)
        );
        percentile(times, 0.5)
    };
    // The lower bound and the run take turns, so that both are measured on the same disk.
    let mut floor = Vec::new();
    let mut once = Vec::new();
    let mut bare = Vec::new();
    for _ in 0..10 {
        floor.extend(single_commit(&runtime, &store, rounds / 5 + 1));
        once.extend(lone(&runtime, &durable, "once5", rounds / 10 + 1));
        let again = batches::commits(&runtime, &store, "once5", rounds / 10 + 1);
        bare.extend(again);
    }
    let floor = show("one commit of two events", &mut floor);
    let bare = show("the 6 commits of a run, without the engine", &mut bare);
    let once = show("a lone run of 5 `once` steps", &mut once);
    println!(
        "{:<44} {:>9.2}",
        "  its commits in units of 6 commits",
        bare / (6.0 * floor)
    );
    println!(
        "{:<44} {:>9.2}",
        "  in units of 6 commits (bar 1.15)",
        once / (6.0 * floor)
    );
    show(
        "a lone run of 5 `none` steps",
        &mut lone(&runtime, &durable, "none5", rounds / 2 + 1),
    );
    show(
        "a lone run of 100 `once` steps (bar 35)",
        &mut lone(&runtime, &durable, "once100", rounds / 40 + 1),
    );
    let each = if quick { 1 } else { 100 };
    for _ in 0..3 {
        println!(
            "{:<44} {:>9.0}",
            "64 runs of 5 in flight, steps/s (bar 20000)",
            throughput(&runtime, &durable, 64, each)
        );
    }

    let memory = engine(&home.path().join("memory"), Arc::new(Memory::new()));
    let single = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    lone(&single, &memory, "once5", rounds / 10 + 1);
    let before = cpu();
    let count = rounds.max(4);
    let mut times = lone(&single, &memory, "once5", count);
    let spent = cpu().saturating_sub(before);
    show("memory store, 5 steps (CPU bar 0.06)", &mut times);
    #[expect(clippy::cast_precision_loss, reason = "a mean")]
    let mean = spent.as_secs_f64() * 1000.0 / count as f64;
    println!("{:<44} {mean:>9.4}", "  CPU per run");
}
