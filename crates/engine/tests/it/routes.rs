//! Every way in which a model can cause a call: on each of them, the calls that are made without a question
//! are those that a direct call would make without one.
//!
//! A route is a file in `tests/routes/`: `calls` of the model in order; calls of agents `below` it; what
//! happens `then`, a later tick by default. `TOOL` stands for the tool. A route `of_person` uses a skill that
//! a person wrote, whose tools are the person's decision; one that `runs_of_person` ends in such a skill,
//! with the tools of the agent. A `closed` route leads nowhere for any tool; a `fired_only` route leads
//! nowhere in chats; a route that `reads` calls a tool of deft's own, which all of these are, only if it
//! declares that it only reads. No question is ever answered, so a tool is called only if no question was
//! asked.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::agent_case::Case;

/// Needs no approval.
const FREE: &str = "peek";
/// Needs an approval.
const ASKED: &str = "wipe";
/// Exists, but the agent may not use it.
const HIDDEN: &str = "hidden";
/// Does not declare its effects: needs an approval in a chat that a person attends.
const SILENT: &str = "post";
/// All tools of the test.
const TOOLS: [&str; 4] = [FREE, ASKED, HIDDEN, SILENT];

/// Where the agent works.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Surroundings {
    Chat,
    /// A chat without a person.
    Alone,
    /// A skill of a person that a schedule fires.
    Fired,
}

fn files() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/routes");
    let entries = fs::read_dir(folder).unwrap();
    let mut files: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
    files.sort();
    assert!(files.len() > 20, "routes are missing: {files:?}");
    files
}

fn route(file: &Path, tool: &str) -> Value {
    let text = fs::read_to_string(file).unwrap().replace("TOOL", tool);
    serde_json::from_str(&text).unwrap_or_else(|error| panic!("{}: {error}", file.display()))
}

fn list(value: &Value) -> Vec<Value> {
    value.as_array().cloned().unwrap_or_default()
}

/// Returns the answers of the model: its calls, then the calls of agents that it dispatches or runs.
fn script(route: &Value) -> Vec<Value> {
    let call = |call: Value| json!({ "calls": [call] });
    let calls = list(&route["calls"]).into_iter().map(call);
    // If the agents below start later, the agent ends before that.
    let between = (route["later"] == true).then(|| json!({ "text": "Done." }));
    let below = list(&route["below"]).into_iter().map(call);
    let calls = calls.chain(between).chain(below);
    let ends = (0..6).map(|_| json!({ "text": "Done." }));
    calls.chain(ends).collect()
}

/// Returns skills of a person for each tool, in each form.
fn skills() -> Value {
    let open = "name: open\ndescription: x\nsteps:\n  - {id: a, tool: peek}\n";
    let mut skills = json!({ "open.yaml": open });
    for tool in TOOLS {
        skills[format!("do/{tool}.md")] = json!(format!(
            "---\nname: do.{tool}\ndescription: x\nhandler: tool:{tool}\n---\n\n# do.{tool}\n"
        ));
        skills[format!("flow_{tool}.yaml")] = json!(format!(
            "name: flow_{tool}\ndescription: x\nsteps:\n  - {{id: one, tool: {tool}}}\n"
        ));
        skills[format!("off-file-{tool}.yaml")] = json!(format!(
            "name: off-file-{tool}\ndescription: x\nenabled: false\nschedule: \"*/5 * * * *\"\n\
             steps:\n  - {{id: one, tool: {tool}}}\n"
        ));
        skills[format!("prose-{tool}/SKILL.md")] = json!(format!(
            "---\nname: prose-{tool}\ndescription: x\nmetadata:\n  required_tools: {tool}\n---\nDo it.\n"
        ));
        skills[format!("outer_{tool}.yaml")] = json!(format!(
            "name: outer_{tool}\ndescription: x\nsteps:\n  - {{id: inner, skill: flow_{tool}}}\n"
        ));
    }
    skills
}

fn record(name: &str, tool: &str, enabled: bool) -> Value {
    json!({ "name": name, "trigger_type": "manual", "instructions": "Do it.", "enabled": enabled,
        "execution_plan": [{ "id": "one", "toolName": tool, "parameters": {} }] })
}

/// Returns records of a person; the last one is the agent itself if it is fired.
fn records(place: Surroundings, may_use: &[&str]) -> Vec<Value> {
    let mut records = vec![record("Mine", FREE, true)];
    let off = TOOLS.map(|tool| record(&format!("Off {tool}"), tool, false));
    records.extend(off);
    if place == Surroundings::Fired {
        records.push(json!({ "name": "Night", "trigger_type": "cron",
            "trigger_config": { "in_minutes": 5 }, "instructions": "Do it.", "max_steps": 20,
            "required_tools": may_use, "notify_on_completion": false }));
    }
    records
}

/// Returns a case with a model that takes the route, in a world that allows it.
fn case(place: Surroundings, route: &Value) -> Case {
    let mut may_use = vec![
        FREE,
        ASKED,
        SILENT,
        "broken",
        "memory_store_skill",
        "memory_update_skill",
        "memory_delete_skill",
    ];
    may_use.extend(["queue_task", "skill_run", "use_skill", "file.write"]);
    if route["dispatches"] == true {
        may_use.push("dispatch_agent");
    }
    let first = match place {
        Surroundings::Chat => json!({ "say": "go" }),
        Surroundings::Alone => json!({ "say": "go", "alone": true }),
        Surroundings::Fired => json!({ "tick": "13:05" }),
    };
    let later = vec![json!({ "tick": "13:30" }), json!({ "drain": true })];
    let then = match route["then"] {
        Value::Null => later,
        _ => list(&route["then"]),
    };
    let todo: Vec<Value> = std::iter::once(first).chain(then).collect();
    let down = json!({ "name": "broken", "effects": "none",
        "returns": [{ "fail": ["network", "down"] }] });
    let known = |name: &str, effects: &str| json!({ "name": name, "effects": effects });
    let silent = json!({ "name": SILENT, "annotated": false });
    Case(json!({
        "skills": skills(),
        "records": records(place, &may_use),
        "files": true,
        "tools": [known(FREE, "idempotent"), known(ASKED, "once"), known(HIDDEN, "once"), silent, down],
        "options": { "approve": [ASKED], "tools": may_use, "may_schedule": true, "max_steps": 20 },
        "script": script(route),
        "do": todo,
    }))
}

/// Whether a tool is called without a question on a route.
fn is_called(place: Surroundings, tool: &str, route: &Value) -> bool {
    let leads_somewhere = match place {
        _ if route["closed"] == true => false,
        Surroundings::Chat | Surroundings::Alone => route["fired_only"] != true,
        Surroundings::Fired => true,
    };
    // A person's skill may call what the agent cannot; calls that need an approval are asked about there too.
    let of_person = route["of_person"] == true;
    let allowed = match tool {
        FREE => true,
        ASKED => false,
        HIDDEN => of_person,
        // Without a person in the chat, the agent may use the tool because a person named it. Inside a skill
        // that a person wrote, no question is asked either.
        _ => {
            let known = of_person || route["runs_of_person"] == true;
            (known || place != Surroundings::Chat) && route["reads"] != true
        }
    };
    leads_somewhere && allowed
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_detour_needs_fewer_questions_than_a_direct_call() {
    let mut wrong = Vec::new();
    for file in files() {
        for tool in TOOLS {
            for place in [Surroundings::Chat, Surroundings::Alone, Surroundings::Fired] {
                let route = route(&file, tool);
                let scene = case(place, &route).play().await;
                let calls = scene.world.calls.lock().unwrap().clone();
                let called = calls.iter().any(|(name, _)| name == tool);
                if called != is_called(place, tool, &route) {
                    let (about, done) = (&route["about"], scene.done.join("\n    "));
                    wrong.push(format!(
                        "{about}, `{tool}`, {place:?}: {called}\n    {done}"
                    ));
                }
            }
        }
    }
    assert!(
        wrong.is_empty(),
        "{} ways:\n{}",
        wrong.len(),
        wrong.join("\n")
    );
}
