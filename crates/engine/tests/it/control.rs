//! Stopping, asking, resuming, repeating.

use std::sync::Arc;

use deft_engine::{AnswerReceipt, Asker, Attention, PendingResponse, Question, ResumeWith};
use deft_model::{Outcome, RunStatus};
use deft_store::{CancelState, Decision, DecisionResult, RunFilter, RunRow};
use deft_store_testkit::Memory;
use deft_workflow::Answer;
use serde_json::{Value, json};

use crate::world::{World, fire, from_step, load};

fn error(row: &RunRow) -> Value {
    serde_json::from_str(row.error.as_deref().unwrap_or("null")).unwrap()
}

const HANGS: &str = "\
name: hangs
description: Never ends by itself
steps:
  - id: wait
    tool: hang
  - id: after
    tool: act
";

#[tokio::test]
async fn a_run_is_stopped_during_a_call() {
    let world = World::new(&[("hangs.yaml", HANGS)]);
    let engine = world.engine.clone();
    let run = tokio::spawn(async move {
        engine
            .run(fire("hangs", &json!({})), Attention::default())
            .await
    });
    let row = wait_for(&world, |row| row.status == RunStatus::Running).await;
    while world.called().is_empty() {
        tokio::task::yield_now().await;
    }
    let state = world.engine.cancel(&row.id, "ada").await.unwrap();
    assert!(matches!(state, CancelState::Asked(_)), "{state:?}");
    let row = run.await.unwrap().unwrap().run().clone();
    assert_eq!(row.outcome, Some(Outcome::Cancelled));
    assert_eq!(error(&row)["message"], "stopped by ada");
    assert_eq!(world.called(), ["hang"]);
}

#[tokio::test]
async fn a_run_over_its_time_limit_ends_as_timeout() {
    let skill = HANGS.replace("steps:", "timeout: 60\nsteps:");
    let world = World::new(&[("hangs.yaml", &skill)]);
    let engine = world.engine.clone();
    let run = tokio::spawn(async move {
        engine
            .run(fire("hangs", &json!({})), Attention::default())
            .await
    });
    while world.called().is_empty() {
        tokio::task::yield_now().await;
    }
    world.clock.set("2026-01-26T13:01:01Z".parse().unwrap());
    let row = run.await.unwrap().unwrap().run().clone();
    assert_eq!(row.outcome, Some(Outcome::Error));
    assert_eq!(error(&row)["class"], "timeout");
}

const ASKS: &str = "\
name: asks
description: Asks first
steps:
  - id: first
    tool: echo
    args: {n: 1}
  - id: danger
    tool: act
    args: {n: \"{{ first.n }}\"}
confirmations:
  - step: danger
    message: \"Really {{ first.n }}?\"
    default: true
";

#[tokio::test]
async fn an_unattended_question_parks_the_run_until_it_is_answered() {
    let world = World::new(&[("asks.yaml", ASKS)]);
    let row = world.run("asks", json!({})).await;
    assert_eq!(row.status, RunStatus::Waiting);
    assert_eq!(row.waits_for(), Some("approval: Really 1?"));
    assert_eq!(row.owner, None);
    let approvals = world.store.approvals(false).await.unwrap();
    assert_eq!(approvals.len(), 1);
    assert_eq!(approvals[0].asked.message, "Really 1?");
    let operation: Value = serde_json::from_str(&approvals[0].asked.operation).unwrap();
    assert_eq!(
        operation,
        json!({"kind": "tool", "name": "act", "args": {"n": 1}})
    );
    assert_eq!(world.called(), ["echo"]);

    let decision = Decision {
        answer: "yes".to_owned(),
        by: "ada".to_owned(),
        at: row.admitted_at,
    };
    let id = &approvals[0].asked.id;
    let decided = world.store.decide(id, decision.clone()).await.unwrap();
    assert!(
        matches!(decided, DecisionResult::Accepted(_)),
        "{decided:?}"
    );
    let second = world.store.decide(id, decision).await.unwrap();
    assert!(matches!(second, DecisionResult::Already(_)), "{second:?}");
    let driven = world.engine.drain(&Attention::default()).await.unwrap();
    assert_eq!(driven, std::slice::from_ref(&row.id));
    let row = world.store.run(&row.id).await.unwrap().unwrap();
    assert_eq!(row.outcome, Some(Outcome::Success));
    assert_eq!(world.called(), ["echo", "act"]);
}

struct Says(Answer);

impl Asker for Says {
    fn ask(&self, _: Question) -> PendingResponse {
        let answer = self.0;
        Box::pin(async move { Some(answer.into()) })
    }
}

#[tokio::test]
async fn a_person_at_the_terminal_answers_at_once() {
    for (answer, outcome, called) in [
        (Answer::Yes, Outcome::Success, vec!["echo", "act"]),
        (Answer::Skip, Outcome::Success, vec!["echo"]),
        (Answer::No, Outcome::Cancelled, vec!["echo"]),
    ] {
        let world = World::new(&[("asks.yaml", ASKS)]);
        let attention = Attention {
            asker: Some(Arc::new(Says(answer))),
            ..Attention::default()
        };
        let row = world.run_with("asks", json!({}), attention).await;
        assert_eq!(row.outcome, Some(outcome), "{answer:?}");
        assert_eq!(world.called(), called, "{answer:?}");
        assert!(world.store.approvals(false).await.unwrap().is_empty());
    }
}

#[tokio::test]
async fn the_flag_yes_answers_and_is_recorded() {
    let world = World::new(&[("asks.yaml", ASKS)]);
    let attention = Attention {
        assume_yes: Some("--yes".to_owned()),
        ..Attention::default()
    };
    let row = world.run_with("asks", json!({}), attention).await;
    assert_eq!(row.outcome, Some(Outcome::Success));
    let events = world.events(&row).await;
    let answered = events.iter().find(|e| e["type"] == "confirmation_answered");
    assert_eq!(answered.unwrap()["by"], "--yes");
}

const DOUBT: &str = "\
name: doubt
description: Loses its connection
steps:
  - id: first
    tool: act
  - id: second
    tool: down
    on_error: retry:2
";

#[tokio::test]
async fn resume_repeats_a_once_step_in_doubt() {
    let world = World::new(&[("doubt.yaml", DOUBT)]);
    let row = world.run("doubt", json!({})).await;
    assert_eq!(row.outcome, Some(Outcome::Interrupted));
    assert_eq!(world.called(), ["act", "down"]);
    let with = ResumeWith {
        by: "ada".to_owned(),
        old_revision: false,
    };
    let resumed = world.engine.resume(&row, &with, Attention::default()).await;
    let row = resumed.unwrap().run().clone();
    assert_eq!(row.outcome, Some(Outcome::Interrupted));
    assert_eq!(row.finish_ordinal, 2);
    assert_eq!(world.called(), ["act", "down", "down"]);
}

#[tokio::test]
async fn a_run_is_resumed_with_a_changed_skill_only_on_request() {
    let world = World::new(&[("doubt.yaml", DOUBT)]);
    let row = world.run("doubt", json!({})).await;
    let changed = DOUBT.replace("tool: down", "tool: act");
    *world.folder.0.lock().unwrap() = load(&world.home, &[("doubt.yaml", &changed)]);
    let mut with = ResumeWith {
        by: "ada".to_owned(),
        old_revision: false,
    };
    let refused = world.engine.resume(&row, &with, Attention::default()).await;
    let refused = refused.unwrap_err();
    assert!(refused.to_string().contains("its skill has changed since"));
    assert!(refused.hint().unwrap().contains("--revision old"));
    with.old_revision = true;
    let resumed = world.engine.resume(&row, &with, Attention::default()).await;
    assert_eq!(resumed.unwrap().run().outcome, Some(Outcome::Interrupted));
    assert_eq!(world.called(), ["act", "down", "down"]);
}

#[tokio::test]
async fn a_rerun_from_a_step_reuses_earlier_results() {
    let world = World::new(&[("asks.yaml", ASKS)]);
    let yes = Attention {
        assume_yes: Some("--yes".to_owned()),
        ..Attention::default()
    };
    let row = world.run_with("asks", json!({}), yes.clone()).await;
    let again = world.engine.rerun(&row, &from_step("danger"), yes).await;
    let again = again.unwrap().run().clone();
    assert_eq!(again.outcome, Some(Outcome::Success));
    assert_eq!(again.parent, Some(row.id));
    assert_eq!(world.called(), ["echo", "act", "act"]);
    let step = from_step("dangr");
    let nowhere = world.engine.rerun(&again, &step, Attention::default());
    let nowhere = nowhere.await.unwrap_err();
    assert_eq!(nowhere.to_string(), "skill `asks` has no step `dangr`");
    assert_eq!(nowhere.hint().unwrap(), "did you mean `danger`?");
}

#[tokio::test]
async fn a_run_of_a_dead_process_is_taken_over_and_its_once_step_not_repeated() {
    let store = Arc::new(Memory::new());
    let world = World::with(store.clone(), &[("hangs.yaml", HANGS)], |_| {});
    let engine = world.engine.clone();
    let task = tokio::spawn(async move {
        engine
            .run(fire("hangs", &json!({})), Attention::default())
            .await
    });
    while world.called().is_empty() {
        tokio::task::yield_now().await;
    }
    // The process dies: its task is aborted, and its lock is dropped.
    task.abort();
    drop(task.await);
    let World {
        home,
        folder,
        engine,
        ..
    } = world;
    let orphan = engine.owner().to_owned();
    drop(engine);
    let next = World::at(home, folder, store, |_| {});
    assert_eq!(next.store.owners().await.unwrap(), [orphan]);
    let recovered = next.engine.recover().await.unwrap();
    assert_eq!(recovered.len(), 1);
    next.engine.drain(&Attention::default()).await.unwrap();
    let row = next.store.run(&recovered[0]).await.unwrap().unwrap();
    assert_eq!(row.outcome, Some(Outcome::Interrupted));
    assert_eq!(next.called(), Vec::<String>::new());
    assert_eq!(error(&row)["step"], "wait");
}

async fn wait_for(world: &World, is: impl Fn(&RunRow) -> bool) -> RunRow {
    loop {
        let rows = world.store.runs(RunFilter::default()).await.unwrap();
        if let Some(row) = rows.into_iter().find(|row| is(row)) {
            return row;
        }
        tokio::task::yield_now().await;
    }
}

#[tokio::test]
async fn a_run_that_was_cancelled_while_it_waited_can_be_resumed() {
    let world = World::new(&[("asks.yaml", ASKS)]);
    let row = world.run("asks", json!({})).await;
    let state = world.engine.cancel(&row.id, "ada").await.unwrap();
    let CancelState::Done(row) = state else {
        panic!("{state:?}");
    };
    assert_eq!(row.outcome, Some(Outcome::Cancelled));
    let with = ResumeWith::default();
    let yes = Attention {
        assume_yes: Some("--yes".to_owned()),
        ..Attention::default()
    };
    let row = world
        .engine
        .resume(&row, &with, yes)
        .await
        .unwrap()
        .run()
        .clone();
    assert_eq!(row.outcome, Some(Outcome::Success), "{:?}", row.error);
    assert_eq!(world.called(), ["echo", "act"]);
}

#[tokio::test]
async fn resume_asks_the_question_of_a_parked_run() {
    let world = World::new(&[("asks.yaml", ASKS)]);
    let row = world.run("asks", json!({})).await;
    let with = ResumeWith::default();
    let alone = world.engine.resume(&row, &with, Attention::default()).await;
    assert_eq!(alone.unwrap().run().status, RunStatus::Waiting);
    let asker = Attention {
        asker: Some(Arc::new(Says(Answer::Yes))),
        ..Attention::default()
    };
    let row = world
        .engine
        .resume(&row, &with, asker)
        .await
        .unwrap()
        .run()
        .clone();
    assert_eq!(row.outcome, Some(Outcome::Success));
}

#[tokio::test]
async fn a_standing_grant_answers_the_same_operation_of_the_same_revision_only() {
    let world = World::new(&[("asks.yaml", ASKS)]);
    world.run("asks", json!({})).await;
    let asked = world.store.approvals(false).await.unwrap().remove(0);
    let answered = world.engine.answer(&asked, Answer::Yes, "ada", true).await;
    assert!(matches!(answered.unwrap(), AnswerReceipt::Accepted(_)));
    world.engine.drain(&Attention::default()).await.unwrap();
    let row = world.run("asks", json!({})).await;
    assert_eq!(row.outcome, Some(Outcome::Success), "the grant answers");
    let changed = ASKS.replace("args: {n: 1}", "args: {n: 2}");
    *world.folder.0.lock().unwrap() = load(&world.home, &[("asks.yaml", &changed)]);
    let row = world.run("asks", json!({})).await;
    assert_eq!(
        row.status,
        RunStatus::Waiting,
        "another revision asks again"
    );
}

#[tokio::test]
async fn an_unknown_stored_answer_is_not_taken_for_a_no() {
    let world = World::new(&[("asks.yaml", ASKS)]);
    let row = world.run("asks", json!({})).await;
    let asked = world.store.approvals(false).await.unwrap().remove(0);
    let decision = Decision {
        answer: "perhaps".to_owned(),
        by: "ada".to_owned(),
        at: asked.asked.at,
    };
    world.store.decide(&asked.asked.id, decision).await.unwrap();
    world.engine.drain(&Attention::default()).await.unwrap();
    let row = world.store.run(&row.id).await.unwrap().unwrap();
    assert_eq!((row.status, row.outcome), (RunStatus::Waiting, None));
    assert_eq!(world.called(), ["echo"]);
}

#[tokio::test]
async fn an_abandoned_run_can_be_cancelled() {
    let store = Arc::new(Memory::new());
    let world = World::with(store.clone(), &[("hangs.yaml", HANGS)], |_| {});
    let engine = world.engine.clone();
    let task = tokio::spawn(async move {
        engine
            .run(fire("hangs", &json!({})), Attention::default())
            .await
    });
    while world.called().is_empty() {
        tokio::task::yield_now().await;
    }
    task.abort();
    drop(task.await);
    let World {
        home,
        folder,
        engine,
        ..
    } = world;
    drop(engine);
    let next = World::at(home, folder, store, |_| {});
    let row = wait_for(&next, |row| row.status == RunStatus::Running).await;
    let state = next.engine.cancel(&row.id, "ada").await.unwrap();
    assert!(matches!(state, CancelState::Done(_)), "{state:?}");
}

#[tokio::test]
async fn a_queued_rerun_reuses_earlier_results() {
    let asks = ASKS.replace("steps:", "concurrency: 1\nsteps:");
    let hangs = HANGS.replace("steps:", "overlap: allow\nsteps:");
    let skills = [("asks.yaml", asks.as_str()), ("hangs.yaml", hangs.as_str())];
    let world = World::with(Arc::new(Memory::new()), &skills, |options| {
        options.max_running = Some(1);
    });
    let yes = Attention {
        assume_yes: Some("--yes".to_owned()),
        ..Attention::default()
    };
    let row = world.run_with("asks", json!({}), yes.clone()).await;
    let engine = world.engine.clone();
    let hanging = tokio::spawn(async move {
        engine
            .run(fire("hangs", &json!({})), Attention::default())
            .await
    });
    while world.called().len() < 3 {
        tokio::task::yield_now().await;
    }
    let engine = world.engine.clone();
    let again = tokio::spawn(async move { engine.rerun(&row, &from_step("danger"), yes).await });
    wait_for(&world, |row| row.status == RunStatus::Queued).await;
    let first = wait_for(&world, |row| row.status == RunStatus::Running).await;
    world.engine.cancel(&first.id, "test").await.unwrap();
    hanging.await.unwrap().unwrap();
    let mut now: jiff::Timestamp = "2026-01-26T13:00:00Z".parse().unwrap();
    while !again.is_finished() {
        now = now
            .checked_add(std::time::Duration::from_millis(50))
            .unwrap();
        world.clock.set(now);
        tokio::task::yield_now().await;
    }
    let row = again.await.unwrap().unwrap().run().clone();
    assert_eq!(row.outcome, Some(Outcome::Success));
    assert_eq!(world.called(), ["echo", "act", "hang", "act"]);
}

#[tokio::test]
async fn a_cancel_request_of_another_process_stops_a_run() {
    let world = World::new(&[("hangs.yaml", HANGS)]);
    let engine = world.engine.clone();
    let run = tokio::spawn(async move {
        engine
            .run(fire("hangs", &json!({})), Attention::default())
            .await
    });
    let engine = world.engine.clone();
    let leases = tokio::spawn(async move { engine.keep_leases().await });
    let row = wait_for(&world, |row| row.status == RunStatus::Running).await;
    while world.called().is_empty() {
        tokio::task::yield_now().await;
    }
    // Another process that shares only the store.
    world
        .store
        .cancel(&row.id, "bob", row.admitted_at)
        .await
        .unwrap();
    let mut now = row.admitted_at;
    while !run.is_finished() {
        now = now
            .checked_add(std::time::Duration::from_millis(50))
            .unwrap();
        world.clock.set(now);
        tokio::task::yield_now().await;
    }
    let row = run.await.unwrap().unwrap().run().clone();
    assert_eq!(error(&row)["message"], "stopped by bob");
    leases.abort();
}
