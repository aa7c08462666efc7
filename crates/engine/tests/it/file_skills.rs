//! Skills of files as tools manage them (S0.61, S0.62, S0.86): an overlay in the store, never an edit of the
//! file.

use std::sync::Arc;

use deft_engine::{Error, Options};
use deft_records::Target;
use deft_scheduler::Scheduler;
use deft_store::Store;
use deft_store_testkit::Memory;
use deft_tools::{Call, Definition};
use serde_json::{Value, json};

use crate::time_world::{Times, at, file};
use crate::world::{World, fire, load};

/// Instructions with a schedule.
const BRIEFING: &str = "---\nname: morning-briefing\ndescription: A briefing.\nmetadata:\n  \
    required_tools: echo\n  trigger_config: '{\"schedule\": \"0 6 * * *\", \"timezone\": \"UTC\"}'\n---\n\
    # Morning Briefing\n\nSay what is on today.\n";

/// Steps that no record can hold.
pub(crate) const FLOW: &str = "name: flow\ndescription: Two calls.\nschedule: \"0 6 * * *\"\ntimezone: UTC\nsteps:\n  \
    - {id: one, tool: echo}\n  - {id: two, tool: put, condition: \"1 == 1\"}\n";

/// `FLOW` with another description and other steps.
const FLOW_EDITED: &str = "name: flow\ndescription: One call.\nschedule: \"0 6 * * *\"\ntimezone: UTC\n\
    steps:\n  - {id: one, tool: put}\n  - {id: two, tool: put, condition: \"1 == 1\"}\n";

/// `FLOW` at another time.
const FLOW_RETIMED: &str = "name: flow\ndescription: Two calls.\nschedule: \"0 9 * * *\"\ntimezone: UTC\n\
    steps:\n  - {id: one, tool: echo}\n  - {id: two, tool: put, condition: \"1 == 1\"}\n";

/// A playbook with a keyword.
const PLAYBOOK: &str = "---\nname: knots\ndescription: How to tie knots.\nmetadata:\n  \
    keywords: knot\n---\nBegin with the bowline.\n";

fn with_tools(store: Arc<dyn Store>, files: &[(&str, &str)]) -> Times {
    let times = Times::with_store(store, files);
    times.world.engine.register_tools();
    times
}

/// Runs a test over the memory store, then over a file.
pub(crate) async fn both(files: &[(&str, &str)], test: impl AsyncFn(Times)) {
    Box::pin(test(with_tools(Arc::new(Memory::new()), files))).await;
    let folder = tempfile::tempdir().unwrap();
    Box::pin(test(with_tools(file(&folder), files))).await;
}

fn object(value: Value) -> deft_model::Object {
    match value {
        Value::Object(object) => object,
        other => panic!("{other}"),
    }
}

/// Calls one of deft's own tools as a person.
pub(crate) async fn call(world: &World, tool: &str, args: Value) -> Result<Value, String> {
    let reply = world
        .engine
        .router()
        .call(Call::new(tool, object(args)))
        .await;
    reply
        .map(|reply| reply.value)
        .map_err(|failure| failure.message)
}

pub(crate) async fn get(world: &World, id: &str) -> Value {
    let got = call(world, "memory_get_skill", json!({ "id": id })).await;
    got.unwrap()["skill"].take()
}

async fn update(world: &World, id: &str, mut change: Value) -> Value {
    change["id"] = json!(id);
    let changed = call(world, "memory_update_skill", change).await;
    changed.unwrap()["skill"].take()
}

fn edit(world: &World, files: &[(&str, &str)]) {
    *world.folder.0.lock().unwrap() = load(&world.home, files);
}

pub(crate) fn columns(skill: &Value, names: &[&str]) -> Value {
    names.iter().map(|name| skill[*name].clone()).collect()
}

const WHEN: [&str; 4] = [
    "enabled",
    "disabled_reason",
    "trigger_config",
    "instructions",
];

#[tokio::test]
async fn a_file_skill_has_every_column_before_and_after_storing() {
    let files = [
        ("morning-briefing/SKILL.md", BRIEFING),
        ("knots/SKILL.md", PLAYBOOK),
    ];
    both(&files, async |t: Times| {
        for stored in [false, true] {
            if stored {
                t.world.engine.library().sync_files().await.unwrap();
            }
            let shown = get(&t.world, "Morning Briefing").await;
            assert_eq!(
                columns(&shown, &["id", "record_id", "tier", "required_tools"]),
                json!(["morning-briefing", stored.then_some(1), "agent", ["echo"]]),
            );
            assert_eq!(
                columns(&shown, &WHEN),
                json!([true, null, {"schedule": "0 6 * * *", "timezone": "UTC"},
                    "# Morning Briefing\n\nSay what is on today."]),
            );
            let listed = call(&t.world, "memory_list_skills", json!({}))
                .await
                .unwrap();
            let ids: Vec<&Value> = listed["skills"]
                .as_array()
                .unwrap()
                .iter()
                .map(|it| &it["id"])
                .collect();
            assert_eq!(ids, ["morning-briefing", "knots"]);
            let listed = call(
                &t.world,
                "memory_list_skills",
                json!({"trigger_type": "event"}),
            )
            .await;
            let listed = listed.unwrap();
            assert_eq!(listed["count"], 1);
            assert_eq!(
                listed["skills"][0]["instructions"],
                "Begin with the bowline."
            );
        }
    })
    .await;
}

#[tokio::test]
async fn a_file_is_rescheduled_and_keeps_its_steps() {
    both(&[("flow.yaml", FLOW)], async |t: Times| {
        let changed = update(&t.world, "flow", json!({"schedule": "30 13 * * *"})).await;
        assert_eq!(
            columns(&changed, &["trigger_config", "tier", "dialect", "origin"]),
            json!([{"schedule": "30 13 * * *", "timezone": "UTC"}, "workflow", "workflow", "file"])
        );
        t.world.engine.library().sync_files().await.unwrap();
        assert_eq!(t.row("flow").await.timeline.next_at, Some(at("13:30")));
        t.tick("13:30").await;
        assert_eq!(t.world.called(), ["echo", "put"]);
        assert_eq!(
            t.runs("flow").await[0].outcome.unwrap().to_string(),
            "success"
        );
        // Only the file can define the steps.
        let steps =
            json!({"id": "flow", "execution_plan": [{"toolName": "act", "parameters": {}}]});
        let refused = call(&t.world, "memory_update_skill", steps)
            .await
            .unwrap_err();
        assert!(
            refused.contains("this field can only be changed in the file of the skill"),
            "{refused}"
        );
    })
    .await;
}

#[tokio::test]
async fn the_last_change_of_a_field_wins() {
    both(&[("flow.yaml", FLOW)], async |t: Times| {
        let when = async || {
            t.world.engine.library().sync_files().await.unwrap();
            let shown = get(&t.world, "flow").await;
            columns(&shown, &["description", "trigger_config"])
        };
        update(
            &t.world,
            "flow",
            json!({"schedule": "0 7 * * *", "max_steps": 3}),
        )
        .await;
        let seven = json!({"schedule": "0 7 * * *", "timezone": "UTC"});
        assert_eq!(when().await, json!(["Two calls.", seven]));
        // An edit of another field and of the steps: both the change and the edit are in effect.
        edit(&t.world, &[("flow.yaml", FLOW_EDITED)]);
        assert_eq!(when().await, json!(["One call.", seven]));
        let run = t.world.run("flow", json!({})).await;
        assert_eq!(
            (
                run.outcome.unwrap().to_string(),
                t.world.called()[0].as_str()
            ),
            ("success".to_owned(), "put")
        );
        // An edit of the changed field: the file is in effect again.
        edit(&t.world, &[("flow.yaml", FLOW_RETIMED)]);
        let nine = json!({"schedule": "0 9 * * *", "timezone": "UTC"});
        assert_eq!(when().await, json!(["Two calls.", nine]));
        assert_eq!(
            get(&t.world, "flow").await["max_steps"],
            3,
            "the other change stays"
        );
        // Dropping the changes restores the file.
        let restored = t.world.engine.library().restore_file("flow").await.unwrap();
        assert!(restored.is_some());
        assert_eq!(get(&t.world, "flow").await["max_steps"], 10);
        assert_eq!(
            t.world.engine.library().restore_file("flow").await.unwrap(),
            None
        );
    })
    .await;
}

#[tokio::test]
async fn reverting_a_change_removes_its_override() {
    both(&[("flow.yaml", FLOW)], async |t: Times| {
        update(&t.world, "flow", json!({"schedule": "0 7 * * *"})).await;
        assert_eq!(t.world.store.changed_files().await.unwrap().len(), 1);
        update(&t.world, "flow", json!({"schedule": "0 6 * * *"})).await;
        assert_eq!(t.world.store.changed_files().await.unwrap(), []);
        assert_eq!(
            t.world.engine.library().restore_file("flow").await.unwrap(),
            None
        );
    })
    .await;
}

#[tokio::test]
async fn instructions_and_enabling_of_a_file_are_changed() {
    both(
        &[("morning-briefing/SKILL.md", BRIEFING)],
        async |t: Times| {
            let world = &t.world;
            let changed = update(
                world,
                "Morning Briefing",
                json!({"instructions": "Say hello.", "required_tools": ["put"]}),
            )
            .await;
            assert_eq!(
                columns(&changed, &["instructions", "required_tools", "dialect"]),
                json!(["Say hello.", ["put"], "agentskills"])
            );
            let off = update(world, "morning-briefing", json!({"enabled": false})).await;
            assert_eq!(
                columns(&off, &["enabled", "disabled_reason"]),
                json!([false, "user"])
            );
            world.engine.library().sync_files().await.unwrap();
            assert_eq!(t.standing("morning-briefing").await, "off (user)");
            let on = update(world, "MORNING briefing", json!({"enabled": true})).await;
            assert_eq!(
                columns(&on, &["enabled", "instructions"]),
                json!([true, "Say hello."])
            );
            assert_eq!(
                t.row("morning-briefing").await.timeline.next_at,
                Some(at("27 06:00"))
            );
        },
    )
    .await;
}

#[tokio::test]
async fn a_deleted_file_skill_is_hidden_until_a_person_restores_it() {
    both(&[("flow.yaml", FLOW)], async |t: Times| {
        let world = &t.world;
        let deleted = call(world, "memory_delete_skill", json!({"id": "Flow"}))
            .await
            .unwrap();
        assert_eq!(
            deleted["note"],
            "its file stays; a person can restore it with `deft skills enable flow`"
        );
        for stored in [false, true] {
            let gone = call(world, "memory_get_skill", json!({"id": "flow"}))
                .await
                .unwrap_err();
            assert_eq!(
                gone,
                "skill `flow` was deleted by an assistant; its file is still there"
            );
            let run = world
                .engine
                .run(fire("flow", &json!({})), deft_engine::Attention::default())
                .await;
            assert!(matches!(run, Err(Error::DeletedSkill { .. })));
            let listed = call(world, "memory_list_skills", json!({})).await.unwrap();
            assert_eq!(listed["count"], 0);
            assert_eq!(t.standing("flow").await, "off (deleted)", "{stored}");
            world.engine.library().sync_files().await.unwrap();
        }
        assert_eq!(t.tick("27 07:00").await.fired, []);
        assert!(world.home.path().join("skills/flow.yaml").exists());
        let back = world.engine.library().enable("flow").await.unwrap();
        assert_eq!(
            (back.standing.disabled, back.timeline.next_at),
            (None, Some(at("28 06:00")))
        );
        assert_eq!(get(world, "flow").await["enabled"], true);
    })
    .await;
}

/// S0.86: a default that is disabled in its file waits for its tools, even if they are known already.
#[tokio::test]
async fn a_default_skill_waits_only_for_its_tools() {
    let text = BRIEFING.replace("  required_tools", "  enabled: \"false\"\n  required_tools");
    let flow = FLOW.replace("steps:", "enabled: false\nsteps:");
    let files = [
        ("morning-briefing/SKILL.md", text.as_str()),
        ("flow.yaml", flow.as_str()),
    ];
    let world = World::with(Arc::new(Memory::new()), &files, |options: &mut Options| {
        options.waiting_defaults = vec!["morning-briefing".to_owned(), "flow".to_owned()];
    });
    world.engine.library().sync_files().await.unwrap();
    let standing = async |skill: &str| {
        let row = world.store.skill(skill).await.unwrap().unwrap();
        row.standing.disabled.map(|why| why.to_string())
    };
    assert_eq!(
        standing("morning-briefing").await.as_deref(),
        Some("missing_tools")
    );
    assert_eq!(standing("flow").await.as_deref(), Some("missing_tools"));
    // An edit of the file does not change that.
    let edited = flow.replace("Two calls.", "Three calls.");
    edit(
        &world,
        &[
            ("morning-briefing/SKILL.md", text.as_str()),
            ("flow.yaml", edited.as_str()),
        ],
    );
    world.engine.library().sync_files().await.unwrap();
    assert_eq!(standing("flow").await.as_deref(), Some("missing_tools"));
    let enabled = Scheduler::new(&world.engine)
        .enable_ready(at("13:00"))
        .await
        .unwrap();
    assert_eq!(enabled, ["flow"], "the other one has no model");
}

/// A change in another process is visible without a sync of the files.
#[tokio::test]
async fn a_change_by_another_process_applies_to_the_next_run() {
    let store: Arc<dyn Store> = Arc::new(Memory::new());
    let here = with_tools(Arc::clone(&store), &[("flow.yaml", FLOW)]);
    let there = with_tools(Arc::clone(&store), &[("flow.yaml", FLOW)]);
    here.world.engine.library().sync_files().await.unwrap();
    there.world.engine.library().sync_files().await.unwrap();
    update(&there.world, "flow", json!({"schedule": "30 13 * * *"})).await;
    here.tick("13:30").await;
    assert_eq!(here.world.called(), ["echo", "put"]);
    call(&there.world, "memory_delete_skill", json!({"id": "flow"}))
        .await
        .unwrap();
    let gone = call(&here.world, "memory_get_skill", json!({"id": "flow"}))
        .await
        .unwrap_err();
    assert!(gone.contains("was deleted by an assistant"), "{gone}");
    there.world.engine.library().enable("flow").await.unwrap();
    assert_eq!(get(&here.world, "flow").await["enabled"], true);
}

#[tokio::test]
async fn unknown_names_are_reported_with_a_similar_one() {
    let world = World::new(&[("flow.yaml", FLOW)]);
    let target = Target::Name("flwo".to_owned());
    let unknown = world
        .engine
        .library()
        .delete_skill(&target)
        .await
        .unwrap_err();
    assert_eq!(unknown.hint().as_deref(), Some("did you mean `flow`?"));
}

/// A default whose schedule was changed while it waited fires when its tool appears.
#[tokio::test]
async fn a_waiting_file_is_rescheduled_and_runs_when_its_tool_appears() {
    let waiting = FLOW.replace("steps:", "enabled: false\nrequired_tools: [later]\nsteps:");
    both(&[("flow.yaml", &waiting)], async |t: Times| {
        let changed = update(&t.world, "flow", json!({"schedule": "30 13 * * *"})).await;
        assert_eq!(
            columns(&changed, &["enabled", "disabled_reason"]),
            json!([false, "missing_tools"])
        );
        let later = Definition::new(
            "later",
            "x",
            deft_model::Effects::None,
            json!({"type": "object"}),
        );
        t.world
            .engine
            .router()
            .register_fn(later, |_, _| async { Ok(json!(null)) });
        assert_eq!(t.tick("13:01").await.enabled, ["flow"]);
        t.tick("13:30").await;
        assert_eq!(t.slots("flow").await.len(), 1);
        let off = update(&t.world, "flow", json!({"enabled": false})).await;
        assert_eq!(off["disabled_reason"], "user");
    })
    .await;
}
