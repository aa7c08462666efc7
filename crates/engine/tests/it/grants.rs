//! What may be allowed for good, and what may not.

use deft_engine::{Answered, Attention};
use deft_model::{Outcome, RunStatus};
use deft_workflow::Answer;
use serde_json::json;

use crate::world::World;

fn skill(step: &str) -> String {
    format!(
        "name: asks\ndescription: d\nsteps:\n  - {step}\nconfirmations:\n  - {{step: danger, message: Really?}}\n"
    )
}

#[tokio::test]
async fn a_loop_whose_items_are_not_known_is_not_allowed_for_good() {
    let step = "{id: danger, loop: [1, 2], tool: act, args: {n: \"{{ item | default(0) }}\"}}";
    let world = World::new(&[("asks.yaml", &skill(step))]);
    let row = world.run("asks", json!({})).await;
    let asked = world.store.approvals(false).await.unwrap().remove(0);
    let refused = world.engine.answer(&asked, Answer::Yes, "ada", true).await;
    let refused = refused.unwrap_err();
    assert_eq!(
        refused.to_string(),
        "what `danger` would do is known only when it runs, so it cannot be allowed for good"
    );
    assert_eq!(refused.hint().unwrap(), "approve it without `--always`");
    let still = world.store.run(&row.id).await.unwrap().unwrap();
    assert_eq!(still.status, RunStatus::Waiting, "nothing was answered");
    let once = world.engine.answer(&asked, Answer::Yes, "ada", false).await;
    assert!(matches!(once.unwrap(), Answered::Accepted(_)));
    world.engine.drain(&Attention::default()).await.unwrap();
    assert_eq!(world.called(), ["act", "act"]);
}

#[tokio::test]
async fn a_loop_that_does_the_same_for_each_item_may_be_allowed_for_good() {
    let step = "{id: danger, loop: [1, 2], tool: act, args: {n: 1}}";
    let world = World::new(&[("asks.yaml", &skill(step))]);
    world.run("asks", json!({})).await;
    let asked = world.store.approvals(false).await.unwrap().remove(0);
    let answered = world.engine.answer(&asked, Answer::Yes, "ada", true).await;
    assert!(matches!(answered.unwrap(), Answered::Accepted(_)));
    world.engine.drain(&Attention::default()).await.unwrap();
    let row = world.run("asks", json!({})).await;
    assert_eq!(row.outcome, Some(Outcome::Success), "the grant answers");
}
