//! Drives many runs in one process, for the crash test to kill.
//!
//! `crash_driver steps|agents HOME SERVER TOTAL ARGS…`: resumes the runs of earlier processes, admits runs
//! until there are TOTAL of them, drives four at a time, and ends when all are done. `steps` are runs without
//! a model, `agents` use a model in this process.
//!
//! `crash_driver spenders HOME SERVER TOTAL ARGS…` is not killed: it prints `ready`, waits for a line, and
//! fires TOTAL runs at once, which share a budget with those of other processes (`spenders.rs`).
//!
//! `crash_driver worker` replaces the worker that runs Python: an interpreter that takes a second to load
//! would never answer in a process that lives for a tenth of one.

#![expect(
    clippy::wildcard_enum_match_arm,
    reason = "messages of other kinds are ignored"
)]
#![expect(
    clippy::unwrap_used,
    reason = "a test program stops at the first surprise"
)]

mod errands;
mod mind;
mod spenders;
mod stand_in;

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use deft_compute::{Compute, Limits};
use deft_engine::{Attention, Engine, Fire, Options, Parts, SystemClock};
use deft_llm::Models;
use deft_model::{Effects, Failure, FailureClass, Object, RunStatus};
use deft_registry::Snapshot;
use deft_skillfile::Moment;
use deft_store::{RunFilter, Sqlite, SqliteOptions};
use deft_tools::{Definition, Environment, Router, Secret, SecretSource, ServerOptions};
use jiff::Timestamp;
use serde_json::json;

struct NoSecrets;

impl SecretSource for NoSecrets {
    fn secret(&self, _: &str) -> Result<Secret, String> {
        Err("none".to_owned())
    }
}

fn engine(home: &Path, server: &str, args: Vec<String>, models: Models) -> Engine {
    let options = deft_registry::Options::new(vec![home.join("skills")]);
    let moment = Moment {
        now: Timestamp::now(),
        zone: jiff::tz::TimeZone::UTC,
    };
    let store = Sqlite::open(&home.join("deft.db"), &SqliteOptions::default()).unwrap();
    let server = ServerOptions {
        command: Some(server.to_owned()),
        args,
        ..ServerOptions::default()
    };
    let tools = deft_tools::Options {
        servers: BTreeMap::from([("world".to_owned(), server)]),
        ..deft_tools::Options::default()
    };
    let parts = Parts {
        models,
        store: Arc::new(store),
        skills: Arc::new(Arc::new(Snapshot::load(&options, &moment))),
        router: router(tools),
        compute: Compute::new(deft_compute::Options {
            program: std::env::current_exe().unwrap(),
            args: vec!["worker".into()],
            limits: Limits::default(),
        }),
        clock: Arc::new(SystemClock),
        secrets: Arc::new(NoSecrets),
    };
    let mut options = Options::for_home(home);
    // A waiting run gives its permit to another one, so that a kill always hits running work.
    options.park_after = Duration::ZERO;
    options.agent.approve.push("sign".to_owned());
    let engine = Engine::new(parts, options).unwrap();
    engine.register_tools();
    engine
}

/// Returns a router with a tool of this process besides those of the server: every other call of it fails, to
/// trigger heal rules.
fn router(options: deft_tools::Options) -> Router {
    let router = Router::new(options, Environment::default());
    let calls = AtomicUsize::new(0);
    let schema = json!({ "type": "object" });
    let definition = Definition::new("wobbly", "Fails", Effects::Idempotent, schema);
    router.register_fn(definition, move |_, _| {
        let fails = calls.fetch_add(1, Ordering::Relaxed).is_multiple_of(2);
        async move {
            if fails {
                Err(Failure::new(FailureClass::Auth, "who are you"))
            } else {
                Ok(json!("fine"))
            }
        }
    });
    router
}

async fn work(engine: Engine, total: usize) {
    let yes = Attention {
        assume_yes: Some("the crash test".to_owned()),
        ..Attention::default()
    };
    loop {
        engine.drain(&yes).await.unwrap();
        let runs = engine.store().runs(RunFilter::default()).await.unwrap();
        if runs.len() >= total {
            if runs.iter().all(|run| run.status == RunStatus::Done) {
                return;
            }
            tokio::task::yield_now().await;
            continue;
        }
        let skills = ["mixed", "serial", "careful", "group"];
        let fire = Fire {
            skill: skills[runs.len() % skills.len()].to_owned(),
            inputs: Object::new(),
            cause: "crash test".into(),
            ..Fire::default()
        };
        engine.run(fire, yes.clone()).await.unwrap();
    }
}

#[tokio::main(flavor = "multi_thread", worker_threads = 2)]
async fn main() {
    let mut args = std::env::args().skip(1);
    let kind = args.next().unwrap();
    if kind == "worker" {
        return stand_in::serve();
    }
    let home = args.next().unwrap();
    let home = Path::new(&home);
    let server = args.next().unwrap();
    let total = args.next().unwrap().parse().unwrap();
    let agents = kind == "agents";
    let spends = kind == "spenders";
    let models = if agents || spends {
        mind::models(home)
    } else {
        Models::default()
    };
    let engine = engine(home, &server, args.collect(), models);
    if spends {
        return spenders::race(&engine, home, total).await;
    }
    engine.recover().await.unwrap();
    let workers: Vec<_> = (0..4)
        .map(|nth| {
            let engine = engine.clone();
            tokio::spawn(async move {
                if agents {
                    errands::work(engine, total, nth).await;
                } else {
                    work(engine, total).await;
                }
            })
        })
        .collect();
    for worker in workers {
        worker.await.unwrap();
    }
}
