//! Names shared by files and records (S0.64): a record replaces a file that waits for tools or a one-shot
//! that is done, but nothing that a person uses.

use deft_engine::{Clock as _, Error, NamedSkill, choose};
use deft_records::Target;
use deft_store::{NewSkill, SkillFilter, SkillOrigin};
use serde_json::json;

use crate::file_skills::{FLOW, both, call, columns, get};
use crate::time_world::{Times, new_record, record};

/// A skill that waits for a tool.
const WAITING: &str = "---\nname: morning-briefing\ndescription: A briefing.\nmetadata:\n  \
    enabled: \"false\"\n  required_tools: later\n  trigger_config: '{\"schedule\": \"0 6 * * *\"}'\n---\n\
    Say what is on today.\n";

#[tokio::test]
async fn a_record_takes_the_name_of_a_disabled_file() {
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
async fn a_record_does_not_take_the_name_of_an_active_or_user_disabled_file() {
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
async fn deleting_a_record_does_not_enable_the_file_of_its_name() {
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
async fn a_record_takes_the_name_of_a_finished_one_shot() {
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

/// A row with this id and name.
fn named(id: &str, name: &str, origin: SkillOrigin, t: &Times) -> NewSkill {
    let record = record(name, json!({"interval_minutes": 10}), "echo");
    let mut new = new_record(&record, t.world.clock.now());
    id.clone_into(&mut new.text.skill);
    new.text.revision.push_str(id);
    new.text.origin = origin;
    new
}

fn words(found: Option<&NamedSkill>) -> String {
    match found {
        Some(NamedSkill::Record(row)) => format!("record {}", row.text.skill),
        Some(NamedSkill::File(loaded, _)) => format!("file {}", loaded.skill.id),
        Some(NamedSkill::FileMissing(row)) => format!("gone {}", row.text.skill),
        None => "-".to_owned(),
    }
}

/// Runs, listings and the rights of agents use one rule (invariant 18 of ARCHITECTURE.md).
#[tokio::test]
async fn every_lookup_of_a_name_finds_the_same_skill() {
    let report = FLOW.replace("name: flow", "name: report");
    both(
        &[("flow.yaml", FLOW), ("report.yaml", &report)],
        async |t: Times| {
            let world = &t.world;
            world.engine.library().sync_files().await.unwrap();
            let old = t.row("flow").await;
            let mut flow = named("flow", "Flow", SkillOrigin::Record, &t);
            flow.replaces = Some((old.id, old.version));
            let new = vec![
                flow,
                named("water", "Water", SkillOrigin::Record, &t),
                named("helper/water", "Water", SkillOrigin::Record, &t),
                named("helper/tea", "Tea", SkillOrigin::Record, &t),
                named("butler/tea", "Tea", SkillOrigin::Record, &t),
                named("butler/report", "Report", SkillOrigin::Record, &t),
                named("helper/coffee", "Coffee", SkillOrigin::Record, &t),
                named("lost", "Lost", SkillOrigin::File, &t),
            ];
            world.store.put_skills(new).await.unwrap();
            let library = world.engine.library();
            library.all_skills().await;
            let rows = library.list_skills(SkillFilter::default()).await.unwrap();
            let number = t.row("helper/tea").await.id.to_string();
            for (name, expected) in [
                ("flow", "record flow"),
                ("Flow", "record flow"),
                ("report", "file report"),
                ("Report", "file report"),
                ("water", "record water"),
                ("WATER", "record water"),
                ("Water", "record water"),
                ("Coffee", "record helper/coffee"),
                ("helper/tea", "record helper/tea"),
                (&number, "record helper/tea"),
                ("Tea", "-"),
                ("lost", "gone lost"),
                ("Lost", "gone lost"),
                ("nothing", "-"),
            ] {
                let run = match library.look_up_target(&Target::Name(name.to_owned())).await {
                    Ok(found) => Some(found),
                    Err(Error::UnknownSkill { .. }) => None,
                    Err(other) => panic!("{name}: {other}"),
                };
                assert_eq!(words(run.as_ref()), expected, "a run of `{name}`");
                let shown = choose(name, &rows, &library.snapshot());
                assert_eq!(words(shown.as_ref()), expected, "a page about `{name}`");
                let judged = library.named_skill(name);
                let judged = judged.map_or("-".to_owned(), |loaded| loaded.skill.id.to_string());
                let id = expected.rsplit(' ').next().unwrap_or_default();
                let id = if expected.starts_with("gone") {
                    "-"
                } else {
                    id
                };
                assert_eq!(judged, id, "the rights of `{name}`");
            }
        },
    )
    .await;
}
