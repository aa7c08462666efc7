//! Every way by which a model can cause a call: on each of them, the calls that are made without a
//! question are those that a direct call would make without one.
//!
//! A route is a script for the model and what happens afterwards. No question is ever answered, so
//! that a tool is called only where none was asked.

use serde_json::{Value, json};

use crate::agent_case::Case;

/// Needs no yes.
const FREE: &str = "peek";
/// Needs a yes.
const ASKED: &str = "wipe";
/// Is there, and not for the agent.
const HIDDEN: &str = "hidden";

/// Where the agent works.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    Chat,
    /// Nobody reads along.
    Alone,
    /// A skill of a person that a schedule fires.
    Fired,
}

/// A way to a call of a tool.
struct Route {
    name: &'static str,
    /// What the model calls, one after the other; a last reply ends its turn.
    calls: Vec<Value>,
    /// What agents below it call.
    below: Vec<Value>,
    /// What happens afterwards.
    then: Vec<Value>,
    /// It goes through a skill that a person wrote, whose tools are the person's decision.
    of_person: bool,
}

fn call(name: &str, args: Value) -> Value {
    json!({ "name": name, "args": args })
}

fn plan(tool: &str) -> Value {
    json!([{ "id": "one", "toolName": tool, "parameters": { "n": 1 } }])
}

fn record(name: &str, fields: Value) -> Value {
    let mut record = json!({ "name": name, "trigger_type": "manual", "instructions": "Do it." });
    for (key, value) in fields.as_object().unwrap() {
        record[key] = value.clone();
    }
    record
}

fn store(name: &str, fields: Value) -> Value {
    call("memory_store_skill", record(name, fields))
}

fn soon(fields: Value) -> Value {
    let mut fields = fields;
    fields["trigger_type"] = json!("cron");
    fields["trigger_config"] = json!({ "in_minutes": 5 });
    fields
}

fn run(skill: &str) -> Value {
    call("skill_run", json!({ "skill": skill }))
}

fn later() -> Vec<Value> {
    vec![json!({ "tick": "13:30" }), json!({ "drain": true })]
}

fn route(name: &'static str, calls: Vec<Value>) -> Route {
    Route {
        name,
        calls,
        below: Vec::new(),
        then: later(),
        of_person: false,
    }
}

fn routes(tool: &str) -> Vec<Route> {
    let job = json!({ "name": "job", "action":
        { "type": "tool_call", "toolName": tool, "parameters": { "n": 1 } } });
    let jobs = json!({ "name": "jobs", "action": { "type": "workflow", "workflowSteps": [
        { "id": "a", "toolName": FREE, "parameters": {} },
        { "id": "b", "toolName": tool, "parameters": { "n": "{{ a.result }}" } }] } });
    let workflow = format!("name: evil\ndescription: x\nsteps:\n  - {{id: one, tool: {tool}}}\n");
    let heal = json!([{ "when": "network", "tool": tool, "args": {} }]);
    let check = json!({ "tool": tool, "args": {} });
    let child = json!({ "agent_id": "helper", "mission": "Do it.", "skills": [tool] });
    let queuer =
        json!({ "agent_id": "helper", "mission": "Do it.", "skills": ["queue_task", tool] });
    let commander = json!({ "agent_id": "helper", "mission": "Do it.",
        "skills": [format!("do.{tool}")] });
    let failing = json!([{ "id": "one", "toolName": "broken", "parameters": {} }]);
    let through =
        json!([{ "id": "one", "toolName": "skill_run", "parameters": { "skill": "evil" } }]);
    let storing = json!([{ "id": "one", "toolName": "queue_task", "parameters": job }]);
    let agent = json!({ "required_tools": [tool] });
    vec![
        route("direct", vec![call(tool, json!({ "n": 1 }))]),
        route(
            "store + run",
            vec![
                store("Evil", json!({ "execution_plan": plan(tool) })),
                run("evil"),
            ],
        ),
        route(
            "store + schedule",
            vec![store("Evil", soon(json!({ "execution_plan": plan(tool) })))],
        ),
        Route {
            below: vec![call(tool, json!({ "n": 1 }))],
            ..route(
                "store an agent + run",
                vec![store("Evil", agent.clone()), run("evil")],
            )
        },
        Route {
            below: vec![call(tool, json!({ "n": 1 }))],
            ..route(
                "store an agent + schedule",
                vec![store("Evil", soon(agent))],
            )
        },
        route("queue", vec![call("queue_task", job.clone())]),
        route("queue a workflow", vec![call("queue_task", jobs)]),
        route(
            "store a queue",
            vec![
                store("Evil", json!({ "execution_plan": storing })),
                run("evil"),
            ],
        ),
        route(
            "store with a remedy",
            vec![
                store("Evil", json!({ "execution_plan": failing, "heal": heal })),
                run("evil"),
            ],
        ),
        route(
            "store with a check",
            vec![store(
                "Evil",
                soon(json!({ "execution_plan": plan(FREE), "preflight": check })),
            )],
        ),
        route(
            "store + store + run",
            vec![
                store("Evil", json!({ "execution_plan": plan(tool) })),
                store("Outer", json!({ "execution_plan": through })),
                run("outer"),
            ],
        ),
        route(
            "update a record of a person + run",
            vec![
                call(
                    "memory_update_skill",
                    json!({ "name": "Mine", "execution_plan": plan(tool) }),
                ),
                run("mine"),
            ],
        ),
        route(
            "schedule a record of a person",
            vec![call(
                "memory_update_skill",
                soon(json!({ "name": format!("Off {tool}"), "enabled": true })),
            )],
        ),
        route(
            "update a file",
            vec![call(
                "memory_update_skill",
                json!({ "name": "open", "execution_plan": plan(tool) }),
            )],
        ),
        Route {
            below: vec![call(tool, json!({ "n": 1 }))],
            ..route("dispatch", vec![call("dispatch_agent", child)])
        },
        Route {
            below: vec![call("queue_task", job)],
            ..route("dispatch + queue", vec![call("dispatch_agent", queuer)])
        },
        Route {
            of_person: true,
            below: vec![call(
                "use_skill",
                json!({ "skill": format!("do.{tool}"), "flags": {} }),
            )],
            ..route(
                "dispatch + use_skill",
                vec![call("dispatch_agent", commander)],
            )
        },
        Route {
            of_person: true,
            ..route(
                "use_skill",
                vec![call(
                    "use_skill",
                    json!({ "skill": format!("do.{tool}"), "flags": {} }),
                )],
            )
        },
        Route {
            of_person: true,
            ..route("skill_run of a command", vec![run(&format!("do.{tool}"))])
        },
        Route {
            of_person: true,
            ..route(
                "skill_run of a workflow",
                vec![run(&format!("flow_{tool}"))],
            )
        },
        Route {
            of_person: true,
            ..route(
                "a workflow with `skill:`",
                vec![run(&format!("outer_{tool}"))],
            )
        },
        Route {
            then: vec![
                json!({ "reload": true }),
                json!({ "say": "go on" }),
                json!({ "drain": true }),
            ],
            ..route(
                "write a file",
                vec![
                    call(
                        "file_write",
                        json!({ "path": "skills/evil.yaml", "content": workflow }),
                    ),
                    run("evil"),
                ],
            )
        },
    ]
}

/// A model that takes the route, and a world in which it could.
fn case(place: Place, tool: &str, route: &Route) -> Case {
    let own = [
        "memory_store_skill",
        "memory_update_skill",
        "queue_task",
        "skill_run",
        "use_skill",
        "file.write",
    ];
    let own = own.into_iter().chain(
        route
            .name
            .starts_with("dispatch")
            .then_some("dispatch_agent"),
    );
    let may_use: Vec<&str> = [FREE, ASKED, "broken"].into_iter().chain(own).collect();
    let turn = |calls: &[Value]| {
        let calls = calls.iter().map(|call| json!({ "calls": [call] }));
        calls
            .chain([json!({ "text": "Done." })])
            .collect::<Vec<_>>()
    };
    // Whoever is sent out or run speaks before the turn goes on, and again where it is fired.
    let mut script: Vec<Value> = Vec::new();
    for (at, call) in route.calls.iter().enumerate() {
        script.push(json!({ "calls": [call] }));
        if at + 1 == route.calls.len() {
            script.extend(turn(&route.below));
        }
    }
    script.extend((0..6).map(|_| json!({ "text": "Done." })));
    let mut skills =
        json!({ "open.yaml": "name: open\ndescription: x\nsteps:\n  - {id: a, tool: peek}\n" });
    for tool in [FREE, ASKED, HIDDEN] {
        skills[format!("do/{tool}.md")] = json!(format!(
            "---\nname: do.{tool}\ndescription: x\nhandler: tool:{tool}\n---\n\n# do.{tool}\n"
        ));
        skills[format!("flow_{tool}.yaml")] = json!(format!(
            "name: flow_{tool}\ndescription: x\nsteps:\n  - {{id: one, tool: {tool}}}\n"
        ));
        skills[format!("outer_{tool}.yaml")] = json!(format!(
            "name: outer_{tool}\ndescription: x\nsteps:\n  - {{id: inner, skill: flow_{tool}}}\n"
        ));
    }
    let first = match place {
        Place::Chat => json!({ "say": "go" }),
        Place::Alone => json!({ "say": "go", "alone": true }),
        Place::Fired => json!({ "tick": "13:05" }),
    };
    let mut records = vec![record("Mine", json!({ "execution_plan": plan(FREE) }))];
    for tool in [FREE, ASKED, HIDDEN] {
        let off = json!({ "execution_plan": plan(tool), "enabled": false });
        records.push(record(&format!("Off {tool}"), off));
    }
    if place == Place::Fired {
        let fields =
            json!({ "required_tools": may_use, "max_steps": 20, "notify_on_completion": false });
        records.push(record("Night", soon(fields)));
    }
    let todo: Vec<Value> = std::iter::once(first).chain(route.then.clone()).collect();
    let known = |name: &str, effects: &str| json!({ "name": name, "effects": effects });
    Case(json!({
        "about": format!("{} to `{tool}` in {place:?}", route.name),
        "skills": skills,
        "records": records,
        "files": true,
        "tools": [known(FREE, "idempotent"), known(ASKED, "once"), known(HIDDEN, "once"),
            { "name": "broken", "effects": "none", "returns": [{ "fail": ["network", "down"] }] }],
        "options": { "approve": [ASKED], "tools": may_use, "may_schedule": true, "max_steps": 20 },
        "script": script,
        "do": todo,
    }))
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_detour_needs_fewer_questions_than_a_direct_call() {
    let mut wrong = Vec::new();
    for place in [Place::Chat, Place::Alone, Place::Fired] {
        for tool in [FREE, ASKED, HIDDEN] {
            for route in routes(tool) {
                let case = case(place, tool, &route);
                let scene = case.play().await;
                let calls = scene.world.calls.lock().unwrap().clone();
                let called = calls.iter().filter(|(name, _)| name == tool).count();
                // A person's skill may call what the agent cannot; what needs a yes is asked about
                // there as well.
                let expected = tool == FREE || (tool == HIDDEN && route.of_person);
                // What is refused for every tool alike is no way at all.
                let closed = match route.name {
                    "update a file" | "write a file" => true,
                    // Who can send agents out has them carry out commands.
                    "use_skill" | "skill_run of a command" => place != Place::Fired,
                    _ => false,
                };
                if (called > 0) != (expected && !closed) {
                    let done = scene.done.join("\n    ");
                    wrong.push(format!(
                        "{}: called {called} times\n    {done}",
                        case.0["about"]
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
