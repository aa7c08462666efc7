//! The agents of one run share `max_calls`, even if their steps run concurrently.

use std::sync::Arc;

use deft_model::Outcome;
use deft_store_testkit::Memory;
use serde_json::{Value, json};

use crate::thinker::{call_reply, place, text_reply, thinker};
use crate::world::{Folder, World, load};

const MAX_CALLS: u32 = 12;

/// Five concurrent agents and one after them; each makes two calls per turn.
const MANY: &str = "\
name: many
description: d
inputs:
  - {name: turns, type: integer, required: true}
steps:
  - {id: a, agent: \"{{ inputs.turns }}\", tools: [echo], parallel_group: all, on_error: continue}
  - {id: b, agent: \"{{ inputs.turns }}\", tools: [echo], parallel_group: all, on_error: continue}
  - {id: c, agent: \"{{ inputs.turns }}\", tools: [echo], parallel_group: all, on_error: continue}
  - {id: d, agent: \"{{ inputs.turns }}\", tools: [echo], parallel_group: all, on_error: continue}
  - {id: e, agent: \"{{ inputs.turns }}\", tools: [echo], parallel_group: all, on_error: continue}
  - {id: after, agent: \"{{ inputs.turns }}\", tools: [echo]}
";

fn world() -> World {
    let (models, _) = thinker(|request, nth| {
        let (turns, answered) = place(request);
        if answered < turns.parse::<usize>().unwrap() {
            let args = [0, 1].map(|call| json!({ "nth": nth, "call": call }));
            let [one, two] = args;
            return Ok(call_reply(&[("echo", one), ("echo", two)]));
        }
        Ok(text_reply("enough"))
    });
    let home = tempfile::tempdir().unwrap();
    let loaded = load(&home, &[("many.yaml", MANY)]);
    let folder = Folder(Arc::new(std::sync::Mutex::new(loaded)));
    let parts = (deft_tools::Options::default(), models);
    World::from_parts(home, folder, Arc::new(Memory::new()), parts, |options| {
        options.agent.max_calls = MAX_CALLS;
    })
}

#[tokio::test]
async fn parallel_agents_share_the_call_limit_of_the_run() {
    let world = world();
    let within = world.run("many", json!({ "turns": 1 })).await;
    assert_eq!(within.outcome, Some(Outcome::Success), "{:?}", within.error);
    assert_eq!(world.called().len(), MAX_CALLS as usize);

    let over = world.run("many", json!({ "turns": 3 })).await;
    assert_eq!(over.outcome, Some(Outcome::Error));
    let error: Value = serde_json::from_str(over.error.as_deref().unwrap()).unwrap();
    assert_eq!(
        error,
        json!({
            "class": "limit",
            "message": "after 12 calls the model asked for 2 more; a run may make 12, so these were not made",
            "hint": "raise `max_calls` in `[agent]` if the task needs more calls",
            "step": "after",
        })
    );
    assert_eq!(world.called().len(), 2 * MAX_CALLS as usize);
}
