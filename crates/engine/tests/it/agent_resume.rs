//! Interrupted agents resume where they were, and finished work is not repeated.

use deft_engine::{Attention, CHAT_SKILL, NewChatMessage, ResumeWith};
use deft_model::{Message, Outcome};
use deft_store::{ConversationFilter, RunRow};
use serde_json::{Value, json};

use crate::thinker::{
    call_reply, connection_failure, place, text_reply, thinker, world_with_model,
};
use crate::world::{World, from_step, load};

const ACTS: &str = "\
---
name: acts
description: d
metadata:
  required_tools: [act, put, down]
---
Act, then say so.
";

async fn resume(world: &World, row: &RunRow, old_revision: bool) -> Result<RunRow, String> {
    let with = ResumeWith {
        by: "ada".to_owned(),
        old_revision,
    };
    let resumed = world.engine.resume(row, &with, Attention::default()).await;
    let resumed = resumed.map_err(|error| {
        let hint = error.hint().unwrap_or_default();
        format!("{error}\nhint: {hint}")
    });
    resumed.map(|admission| admission.run().clone())
}

fn class(row: &RunRow) -> Value {
    let error: Value = serde_json::from_str(row.error.as_deref().unwrap_or("null")).unwrap();
    error["class"].clone()
}

/// Returns the messages of the only conversation, each as its kind and the start of its text.
async fn stored_messages(world: &World) -> Vec<String> {
    let all = world.store.conversations(ConversationFilter::default());
    let id = all.await.unwrap().remove(0).id;
    let rows = world.store.messages(&id, 0, u32::MAX).await.unwrap();
    let said = rows.iter().map(|row| {
        let message: Message = serde_json::from_str(&row.body).unwrap();
        match message {
            Message::User { text } => format!("user: {}", text.trim()),
            Message::Assistant { text, calls, .. } if calls.is_empty() => format!("model: {text}"),
            Message::Assistant { calls, .. } => {
                let names: Vec<&str> = calls.iter().map(|call| call.name.as_str()).collect();
                format!("model calls {}", names.join(", "))
            }
            Message::Tool { name, failed, .. } => format!("{name} failed: {failed}"),
        }
    });
    said.collect()
}

#[tokio::test]
async fn a_resumed_agent_retries_the_model_and_repeats_no_finished_call() {
    let (models, asked) = thinker(|request, nth| match (place(request).1, nth) {
        (0, _) => Ok(call_reply(&[
            ("act", json!({ "n": 1 })),
            ("put", json!({})),
        ])),
        (_, 2) => Err(connection_failure()),
        _ => Ok(text_reply("I acted.")),
    });
    let world = world_with_model(&[("acts/SKILL.md", ACTS)], models);
    let row = world.run("acts", json!({})).await;
    assert_eq!(
        (row.outcome, class(&row)),
        (Some(Outcome::Error), json!("network"))
    );
    let row = resume(&world, &row, false).await.unwrap();
    assert_eq!(row.outcome, Some(Outcome::Success));
    assert_eq!(world.called(), ["act", "put"]);
    let asked = asked.lock().unwrap().clone();
    assert_eq!(asked.len(), 3);
    assert_eq!(asked[1].messages, asked[2].messages, "the same question");
    let expected = [
        "user: Act, then say so.",
        "model calls act, put",
        "act failed: false",
        "put failed: false",
        "model: (not finished: model `thinker`: the model is gone)",
        "model: I acted.",
    ];
    assert_eq!(stored_messages(&world).await, expected);
    let again = resume(&world, &row, false).await.unwrap_err();
    assert!(again.contains("it already ended as `success`"), "{again}");
}

#[tokio::test]
async fn only_a_call_in_doubt_is_repeated_after_approval() {
    let (models, asked) = thinker(|_, _| {
        Ok(call_reply(&[
            ("act", json!({ "n": 1 })),
            ("down", json!({})),
            ("put", json!({})),
        ]))
    });
    let world = world_with_model(&[("acts/SKILL.md", ACTS)], models);
    let row = world.run("acts", json!({})).await;
    assert_eq!(row.outcome, Some(Outcome::Error));
    assert_eq!(world.called(), ["act", "down"]);
    let expected = [
        "user: Act, then say so.",
        "model: (not finished: the connection was lost; completed before that: act)",
    ];
    assert_eq!(
        stored_messages(&world).await,
        expected,
        "a call without a result is not said"
    );
    let row = resume(&world, &row, false).await.unwrap();
    assert_eq!(row.outcome, Some(Outcome::Error));
    assert_eq!(world.called(), ["act", "down", "down"]);
    assert_eq!(asked.lock().unwrap().len(), 1, "its answer is known");
}

#[tokio::test]
async fn a_changed_skill_is_resumed_with_its_old_revision() {
    let (models, asked) = thinker(|_, nth| match nth {
        1 => Err(connection_failure()),
        _ => Ok(text_reply("Done.")),
    });
    let world = world_with_model(&[("acts/SKILL.md", ACTS)], models);
    let row = world.run("acts", json!({})).await;
    let changed = ACTS.replace("Act, then", "Do nothing, then");
    *world.folder.0.lock().unwrap() = load(&world.home, &[("acts/SKILL.md", &changed)]);
    let refused = resume(&world, &row, false).await.unwrap_err();
    let expected = format!(
        "run `{0}` cannot be resumed: its skill has changed since\nhint: `deft runs rerun {0} --from agent` runs the skill as it is now; `--revision old` resumes the skill as it was",
        row.id
    );
    assert_eq!(refused, expected);
    let row = resume(&world, &row, true).await.unwrap();
    assert_eq!(row.outcome, Some(Outcome::Success));
    let tasks: Vec<String> = asked.lock().unwrap().iter().map(|it| place(it).0).collect();
    assert_eq!(tasks, ["Act, then say so.", "Act, then say so."]);
}

const STEPS: &str = "\
name: steps
description: d
steps:
  - {id: before, tool: put}
  - {id: mind, agent: Look around., tools: [echo]}
  - {id: after, tool: act, args: {heard: \"{{ mind }}\"}}
";

#[tokio::test]
async fn a_rerun_starts_at_an_agent_step_or_reuses_its_answer() {
    let (models, asked) = thinker(|request, nth| match place(request).1 {
        0 => Ok(call_reply(&[("echo", json!({ "nth": nth }))])),
        _ => Ok(text_reply(&format!("answer {nth}"))),
    });
    let world = world_with_model(&[("steps.yaml", STEPS)], models);
    let row = world.run("steps", json!({})).await;
    assert_eq!(row.outcome, Some(Outcome::Success));
    let cases = [
        // The agent starts again.
        (
            "mind",
            4,
            vec!["echo", "act"],
            json!({ "heard": "answer 4" }),
        ),
        // Its answer is reused.
        ("after", 4, vec!["act"], json!({ "heard": "answer 2" })),
    ];
    for (from, questions, calls, heard) in cases {
        world.calls.lock().unwrap().clear();
        let engine = &world.engine;
        let step = from_step(from);
        let rerun = engine.rerun(&row, &step, Attention::default());
        let again = rerun.await.unwrap().run().clone();
        assert_eq!(again.outcome, Some(Outcome::Success), "{from}");
        assert_eq!(asked.lock().unwrap().len(), questions, "{from}");
        assert_eq!(world.called(), calls, "{from}");
        let last = world.calls.lock().unwrap().last().unwrap().1.clone();
        assert_eq!(json!(last), heard, "{from}");
    }
}

#[tokio::test]
async fn a_chat_continues_where_its_model_failed() {
    let (models, _) = thinker(|_, nth| match nth {
        1 => Err(connection_failure()),
        _ => Ok(text_reply("Hello.")),
    });
    let world = world_with_model(&[], models);
    world.engine.register_tools();
    let say = NewChatMessage {
        channel: "cli".to_owned(),
        text: "Hi.".to_owned(),
        ..NewChatMessage::default()
    };
    let said_to = world.engine.say(say, Attention::default()).await.unwrap();
    assert_eq!(said_to.run.skill, CHAT_SKILL);
    assert_eq!(said_to.run.outcome, Some(Outcome::Error));
    let row = resume(&world, &said_to.run, false).await.unwrap();
    assert_eq!(row.outcome, Some(Outcome::Success));
    let expected = [
        "user: Hi.",
        "model: (not finished: model `thinker`: the model is gone)",
        "model: Hello.",
    ];
    assert_eq!(stored_messages(&world).await, expected);
}
