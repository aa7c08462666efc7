//! Drives many runs in one process, so that the crash test has something to kill.
//!
//! `crash_driver HOME SERVER TOTAL ARGS…`: takes over what earlier processes left behind, admits
//! runs until there are TOTAL of them, drives four at a time, and ends when all are done.
#![expect(
    clippy::unwrap_used,
    reason = "a test program stops at the first surprise"
)]

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use deft_compute::{Compute, Limits};
use deft_engine::{Attention, Engine, Fire, Options, Parts, SystemClock};
use deft_model::{Object, RunStatus};
use deft_registry::Snapshot;
use deft_skillfile::Moment;
use deft_store::{RunFilter, Sqlite, SqliteOptions};
use deft_tools::{Environment, Router, Secret, SecretSource, ServerOptions};
use jiff::Timestamp;

struct NoSecrets;

impl SecretSource for NoSecrets {
    fn secret(&self, _: &str) -> Result<Secret, String> {
        Err("none".to_owned())
    }
}

fn engine(home: &Path, server: &str, args: Vec<String>) -> Engine {
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
        store: Arc::new(store),
        skills: Arc::new(Arc::new(Snapshot::load(&options, &moment))),
        router: Router::new(tools, Environment::default()),
        compute: Compute::new(deft_compute::Options {
            program: "false".into(),
            args: Vec::new(),
            limits: Limits::default(),
        }),
        clock: Arc::new(SystemClock),
        secrets: Arc::new(NoSecrets),
    };
    Engine::new(parts, Options::at(home)).unwrap()
}

async fn work(engine: Engine, total: usize) {
    loop {
        engine.drain(&Attention::default()).await.unwrap();
        let runs = engine.store().runs(RunFilter::default()).await.unwrap();
        if runs.len() >= total {
            if runs.iter().all(|run| run.status == RunStatus::Done) {
                return;
            }
            tokio::task::yield_now().await;
            continue;
        }
        let skills = ["mixed", "serial", "group"];
        let fire = Fire {
            skill: skills[runs.len() % skills.len()].to_owned(),
            inputs: Object::new(),
            cause: "crash test".to_owned(),
            ..Fire::default()
        };
        engine.run(fire, Attention::default()).await.unwrap();
    }
}

#[tokio::main(flavor = "multi_thread", worker_threads = 2)]
async fn main() {
    let mut args = std::env::args().skip(1);
    let home = args.next().unwrap();
    let server = args.next().unwrap();
    let total = args.next().unwrap().parse().unwrap();
    let engine = engine(Path::new(&home), &server, args.collect());
    engine.recover().await.unwrap();
    let workers: Vec<_> = (0..4)
        .map(|_| tokio::spawn(work(engine.clone(), total)))
        .collect();
    for worker in workers {
        worker.await.unwrap();
    }
}
