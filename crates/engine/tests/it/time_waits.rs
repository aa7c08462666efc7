//! Runs that wait for tools, skills that wait for tools, skills whose files come and go, and notices about
//! completions.

use std::sync::Arc;

use deft_engine::Attention;
use deft_model::{DisabledReason, Effects, Outcome, RunStatus, WaitKind};
use deft_scheduler::Scheduler;
use deft_store::{PutResult, SchedulePosition, SkillState};
use deft_store_testkit::Memory;
use deft_tools::Definition;
use serde_json::json;

use crate::thinker::{text_reply, thinker};
use crate::time_world::{Times, at, both, file, new_record, record, with};
use crate::world::load;

impl Times {
    /// Installs a tool that was missing before.
    pub(crate) fn install(&self, tool: &str) {
        let schema = json!({ "type": "object" });
        self.world.engine.router().register_fn(
            Definition::new(tool, "for tests", Effects::Once, schema),
            |_, _| async { Ok(json!("late but here")) },
        );
    }
}

#[tokio::test]
async fn a_blocked_run_continues_when_its_tool_is_available() {
    both(async |t: Times| {
        t.add(record("Waits", json!({"interval_minutes": 30}), "later"))
            .await;
        t.tick("13:30").await;
        let run = t.runs("waits").await.remove(0);
        assert_eq!(run.status, RunStatus::Waiting);
        let why = run.waits_for().unwrap();
        assert!(why.starts_with("tool: "), "{why}");
        assert_eq!(t.standing("waits").await, "on, next 14:00");
        // Nothing has changed: it checks again later by itself, and still waits.
        t.world.clock.set(at("13:36"));
        t.drain().await;
        assert_eq!(t.runs("waits").await[0].status, RunStatus::Waiting);
        t.install("later");
        let woken = t.world.store.wake(WaitKind::Tool, None, at("13:37"));
        let woken = woken.await.unwrap();
        assert_eq!(woken, 1);
        t.world.clock.set(at("13:37"));
        t.drain().await;
        assert_eq!(t.slots("waits").await, ["13:30 success"]);
        // People were told once when it started to wait, and once that it works again.
        let notices = t.notices().await;
        assert_eq!(notices.len(), 2, "{notices:?}");
        assert!(
            notices[0].starts_with("blocked: `waits` waits: "),
            "{notices:?}"
        );
        assert!(
            notices[1].starts_with("recovery: `waits` works again"),
            "{notices:?}"
        );
    })
    .await;
}

/// A run waits for a model like for a tool: a missing model is no fault of the skill.
#[tokio::test]
async fn a_run_without_a_model_waits_without_a_failure() {
    both(async |t: Times| {
        let thinks = record("Thinks", json!({"interval_minutes": 30}), "echo");
        t.add(with(thinks, json!({"execution_plan": []}))).await;
        t.tick("13:30").await;
        let run = t.runs("thinks").await.remove(0);
        assert_eq!(run.status, RunStatus::Waiting, "{run:?}");
        let why = run.waits_for().unwrap();
        assert_eq!(why, "tool: no model is configured");
        assert_eq!(t.standing("thinks").await, "on, next 14:00");
        let (models, asked) = thinker(|_, _| Ok(text_reply("Done.")));
        t.world.engine.agents().set_models(models);
        t.world.clock.set(at("13:35"));
        t.drain().await;
        assert_eq!(t.slots("thinks").await, ["13:30 success"]);
        assert_eq!(asked.lock().unwrap().len(), 1);
    })
    .await;
}

/// The check of an agent's skill exists to save model calls: while it fails no model is called, and when it
/// succeeds it decides.
#[tokio::test]
async fn an_agent_waits_while_its_check_cannot_run() {
    both(async |t: Times| {
        let (models, asked) = thinker(|_, _| Ok(text_reply("Done.")));
        t.world.engine.agents().set_models(models);
        let thinks = record("Thinks", json!({"interval_minutes": 30}), "echo");
        let check = json!({"execution_plan": [], "preflight": {"tool": "moody", "condition": "result == 'fine'"}});
        t.add(with(thinks.clone(), check)).await;
        let idle = with(thinks, json!({"name": "Idle"}));
        let check = json!({"execution_plan": [], "preflight": {"tool": "moody", "condition": "result != 'fine'"}});
        t.add(with(idle, check)).await;
        let fails = t.install_failing();
        t.tick("13:30").await;
        let waits = "the check before the run failed: too many";
        for skill in ["thinks", "idle"] {
            let run = t.runs(skill).await.remove(0);
            assert_eq!(run.waits_for(), Some(format!("tool: {waits}").as_str()));
            assert_eq!(t.standing(skill).await, "on, next 14:00");
        }
        assert_eq!(asked.lock().unwrap().len(), 0);
        assert_eq!(t.notices().await.len(), 2);
        fails.store(false, std::sync::atomic::Ordering::SeqCst);
        t.world.clock.set(at("13:35"));
        t.drain().await;
        assert_eq!(t.slots("thinks").await, ["13:30 success"]);
        assert_eq!(
            t.slots("idle").await,
            ["13:30 skipped: `result != 'fine'` is not true"]
        );
        assert_eq!(t.row("idle").await.standing.last_run_at, None);
        assert_eq!(asked.lock().unwrap().len(), 1);
    })
    .await;
}

#[tokio::test]
async fn a_run_is_blocked_within_its_window_without_a_failure() {
    both(async |t: Times| {
        let waits = record("Waits", json!({"schedule": "30 13 * * *"}), "never");
        t.add(with(waits, json!({"misfire_window": "20m"}))).await;
        t.tick("13:30").await;
        for time in ["13:35", "13:40", "13:45"] {
            t.world.clock.set(at(time));
            t.drain().await;
            assert_eq!(
                t.runs("waits").await[0].status,
                RunStatus::Waiting,
                "{time}"
            );
        }
        t.world.clock.set(at("13:50"));
        t.drain().await;
        let run = t.runs("waits").await.remove(0);
        assert_eq!(run.outcome, Some(Outcome::Blocked), "{run:?}");
        assert_eq!(t.standing("waits").await, "on, next 27 13:30");
        let notices = t.notices().await;
        assert_eq!(notices.len(), 1, "{notices:?}");
        assert!(
            notices[0].starts_with("blocked: `waits` waits: "),
            "{notices:?}"
        );
    })
    .await;
}

/// An unattended run that asks a question sends a notice, and a one-shot that is cancelled while it waits is
/// done.
#[tokio::test]
async fn a_question_is_sent_and_a_cancelled_one_shot_is_finished() {
    let asks = "name: asks\ndescription: d\ntrigger_config: {at: \"2026-01-26T13:30:00Z\"}\nsteps:\n  - {id: danger, tool: act}\nconfirmations:\n  - {step: danger, message: Really?}\n";
    let folder = tempfile::tempdir().unwrap();
    for store in [Arc::new(Memory::new()) as _, file(&folder)] {
        let t = Times::with_store(store, &[("asks.yaml", asks)]);
        t.world.engine.library().sync_files().await.unwrap();
        t.tick("13:30").await;
        let run = t.runs("asks").await.remove(0);
        assert_eq!(run.status, RunStatus::Waiting);
        let notices = t.notices().await;
        assert_eq!(notices.len(), 1, "{notices:?}");
        assert!(
            notices[0].starts_with("question: `asks` asks: Really?\n`deft approvals approve apr_"),
            "{notices:?}"
        );
        t.world.engine.cancel(&run.id, "a person").await.unwrap();
        assert_eq!(t.standing("asks").await, "off (one_shot_done)");
    }
}

#[tokio::test]
async fn a_manual_run_reports_a_missing_tool_at_once() {
    both(async |t: Times| {
        t.add(record("Waits", json!({"interval_minutes": 30}), "never"))
            .await;
        let row = t.world.run("waits", json!({})).await;
        assert_eq!(row.outcome, Some(Outcome::Blocked));
        assert_eq!(t.notices().await, Vec::<String>::new());
    })
    .await;
}

/// S0.33, X1.
#[tokio::test]
async fn new_tools_enable_only_skills_disabled_for_missing_tools() {
    both(async |t: Times| {
        let reasons = [
            DisabledReason::User,
            DisabledReason::Failures,
            DisabledReason::MissingTools,
            DisabledReason::FileRemoved,
            DisabledReason::OneShotDone,
            DisabledReason::Budget,
        ];
        for why in reasons {
            let name = why.to_string();
            let skill = record(&name, json!({"interval_minutes": 10}), "later");
            let skill = with(skill, json!({"required_tools": ["later"]}));
            let mut new = new_record(&skill, at("13:00"));
            new.standing = SkillState {
                disabled: Some(why),
                streak: 5,
                ..SkillState::default()
            };
            new.timeline = SchedulePosition::default();
            let put = t.world.store.put_skills(vec![new]).await.unwrap();
            assert!(matches!(put[0], PutResult::Stored(_)), "{put:?}");
        }
        assert_eq!(t.tick("13:05").await, deft_scheduler::TickReport::default());
        t.install("later");
        t.tick("13:06").await;
        assert_eq!(t.standing("missing-tools").await, "on, next 13:16");
        for why in reasons
            .iter()
            .filter(|why| **why != DisabledReason::MissingTools)
        {
            let skill = why.to_string().replace('_', "-");
            assert_eq!(
                t.standing(&skill).await,
                format!("off ({why}), streak 5"),
                "{why}"
            );
        }
    })
    .await;
}

/// An agent that waits for tools fires, and costs money, only when a model is configured; the tick that
/// enables it reports that.
#[tokio::test]
async fn an_agent_is_not_enabled_without_a_model() {
    both(async |t: Times| {
        let thinks = record("Thinks", json!({"interval_minutes": 10}), "echo");
        let more = json!({"execution_plan": [], "required_tools": ["echo"]});
        let mut new = new_record(&with(thinks, more), at("13:00"));
        new.standing.disabled = Some(DisabledReason::MissingTools);
        new.timeline = SchedulePosition::default();
        t.world.store.put_skills(vec![new]).await.unwrap();
        assert_eq!(t.tick("13:05").await, deft_scheduler::TickReport::default());
        assert_eq!(t.standing("thinks").await, "off (missing_tools)");
        let (models, _) = thinker(|_, _| Ok(text_reply("Done.")));
        t.world.engine.agents().set_models(models);
        assert_eq!(t.tick("13:06").await.enabled, ["thinks"]);
        assert_eq!(t.standing("thinks").await, "on, next 13:16");
    })
    .await;
}

/// X7, S0.75, S1.4: completions are reported, with a minimum interval.
#[tokio::test]
async fn completion_notices_are_rate_limited() {
    both(async |t: Times| {
        let tells = record("Tells", json!({"interval_minutes": 10}), "echo");
        let more = json!({"notify_on_completion": true, "notify_interval_minutes": 25});
        t.add(with(tells, more)).await;
        for time in ["13:10", "13:20", "13:30", "13:40"] {
            t.tick(time).await;
        }
        let rows = t.world.store.notices(deft_store::NoticeFilter::default());
        let rows = rows.await.unwrap();
        let times: Vec<String> = rows
            .iter()
            .rev()
            .map(|row| crate::time_world::clock(row.at))
            .collect();
        assert_eq!(times, ["13:10", "13:40"]);
        // The caller that started a run by hand gets its result.
        t.world.run("tells", json!({})).await;
        assert_eq!(t.notices().await.len(), 2);
    })
    .await;
}

#[tokio::test]
async fn a_run_that_sent_a_notice_needs_no_completion_notice() {
    both(async |t: Times| {
        t.install("notify");
        for (name, tool) in [("Quiet", "notify"), ("Loud", "echo")] {
            let skill = record(name, json!({"interval_minutes": 10}), tool);
            t.add(with(skill, json!({"notify_on_completion": true})))
                .await;
        }
        t.tick("13:10").await;
        assert_eq!(t.slots("quiet").await, ["13:10 success"]);
        assert_eq!(t.notices().await, ["completion: done"]);
    })
    .await;
}

const TIMED: &str = "\
name: timed
description: Fires by the clock
schedule: \"30 * * * *\"
notify_on_completion: false
steps:
  - id: only
    tool: act
";

/// S0.13 to S0.15.
#[tokio::test]
async fn file_skills_are_added_changed_removed_and_restored() {
    let folder = tempfile::tempdir().unwrap();
    for store in [Arc::new(Memory::new()) as _, file(&folder)] {
        let t = Times::with_store(store, &[("timed.yaml", TIMED)]);
        let engine = &t.world.engine;
        let change = |text: Option<&str>| {
            let path = t.world.home.path().join("skills/timed.yaml");
            std::fs::remove_file(path).unwrap_or_default();
            let files: Vec<(&str, &str)> = text.iter().map(|text| ("timed.yaml", *text)).collect();
            *t.world.folder.0.lock().unwrap() = load(&t.world.home, &files);
        };
        assert_eq!(
            engine.library().sync_files().await.unwrap().added,
            ["timed"]
        );
        assert_eq!(t.standing("timed").await, "on, next 13:30");
        let again = engine.library().sync_files().await.unwrap();
        assert_eq!(again, deft_engine::SyncReport::default());
        t.tick("13:30").await;
        assert_eq!(t.world.called(), ["act"]);
        // New content, same timing: the slot stays where it is.
        change(Some(&TIMED.replace("tool: act", "tool: put")));
        assert_eq!(
            engine.library().sync_files().await.unwrap().changed,
            ["timed"]
        );
        assert_eq!(t.standing("timed").await, "on, next 14:30");
        // Another timing: it counts from now.
        change(Some(&TIMED.replace("30 *", "45 *")));
        assert_eq!(
            engine.library().sync_files().await.unwrap().changed,
            ["timed"]
        );
        assert_eq!(t.standing("timed").await, "on, next 13:45");
        change(None);
        assert_eq!(
            engine.library().sync_files().await.unwrap().removed,
            ["timed"]
        );
        assert_eq!(t.standing("timed").await, "off (file_removed)");
        assert_eq!(
            engine.library().sync_files().await.unwrap().removed.len(),
            0
        );
        assert_eq!(t.tick("13:45").await, deft_scheduler::TickReport::default());
        let refused = engine.library().enable("timed").await.unwrap_err();
        assert_eq!(
            refused.to_string(),
            "skill `timed` cannot be enabled: its file was removed"
        );
        change(Some(TIMED));
        assert_eq!(
            engine.library().sync_files().await.unwrap().changed,
            ["timed"]
        );
        assert_eq!(t.standing("timed").await, "on, next 14:30");
        // The decision of a person outlives the file.
        engine.library().disable("timed").await.unwrap();
        change(None);
        assert_eq!(
            engine.library().sync_files().await.unwrap().removed.len(),
            0
        );
        assert_eq!(t.standing("timed").await, "off (user)");
        change(Some(TIMED));
        engine.library().sync_files().await.unwrap();
        assert_eq!(t.standing("timed").await, "off (user)");
        change(Some(
            &TIMED.replace("45 *", "50 *").replace("Fires", "Acts"),
        ));
        engine.library().sync_files().await.unwrap();
        assert_eq!(t.standing("timed").await, "off (user)");
    }
}

#[tokio::test]
async fn a_file_and_a_record_of_one_name_are_a_clash() {
    let t = Times::with_store(Arc::new(Memory::new()), &[("timed.yaml", TIMED)]);
    t.add(record("Timed", json!({"interval_minutes": 10}), "echo"))
        .await;
    let synced = t.world.engine.library().sync_files().await.unwrap();
    assert_eq!(synced.clashes, ["timed"]);
    // The slots of the record are runs of the record.
    t.tick("13:10").await;
    assert_eq!(t.world.called(), ["echo"]);
    assert_eq!(t.slots("timed").await, ["13:10 success"]);
}

/// A driver that was considered dead comes back with its result.
#[tokio::test]
async fn a_driver_that_lost_its_run_cannot_write() {
    both(async |t: Times| {
        t.add(record("Slow", json!({"interval_minutes": 10}), "slow"))
            .await;
        let go = Arc::new(tokio::sync::Notify::new());
        let gate = Arc::clone(&go);
        t.world.engine.router().register_fn(
            Definition::new(
                "slow",
                "for tests",
                Effects::Once,
                json!({ "type": "object" }),
            ),
            move |_, _| {
                let gate = Arc::clone(&gate);
                async move {
                    gate.notified().await;
                    Ok(json!("too late"))
                }
            },
        );
        t.world.clock.set(at("13:10"));
        let ticked = Scheduler::new(&t.world.engine)
            .tick(at("13:10"), &t.pool)
            .await
            .unwrap();
        let run = ticked.fired[0].clone();
        // Its lease expires, as if its host had been asleep, and another process takes the run.
        t.world.clock.set(at("13:15"));
        let freed = t
            .world
            .store
            .release(Vec::new(), at("13:15"))
            .await
            .unwrap();
        assert_eq!(freed, std::slice::from_ref(&run));
        t.drain().await;
        go.notify_one();
        t.pool.idle().await;
        let row = t.world.store.run(&run).await.unwrap().unwrap();
        assert_eq!(row.outcome, Some(Outcome::Interrupted), "{row:?}");
        assert_eq!(row.finish_ordinal, 1);
        let notices = t.notices().await;
        assert_eq!(notices.len(), 1, "{notices:?}");
        assert!(notices[0].starts_with("interrupted: `slow` was interrupted"));
        let attention = Attention::default();
        assert!(t.world.engine.drain(&attention).await.unwrap().is_empty());
    })
    .await;
}

/// A process dies in the middle of a scheduled run, and the next one finishes it.
#[tokio::test]
async fn the_notice_about_a_resumed_run_names_the_interruption() {
    both(async |t: Times| {
        let slow = record("Slow", json!({"interval_minutes": 10}), "slow");
        t.add(with(slow, json!({"notify_on_completion": true})))
            .await;
        let first = Arc::new(std::sync::atomic::AtomicBool::new(true));
        let hangs = Arc::clone(&first);
        let schema = json!({ "type": "object" });
        t.world.engine.router().register_fn(
            Definition::new("slow", "for tests", Effects::Idempotent, schema),
            move |_, _| {
                let hangs = hangs.swap(false, std::sync::atomic::Ordering::SeqCst);
                async move {
                    if hangs {
                        std::future::pending::<()>().await;
                    }
                    Ok(json!("done"))
                }
            },
        );
        t.world.clock.set(at("13:10"));
        let scheduler = Scheduler::new(&t.world.engine);
        let ticked = scheduler.tick(at("13:10"), &t.pool).await.unwrap();
        while first.load(std::sync::atomic::Ordering::SeqCst) {
            tokio::task::yield_now().await;
        }
        t.world.clock.set(at("13:15"));
        let freed = t.world.store.release(Vec::new(), at("13:15"));
        assert_eq!(freed.await.unwrap(), ticked.fired);
        t.drain().await;
        let row = t.world.store.run(&ticked.fired[0]).await.unwrap().unwrap();
        assert_eq!(row.outcome, Some(Outcome::Success), "{row:?}");
        assert_eq!(
            t.notices().await,
            ["completion: done\ninterrupted: last activity today at 13:10, resumed 5 minutes later by another process"]
        );
        let detail = t.world.engine.show(&row).await.unwrap();
        let minutes = |ms: u64| ms / 60_000;
        assert_eq!(minutes(detail.idle.interrupted_ms), 5);
        assert_eq!((detail.idle.waited_ms, detail.worked_ms()), (0, Some(0)));
    })
    .await;
}
