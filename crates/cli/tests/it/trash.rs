//! Deletions: they ask first, move items to the trash, and can be undone.

use deft_testkit::ModelAnswer;
use serde_json::{Value, json};

use crate::chat_support::{deft, home, model};
use crate::support::{SKILL, World};
use crate::terminal::Terminal;

const STEPS: &str = "name: steps\ndescription: One step\nsteps:\n  - {id: first, tool: time.now}\n";

const RECORD: &str = r#"{"name": "Drink water", "trigger_type": "cron",
    "trigger_config": {"schedule": "0 9 * * *"}, "instructions": "Remind me",
    "execution_plan": [{"toolName": "notify", "parameters": {"message": "Drink!"}}]}"#;

fn greet() -> World {
    let world = World::new();
    world.write("home/skills/greet/SKILL.md", SKILL);
    world.write("home/skills/greet/notes/words.md", "hello\n");
    world
}

fn ids(world: &World) -> Vec<Value> {
    let listed = world.json(&["skills", "list", "--json"]);
    let skills = listed["skills"].as_array().unwrap().iter();
    skills.map(|skill| skill["id"].clone()).collect()
}

#[test]
fn a_folder_is_listed_file_by_file_before_deletion() {
    let world = greet();
    let mut terminal = Terminal::sized(&world, &["skills", "delete", "greet"], 80);
    terminal
        .until("with 2 files:\r\n".trim())
        .until("  SKILL.md")
        .until("  notes/words.md")
        .until("delete all of it? [y/N]")
        .keys("n\r");
    let (code, screen) = terminal.end();
    assert_eq!(code, 1, "{screen}");
    assert!(screen.contains("nothing was deleted"), "{screen}");
    assert_eq!(ids(&world), ["greet"]);
    let mut terminal = Terminal::sized(&world, &["skills", "delete", "greet"], 80);
    terminal.until("[y/N]").keys("y\r");
    let (code, screen) = terminal.end();
    assert_eq!(code, 0, "{screen}");
    assert!(screen.contains("`deft undo` restores it"), "{screen}");
    assert!(!world.path("home/skills/greet").exists());
}

#[test]
fn a_deleted_folder_is_restored_with_all_files() {
    let world = greet();
    assert_eq!(world.code(&["skills", "delete", "greet"]), 0);
    assert_eq!(ids(&world), Vec::<Value>::new());
    let listed = world.json(&["undo", "--list", "--json"]);
    assert_eq!(listed["trash"][0]["kind"], "skill_file");
    let undone = world.run(&["undo"]);
    assert_eq!(
        undone,
        "exit 0\n--- stdout\nrestored: skill `greet` (`[world]/home/skills/greet`)\n--- stderr\n"
    );
    assert_eq!(ids(&world), ["greet"]);
    assert_eq!(world.read("home/skills/greet/SKILL.md"), SKILL);
    assert_eq!(world.read("home/skills/greet/notes/words.md"), "hello\n");
    let nothing = world.json(&["undo", "--json"]);
    assert_eq!(nothing["error"]["code"], "nothing_to_undo");
}

#[test]
fn undo_replaces_nothing() {
    let world = greet();
    world.code(&["skills", "delete", "greet"]);
    world.write("home/skills/greet/SKILL.md", "mine");
    let refused = world.json(&["undo", "--json"]);
    assert_eq!(refused["error"]["code"], "exists", "{refused}");
    assert_eq!(world.read("home/skills/greet/SKILL.md"), "mine");
    std::fs::remove_dir_all(world.path("home/skills/greet")).unwrap();
    assert_eq!(world.code(&["undo"]), 0);
    assert_eq!(world.read("home/skills/greet/SKILL.md"), SKILL);
}

#[test]
fn a_restored_record_runs() {
    let world = crate::daemon::used_home();
    let stored = ["tools", "call", "memory_store_skill", "--args", RECORD];
    assert_eq!(world.code(&stored), 0);
    let show = ["skills", "show", "drink-water", "--json"];
    let before = world.json(&show);
    assert_eq!(world.code(&["skills", "delete", "drink-water"]), 0);
    assert_eq!(world.code(&show), 2);
    assert_eq!(world.code(&["undo"]), 0);
    let after = world.json(&show);
    for field in [
        "record_id",
        "agent_id",
        "name",
        "trigger",
        "revision",
        "enabled",
    ] {
        assert_eq!(after["skill"][field], before["skill"][field], "{field}");
    }
    // A new skill may have taken the name.
    world.code(&["skills", "delete", "drink-water"]);
    assert_eq!(world.code(&stored), 0);
    let refused = world.json(&["undo", "--json"]);
    assert_eq!(refused["error"]["code"], "exists", "{refused}");
}

#[test]
fn pruned_runs_are_restored_with_their_events() {
    let world = crate::daemon::used_home();
    world.write("home/skills/steps.yaml", STEPS);
    let run = world.json(&["run", "steps", "--key", "k", "--json"]);
    let id = run["id"].as_str().unwrap();
    let export = ["runs", "export", id];
    let before = world.json(&export);
    let prune = ["runs", "prune", "--older-than", "1ms"];
    assert_eq!(world.code(&prune), 0);
    assert_eq!(world.json(&["runs", "list", "--json"]), json!({"runs": []}));
    assert_eq!(world.code(&["undo"]), 0);
    assert_eq!(world.json(&export), before);
    // The idempotency key of the run is still taken.
    let again = world.json(&["run", "steps", "--key", "k", "--json"]);
    assert_eq!(again["id"], run["id"]);
    world.code(&["runs", "prune", "--older-than", "1ms", "--no-trash"]);
    let nothing = world.json(&["undo", "--json"]);
    assert_eq!(nothing["error"]["code"], "nothing_to_undo");
}

#[test]
fn pruning_asks_with_the_number_of_runs() {
    let world = crate::daemon::used_home();
    world.write("home/skills/steps.yaml", STEPS);
    world.code(&["run", "steps"]);
    let today = jiff::Zoned::now().in_tz("Europe/Berlin").unwrap();
    let today = today.strftime("%-d %b %Y");
    let mut terminal = Terminal::sized(&world, &["runs", "prune", "--older-than", "1ms"], 80);
    terminal
        .until(&format!("delete 1 run of {today} with"))
        .until("[y/N]")
        .keys("\r");
    assert_eq!(terminal.end().0, 1);
    let listed = world.json(&["runs", "list", "--json"]);
    assert_eq!(listed["runs"].as_array().unwrap().len(), 1);
}

#[test]
fn a_restored_chat_can_be_searched() {
    let server = model([
        ModelAnswer::text("the tide is low"),
        ModelAnswer::text("other"),
    ]);
    let world = home(&server, "");
    assert_eq!(deft(&world, &["chat", "-p", "what about the sea?"]).code, 0);
    let listed = world.json(&["chat", "list", "--json"]);
    let id = listed["conversations"][0]["id"].as_str().unwrap();
    let before = world.json(&["chat", "show", id, "--json"]);
    assert_eq!(world.code(&["chat", "delete", id]), 0);
    // A new chat takes the number of the deleted one.
    assert_eq!(deft(&world, &["chat", "-p", "and the moon?"]).code, 0);
    assert_eq!(world.code(&["undo"]), 0);
    assert_eq!(world.json(&["chat", "show", id, "--json"]), before);
    let found = world.json(&["chat", "search", "tide", "--json"]);
    assert_eq!(found["messages"][0]["conversation"], id, "{found:#}");
    let listed = world.json(&["chat", "list", "--json"]);
    assert_eq!(listed["conversations"].as_array().unwrap().len(), 2);
}
