//! Overhead of the engine per turn of an agent: budget, journal, prompt of the turn, a call. The model
//! answers at once and the tool does nothing, so all the time is deft's.
//!
//! Prints a table; the bar is in `docs/performance.md`. Without `--bench` each is tried once. Not here:
//! building the first prompt (`crates/agent`), the wire format of a model (`crates/llm`).
#![expect(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a bench stops at the first surprise"
)]

use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use deft_compute::{Compute, Limits};
use deft_engine::{Attention, Engine, Fire, Options, Parts, SystemClock};
use deft_llm::{ModelOptions, Models, Pong, Price, Provider, ProviderKind, Reply, ReplyListener};
use deft_model::{
    CallArgs, Effects, Message, ModelReply, ModelRequest, Object, Outcome, StopReason, TokenUsage,
    ToolCall,
};
use deft_registry::Snapshot;
use deft_skillfile::Moment;
use deft_store::{Sqlite, SqliteOptions, Store};
use deft_store_testkit::Memory;
use deft_tools::{Definition, Environment, Router, Secret, SecretSource};
use jiff::Timestamp;
use serde_json::json;
use tokio::runtime::Runtime;

/// Turns of a long run, each with a call.
const TURNS: usize = 20;

struct NoSecrets;

impl SecretSource for NoSecrets {
    fn secret(&self, _: &str) -> Result<Secret, String> {
        Err("none".to_owned())
    }
}

/// A model that answers at once: it calls its tool as often as its task says, then it is done.
struct Instantly;

impl Provider for Instantly {
    fn reply<'a>(&'a self, request: &'a ModelRequest, _: Option<ReplyListener<'a>>) -> Reply<'a> {
        let said = request.messages.iter();
        let turn = said.filter(|it| matches!(it, Message::Assistant { .. }));
        let turn = turn.count();
        let long = matches!(&request.messages[0], Message::User { text } if text == "long");
        let mut reply = ModelReply {
            text: "done".to_owned(),
            usage: TokenUsage {
                input: 500,
                output: 20,
                ..TokenUsage::default()
            },
            ..ModelReply::default()
        };
        if long && turn < TURNS {
            let args = json!({ "n": turn });
            reply.calls.push(ToolCall {
                id: format!("call_{turn}"),
                name: request.tools[0].name.clone(),
                args: CallArgs::Object(args.as_object().cloned().unwrap()),
            });
            reply.stop = StopReason::Calls;
        }
        Box::pin(async move { Ok(reply) })
    }

    fn ping(&self) -> Pong<'_> {
        Box::pin(async { Ok(()) })
    }
}

fn models() -> Models {
    let options = ModelOptions {
        name: "instantly".to_owned(),
        provider: ProviderKind::OpenAi,
        model: "instantly".to_owned(),
        base_url: None,
        api_key: None,
        tools: true,
        max_tokens: 256,
        context_tokens: None,
        temperature: None,
        timeout: Duration::from_secs(20),
        retries: 0,
        fallback: Vec::new(),
        concurrency: 8,
        price: Some(Price {
            input: 1.0,
            cached: None,
            cache_write: None,
            output: 2.0,
        }),
        extra: Object::new(),
    };
    Models::with_providers(vec![(options, Arc::new(Instantly))])
}

fn engine(home: &Path, store: Arc<dyn Store>) -> Engine {
    let root = home.join("skills");
    std::fs::create_dir_all(&root).unwrap();
    for tool in ["look", "act"] {
        for length in ["short", "long"] {
            let steps = TURNS + 1;
            let name = format!("{length}_{tool}");
            let text = format!(
                "name: {name}\ndescription: d\nsteps:\n  - {{id: mind, agent: {length}, tools: [{tool}], max_steps: {steps}}}\n"
            );
            std::fs::write(root.join(format!("{name}.yaml")), text).unwrap();
        }
    }
    let moment = Moment {
        now: Timestamp::now(),
        zone: jiff::tz::TimeZone::UTC,
    };
    let snapshot = Snapshot::load(&deft_registry::Options::new(vec![root]), &moment);
    assert_eq!(snapshot.skill_count(), 4);
    let router = Router::new(deft_tools::Options::default(), Environment::default());
    for (name, effects) in [("act", Effects::Once), ("look", Effects::None)] {
        let schema = json!({ "type": "object" });
        router.register_fn(
            Definition::new(name, "no-op", effects, schema),
            |args, _| async move { Ok(json!(args)) },
        );
    }
    let parts = Parts {
        models: models(),
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
    // The bench uses enough tokens to have the agent paused by the default limit.
    options.agent.budgets.all.spike_tokens = Some(u64::MAX);
    Engine::new(parts, options).unwrap()
}

async fn run(engine: &Engine, skill: &str) -> Duration {
    let fire = Fire {
        skill: skill.to_owned(),
        cause: "bench".into(),
        ..Fire::default()
    };
    let begun = Instant::now();
    let admitted = engine.run(fire, Attention::default()).await.unwrap();
    let took = begun.elapsed();
    let row = admitted.run();
    assert_eq!(row.outcome, Some(Outcome::Success), "{:?}", row.error);
    took
}

/// Returns the milliseconds per turn: the time of long runs minus that of short ones.
fn turns(runtime: &Runtime, engine: &Engine, tool: &str, rounds: usize) -> Vec<f64> {
    let (short, long) = (format!("short_{tool}"), format!("long_{tool}"));
    runtime.block_on(async {
        let mut times = Vec::with_capacity(rounds);
        for _ in 0..rounds {
            let short = run(engine, &short).await;
            let long = run(engine, &long).await;
            #[expect(clippy::cast_precision_loss, reason = "there are few turns")]
            let turns = TURNS as f64;
            times.push(long.saturating_sub(short).as_secs_f64() * 1000.0 / turns);
        }
        times.sort_by(f64::total_cmp);
        times
    })
}

fn main() {
    // `cargo bench` passes `--bench`; `cargo test` only checks that the bench works.
    let quick = !std::env::args().any(|arg| arg == "--bench");
    let rounds = if quick { 2 } else { 200 };
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .unwrap();
    println!(
        "{:<44} {:>9} {:>9}",
        "per turn of an agent (ms)", "p50", "p99"
    );
    for durable in [true, false] {
        let home = tempfile::tempdir().unwrap();
        let path = home.path().join("bench.db");
        let store: Arc<dyn Store> = if durable {
            Arc::new(Sqlite::open(&path, &SqliteOptions::default()).unwrap())
        } else {
            Arc::new(Memory::new())
        };
        let engine = engine(home.path(), store);
        let kept = if durable { "SQLite WAL FULL" } else { "memory" };
        for (tool, what) in [("look", "a harmless call"), ("act", "a call with effects")] {
            let times = turns(&runtime, &engine, tool, rounds);
            let (p50, p99) = (times[(rounds - 1) / 2], times[rounds * 99 / 100]);
            println!("{:<44} {p50:>9.3} {p99:>9.3}", format!("{kept}, {what}"));
        }
    }
}
