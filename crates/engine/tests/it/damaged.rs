//! Unreadable stored values are errors that name their row, and are never overwritten.

use std::sync::Arc;

use deft_engine::{CHAT_SKILL, EventPage};
use deft_model::{Cause, Object, Outage};
use deft_store::{NewEvent, RunRow, SkillOrigin, SkillRow, Store};
use deft_store_testkit::Memory;
use serde_json::json;

use crate::time_world::at;
use crate::world::World;

const ECHO: (&str, &str) = (
    "echo.yaml",
    "name: echo\ndescription: d\nsteps:\n  - {id: one, tool: echo}\n",
);

fn world() -> (Arc<dyn Store>, World) {
    let store: Arc<dyn Store> = Arc::new(Memory::new());
    let world = World::with(Arc::clone(&store), &[ECHO], |_| {});
    (store, world)
}

#[tokio::test]
async fn damaged_incidents_are_an_error_and_are_kept() {
    let (store, world) = world();
    store.keep_setting("incidents", "[{").await.unwrap();
    let outage = Outage::Server("mail".to_owned());
    let known = world
        .engine
        .incidents()
        .is_known(&outage, at("13:00"))
        .await;
    assert_eq!(
        known.unwrap_err().to_string(),
        "the setting `incidents` cannot be read: EOF while parsing an object at line 1 column 2"
    );
    let ended = world.engine.incidents().report(&outage, at("13:00")).await;
    assert!(ended.is_err(), "{ended:?}");
    let kept = store.setting("incidents").await.unwrap();
    assert_eq!(kept.as_deref(), Some("[{"));
}

/// A person can end a pause whose reason is unreadable.
#[tokio::test]
async fn a_damaged_pause_is_an_error_until_a_person_ends_it() {
    let (store, world) = world();
    let agents = world.engine.agents();
    store.hold("agent:main", true, at("13:00")).await.unwrap();
    let reason = "paused agent:main";
    store.keep_setting(reason, "spent").await.unwrap();
    let paused = agents.agent_paused("main").await;
    assert_eq!(
        paused.unwrap_err().to_string(),
        "the setting `paused agent:main` cannot be read: expected value at line 1 column 1"
    );
    assert!(agents.resume_agent("main").await.unwrap());
    assert_eq!(agents.agent_paused("main").await.unwrap(), None);
}

#[tokio::test]
async fn damaged_outputs_of_a_job_are_an_error() {
    let (_, world) = world();
    let mut row = world.run("echo", json!({})).await;
    row.outputs = Some("{\"a\":".to_owned());
    let job = world.engine.job(&row).await;
    assert_eq!(
        job.unwrap_err().to_string(),
        format!(
            "the outputs of run `{}` cannot be read: EOF while parsing a value at line 1 column 5",
            row.id
        )
    );
}

/// One unreadable event would otherwise stop the feed of all clients.
#[tokio::test]
async fn a_damaged_event_is_left_out_of_the_feed() {
    let (store, world) = world();
    let first = world.run("echo", json!({})).await;
    let damaged = NewEvent {
        at: at("13:00"),
        kind: "resumed".to_owned(),
        body: "{".to_owned(),
    };
    store.reopen(&first.id, damaged).await.unwrap();
    let second = world.run("echo", json!({})).await;
    let page = world.engine.public_events_after(None, 0, 100).await;
    let EventPage { events, last, .. } = page.unwrap();
    assert_eq!(last, store.newest_event().await.unwrap());
    let of = |row: &RunRow| {
        let mut seqs = events.iter().filter(|event| event.execution_id == row.id);
        (seqs.next().map(|event| event.seq), seqs.count())
    };
    let ((_, before), (first_seq, after)) = (of(&first), of(&second));
    assert_eq!(before, after);
    assert!(before > 0 && first_seq.is_some(), "{events:#?}");
}

#[tokio::test]
async fn a_chat_with_damaged_inputs_is_an_error() {
    let (_, world) = world();
    let mut row = world.run("echo", json!({})).await;
    row.skill = CHAT_SKILL.to_owned();
    row.inputs = "[".to_owned();
    let conversation = deft_agents::conversation_of(&row);
    assert_eq!(
        conversation.unwrap_err().to_string(),
        format!(
            "the inputs of run `{}` cannot be read: EOF while parsing a list at line 1 column 1",
            row.id
        )
    );
}

#[tokio::test]
async fn a_damaged_timing_is_an_error() {
    let (store, world) = world();
    let file = world.engine.library().snapshot();
    let file = file.skill("echo").unwrap();
    let mut new = world.engine.library().new_file(file, at("13:00"));
    new.text.timing = Some("{}".to_owned());
    store.put_skills(vec![new]).await.unwrap();
    let row: SkillRow = store.skill("echo").await.unwrap().unwrap();
    let timing = deft_library::SkillTiming::from_row(&row);
    assert_eq!(
        timing.unwrap_err().to_string(),
        "the timing of skill `echo` cannot be read: missing field `misfire` at line 1 column 2"
    );
    assert!(world.engine.library().enable("echo").await.is_err());
}

/// Stores a record called `water` that cannot be read.
async fn store_damaged_record(store: &Arc<dyn Store>, world: &World) -> SkillRow {
    let file = world.engine.library().snapshot();
    let file = file.skill("echo").unwrap();
    let mut new = world.engine.library().new_file(file, at("13:00"));
    new.text.origin = SkillOrigin::Record;
    "water".clone_into(&mut new.text.skill);
    "r".clone_into(&mut new.text.revision);
    new.content = Some("{".to_owned());
    store.put_skills(vec![new]).await.unwrap();
    store.skill("water").await.unwrap().unwrap()
}

const DAMAGED_RECORD: &str =
    "the record of skill `water` cannot be read: EOF while parsing an object at line 1 column 1";

#[tokio::test]
async fn a_damaged_record_is_an_error_and_not_an_empty_skill() {
    let (store, world) = world();
    let row = store_damaged_record(&store, &world).await;
    let shown = world.engine.stored_skill(&row).await;
    assert_eq!(shown.unwrap_err().to_string(), DAMAGED_RECORD);
}

/// It is not reported as an unknown skill.
#[tokio::test]
async fn a_damaged_record_is_an_error_of_a_dry_run_that_names_it() {
    let store: Arc<dyn Store> = Arc::new(Memory::new());
    let outer = "name: outer\ndescription: d\nsteps:\n  - {id: inner, skill: water}\n";
    let world = World::with(Arc::clone(&store), &[ECHO, ("outer.yaml", outer)], |_| {});
    store_damaged_record(&store, &world).await;
    let dry = world.engine.dry_run("outer", &Object::new()).await;
    assert_eq!(dry.unwrap_err().to_string(), DAMAGED_RECORD);
}

/// The budget of a nested skill counts the agents that run outside of it, so it must not be missed.
#[tokio::test]
async fn a_damaged_nested_skill_is_an_error_and_not_a_missing_payer() {
    let store: Arc<dyn Store> = Arc::new(Memory::new());
    let outer = "name: outer\ndescription: d\nsteps:\n  - {id: inner, skill: echo}\n";
    let world = World::with(Arc::clone(&store), &[ECHO, ("outer.yaml", outer)], |_| {});
    let snapshot = world.engine.library().snapshot();
    let revision = snapshot.skill("echo").unwrap().revision.to_string();
    store.keep_revision(&revision, "{").await.unwrap();
    let mut run = world.run("outer", json!({})).await;
    run.key = Some(format!("{}/inner/mind#1.1", run.id));
    run.cause = Cause::Agent;
    // An engine that has not loaded the skill has only its stored text.
    let later = World::with(store, &[], |_| {});
    let payers = later.engine.agents().payers_above(&run).await;
    assert_eq!(
        payers.unwrap_err().to_string(),
        format!(
            "revision `{revision}` of skill `outer` cannot be read: EOF while parsing an object at line 1 column 1"
        )
    );
}
