//! A daemon while the clock is set forward and back, or the host sleeps.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use deft_engine::{Channel, Clock, Delivery, DeliveryResult};
use deft_model::RunStatus;
use deft_scheduler::{Scheduler, SkillAhead};
use serde_json::json;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use crate::time_world::{Times, at, both, record, with};

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

/// A daemon in this process.
pub(crate) struct Daemon {
    stop: CancellationToken,
    task: JoinHandle<()>,
}

impl Daemon {
    pub(crate) fn start(t: &Times) -> Self {
        let stop = CancellationToken::new();
        let (engine, pool, until) = (t.world.engine.clone(), t.pool.clone(), stop.clone());
        let task = tokio::spawn(async move {
            let grace = Duration::from_secs(5);
            Scheduler::new(&engine)
                .serve(&pool, Arc::new(Ears), until, grace)
                .await
                .unwrap();
        });
        Self { stop, task }
    }

    pub(crate) async fn end(self) {
        self.stop.cancel();
        self.task.await.unwrap();
    }
}

impl Times {
    /// Waits until a skill has this many rows, all of them ended.
    async fn wait_for_slots(&self, skill: &str, count: usize) -> Vec<String> {
        loop {
            let runs = self.runs(skill).await;
            let over = runs.iter().all(|run| run.status == RunStatus::Done);
            if runs.len() >= count && over {
                return self.slots(skill).await;
            }
            tokio::task::yield_now().await;
        }
    }

    /// Waits until a skill has this state, so that the scheduler sleeps until its slot.
    async fn wait_for_state(&self, skill: &str, standing: &str) {
        while self.standing(skill).await != standing {
            tokio::task::yield_now().await;
        }
    }
}

#[tokio::test]
async fn a_daemon_runs_a_slot_at_its_time() {
    both(async |t: Times| {
        t.add(record("Every", json!({"interval_minutes": 10}), "act"))
            .await;
        let daemon = Daemon::start(&t);
        for (n, time) in ["13:10", "13:20", "13:30"].into_iter().enumerate() {
            t.world.clock.set(at(time));
            t.wait_for_slots("every", n + 1).await;
        }
        assert_eq!(
            t.slots("every").await,
            ["13:10 success", "13:20 success", "13:30 success"]
        );
        daemon.end().await;
    })
    .await;
}

#[tokio::test]
async fn slots_missed_during_sleep_are_made_up() {
    both(async |t: Times| {
        t.add(record("Every", json!({"interval_minutes": 10}), "act"))
            .await;
        let skill = record("Skip", json!({"interval_minutes": 10}), "act");
        t.add(with(skill, json!({"misfire": "skip"}))).await;
        let daemon = Daemon::start(&t);
        t.world.clock.set(at("13:10"));
        t.wait_for_slots("every", 1).await;
        t.wait_for_slots("skip", 1).await;
        // Asleep from 13:15 to 16:05.
        t.world.clock.set(at("16:05"));
        assert_eq!(
            t.wait_for_slots("every", 3).await,
            [
                "13:10 success",
                "13:20 to 15:50 (16) missed: could not run in time; coalesced into 2026-01-26T16:00:00+00:00",
                "16:00 success",
            ]
        );
        assert_eq!(
            t.wait_for_slots("skip", 2).await,
            [
                "13:10 success",
                "13:20 to 16:00 (17) missed: could not run in time, and `misfire: skip` allows no late run",
            ]
        );
        assert_eq!(t.standing("every").await, "on, next 16:10");
        daemon.end().await;
    })
    .await;
}

#[tokio::test]
async fn a_clock_set_back_repeats_no_slot() {
    both(async |t: Times| {
        t.add(record("Cron", json!({"schedule": "0 * * * *"}), "act"))
            .await;
        let daemon = Daemon::start(&t);
        t.world.clock.set(at("14:00"));
        t.wait_for_slots("cron", 1).await;
        t.world.clock.set(at("12:30"));
        t.wait_for_state("cron", "on, next 15:00").await;
        t.world.clock.set(at("14:00"));
        t.world.clock.set(at("15:00"));
        assert_eq!(
            t.wait_for_slots("cron", 2).await,
            ["14:00 success", "15:00 success"]
        );
        assert_eq!(t.world.called(), ["act", "act"]);
        daemon.end().await;
    })
    .await;
}

/// If a skill is enabled again after the clock went back, some of its slots already have rows.
#[tokio::test]
async fn slots_with_a_stored_row_are_not_repeated() {
    both(async |t: Times| {
        t.add(record("Cron", json!({"schedule": "0 * * * *"}), "act"))
            .await;
        t.tick("14:00").await;
        t.tick("15:00").await;
        t.world.clock.set(at("13:30"));
        t.world.engine.library().disable("cron").await.unwrap();
        t.world.engine.library().enable("cron").await.unwrap();
        assert_eq!(t.standing("cron").await, "on, next 14:00");
        assert_eq!(t.tick("14:00").await, deft_scheduler::TickReport::default());
        assert_eq!(t.standing("cron").await, "on, next 15:00");
        t.tick("15:00").await;
        t.tick("16:00").await;
        assert_eq!(
            t.slots("cron").await,
            ["14:00 success", "15:00 success", "16:00 success"]
        );
        assert_eq!(t.world.called().len(), 3);
    })
    .await;
}

/// Leases are measured by the clock, but a living process keeps them even if the clock jumps.
#[tokio::test]
async fn a_clock_jump_takes_no_run_from_its_driver() {
    both(async |t: Times| {
        t.add(record("Slow", json!({"schedule": "30 13 * * *"}), "hang"))
            .await;
        t.world.clock.set(at("13:30"));
        let now = t.world.clock.now();
        let ticked = Scheduler::new(&t.world.engine)
            .tick(now, &t.pool)
            .await
            .unwrap();
        let run = ticked.fired[0].clone();
        t.world.clock.set(at("20:00"));
        let freed = t.world.engine.recover().await.unwrap();
        assert_eq!(freed, []);
        let row = t.world.store.run(&run).await.unwrap().unwrap();
        assert_eq!(row.status, RunStatus::Running);
        t.world.engine.cancel(&run, "ada").await.unwrap();
        t.pool.idle().await;
        assert_eq!(t.slots("slow").await, ["13:30 cancelled: stopped by ada"]);
    })
    .await;
}

/// Queued runs, runs that wait for a tool and notices are handled without a tick.
#[tokio::test]
async fn a_daemon_resumes_waiting_runs() {
    both(async |t: Times| {
        t.add(record("Waits", json!({"interval_minutes": 30}), "later"))
            .await;
        let daemon = Daemon::start(&t);
        t.world.clock.set(at("13:30"));
        while t
            .runs("waits")
            .await
            .first()
            .is_none_or(|run| run.status != RunStatus::Waiting)
        {
            tokio::task::yield_now().await;
        }
        let schema = json!({ "type": "object" });
        let effects = deft_model::Effects::Once;
        t.world.engine.router().register_fn(
            deft_tools::Definition::new("later", "for tests", effects, schema),
            |_, _| async { Ok(json!("here")) },
        );
        assert_eq!(t.wait_for_slots("waits", 1).await, ["13:30 success"]);
        t.world
            .engine
            .admit(crate::world::fire("waits", &json!({})))
            .await
            .unwrap();
        t.world.engine.ring();
        assert_eq!(t.wait_for_slots("waits", 2).await.len(), 2);
        daemon.end().await;
    })
    .await;
}

/// Slots of one instant wait for drivers together, not one after the other.
#[tokio::test(start_paused = true)]
async fn slow_runs_delay_no_slots() {
    let t = Times::with_store(Arc::new(deft_store_testkit::Memory::new()), &[]);
    for n in 0..50 {
        let name = format!("Slow {n}");
        t.add(record(&name, json!({"interval_minutes": 10}), "hang"))
            .await;
    }
    let begun = tokio::time::Instant::now();
    t.world.clock.set(at("13:10"));
    let ticked = Scheduler::new(&t.world.engine)
        .tick(at("13:10"), &t.pool)
        .await
        .unwrap();
    assert!(begun.elapsed() < Duration::from_secs(2));
    assert_eq!(ticked.fired.len(), 50);
    let runs = t.world.store.runs(deft_store::RunFilter::default());
    let runs = runs.await.unwrap();
    let running = |run: &&deft_store::RunRow| run.status == RunStatus::Running;
    assert_eq!(runs.iter().filter(running).count(), 4);
    for run in runs {
        t.world.engine.cancel(&run.id, "ada").await.unwrap();
    }
    t.pool.idle().await;
}

/// A night of downtime: four late slots at once, and one per skill.
#[tokio::test]
async fn missed_slots_are_made_up_at_a_limited_rate() {
    both(async |t: Times| {
        for n in 0..6 {
            let skill = record(
                &format!("Slow {n}"),
                json!({"interval_minutes": 10}),
                "hang",
            );
            t.add(with(skill, json!({"misfire": "all"}))).await;
        }
        t.world.clock.set(at("15:05"));
        for fired in [4, 0] {
            let ticked = Scheduler::new(&t.world.engine)
                .tick(at("15:05"), &t.pool)
                .await
                .unwrap();
            assert_eq!((ticked.fired.len(), ticked.held_back), (fired, true));
        }
        // Another process does not start any others in addition.
        let other = deft_scheduler::Pool::new(4);
        let ticked = Scheduler::new(&t.world.engine)
            .tick(at("15:05"), &other)
            .await
            .unwrap();
        assert_eq!((ticked.fired.len(), ticked.held_back), (0, true));
        let runs = t.world.store.runs(deft_store::RunFilter::default());
        let runs = runs.await.unwrap();
        let first = |run: &deft_store::RunRow| run.slot == Some(at("13:10"));
        assert!(runs.len() == 4 && runs.iter().all(first), "{runs:?}");
        for run in runs {
            t.world.engine.cancel(&run.id, "ada").await.unwrap();
        }
        t.pool.idle().await;
        let ticked = Scheduler::new(&t.world.engine)
            .tick(at("15:05"), &t.pool)
            .await
            .unwrap();
        assert_eq!((ticked.fired.len(), ticked.held_back), (4, true));
        for run in ticked.fired {
            t.world.engine.cancel(&run, "ada").await.unwrap();
        }
        t.pool.idle().await;
    })
    .await;
}

/// A clock that was ahead has decided slots that are still to come. The affected skills are reported, and a
/// person can enable them again.
#[tokio::test]
async fn skills_with_slots_in_the_future_are_named() {
    both(async |t: Times| {
        let engine = &t.world.engine;
        t.add(record("Cron", json!({"schedule": "0 * * * *"}), "act"))
            .await;
        t.add(record("Yearly", json!({"schedule": "0 0 1 7 *"}), "act"))
            .await;
        t.add(record("Once", json!({"at": "2026-01-30T12:00:00Z"}), "act"))
            .await;
        t.tick("14:00").await;
        let fine = Scheduler::new(engine).check_clock().await.unwrap();
        assert_eq!((fine.newest, fine.ahead), (None, vec![]));
        let ticked = t.tick("28 14:00").await;
        assert_eq!(ticked.missed, 47, "all but the last, which runs");
        // Small differences between clocks are ignored.
        t.world.clock.set(at("28 13:59"));
        let fine = Scheduler::new(engine).check_clock().await.unwrap();
        assert_eq!((fine.newest, fine.ahead), (None, vec![]));
        t.world.clock.set(at("15:30"));
        let check = Scheduler::new(engine).check_clock().await.unwrap();
        assert_eq!(check.newest, Some(at("28 14:00")));
        let ahead = SkillAhead {
            skill: "cron".to_owned(),
            until: at("28 15:00"),
        };
        assert_eq!(check.ahead, [ahead]);
        engine.library().disable("cron").await.unwrap();
        engine.library().enable("cron").await.unwrap();
        assert_eq!(
            Scheduler::new(engine).check_clock().await.unwrap().ahead,
            []
        );
        assert_eq!(t.standing("cron").await, "on, next 16:00");
    })
    .await;
}
