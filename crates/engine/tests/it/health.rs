//! The health report (S0.76): every six hours, only with what has changed.

use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use deft_engine::Clock;
use deft_model::{Effects, Failure, FailureClass, Outage};
use deft_scheduler::{Check, CheckStatus, Checks, Pool, Scheduler};
use deft_store_testkit::Memory;
use deft_tools::Definition;
use serde_json::json;
use tokio_util::sync::CancellationToken;

use crate::model_health::Deaf;
use crate::time_world::{Times, at, both, record};

/// Checks with results set by a test.
#[derive(Clone, Default)]
struct FixedChecks(Arc<Mutex<Vec<Check>>>);

impl Checks for FixedChecks {
    fn check(&self) -> Pin<Box<dyn Future<Output = Result<Vec<Check>, Failure>> + Send + '_>> {
        let found = self.0.lock().unwrap().clone();
        Box::pin(async move { Ok(found) })
    }
}

impl FixedChecks {
    fn set(&self, found: &[Check]) {
        *self.0.lock().unwrap() = found.to_vec();
    }
}

fn bad(id: &str, subject: Option<&str>, message: &str) -> Check {
    Check {
        id: id.to_owned(),
        subject: subject.map(str::to_owned),
        status: CheckStatus::Bad,
        message: message.to_owned(),
        hint: Some("mend it".to_owned()),
    }
}

fn good(id: &str) -> Check {
    Check {
        status: CheckStatus::Good,
        ..bad(id, None, "fine")
    }
}

impl Times {
    fn with_checks(&self) -> FixedChecks {
        let found = FixedChecks::default();
        drop(self.checks.set(Arc::new(found.clone())));
        found
    }

    /// Makes the report if it is due. Returns all notices so far, and when the next report is due.
    async fn report(&self, time: &str) -> (Vec<String>, Option<String>) {
        self.world.clock.set(at(time));
        let next = self.scheduler().report_health(at(time)).await.unwrap();
        (self.notices().await, next.map(crate::time_world::clock))
    }
}

#[tokio::test]
async fn a_report_is_sent_every_six_hours_with_changes_only() {
    both(async |t: Times| {
        let found = t.with_checks();
        let server = bad(
            "servers.answer",
            Some("gone"),
            "server `gone`: no such program",
        );
        found.set(&[good("config.valid"), server.clone()]);
        // The first call only starts the interval.
        assert_eq!(t.report("13:00").await, (vec![], Some("19:00".to_owned())));
        assert_eq!(t.report("18:59").await, (vec![], Some("19:00".to_owned())));
        let told = "health: new: server `gone`: no such program\n  hint: mend it\n\
                    `deft doctor` shows all checks";
        let one = vec![told.to_owned()];
        assert_eq!(
            t.report("19:00").await,
            (one.clone(), Some("27 01:00".to_owned()))
        );
        // The same problem with another message is not a change.
        let other = Check {
            message: "server `gone`: it took 31 s".to_owned(),
            ..server.clone()
        };
        found.set(&[other]);
        assert_eq!(
            t.report("27 01:00").await,
            (one.clone(), Some("27 07:00".to_owned()))
        );
        // Missed reports are not made up for, and the grid stays.
        found.set(&[good("config.valid")]);
        let solved = "health: solved: server `gone`: it took 31 s\n`deft doctor` shows all checks";
        let two = vec![told.to_owned(), solved.to_owned()];
        assert_eq!(
            t.report("28 08:30").await,
            (two.clone(), Some("28 13:00".to_owned()))
        );
        assert_eq!(
            t.report("28 13:00").await,
            (two, Some("28 19:00".to_owned()))
        );
    })
    .await;
}

#[tokio::test]
async fn a_first_report_without_problems_is_not_sent() {
    let t = Times::with_store(Arc::new(Memory::new()), &[]);
    let found = t.with_checks();
    found.set(&[good("config.valid")]);
    t.report("13:00").await;
    assert_eq!(
        t.report("19:00").await,
        (vec![], Some("27 01:00".to_owned()))
    );
}

#[tokio::test]
async fn no_reports_without_checks_or_if_disabled() {
    let t = Times::with_store(Arc::new(Memory::new()), &[]);
    assert_eq!(t.report("13:00").await, (vec![], None));
    let world = crate::world::World::with(Arc::new(Memory::new()), &[], |options| {
        options.health_report = None;
    });
    let scheduler = Scheduler::new(&world.engine).with_checks(Arc::new(FixedChecks::default()));
    let next = scheduler.report_health(world.clock.now()).await.unwrap();
    assert_eq!(next, None);
}

/// One incident, one message, whether a run or the report meets it first.
#[tokio::test]
async fn known_problems_are_not_reported_again() {
    both(async |t: Times| {
        let found = t.with_checks();
        t.world.engine.router().register_fn(
            Definition::new(
                "mail",
                "for tests",
                Effects::Once,
                json!({ "type": "object" }),
            ),
            |_, _| async {
                let failure = Failure::new(FailureClass::Network, "the server `gmail` was lost");
                Err::<serde_json::Value, _>(failure.outage(Outage::Server("gmail".to_owned())))
            },
        );
        t.report("13:00").await;
        t.add(record("Mail", json!({"interval_minutes": 300}), "mail"))
            .await;
        t.tick("18:00").await;
        let failed = "failure: `mail` failed: the server `gmail` was lost";
        assert_eq!(t.notices().await, [failed]);
        let gmail = bad("servers.answer", Some("gmail"), "server `gmail`: lost");
        let desk = bad("servers.answer", Some("desk"), "server `desk`: lost");
        found.set(&[gmail, bad("skills.failing", None, "switched off: a")]);
        assert_eq!(t.report("19:00").await.0, [failed]);
        // The other way round: a run that meets a reported problem sends no notice.
        found.set(&[desk]);
        assert_eq!(t.report("27 01:00").await.0.len(), 2);
        t.world.engine.router().register_fn(
            Definition::new(
                "desk",
                "for tests",
                Effects::Once,
                json!({ "type": "object" }),
            ),
            |_, _| async {
                let failure = Failure::new(FailureClass::Network, "the server `desk` was lost");
                Err::<serde_json::Value, _>(failure.outage(Outage::Server("desk".to_owned())))
            },
        );
        t.add(record("Desk", json!({"interval_minutes": 30}), "desk"))
            .await;
        t.world.engine.library().disable("mail").await.unwrap();
        t.tick("27 01:30").await;
        assert_eq!(t.notices().await.len(), 2, "{:#?}", t.notices().await);
    })
    .await;
}

/// A daemon makes the report when it is due.
#[tokio::test]
async fn a_daemon_sends_due_reports() {
    let t = Times::with_store(Arc::new(Memory::new()), &[]);
    let found = t.with_checks();
    found.set(&[bad("store.open", None, "the disk is full")]);
    let (scheduler, stop) = (t.scheduler(), CancellationToken::new());
    let until = stop.clone();
    let serving = tokio::spawn(async move {
        let (pool, grace) = (Pool::new(1), Duration::from_secs(1));
        scheduler
            .serve(&pool, Arc::new(Deaf), until, grace)
            .await
            .unwrap();
    });
    let stored = async |next: &str| {
        let wanted = at(next).to_string();
        loop {
            let report = t.world.store.setting("health_report").await.unwrap();
            if report.is_some_and(|report| report.contains(&wanted)) {
                return;
            }
            tokio::task::yield_now().await;
        }
    };
    stored("19:00").await;
    assert_eq!(t.notices().await, Vec::<String>::new());
    t.world.clock.set(at("19:00"));
    stored("27 01:00").await;
    assert_eq!(t.notices().await.len(), 1);
    stop.cancel();
    serving.await.unwrap();
}
