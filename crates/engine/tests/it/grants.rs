//! Which calls can be approved permanently.

use deft_engine::{AnswerReceipt, Attention};
use deft_model::{Object, Outcome, RunStatus};
use deft_workflow::Answer;
use serde_json::{Value, json};

use crate::world::{World, load};

fn skill(step: &str) -> String {
    format!(
        "name: asks\ndescription: d\nsteps:\n  - {step}\nconfirmations:\n  - {{step: danger, message: Really?}}\n"
    )
}

#[tokio::test]
async fn a_loop_over_unknown_items_cannot_be_always_allowed() {
    let step = "{id: danger, loop: [1, 2], tool: act, args: {n: \"{{ item | default(0) }}\"}}";
    let world = World::new(&[("asks.yaml", &skill(step))]);
    let row = world.run("asks", json!({})).await;
    let asked = world.store.approvals(false).await.unwrap().remove(0);
    let refused = world.engine.answer(&asked, Answer::Yes, "ada", true).await;
    let refused = refused.unwrap_err();
    assert_eq!(
        refused.to_string(),
        "the arguments of `danger` are known only when it runs, so it cannot be approved permanently"
    );
    assert_eq!(refused.hint().unwrap(), "approve it without `--always`");
    let still = world.store.run(&row.id).await.unwrap().unwrap();
    assert_eq!(still.status, RunStatus::Waiting, "nothing was answered");
    let once = world.engine.answer(&asked, Answer::Yes, "ada", false).await;
    assert!(matches!(once.unwrap(), AnswerReceipt::Accepted(_)));
    world.engine.drain(&Attention::default()).await.unwrap();
    assert_eq!(world.called(), ["act", "act"]);
}

#[tokio::test]
async fn a_loop_with_equal_calls_can_be_always_allowed() {
    let step = "{id: danger, loop: [1, 2], tool: act, args: {n: 1}}";
    let world = World::new(&[("asks.yaml", &skill(step))]);
    world.run("asks", json!({})).await;
    let asked = world.store.approvals(false).await.unwrap().remove(0);
    let answered = world.engine.answer(&asked, Answer::Yes, "ada", true).await;
    assert!(matches!(answered.unwrap(), AnswerReceipt::Accepted(_)));
    world.engine.drain(&Attention::default()).await.unwrap();
    let row = world.run("asks", json!({})).await;
    assert_eq!(row.outcome, Some(Outcome::Success), "the grant answers");
}

const MAILS: &str = "\
name: mails
description: d
inputs:
  - {name: to, type: string, required: true}
  - {name: subject, type: string, default: news}
steps:
  - {id: danger, tool: act, args: {to: \"{{ inputs.to }}\", subject: \"{{ inputs.subject }}\"}}
confirmations:
  - {step: danger, message: Really?}
";

fn pattern(value: &Value) -> Object {
    value.as_object().cloned().unwrap()
}

#[tokio::test]
async fn a_pattern_allows_only_calls_that_match_it() {
    let world = World::new(&[("mails.yaml", MAILS)]);
    world.run("mails", json!({ "to": "ann@example.com" })).await;
    let asked = world.store.approvals(false).await.unwrap().remove(0);
    let like = pattern(&json!({ "to": "*@example.com" }));
    let answered = world.engine.allow_like(&asked, "ada", &like).await;
    assert!(matches!(answered.unwrap(), AnswerReceipt::Accepted(_)));
    world.engine.drain(&Attention::default()).await.unwrap();
    let cases = [
        (json!({ "to": "bob@example.com" }), true),
        (json!({ "to": "eve@evil.com" }), false),
        (json!({ "to": "eve@evil.com,bob@example.com" }), false),
        (
            json!({ "to": "bob@example.com", "subject": "other" }),
            false,
        ),
    ];
    for (inputs, allowed) in cases {
        let row = world.run("mails", inputs.clone()).await;
        let passed = row.outcome == Some(Outcome::Success);
        assert_eq!(passed, allowed, "{inputs}");
        assert_eq!(row.status == RunStatus::Waiting, !allowed, "{inputs}");
    }
    let changed = MAILS.replace("description: d", "description: another revision");
    *world.folder.0.lock().unwrap() = load(&world.home, &[("mails.yaml", &changed)]);
    let row = world.run("mails", json!({ "to": "bob@example.com" })).await;
    assert_eq!(
        row.status,
        RunStatus::Waiting,
        "another revision asks again"
    );
}

#[tokio::test]
async fn a_pattern_that_does_not_fit_the_call_is_refused_and_answers_nothing() {
    let world = World::new(&[("mails.yaml", MAILS)]);
    world.run("mails", json!({ "to": "ann@example.com" })).await;
    let asked = world.store.approvals(false).await.unwrap().remove(0);
    let cases = [
        (
            json!({ "to": "*@example.org" }),
            "pattern `to=*@example.org` does not match the call: it has \"ann@example.com\"",
        ),
        (
            json!({ "cc": "*" }),
            "pattern `cc=*` does not match the call: it has no such argument",
        ),
    ];
    for (like, message) in cases {
        let refused = world
            .engine
            .allow_like(&asked, "ada", &pattern(&like))
            .await;
        assert_eq!(refused.unwrap_err().to_string(), message);
    }
    assert_eq!(world.store.approvals(false).await.unwrap(), [asked]);
    assert!(world.store.grants("mails").await.unwrap().is_empty());
}
