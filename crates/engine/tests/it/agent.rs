//! Agents from the fire to the end, against scripted model servers: a case is a file in `tests/agent/`, its
//! snapshot contains the requests to the models, the calls, the recorded events and the results. A case with
//! `full` shows the public events unchanged.

use deft_store::RunRow;
use deft_testkit::ModelServer;
use serde_json::{Value, json};

use crate::agent_case::{Case, Scene};
use crate::agent_story::{named, story};

/// Returns a request to a model without the parts that are long or vary.
fn asked(request: &Value) -> Value {
    let messages = request["messages"].as_array().unwrap();
    let shown: Vec<Value> = messages
        .iter()
        .filter(|message| message["role"] != "system")
        .cloned()
        .collect();
    let tools = request["tools"].as_array();
    let tools: Option<Vec<&Value>> =
        tools.map(|tools| tools.iter().map(|tool| &tool["function"]["name"]).collect());
    json!({ "messages": shown, "tools": tools, "tool_choice": request.get("tool_choice") })
}

/// Returns a public event without the fields that vary from run to run.
fn stripped(event: &Value) -> Value {
    let mut event: Value = serde_json::from_str(&named(&event.to_string())).unwrap();
    let map = event.as_object_mut().unwrap();
    for key in ["seq", "at", "execution_id", "duration", "revision"] {
        map.remove(key);
    }
    event
}

/// Returns all runs in their public form.
async fn full(case: &Case, scene: &Scene) -> Value {
    let mut shown = Vec::new();
    for run in scene.runs().await {
        shown.push(run_json(scene, &run).await);
    }
    let requests = scene.servers.values().flat_map(ModelServer::requests);
    let asked: Vec<Value> = requests.map(|request| asked(&request)).collect();
    let calls = scene.world.calls.lock().unwrap().clone();
    let calls: Vec<Value> = calls
        .iter()
        .map(|(tool, args)| json!({ tool: args }))
        .collect();
    json!({ "about": case.0["about"], "runs": shown, "asked": asked, "called": calls })
}

async fn run_json(scene: &Scene, run: &RunRow) -> Value {
    let events = scene.world.events(run).await;
    let events: Vec<Value> = events.iter().map(stripped).collect();
    let read = |text: &Option<String>| -> Value {
        let text = text.as_deref();
        text.and_then(|text| serde_json::from_str(text).ok())
            .unwrap_or_default()
    };
    json!({
        "skill": run.skill, "tier": run.tier, "status": run.status, "outcome": run.outcome,
        "waiting_for": run.waits_for(),
        "outputs": read(&run.outputs), "error": read(&run.error), "usage": read(&run.usage),
        "events": events,
    })
}

#[test]
fn agent_cases_match_their_snapshots() {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .unwrap();
    insta::glob!("../agent", "*.json", |path| {
        let case = Case::read(path);
        let scene = runtime.block_on(case.play());
        insta::with_settings!({ omit_expression => true, prepend_module_to_snapshot => false,
            snapshot_path => "../agent/snapshots" }, {
            if case.0["full"] == true {
                insta::assert_json_snapshot!(runtime.block_on(full(&case, &scene)));
            } else {
                insta::assert_snapshot!(runtime.block_on(story(&case, &scene)));
            }
        });
    });
}
