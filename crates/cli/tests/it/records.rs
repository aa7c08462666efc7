//! Skills that an assistant stores, created with `deft tools call`, next to skills with files.

use serde_json::{Value, json};

use crate::daemon::{runs, skill};
use crate::support::{WORKFLOW, World};

/// Calls one of deft's own tools. Returns the exit code and the JSON document.
pub(crate) fn call(world: &World, tool: &str, args: &Value) -> (i32, Value) {
    let args = args.to_string();
    let output = world.output(&["tools", "call", tool, "--args", &args, "--json"]);
    let document = serde_json::from_slice(&output.stdout).unwrap();
    (output.status.code().unwrap(), document)
}

pub(crate) fn store(world: &World, args: &Value) -> Value {
    let (code, mut stored) = call(world, "memory_store_skill", args);
    assert_eq!(code, 0, "{stored:#}");
    stored["value"].take()
}

pub(crate) fn reminder(name: &str, when: &Value) -> Value {
    json!({
        "name": name,
        "trigger_type": "cron",
        "trigger_config": when,
        "instructions": "Remind to drink water",
        "execution_plan": [{"id": "step1", "toolName": "notify", "parameters": {"message": "Drink water!"}}],
    })
}

#[test]
fn stored_records_are_described_in_words() {
    let world = World::new();
    let stored = store(
        &world,
        &reminder("Drink water", &json!({"in_minutes": "5"})),
    );
    let words = stored["stored"].as_str().unwrap();
    assert!(words.contains("once, to"), "today or tomorrow: {words}");
    assert!(words.contains("(Europe/Berlin)"), "{words}");
    assert_eq!(stored["id"], 1);
    assert_ne!(
        stored["normalised"],
        json!([]),
        "the delay became an instant"
    );
    assert_eq!(
        (
            &stored["waits_for"],
            &stored["skill"]["tier"],
            &stored["skill"]["enabled"]
        ),
        (&json!([]), &json!("direct"), &json!(true))
    );
    let stored = store(
        &world,
        &json!({"name": "Stand up", "instructions": "Stand up", "schedule": "weekdays at 9:30", "tool": "notify", "params": {"message": "Stand up!"}}),
    );
    assert_eq!(
        stored["skill"]["trigger_config"]["schedule"], "30 9 * * 1-5",
        "{stored:#}"
    );
}

#[test]
fn records_are_found_by_their_tags() {
    let world = World::new();
    let mut water = reminder("Drink water", &json!({"in_minutes": "5"}));
    water["tags"] = json!(["health"]);
    store(&world, &water);
    store(&world, &reminder("Stand up", &json!({"in_minutes": "5"})));
    let ids = |args: &[&str]| -> Vec<Value> {
        let listed = world.json(&[&["skills", "list", "--json"], args].concat());
        let skills = listed["skills"].as_array().unwrap().iter();
        skills.map(|skill| skill["id"].clone()).collect()
    };
    assert_eq!(ids(&["--tag", "Health"]), ["drink-water"]);
    assert_eq!(ids(&["health"]), ["drink-water"]);
    assert_eq!(ids(&["--tag", "work"]), Vec::<Value>::new());
}

/// Each kind of invalid argument has its own message, and nothing is stored.
#[test]
fn invalid_records_are_refused() {
    let world = World::new();
    for (change, said) in [
        (
            json!({"trigger_config": {"schedule": "bananas"}}),
            "bananas",
        ),
        (json!({"trigger_config": {"schedule": "0 9 *"}}), "`0 9 *`"),
        (
            json!({"trigger_config": {"schedule": "0 0 30 2 *"}}),
            "never",
        ),
        (
            json!({"trigger_config": {"at": "2020-01-01T09:00"}}),
            "past",
        ),
        (
            json!({"trigger_config": {"schedule": "0 9 * * *", "timezone": "Mars/Olympus"}}),
            "Mars/Olympus",
        ),
        (
            json!({"execution_plan": [{"id": "a", "toolName": "notifi", "parameters": {"message": "x"}}]}),
            "notifi",
        ),
        (json!({"colour": "red"}), "colour"),
    ] {
        let mut args = reminder("Bad", &json!({"schedule": "0 9 * * *"}));
        for (key, value) in change.as_object().unwrap() {
            args[key] = value.clone();
        }
        let (code, answer) = call(&world, "memory_store_skill", &args);
        assert_eq!(
            (code, &answer["ok"]),
            (2, &json!(false)),
            "{change}: {answer:#}"
        );
        assert_eq!(answer["error"]["class"], "invalid", "{change}");
        let message = answer["error"]["message"].as_str().unwrap();
        assert!(message.contains(said), "{change}: {message}");
    }
    let args = json!({"name": "Bad", "trigger_type": "manual", "instructions": "x", "required_tools": ["notifi"]});
    let (_, answer) = call(&world, "memory_store_skill", &args);
    assert!(
        answer.to_string().contains("`notify`"),
        "a near name: {answer:#}"
    );
    let listed = world.json(&["skills", "list", "--json"]);
    assert_eq!(listed["skills"], json!([]));
}

#[test]
fn a_record_can_wait_for_its_tools() {
    let world = World::new();
    let mut args = reminder("Later", &json!({"schedule": "0 9 * * *"}));
    args["execution_plan"][0]["toolName"] = json!("fetch_it");
    args["enabled"] = json!(false);
    let stored = store(&world, &args);
    assert_eq!(stored["waits_for"], json!(["fetch_it"]));
    let later = skill(&world, "later");
    assert_eq!(
        (
            &later["enabled"],
            &later["disabled_reason"],
            &later["missing_tools"]
        ),
        (&json!(false), &json!("missing_tools"), &json!(["fetch_it"])),
        "{later:#}"
    );
}

/// Files and records are in the same list, with the same keys.
#[test]
fn records_are_listed_with_files() {
    let world = World::new();
    world.write("home/skills/report.yaml", WORKFLOW);
    store(
        &world,
        &reminder("Drink water", &json!({"schedule": "0 9 * * *"})),
    );
    let listed = world.json(&["skills", "list", "--json"]);
    let skills = listed["skills"].as_array().unwrap();
    let of = |id: &str| skills.iter().find(|skill| skill["id"] == id).unwrap();
    let (file, record) = (of("report"), of("drink-water"));
    assert_eq!(
        (&file["origin"], &record["origin"], &record["record_id"]),
        (&json!("file"), &json!("record"), &json!(1))
    );
    let contract = [
        "id",
        "record_id",
        "agent_id",
        "name",
        "description",
        "tier",
        "dialect",
        "origin",
        "revision",
        "enabled",
        "disabled_reason",
        "trigger",
        "required_tools",
        "missing_tools",
        "last_run_at",
        "last_run_status",
        "last_run_summary",
    ];
    for key in contract {
        assert!(file.get(key).is_some(), "no `{key}` in {file:#}");
        assert!(record.get(key).is_some(), "no `{key}` in {record:#}");
    }
    assert_eq!(file["trigger"]["words"], "at 08:00, Monday to Friday");
    assert_eq!(record["trigger"]["words"], "every day at 09:00");
    let text = world.run(&["skills", "show", "drink-water"]);
    assert!(text.contains("every day at 09:00"), "{text}");
    assert!(text.contains("Remind to drink water"), "{text}");
    let list = world.run(&["skills", "list"]);
    assert!(
        list.contains("drink-water") && list.contains("report"),
        "{list}"
    );
}

/// Times of files and of records are those of all other documents.
#[test]
fn times_of_skills_are_in_utc() {
    let world = World::new();
    store(
        &world,
        &reminder("Drink water", &json!({"schedule": "0 9 * * *"})),
    );
    world.write("home/skills/report.yaml", WORKFLOW);
    assert_eq!(world.code(&["tick"]), 0);
    for skill in ["report", "drink-water"] {
        assert_eq!(world.code(&["run", skill]), 0);
        let shown = world.json(&["skills", "show", skill, "--json"]);
        let last = shown["skill"]["last_run_at"].as_str().unwrap_or_default();
        assert!(last.ends_with('Z'), "{shown:#}");
    }
}

#[test]
fn a_record_is_run_by_name_and_by_number() {
    let world = World::new();
    store(
        &world,
        &reminder("Drink water", &json!({"schedule": "0 9 * * *"})),
    );
    for name in ["drink-water", "Drink water", "1"] {
        let run = world.json(&["run", name, "--json"]);
        assert_eq!(
            (&run["skill"], &run["outcome"], &run["tier"]),
            (&json!("drink-water"), &json!("success"), &json!("direct")),
            "{name}: {run:#}"
        );
    }
    assert_eq!(world.code(&["run", "2"]), 2);
    let notices = world.json(&["notices", "list", "--json"]);
    let notices = notices["notices"].as_array().unwrap();
    assert_eq!(notices.len(), 3);
    let latest = &runs(&world, "drink-water")[0];
    assert_eq!(
        (&notices[0]["run"], &notices[0]["skill"]),
        (&latest["id"], &json!("drink-water"))
    );
    assert_eq!(
        (
            &notices[0]["notice"]["text"],
            &notices[0]["status"],
            &notices[0]["receipt"]
        ),
        (
            &json!("Drink water!"),
            &json!("sent"),
            &json!("written to the log")
        )
    );
}

#[test]
fn a_record_is_changed_disabled_and_deleted() {
    let world = World::new();
    store(
        &world,
        &reminder("Drink water", &json!({"schedule": "0 9 * * *"})),
    );
    let change = json!({"name": "Drink water", "schedule": "every day at 10:00"});
    let (code, changed) = call(&world, "memory_update_skill", &change);
    assert_eq!(code, 0, "{changed:#}");
    let shown = skill(&world, "drink-water");
    assert_eq!(shown["trigger_config"]["schedule"], "0 10 * * *");
    assert_eq!(shown["instructions"], "Remind to drink water");

    let switched = world.json(&["skills", "disable", "drink-water", "--json"]);
    assert_eq!(switched["skill"]["disabled_reason"], "user");
    let (_, off) = call(&world, "memory_list_skills", &json!({"enabled": false}));
    assert_eq!(off["value"]["count"], 1);
    let switched = world.json(&["skills", "enable", "drink-water", "--json"]);
    assert_eq!(switched["skill"]["enabled"], true);
    assert_eq!(
        switched["skill"]["trigger"]["next"]
            .as_array()
            .unwrap()
            .len(),
        1
    );

    let (code, got) = call(&world, "memory_get_skill", &json!({"id": 1}));
    assert_eq!(
        (code, &got["value"]["skill"]["name"]),
        (0, &json!("Drink water"))
    );
    assert_eq!(world.code(&["skills", "delete", "drink-water"]), 0);
    assert_eq!(world.code(&["skills", "delete", "drink-water"]), 2);
    let (code, gone) = call(&world, "memory_get_skill", &json!({"id": 1}));
    assert_eq!((code, &gone["error"]["class"]), (1, &json!("not_found")));
    let (_, deleted) = call(
        &world,
        "memory_delete_skill",
        &json!({"name": "Drink water"}),
    );
    assert_eq!(deleted["ok"], false);
}

/// X6: two agents may use the same name, one agent may not use it twice, and a file takes precedence.
#[test]
fn names_are_unique_per_agent() {
    let world = World::new();
    world.write("home/skills/report.yaml", WORKFLOW);
    let mine = reminder("Drink water", &json!({"schedule": "0 9 * * *"}));
    let mut yours = mine.clone();
    yours["agent_id"] = json!("butler");
    store(&world, &mine);
    store(&world, &yours);
    for args in [&mine, &yours] {
        let (code, again) = call(&world, "memory_store_skill", args);
        assert_eq!(code, 2, "{again:#}");
    }
    let (code, taken) = call(
        &world,
        "memory_store_skill",
        &reminder("report", &json!({"schedule": "0 9 * * *"})),
    );
    assert_eq!(code, 2, "{taken:#}");
    let run = world.json(&["run", "butler/drink-water", "--json"]);
    assert_eq!(run["skill"], "butler/drink-water", "{run:#}");
    let (_, listed) = call(&world, "memory_list_skills", &json!({"agent_id": "butler"}));
    assert_eq!(listed["value"]["skills"][0]["id"], "butler/drink-water");
}

/// A one-shot skill is kept after it has fired, and can be given a new time.
#[test]
fn a_one_shot_runs_once() {
    let world = World::new();
    let in_an_hour = reminder("Drink water", &json!({"in_minutes": 60}));
    let next = store(&world, &in_an_hour)["skill"]["trigger"]["next"][0].take();
    let next = next.as_str().unwrap();
    let ticked = world.json(&["tick", "--now", next, "--json"]);
    assert_eq!(ticked["fired"][0]["outcome"], "success", "{ticked:#}");
    let done = skill(&world, "drink-water");
    assert_eq!(done["disabled_reason"], "one_shot_done");
    assert_eq!(
        world.json(&["tick", "--now", next, "--json"])["fired"],
        json!([])
    );
    let change = json!({"id": 1, "in_minutes": 30});
    let (code, changed) = call(&world, "memory_update_skill", &change);
    assert_eq!(
        (code, &changed["value"]["skill"]["enabled"]),
        (0, &json!(true)),
        "{changed:#}"
    );
}

/// `enabled` in an update takes effect, and a skill that stays disabled keeps its reason.
#[test]
fn an_update_enables_and_disables() {
    let world = World::new();
    store(
        &world,
        &reminder("Drink water", &json!({"schedule": "0 9 * * *"})),
    );
    let standing = |change: Value| {
        let (code, changed) = call(&world, "memory_update_skill", &change);
        assert_eq!(code, 0, "{changed:#}");
        changed["value"]["skill"]["disabled_reason"].clone()
    };
    assert_eq!(standing(json!({"id": 1, "enabled": false})), "user");
    assert_eq!(
        standing(json!({"id": 1, "instructions": "Drink more"})),
        "user"
    );
    assert_eq!(standing(json!({"id": 1, "enabled": true})), Value::Null);
    let next = skill(&world, "drink-water")["trigger"]["next"].clone();
    assert_eq!(next.as_array().unwrap().len(), 1);
}

/// Problems are reported when a skill is stored, not when it fires.
#[test]
fn arguments_that_a_tool_would_refuse_are_refused_at_once() {
    let world = World::new();
    let refused = |args: Value| {
        let (code, refused) = call(&world, "memory_store_skill", &args);
        assert_eq!(code, 2, "{refused:#}");
        refused["error"]["message"].as_str().unwrap().to_owned()
    };
    let mut wrong = reminder("Typo", &json!({"in_minutes": 5}));
    wrong["execution_plan"][0]["parameters"] = json!({"mesage": "Drink water!"});
    let message = refused(wrong);
    assert!(
        message.contains("execution_plan[0].parameters"),
        "{message}"
    );
    assert!(message.contains("message"), "{message}");
    let mut check = reminder("Check", &json!({"in_minutes": 5}));
    check["preflight"] = json!({"weather": "fine"});
    assert!(refused(check).contains("unknown check `weather`"));
    // Sloppy arguments are normalised.
    let sloppy =
        json!({"Name": "Tea", "prompt": "Say tea", "every": "5 minutes", "tools": "notify"});
    assert_eq!(store(&world, &sloppy)["skill"]["name"], "Tea");
}

/// Records have pages like files, so a model finds them in the same way.
#[test]
fn records_are_pages_like_files() {
    let world = World::new();
    store(
        &world,
        &json!({"name": "Tea time", "instructions": "Boil water first.", "trigger_type": "manual"}),
    );
    let page = world.run(&["cmd", "get_skill: tea-time"]);
    assert!(page.contains("Boil water first."), "{page}");
}
