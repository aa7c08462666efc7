//! Names shared by files and records (S0.64): a record replaces a file that waits for tools or a one-shot
//! that is done, but nothing that a person uses.

use serde_json::json;

use crate::file_skills::{FLOW, both, call, columns, get};
use crate::time_world::Times;

/// A skill that waits for a tool.
const WAITING: &str = "---\nname: morning-briefing\ndescription: A briefing.\nmetadata:\n  \
    enabled: \"false\"\n  required_tools: later\n  trigger_config: '{\"schedule\": \"0 6 * * *\"}'\n---\n\
    Say what is on today.\n";

#[tokio::test]
async fn a_record_takes_the_name_of_a_file_that_waits() {
    both(
        &[("morning-briefing/SKILL.md", WAITING)],
        async |t: Times| {
            let world = &t.world;
            let record = json!({"name": "Morning Briefing", "instructions": "Say hello.",
            "schedule": "0 7 * * *", "execution_plan": [{"toolName": "echo", "parameters": {}}]});
            for stored in [false, true] {
                if stored {
                    world.engine.library().sync_files().await.unwrap();
                    assert_eq!(t.standing("morning-briefing").await, "off (missing_tools)");
                }
                let new = call(world, "memory_store_skill", record.clone())
                    .await
                    .unwrap();
                assert_eq!(
                    columns(&new["skill"], &["id", "origin"]),
                    json!(["morning-briefing", "record"])
                );
                world.engine.library().sync_files().await.unwrap();
                assert_eq!(
                    get(world, "Morning Briefing").await["instructions"],
                    "Say hello."
                );
                let run = world.run("Morning Briefing", json!({})).await;
                assert_eq!(
                    (run.skill.as_str(), run.tier),
                    ("morning-briefing", deft_model::Tier::Direct)
                );
                let again = call(world, "memory_store_skill", record.clone())
                    .await
                    .unwrap_err();
                assert!(again.contains("is taken by skill"), "{again}");
                // Without the record, the default still does not fire.
                call(
                    world,
                    "memory_delete_skill",
                    json!({"id": "morning-briefing"}),
                )
                .await
                .unwrap();
                world.engine.library().sync_files().await.unwrap();
                assert_eq!(t.standing("morning-briefing").await, "off (deleted)");
                world
                    .engine
                    .library()
                    .restore_file("morning-briefing")
                    .await
                    .unwrap()
                    .unwrap();
            }
        },
    )
    .await;
}

/// The name of a person's skill cannot be taken, even if the person has disabled it.
#[tokio::test]
async fn a_record_does_not_take_the_name_of_a_file_that_fires_or_that_a_person_switched_off() {
    both(&[("flow.yaml", FLOW)], async |t: Times| {
        let record = json!({"name": "Flow", "instructions": "x", "trigger_type": "manual"});
        for off in [false, true] {
            if off {
                t.world.engine.library().disable("flow").await.unwrap();
            }
            let refused = call(&t.world, "memory_store_skill", record.clone())
                .await
                .unwrap_err();
            assert_eq!(refused, "the name `Flow` is taken by the file skill `flow`");
        }
    })
    .await;
}

/// Deleting a record with the same name does not enable a file that a person disabled.
#[tokio::test]
async fn deleting_a_record_does_not_switch_on_the_file_behind_it() {
    both(&[("flow.yaml", FLOW)], async |t: Times| {
        let world = &t.world;
        world.engine.library().disable("flow").await.unwrap();
        call(world, "memory_delete_skill", json!({"id": "flow"}))
            .await
            .unwrap();
        let record = json!({"name": "Flow", "instructions": "x", "trigger_type": "manual"});
        call(world, "memory_store_skill", record).await.unwrap();
        call(world, "memory_delete_skill", json!({"id": "flow"}))
            .await
            .unwrap();
        world.engine.library().sync_files().await.unwrap();
        assert_eq!(t.standing("flow").await, "off (deleted)");
        assert_eq!(t.tick("27 07:00").await.fired, []);
    })
    .await;
}

#[tokio::test]
async fn a_record_takes_the_name_of_a_one_shot_that_is_done() {
    both(&[], async |t: Times| {
        let world = &t.world;
        let record = |minutes: u32| {
            json!({"name": "Call home", "instructions": "Call.", "in_minutes": minutes,
            "execution_plan": [{"toolName": "echo", "parameters": {}}]})
        };
        call(world, "memory_store_skill", record(5)).await.unwrap();
        let early = call(world, "memory_store_skill", record(5))
            .await
            .unwrap_err();
        assert!(early.contains("is taken by skill 1"), "{early}");
        t.tick("13:05").await;
        assert_eq!(t.standing("call-home").await, "off (one_shot_done)");
        call(world, "memory_store_skill", record(10)).await.unwrap();
        t.tick("13:15").await;
        assert_eq!(t.slots("call-home").await.len(), 2);
    })
    .await;
}
