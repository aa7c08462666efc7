//! Slots become runs, or rows with the reason, and the end of a run changes the state of its skill.

use std::sync::atomic::Ordering;

use deft_model::{Outcome, Overlap};
use deft_scheduler::Scheduler;
use deft_store::RunFilter;
use serde_json::json;

use crate::time_world::{Times, at, both, record, standing, with};
use crate::world::fire;

/// S0.26, S0.27 as X3 defines them: slots, not the minutes of ticks.
#[tokio::test]
async fn each_kind_of_timing_fires_at_its_instant() {
    both(async |t: Times| {
        t.add(record("Cron", json!({"schedule": "30 13 * * *"}), "act"))
            .await;
        t.add(record("Every", json!({"interval_minutes": 20}), "act"))
            .await;
        t.add(record("Once", json!({"at": "2026-01-26T13:30:00Z"}), "act"))
            .await;
        assert_eq!(t.world.store.next_due().await.unwrap(), Some(at("13:20")));
        assert_eq!(
            t.tick("13:19:59").await,
            deft_scheduler::TickReport::default()
        );
        assert_eq!(t.tick("13:20").await.fired.len(), 1);
        assert_eq!(t.tick("13:20").await.fired.len(), 0);
        assert_eq!(t.tick("13:30:01").await.fired.len(), 2);
        assert_eq!(t.slots("cron").await, ["13:30 success"]);
        assert_eq!(t.slots("every").await, ["13:20 success"]);
        assert_eq!(t.slots("once").await, ["13:30 success"]);
        assert_eq!(t.standing("cron").await, "on, next 27 13:30");
        assert_eq!(t.standing("every").await, "on, next 13:40");
        assert_eq!(t.standing("once").await, "off (one_shot_done)");
        assert_eq!(t.world.called(), ["act", "act", "act"]);
        assert_eq!(t.world.store.next_due().await.unwrap(), Some(at("13:40")));
        let row = t.row("cron").await.standing;
        assert_eq!(row.last_run_at, Some(at("13:30:01")));
        assert_eq!(row.last_run_status.as_deref(), Some("success"));
    })
    .await;
}

#[tokio::test]
async fn after_downtime_the_misfire_rule_decides() {
    both(async |t: Times| {
        for misfire in ["once", "skip", "all"] {
            let every = record(misfire, json!({"interval_minutes": 30}), "act");
            t.add(with(
                every,
                json!({"misfire": misfire, "misfire_window": "2h"}),
            ))
            .await;
        }
        // Down until 17:10: slots from 13:30 to 17:00.
        t.tick("17:10").await;
        assert_eq!(
            t.slots("once").await,
            [
                "13:30 to 16:30 (7) missed: could not run in time; coalesced into 2026-01-26T17:00:00+00:00",
                "17:00 success",
            ]
        );
        assert_eq!(
            t.slots("skip").await,
            ["13:30 to 17:00 (8) missed: could not run in time, and `misfire: skip` allows no late run"]
        );
        assert_eq!(
            t.slots("all").await,
            [
                "13:30 to 15:00 (4) missed: could not run in time or within its misfire window of 2h",
                "15:30 success",
                "16:00 success",
                "16:30 success",
                "17:00 success",
            ]
        );
        for skill in ["once", "skip", "all"] {
            assert_eq!(t.standing(skill).await, "on, next 17:30");
        }
    })
    .await;
}

#[tokio::test]
async fn a_year_of_downtime_is_one_row() {
    both(async |t: Times| {
        let cron = record("Cron", json!({"schedule": "* * * * *"}), "act");
        t.add(with(cron, json!({"misfire": "skip", "overlap": "allow"})))
            .await;
        let later = "2027-01-26T13:00:30Z".parse().unwrap();
        t.world.clock.set(later);
        t.look().await;
        let rows = t.runs("cron").await;
        // All but the two slots that are on time.
        let counts: Vec<(u64, Option<Outcome>)> = rows
            .iter()
            .map(|row| (row.slot_count, row.outcome))
            .collect();
        assert_eq!(
            counts,
            [
                (365 * 24 * 60 - 2, Some(Outcome::Missed)),
                (1, Some(Outcome::Success)),
                (1, Some(Outcome::Success)),
            ]
        );
    })
    .await;
}

#[tokio::test]
async fn failures_back_off_and_the_fifth_disables_with_one_message() {
    both(async |t: Times| {
        t.add(record("Bad", json!({"schedule": "* * * * *"}), "refuse"))
            .await;
        t.tick("13:01").await;
        assert_eq!(
            t.standing("bad").await,
            "on, streak 1, backs off until 13:02, next 13:02"
        );
        t.tick("13:02").await;
        assert_eq!(
            t.standing("bad").await,
            "on, streak 2, backs off until 13:07, next 13:03"
        );
        // Slots during the backoff produce rows, not runs.
        t.tick("13:05").await;
        assert_eq!(t.world.called().len(), 2);
        for (time, stands) in [
            ("13:07", "on, streak 3, backs off until 13:22, next 13:08"),
            ("13:22", "on, streak 4, backs off until 14:22, next 13:23"),
            ("14:22", "off (failures), streak 5"),
        ] {
            t.tick(time).await;
            assert_eq!(t.standing("bad").await, stands, "{time}");
        }
        assert_eq!(t.tick("15:00").await, deft_scheduler::TickReport::default());
        assert_eq!(
            t.slots("bad").await,
            [
                "13:01 error: 401 unauthorized",
                "13:02 error: 401 unauthorized",
                "13:03 to 13:05 (3) skipped: backoff: it failed; next try at 2026-01-26T13:07:00+00:00",
                "13:06 skipped: backoff: it failed; next try at 2026-01-26T13:07:00+00:00",
                "13:07 error: 401 unauthorized",
                "13:08 to 13:21 (14) skipped: backoff: it failed; next try at 2026-01-26T13:22:00+00:00",
                "13:22 error: 401 unauthorized",
                "13:23 to 14:21 (59) skipped: backoff: it failed; next try at 2026-01-26T14:22:00+00:00",
                "14:22 error: 401 unauthorized",
            ]
        );
        // One incident: an alert at the start, and one notice when the skill was disabled.
        assert_eq!(
            t.notices().await,
            [
                "failure: `bad` failed: 401 unauthorized",
                "disabled: `bad` failed 5 times in a row and is disabled: 401 unauthorized\n`deft \
                 skills enable bad` enables it again",
            ]
        );
        // Available tools do not enable it (X1), but a person does.
        assert!(Scheduler::new(&t.world.engine).enable_ready(at("15:00")).await.unwrap().is_empty());
        let row = t.world.engine.library().enable("bad").await.unwrap();
        assert_eq!(standing(&row), "on, next 15:01");
    })
    .await;
}

#[tokio::test]
async fn slots_due_together_back_off_after_the_first_failure() {
    both(async |t: Times| {
        let every = json!({"schedule": "*/15 * * * * *"});
        t.add(record("Bad", every, "refuse")).await;
        t.tick("13:01:14").await;
        assert_eq!(t.world.called().len(), 1, "{:#?}", t.slots("bad").await);
        let standing = t.standing("bad").await;
        assert_eq!(
            standing,
            "on, streak 1, backs off until 13:01:15, next 13:01:15"
        );
        for line in &t.slots("bad").await[1..] {
            assert!(line.contains(" skipped: "), "{line}");
        }
    })
    .await;
}

#[tokio::test]
async fn a_success_resets_the_failure_count_with_one_message() {
    both(async |t: Times| {
        let fails = t.install_failing();
        t.add(record("Moody", json!({"interval_minutes": 10}), "moody"))
            .await;
        t.tick("13:10").await;
        t.tick("13:20").await;
        assert_eq!(
            t.standing("moody").await,
            "on, streak 2, backs off until 13:25, next 13:30"
        );
        fails.store(false, Ordering::SeqCst);
        t.tick("13:30").await;
        t.tick("13:40").await;
        assert_eq!(t.standing("moody").await, "on, next 13:50");
        assert_eq!(
            t.notices().await,
            [
                "failure: `moody` failed: too many",
                "recovery: `moody` works again: fine",
            ]
        );
        // The next failure is another incident.
        fails.store(true, Ordering::SeqCst);
        t.tick("13:50").await;
        assert_eq!(
            t.standing("moody").await,
            "on, streak 1, backs off until 13:51, next 14:00"
        );
        assert_eq!(t.notices().await.len(), 3);
    })
    .await;
}

#[tokio::test]
async fn an_incident_is_reported_again_after_a_day() {
    both(async |t: Times| {
        t.install_failing();
        t.add(record("Daily", json!({"interval_minutes": 720}), "moody"))
            .await;
        t.tick("27 01:00").await;
        t.tick("27 13:00").await;
        assert_eq!(t.notices().await.len(), 1);
        t.tick("28 01:00").await;
        assert_eq!(t.notices().await.len(), 2);
    })
    .await;
}

#[tokio::test]
async fn a_failing_one_shot_is_retried_with_backoff() {
    both(async |t: Times| {
        let fails = t.install_failing();
        for name in ["Lucky", "Unlucky"] {
            let tool = if name == "Lucky" { "moody" } else { "refuse" };
            t.add(record(name, json!({"at": "2026-01-26T13:30:00Z"}), tool))
                .await;
        }
        t.tick("13:30").await;
        assert_eq!(t.standing("lucky").await, "on, streak 1, next 13:31");
        t.tick("13:31").await;
        assert_eq!(t.standing("lucky").await, "on, streak 2, next 13:36");
        fails.store(false, Ordering::SeqCst);
        t.tick("13:36").await;
        assert_eq!(t.standing("lucky").await, "off (one_shot_done)");
        t.tick("13:51").await;
        t.tick("14:51").await;
        assert_eq!(t.standing("unlucky").await, "off (failures), streak 5");
        let times: Vec<String> = t.slots("unlucky").await;
        let times: Vec<&str> = times.iter().map(|line| &line[..5]).collect();
        assert_eq!(times, ["13:30", "13:31", "13:36", "13:51", "14:51"]);
        assert_eq!(t.slots("lucky").await.len(), 3);
    })
    .await;
}

#[tokio::test]
async fn a_disabled_skill_does_not_run() {
    both(async |t: Times| {
        t.add(record("Off", json!({"interval_minutes": 10}), "act"))
            .await;
        t.world.clock.set(at("13:05"));
        let row = t.world.engine.library().disable("off").await.unwrap();
        assert_eq!(standing(&row), "off (user)");
        assert_eq!(t.tick("13:30").await, deft_scheduler::TickReport::default());
        assert_eq!(t.world.store.next_due().await.unwrap(), None);
        // It can still be run by hand.
        let row = t.world.run("off", json!({})).await;
        assert_eq!(row.outcome, Some(Outcome::Success));
        // When it is enabled, its grid starts again.
        t.world.clock.set(at("13:33"));
        let row = t.world.engine.library().enable("off").await.unwrap();
        assert_eq!(standing(&row), "on, next 13:43");
        // Enabling it again does not change the phase.
        t.world.clock.set(at("13:40"));
        let row = t.world.engine.library().enable("Off").await.unwrap();
        assert_eq!(standing(&row), "on, next 13:43");
    })
    .await;
}

/// No slot follows the only one, so people must be told if it produced no run.
#[tokio::test]
async fn a_missed_one_shot_is_reported() {
    both(async |t: Times| {
        let once = json!({"at": "2026-01-26T13:30:00Z"});
        let missed = record("Gone", once.clone(), "act");
        t.add(with(missed, json!({"misfire_window": "10m"}))).await;
        let idle = record("Idle", once, "act");
        t.add(with(idle, json!({"preflight": {"tool": "moody", "condition": "result != 'fine'"}})))
            .await;
        t.install_failing().store(false, Ordering::SeqCst);
        t.tick("15:30").await;
        for skill in ["gone", "idle"] {
            assert_eq!(t.standing(skill).await, "off (one_shot_done)");
        }
        assert_eq!(
            t.notices().await,
            [
                "failure: `gone` was missed: could not run in time or within its misfire window of 10m\nit was planned for today at 13:30 and will not run again; `deft run gone` runs it now",
                "failure: `idle` was skipped: `result != 'fine'` is not true\nit was planned for today at 13:30 and will not run again; `deft run idle` runs it now",
            ]
        );
        assert_eq!(t.world.called(), Vec::<String>::new());
    })
    .await;
}

#[tokio::test]
async fn a_past_one_shot_cannot_be_enabled() {
    both(async |t: Times| {
        t.add(record("Once", json!({"at": "2026-01-26T13:30:00Z"}), "act"))
            .await;
        t.tick("13:30").await;
        let refused = t.world.engine.library().enable("once").await.unwrap_err();
        assert_eq!(
            refused.to_string(),
            "skill `once` cannot be enabled: its scheduled time has passed"
        );
        // A slot past its misfire window ends the one-shot without a run.
        t.add(record("Old", json!({"at": "2026-01-26T14:00:00Z"}), "act"))
            .await;
        t.tick("28 14:00").await;
        assert_eq!(t.standing("old").await, "off (one_shot_done)");
        assert_eq!(
            t.slots("old").await,
            ["14:00 missed: could not run in time or within its misfire window of 24h"]
        );
    })
    .await;
}

#[tokio::test]
async fn a_slot_during_a_run_is_skipped() {
    both(async |t: Times| {
        t.add(record("Slow", json!({"interval_minutes": 10}), "hang"))
            .await;
        t.world.clock.set(at("13:10"));
        let first = Scheduler::new(&t.world.engine)
            .tick(at("13:10"), &t.pool)
            .await
            .unwrap();
        t.world.clock.set(at("13:20"));
        let second = Scheduler::new(&t.world.engine)
            .tick(at("13:20"), &t.pool)
            .await
            .unwrap();
        assert_eq!((first.fired.len(), second.fired.len()), (1, 1));
        t.world.engine.cancel(&first.fired[0], "ada").await.unwrap();
        t.pool.idle().await;
        let rows = t.slots("slow").await;
        assert_eq!(rows[0], "13:10 cancelled: stopped by ada");
        assert!(rows[1].starts_with("13:20 skipped: "), "{rows:?}");
        assert!(rows[1].contains(first.fired[0].as_str()), "{rows:?}");
        // Neither counts as a failure, and the skip does not count as a run of the skill.
        assert_eq!(t.standing("slow").await, "on, next 13:30");
        let standing = t.row("slow").await.standing;
        assert_eq!(standing.last_run_status.as_deref(), Some("cancelled"));
    })
    .await;
}

#[tokio::test]
async fn overlap_can_queue_and_allow() {
    both(async |t: Times| {
        for (name, overlap) in [("Queue", "queue"), ("Allow", "allow")] {
            let skill = record(name, json!({"interval_minutes": 10}), "hang");
            t.add(with(skill, json!({"overlap": overlap}))).await;
        }
        for time in ["13:10", "13:20"] {
            t.world.clock.set(at(time));
            Scheduler::new(&t.world.engine)
                .tick(at(time), &t.pool)
                .await
                .unwrap();
        }
        assert_eq!(t.slots("queue").await, ["13:10 running", "13:20 queued"]);
        assert_eq!(t.slots("allow").await, ["13:10 running", "13:20 running"]);
        for run in t.world.store.runs(RunFilter::default()).await.unwrap() {
            t.world.engine.cancel(&run.id, "ada").await.unwrap();
        }
        t.pool.idle().await;
    })
    .await;
}

/// X5, S0.72: a skip uses its slot up and does not change `last_run_at`.
#[tokio::test]
async fn a_check_before_the_run_uses_up_the_slot() {
    both(async |t: Times| {
        let skill = record("Mail", json!({"interval_minutes": 10}), "act");
        let check = json!({"preflight": {"tool": "moody", "condition": "result != 'fine'"}});
        let fails = t.install_failing();
        fails.store(false, Ordering::SeqCst);
        t.add(with(skill, check)).await;
        let ticked = t.tick("13:10").await;
        assert_eq!(ticked.fired, []);
        assert_eq!(ticked.passed.len(), 1);
        assert_eq!(
            t.slots("mail").await,
            ["13:10 skipped: `result != 'fine'` is not true"]
        );
        assert_eq!(t.standing("mail").await, "on, next 13:20");
        let standing = t.row("mail").await.standing;
        assert_eq!(standing.last_run_at, None);
        assert_eq!(t.world.called(), Vec::<String>::new());
        // A failed check is no reason to skip, and the run records it.
        fails.store(true, Ordering::SeqCst);
        t.tick("13:20").await;
        assert_eq!(t.world.called(), ["act"]);
        let run = t.runs("mail").await.remove(1);
        let shown = t.world.engine.show(&run).await.unwrap();
        assert_eq!(shown.check_failed.as_deref(), Some("too many"), "{shown:?}");
        let events = t.world.events(&run).await;
        assert_eq!(events[0]["check_failed"], "too many", "{events:#?}");
        // A run by hand has no check.
        fails.store(false, Ordering::SeqCst);
        let row = t.world.run("mail", json!({})).await;
        assert_eq!(row.outcome, Some(Outcome::Success));
    })
    .await;
}

/// S0.32: is it due, does it back off, does its check pass, how did it end.
#[tokio::test]
async fn the_checks_of_a_slot_run_in_order() {
    both(async |t: Times| {
        let skill = record("Careful", json!({"interval_minutes": 1}), "refuse");
        let check = json!({"preflight": {"tool": "act", "condition": "1 == 1"}});
        t.add(with(skill, check)).await;
        t.tick("13:00").await;
        assert_eq!(t.world.called(), Vec::<String>::new(), "it is not due");
        t.tick("13:01").await;
        assert_eq!(t.world.called(), ["act", "refuse"]);
        t.tick("13:02").await;
        assert_eq!(t.world.called().len(), 4);
        let rests = "on, streak 2, backs off until 13:07, next 13:03";
        assert_eq!(t.standing("careful").await, rests);
        t.tick("13:04").await;
        assert_eq!(t.world.called().len(), 4, "what rests is not checked");
    })
    .await;
}

#[tokio::test]
async fn manual_runs_do_not_change_the_failure_count() {
    both(async |t: Times| {
        t.add(record("Bad", json!({"interval_minutes": 60}), "refuse"))
            .await;
        let mut fire = fire("bad", &json!({}));
        fire.overlap = Some(Overlap::Allow);
        for _ in 0..6 {
            let attention = deft_engine::Attention::default();
            t.world.engine.run(fire.clone(), attention).await.unwrap();
        }
        assert_eq!(t.standing("bad").await, "on, next 14:00");
        assert_eq!(t.notices().await, Vec::<String>::new());
        let standing = t.row("bad").await.standing;
        assert_eq!(standing.last_run_status.as_deref(), Some("error"));
    })
    .await;
}
