//! Failures around slots: backoff, one-shots that wait or run late, outages of many skills.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use deft_engine::Clock;
use deft_model::{Effects, Failure, FailureClass, Outage};
use deft_scheduler::Scheduler;
use deft_store_testkit::Memory;
use deft_tools::Definition;
use jiff::SignedDuration;
use serde_json::json;

use crate::time_world::{Times, at, both, file, record, with};

impl Times {
    fn install_tool(
        &self,
        name: &str,
        answer: impl Fn() -> Result<(), Failure> + Send + Sync + 'static,
    ) {
        let schema = json!({ "type": "object" });
        self.world.engine.router().register_fn(
            Definition::new(name, "for tests", Effects::Once, schema),
            move |_, _| {
                let answered = answer().map(|()| json!("fine"));
                async move { answered }
            },
        );
    }

    /// Installs a tool of a server that is down while the flag is set. If `blocked`, its calls cannot even be
    /// tried.
    fn install_outage(&self, tool: &str, blocked: bool) -> Arc<AtomicBool> {
        let down = Arc::new(AtomicBool::new(true));
        let is_down = Arc::clone(&down);
        self.install_tool(tool, move || {
            if !is_down.load(Ordering::SeqCst) {
                return Ok(());
            }
            let failure = Failure::new(FailureClass::Network, "the server `gmail` was lost")
                .outage(Outage::Server("gmail".to_owned()));
            Err(if blocked {
                failure.mark_blocked()
            } else {
                failure
            })
        });
        down
    }
}

/// S0.65: a run takes a while to fail, and this does not make the skill miss the slot at the end of the
/// backoff.
#[tokio::test]
async fn backoff_starts_at_the_slot() {
    both(async |t: Times| {
        let clock = t.world.clock.clone();
        t.install_tool("slow", move || {
            clock.set(clock.now() + SignedDuration::from_secs(20));
            Err(Failure::new(FailureClass::Auth, "401"))
        });
        t.add(record("Slow", json!({"schedule": "* * * * *"}), "slow"))
            .await;
        for (time, stands) in [
            ("13:01", "on, streak 1, backs off until 13:02, next 13:02"),
            ("13:02", "on, streak 2, backs off until 13:07, next 13:03"),
            ("13:07", "on, streak 3, backs off until 13:22, next 13:08"),
            ("13:22", "on, streak 4, backs off until 14:22, next 13:23"),
            ("14:22", "off (failures), streak 5"),
        ] {
            t.tick(time).await;
            assert_eq!(t.standing("slow").await, stands, "{time}");
        }
        let failed = t.slots("slow").await;
        let failed: Vec<&str> = failed
            .iter()
            .filter(|line| line.contains(" error"))
            .map(|line| &line[..5])
            .collect();
        assert_eq!(failed, ["13:01", "13:02", "13:07", "13:22", "14:22"]);
    })
    .await;
}

/// After a late slot, backoff counts from the current time.
#[tokio::test]
async fn late_slots_back_off_from_now() {
    both(async |t: Times| {
        let all = record("All", json!({"schedule": "0 * * * *"}), "refuse");
        t.add(with(all, json!({"misfire": "all"}))).await;
        t.tick("17:10").await;
        assert_eq!(t.world.called().len(), 1, "{:#?}", t.slots("all").await);
        assert_eq!(
            t.standing("all").await,
            "on, streak 1, backs off until 17:11, next 18:00"
        );
    })
    .await;
}

fn reminder(extra: &str) -> String {
    format!(
        "name: reminder\ndescription: d\nenabled: false\nrequired_tools: [later]\n\
         trigger_config: {{at: \"2026-01-26T13:30:00Z\"}}\n{extra}steps:\n  - {{id: only, tool: later}}\n"
    )
}

/// No slot follows the only one, so it must not pass silently.
#[tokio::test]
async fn a_one_shot_that_waited_for_tools_past_its_time_is_missed() {
    let folder = tempfile::tempdir().unwrap();
    for store in [Arc::new(Memory::new()) as _, file(&folder)] {
        let text = reminder("");
        let t = Times::with_store(store, &[("reminder.yaml", text.as_str())]);
        t.world.engine.library().sync_files().await.unwrap();
        assert_eq!(t.standing("reminder").await, "off (missing_tools)");
        let ticked = t.tick("13:30").await;
        assert_eq!(ticked, deft_scheduler::TickReport::default());
        assert_eq!(t.slots("reminder").await, Vec::<String>::new());
        let ticked = t.tick("13:32").await;
        assert_eq!((ticked.missed, ticked.passed.len()), (1, 1));
        let missed = "13:30 missed: the tool `later` was not available at the scheduled time";
        assert_eq!(t.slots("reminder").await, [missed]);
        assert_eq!(t.standing("reminder").await, "off (one_shot_done)");
        assert_eq!(
            t.notices().await,
            [
                "failure: `reminder` was missed: the tool `later` was not available at the \
                 scheduled time\nit was planned for today at 13:30 and will not run again; \
                 `deft run reminder` runs it now"
            ]
        );
        // It has ended, even if the tool appears later.
        t.install_tool("later", || Ok(()));
        t.tick("13:40").await;
        assert_eq!(t.slots("reminder").await, [missed]);
    }
}

/// If the tools appear in time, it fires on time; its time may pass between two ticks, and then it reports
/// that it is late.
#[tokio::test]
async fn a_one_shot_runs_when_its_tools_appear_and_reports_lateness() {
    let text = reminder("notify_on_completion: false\n");
    for (time, notices) in [
        ("13:20", vec![]),
        (
            "13:50",
            vec!["completion: `reminder` ran\nlate: it was planned for today at 13:30"],
        ),
    ] {
        let skills = [("reminder.yaml", text.as_str())];
        let t = Times::with_store(Arc::new(Memory::new()), &skills);
        t.world.engine.library().sync_files().await.unwrap();
        t.install_tool("later", || Ok(()));
        t.tick(time).await;
        if time < "13:30" {
            t.tick("13:30").await;
        }
        t.tick("13:51").await;
        assert_eq!(t.slots("reminder").await, ["13:30 success"], "{time}");
        assert_eq!(t.notices().await, notices, "{time}");
    }
}

/// A server that could not be listed yet may have the tool, so the skill waits for the misfire window.
#[tokio::test]
async fn a_daemon_checks_a_waiting_one_shot_when_it_is_overdue() {
    let text = reminder("");
    let t = Times::with_store(Arc::new(Memory::new()), &[("reminder.yaml", text.as_str())]);
    t.world.engine.library().sync_files().await.unwrap();
    let now = t.world.clock.now();
    let ticked = Scheduler::new(&t.world.engine)
        .tick(now, &t.pool)
        .await
        .unwrap();
    assert_eq!(ticked.look_again, Some(at("13:31:31")));
}

/// After downtime, late runs report that they are late, in their own notice if they send one.
#[tokio::test]
async fn late_runs_report_their_delay() {
    both(async |t: Times| {
        let once = json!({"at": "2026-01-26T13:30:00Z"});
        let tells = record("Tells", once.clone(), "act");
        t.add(with(tells, json!({"notify_on_completion": true})))
            .await;
        t.add(record("Silent", once, "act")).await;
        let daily = record("Daily", json!({"schedule": "0 14 * * *"}), "act");
        t.add(with(daily, json!({"notify_on_completion": true})))
            .await;
        t.tick("27 09:00").await;
        let mut notices = t.notices().await;
        notices.sort();
        assert_eq!(
            notices,
            [
                "completion: `silent` ran\nlate: it was planned for yesterday at 13:30",
                "completion: done\nlate: it was planned for yesterday at 13:30",
                "completion: done\nlate: it was planned for yesterday at 14:00",
            ]
        );
        t.tick("27 14:00").await;
        assert_eq!(t.notices().await.last().unwrap(), "completion: done");
    })
    .await;
}

/// One incident, one message: ten skills need a server that is down.
#[tokio::test]
async fn an_outage_of_ten_skills_is_one_message() {
    both(async |t: Times| {
        for blocked in [false, true] {
            let tool = if blocked { "blocked" } else { "failing" };
            let before = t.notices().await.len();
            let down = t.install_outage(tool, blocked);
            for n in 0..10 {
                let every = json!({"interval_minutes": 30});
                t.add(record(&format!("{tool} {n}"), every, tool)).await;
            }
            let now = t.world.clock.now();
            let slot = |n: i64| now + SignedDuration::from_mins(30 * n);
            t.world.clock.set(slot(1));
            t.look().await;
            let notices = t.notices().await.split_off(before);
            assert_eq!(notices.len(), 1, "{notices:#?}");
            assert!(
                notices[0].contains("the server `gmail` was lost"),
                "{notices:?}"
            );
            // It recovers: one more message, which names the other skills.
            down.store(false, Ordering::SeqCst);
            t.world.clock.set(slot(2));
            t.look().await;
            t.drain().await;
            t.world.clock.set(slot(3));
            t.look().await;
            let notices = t.notices().await.split_off(before + 1);
            assert_eq!(notices.len(), 1, "{notices:#?}");
            assert!(notices[0].starts_with("recovery: `"), "{notices:?}");
            assert_eq!(notices[0].matches(tool).count(), 10, "{notices:?}");
            // The next outage is another incident.
            down.store(true, Ordering::SeqCst);
            t.world.clock.set(slot(4));
            t.look().await;
            assert_eq!(
                t.notices().await.len(),
                before + 3,
                "{:#?}",
                t.notices().await
            );
            for n in 0..10 {
                t.world
                    .engine
                    .library()
                    .disable(&format!("{tool}-{n}"))
                    .await
                    .unwrap();
            }
            t.world.store.keep_setting("incidents", "[]").await.unwrap();
        }
    })
    .await;
}

/// Failures that concern only one skill are reported for each.
#[tokio::test]
async fn unrelated_failures_are_reported_for_each_skill() {
    both(async |t: Times| {
        for name in ["One", "Two"] {
            t.add(record(name, json!({"interval_minutes": 30}), "refuse"))
                .await;
        }
        t.tick("13:30").await;
        assert_eq!(t.notices().await.len(), 2);
    })
    .await;
}

/// The notice about waiting names the end of the wait in words.
#[tokio::test]
async fn a_waiting_message_gives_its_end_in_words() {
    both(async |t: Times| {
        t.install_outage("gone", true);
        t.add(record("Day", json!({"interval_minutes": 30}), "gone"))
            .await;
        t.tick("13:30").await;
        assert_eq!(
            t.notices().await,
            [
                "blocked: `day` waits: the server `gmail` was lost\nit continues when that is \
              available, until tomorrow at 13:30 at the latest"
            ]
        );
    })
    .await;
}

/// A one-shot whose run had to wait reports that it is late.
#[tokio::test]
async fn a_one_shot_that_waited_as_a_run_reports_its_delay() {
    both(async |t: Times| {
        let down = t.install_outage("gone", true);
        let once = json!({"at": "2026-01-26T13:30:00Z"});
        t.add(record("Once", once, "gone")).await;
        t.tick("13:30").await;
        down.store(false, Ordering::SeqCst);
        t.world.clock.set(at("14:00"));
        t.drain().await;
        assert_eq!(
            t.notices().await.last().unwrap(),
            "recovery: `once` works again: fine\nlate: it was planned for today at 13:30"
        );
    })
    .await;
}
