//! A daemon without a front end, for the test of two daemons to kill.
//!
//! `schedule_driver HOME serve` fires slots until it is killed. `schedule_driver HOME finish` resumes the
//! runs of other processes, drives them to their end and exits. Each call of the tool `mark` appends its
//! idempotency key to `HOME/witness` in one write.
#![expect(
    clippy::unwrap_used,
    reason = "a test program stops at the first surprise"
)]

use std::fs::OpenOptions;
use std::future::Future;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use deft_compute::{Compute, Limits};
use deft_engine::{
    Attention, Channel, Delivery, DeliveryResult, Engine, Options, Parts, SystemClock,
};
use deft_model::Effects;
use deft_registry::Snapshot;
use deft_scheduler::Pool;
use deft_skillfile::Moment;
use deft_store::{Sqlite, SqliteOptions};
use deft_tools::{Definition, Environment, Router, Secret, SecretSource};
use jiff::Timestamp;
use serde_json::json;
use tokio_util::sync::CancellationToken;

struct NoSecrets;

impl SecretSource for NoSecrets {
    fn secret(&self, _: &str) -> Result<Secret, String> {
        Err("none".to_owned())
    }
}

/// A channel that takes every message.
struct Ears;

impl Channel for Ears {
    fn deliver<'a>(
        &'a self,
        _: &'a Delivery<'a>,
    ) -> Pin<Box<dyn Future<Output = DeliveryResult> + Send + 'a>> {
        Box::pin(async { Ok("heard".to_owned()) })
    }
}

fn mark(router: &Router, witness: PathBuf) {
    let schema = json!({ "type": "object" });
    let definition = Definition::new("mark", "for tests", Effects::Once, schema);
    router.register_fn(definition, move |_, context| {
        let mut file = OpenOptions::new()
            .append(true)
            .create(true)
            .open(&witness)
            .unwrap();
        let line = format!("{}\n", context.key);
        async move {
            file.write_all(line.as_bytes()).unwrap();
            // A delay inside the call, so that kills hit calls in flight.
            tokio::time::sleep(Duration::from_millis(2)).await;
            Ok(json!("marked"))
        }
    });
}

fn engine(home: &Path) -> Engine {
    let moment = Moment {
        now: Timestamp::now(),
        zone: jiff::tz::TimeZone::UTC,
    };
    let roots = deft_registry::Options::new(vec![home.join("skills")]);
    let store = Sqlite::open(&home.join("deft.db"), &SqliteOptions::default()).unwrap();
    let router = Router::new(deft_tools::Options::default(), Environment::default());
    mark(&router, home.join("witness"));
    let parts = Parts {
        models: deft_llm::Models::default(),
        store: Arc::new(store),
        skills: Arc::new(Arc::new(Snapshot::load(&roots, &moment))),
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
    Engine::new(parts, options).unwrap()
}

#[tokio::main(flavor = "multi_thread", worker_threads = 2)]
async fn main() {
    let mut args = std::env::args().skip(1);
    let home = args.next().unwrap();
    let engine = engine(Path::new(&home));
    if args.next().as_deref() == Some("finish") {
        engine.recover().await.unwrap();
        engine.drain(&Attention::default()).await.unwrap();
        return;
    }
    let pool = Pool::new(32);
    let stop = CancellationToken::new();
    let grace = Duration::from_secs(5);
    deft_scheduler::Scheduler::new(&engine)
        .serve(&pool, Arc::new(Ears), stop, grace)
        .await
        .unwrap();
}
