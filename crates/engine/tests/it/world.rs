//! A small world for runs: skills in a folder, tools in this process, a manual clock.

use std::collections::HashMap;
use std::fs;
use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, Mutex};

use deft_compute::Compute;
use deft_engine::{
    Admission, Attention, Clock, Engine, Fire, Options, Parts, PublishedEvent, RerunWith, Skills,
};
use deft_model::{Cause, Effects, Failure, Object};
use deft_registry::Snapshot;
use deft_skillfile::Moment;
use deft_store::{RunRow, Store};
use deft_store_testkit::Memory;
use deft_tools::{Definition, Environment, Router, Secret, SecretSource};
use jiff::Timestamp;
use jiff::tz::TimeZone;
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::sync::Notify;

/// A manual clock, which a test moves.
#[derive(Clone)]
pub(crate) struct ManualClock {
    now: Arc<Mutex<Timestamp>>,
    moved: Arc<Notify>,
}

impl ManualClock {
    pub(crate) fn new() -> Self {
        Self {
            now: Arc::new(Mutex::new("2026-01-26T13:00:00Z".parse().unwrap())),
            moved: Arc::new(Notify::new()),
        }
    }

    pub(crate) fn set(&self, now: Timestamp) {
        *self.now.lock().unwrap() = now;
        self.moved.notify_waiters();
    }
}

impl Clock for ManualClock {
    fn now(&self) -> Timestamp {
        *self.now.lock().unwrap()
    }

    fn sleep_until(&self, until: Timestamp) -> Pin<Box<dyn Future<Output = ()> + Send>> {
        let clock = self.clone();
        Box::pin(async move {
            loop {
                let moved = clock.moved.notified();
                if clock.now() >= until {
                    return;
                }
                moved.await;
            }
        })
    }
}

/// Skills that a test can change.
#[derive(Clone)]
pub(crate) struct Folder(pub(crate) Arc<Mutex<Arc<Snapshot>>>);

impl Skills for Folder {
    fn snapshot(&self) -> Arc<Snapshot> {
        Arc::clone(&self.0.lock().unwrap())
    }
}

pub(crate) struct Secrets(pub(crate) HashMap<String, String>);

impl SecretSource for Secrets {
    fn secret(&self, name: &str) -> Result<Secret, String> {
        let found = self.0.get(name).map(Secret::new);
        found.ok_or_else(|| "nobody has set it".to_owned())
    }
}

/// The calls that tools received, in order: name and arguments.
pub(crate) type Calls = Arc<Mutex<Vec<(String, Object)>>>;

/// The key of a model provider, for worlds that withhold it from tools.
pub(crate) const MODEL_KEY: &str = "sk-model/KEY-0123456789";

pub(crate) struct World {
    pub(crate) home: TempDir,
    pub(crate) engine: Engine,
    pub(crate) clock: ManualClock,
    pub(crate) store: Arc<dyn Store>,
    pub(crate) folder: Folder,
    pub(crate) calls: Calls,
}

impl World {
    /// Returns a world with these workflow files: name and text.
    pub(crate) fn new(skills: &[(&str, &str)]) -> Self {
        Self::with(Arc::new(Memory::new()), skills, |_| {})
    }

    pub(crate) fn with(
        store: Arc<dyn Store>,
        skills: &[(&str, &str)],
        change: impl FnOnce(&mut Options),
    ) -> Self {
        let home = tempfile::tempdir().unwrap();
        let folder = Folder(Arc::new(Mutex::new(load(&home, skills))));
        Self::at(home, folder, store, change)
    }

    pub(crate) fn at(
        home: TempDir,
        folder: Folder,
        store: Arc<dyn Store>,
        change: impl FnOnce(&mut Options),
    ) -> Self {
        Self::with_servers(home, folder, store, deft_tools::Options::default(), change)
    }

    /// Returns a world with tools of servers besides its own.
    pub(crate) fn with_servers(
        home: TempDir,
        folder: Folder,
        store: Arc<dyn Store>,
        tools: deft_tools::Options,
        change: impl FnOnce(&mut Options),
    ) -> Self {
        let models = deft_llm::Models::default();
        Self::from_parts(home, folder, store, (tools, models), change)
    }

    pub(crate) fn from_parts(
        home: TempDir,
        folder: Folder,
        store: Arc<dyn Store>,
        (tools, models): (deft_tools::Options, deft_llm::Models),
        change: impl FnOnce(&mut Options),
    ) -> Self {
        let clock = ManualClock::new();
        let keys = HashMap::from([("env:MODEL_KEY".to_owned(), MODEL_KEY.to_owned())]);
        let hands = clock.clone();
        let environment = Environment {
            secrets: Arc::new(Secrets(keys)),
            now: Arc::new(move || hands.now()),
            ..Environment::default()
        };
        let router = Router::new(tools, environment);
        let calls = Calls::default();
        install(&router, &calls);
        let parts = Parts {
            models,
            store: Arc::clone(&store),
            skills: Arc::new(folder.clone()),
            router,
            compute: Compute::new(compute_options()),
            clock: Arc::new(clock.clone()),
            secrets: Arc::new(Secrets(HashMap::from([(
                "TOKEN".to_owned(),
                "s3cr3t-value".to_owned(),
            )]))),
        };
        let mut options = Options::for_home(home.path());
        change(&mut options);
        let engine = Engine::new(parts, options).unwrap();
        Self {
            home,
            engine,
            clock,
            store,
            folder,
            calls,
        }
    }

    pub(crate) async fn run(&self, skill: &str, inputs: Value) -> RunRow {
        self.run_with(skill, inputs, Attention::default()).await
    }

    pub(crate) async fn run_with(
        &self,
        skill: &str,
        inputs: Value,
        attention: Attention,
    ) -> RunRow {
        let admitted = self
            .engine
            .run(fire(skill, &inputs), attention)
            .await
            .unwrap();
        let Admission::Run(row) = admitted else {
            panic!("the run was there already");
        };
        row
    }

    /// Returns the public events of a run, without the fields that vary from run to run.
    pub(crate) async fn events(&self, run: &RunRow) -> Vec<Value> {
        let stored = self.store.events(Some(&run.id), 0, u32::MAX).await.unwrap();
        let public = stored.into_iter().filter_map(|stored| {
            let published = PublishedEvent {
                seq: stored.seq,
                at: stored.at,
                run: stored.run,
                skill: run.skill.clone(),
                event: serde_json::from_str(&stored.body).unwrap(),
            };
            published.public()
        });
        public.map(|event| json!(event)).collect()
    }

    pub(crate) fn called(&self) -> Vec<String> {
        let calls = self.calls.lock().unwrap();
        calls.iter().map(|(tool, _)| tool.clone()).collect()
    }
}

pub(crate) fn fire(skill: &str, inputs: &Value) -> Fire {
    Fire {
        skill: skill.to_owned(),
        inputs: inputs.as_object().cloned().unwrap_or_default(),
        cause: Cause::Cli,
        ..Fire::default()
    }
}

/// Returns the options of a rerun that starts with a step.
pub(crate) fn from_step(step: &str) -> RerunWith {
    RerunWith {
        from: Some(step.to_owned()),
        ..RerunWith::default()
    }
}

pub(crate) fn load(home: &TempDir, skills: &[(&str, &str)]) -> Arc<Snapshot> {
    let root = home.path().join("skills");
    fs::create_dir_all(&root).unwrap();
    for (name, text) in skills {
        let path = root.join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    let options = deft_registry::Options::new(vec![root]);
    let moment = Moment {
        now: "2026-01-26T13:00:00Z".parse().unwrap(),
        zone: TimeZone::UTC,
    };
    let snapshot = Snapshot::load(&options, &moment);
    let loaded = snapshot.skill_count();
    assert_eq!(loaded, skills.len(), "{:#?}", snapshot.files());
    Arc::new(snapshot)
}

type Answers = fn(&Object) -> Result<Value, Failure>;

/// Installs tools that record their arguments.
fn install(router: &Router, calls: &Calls) {
    let tools: [(&str, Effects, Answers); 7] = [
        ("echo", Effects::None, |args| Ok(json!(args))),
        ("act", Effects::Once, |args| Ok(json!({ "did": args }))),
        ("put", Effects::Idempotent, |_| Ok(json!("put"))),
        ("refuse", Effects::Once, |_| {
            let class = deft_model::FailureClass::Auth;
            Err(Failure::new(class, "401 unauthorized"))
        }),
        ("down", Effects::Once, |_| {
            let class = deft_model::FailureClass::Network;
            Err(Failure::new(class, "the connection was lost").in_doubt())
        }),
        // Returns a secret that it was not given.
        ("leak", Effects::None, |_| Ok(json!("s3cr3t-value"))),
        ("big", Effects::None, |_| Ok(json!("x".repeat(2 << 20)))),
    ];
    install_hang(router, calls);
    for (name, effects, answer) in tools {
        let calls = Arc::clone(calls);
        router.register_fn(
            Definition::new(name, "for tests", effects, json!({ "type": "object" })),
            move |args, _| {
                calls.lock().unwrap().push((name.to_owned(), args.clone()));
                let answer = answer(&args);
                async move { answer }
            },
        );
    }
}

/// Installs a tool that waits until it is cancelled.
fn install_hang(router: &Router, calls: &Calls) {
    let calls = Arc::clone(calls);
    router.register_fn(
        Definition::new(
            "hang",
            "for tests",
            Effects::Once,
            json!({ "type": "object" }),
        ),
        move |args, context| {
            calls.lock().unwrap().push(("hang".to_owned(), args));
            async move {
                context.cancel.cancelled().await;
                let class = deft_model::FailureClass::Cancelled;
                Err(Failure::new(class, "cancelled").in_doubt())
            }
        },
    );
}

/// Options without a worker: no test here starts it unless it asks for it.
fn compute_options() -> deft_compute::Options {
    deft_compute::Options {
        program: "false".into(),
        args: Vec::new(),
        limits: deft_compute::Limits::default(),
    }
}
