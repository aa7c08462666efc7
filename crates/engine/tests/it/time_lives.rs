//! Random lives of skills, compared with a model: files are written, changed and removed, skills are enabled
//! and disabled, fail and recover, time passes, the process is restarted.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use deft_model::{Effects, Failure, FailureClass};
use deft_store::SkillFilter;
use deft_store_testkit::Memory;
use deft_tools::Definition;
use jiff::Timestamp;
use proptest::test_runner::Config;
use proptest_state_machine::{StateMachineTest, prop_state_machine};
use serde_json::json;
use tokio::runtime::Runtime;

use crate::time_model::{Model, Row, SKILLS, Skill, Step, instant};
use crate::time_world::{Times, clock, standing};
use crate::world::{World, load};

/// The engine, and the files in its folder.
struct Real {
    runtime: Runtime,
    times: Option<Times>,
    files: BTreeMap<usize, String>,
    moods: Arc<[AtomicBool; SKILLS]>,
}

impl Real {
    fn install(&self, times: &Times) {
        for n in 0..SKILLS {
            let moods = Arc::clone(&self.moods);
            let schema = json!({ "type": "object" });
            let name = format!("tool{n}");
            times.world.engine.router().register_fn(
                Definition::new(&name, "for tests", Effects::Once, schema),
                move |_, _| {
                    let fails = moods[n].load(Ordering::SeqCst);
                    async move {
                        if fails {
                            return Err(Failure::new(FailureClass::Other, "no"));
                        }
                        Ok(json!("fine"))
                    }
                },
            );
        }
    }

    fn sync(&self) {
        let world = &self.times().world;
        let skills = world.home.path().join("skills");
        std::fs::remove_dir_all(skills).unwrap_or_default();
        let names: Vec<String> = self
            .files
            .keys()
            .map(|n| format!("skill{n}.yaml"))
            .collect();
        let files: Vec<(&str, &str)> = names
            .iter()
            .map(String::as_str)
            .zip(self.files.values().map(String::as_str))
            .collect();
        *world.folder.0.lock().unwrap() = load(&world.home, &files);
        self.runtime
            .block_on(world.engine.library().sync_files())
            .unwrap();
    }

    fn times(&self) -> &Times {
        self.times.as_ref().unwrap()
    }

    fn restart(&mut self) {
        let Times { world, pool, .. } = self.times.take().unwrap();
        let now = deft_engine::Clock::now(&world.clock);
        let World {
            home,
            engine,
            folder,
            store,
            ..
        } = world;
        drop(engine);
        let world = World::at(home, folder, store, |_| {});
        world.clock.set(now);
        let times = Times {
            world,
            pool,
            checks: std::sync::OnceLock::new(),
        };
        self.install(&times);
        self.times = Some(times);
    }
}

struct Lives;

impl StateMachineTest for Lives {
    type SystemUnderTest = Real;
    type Reference = Model;

    fn init_test(_: &Model) -> Real {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .unwrap();
        let mut real = Real {
            runtime,
            times: None,
            files: BTreeMap::new(),
            moods: Arc::default(),
        };
        let times = Times::with_store(Arc::new(Memory::new()), &[]);
        real.install(&times);
        real.times = Some(times);
        real
    }

    fn apply(mut real: Real, model: &Model, step: Step) -> Real {
        match step {
            Step::Write(n, content) => {
                real.files.insert(n, content.text(n));
                real.sync();
            }
            Step::Remove(n) => {
                real.files.remove(&n);
                real.sync();
            }
            Step::Enable(n) | Step::Disable(n) if !model.skills.contains_key(&n) => {}
            // A caller gets an error if a skill cannot be enabled; the standing shows the rest.
            Step::Enable(n) => {
                let engine = &real.times().world.engine;
                drop(
                    real.runtime
                        .block_on(engine.library().enable(&format!("skill{n}"))),
                );
            }
            Step::Disable(n) => {
                let engine = &real.times().world.engine;
                real.runtime
                    .block_on(engine.library().disable(&format!("skill{n}")))
                    .unwrap();
            }
            Step::Mood(n, fails) => real.moods[n].store(fails, Ordering::SeqCst),
            Step::Pass(_) => {
                real.times().world.clock.set(instant(model.now));
                real.runtime.block_on(real.times().look());
            }
            Step::Restart => real.restart(),
        }
        real
    }

    fn check_invariants(real: &Real, model: &Model) {
        let times = real.times();
        real.runtime.block_on(async {
            let filter = SkillFilter::default();
            let rows = times.world.store.skills(filter).await.unwrap();
            let lines: Vec<String> = rows.iter().map(standing).collect();
            let expected: Vec<String> = model.skills.values().map(Skill::line).collect();
            assert_eq!(lines, expected, "at {}", clock(instant(model.now)));
            let mut told = Vec::new();
            for (n, skill) in &model.skills {
                let runs = times.runs(&format!("skill{n}")).await;
                let second = |at: Timestamp| at.duration_since(instant(0)).as_secs();
                let rows: Vec<Row> = runs
                    .iter()
                    .map(|run| {
                        let slot = run.slot.unwrap();
                        let until = run.slot_until.unwrap_or(slot);
                        let outcome = run.outcome.unwrap();
                        (second(slot), second(until), run.slot_count, outcome)
                    })
                    .collect();
                assert_eq!(rows, skill.rows, "rows of skill{n}");
                told.extend(skill.told.iter().map(|kind| format!("{kind}: `skill{n}`")));
            }
            let mut notices: Vec<String> = times
                .notices()
                .await
                .iter()
                .map(|text| text.split(' ').take(2).collect::<Vec<_>>().join(" "))
                .collect();
            notices.sort();
            told.sort();
            assert_eq!(notices, told);
        });
    }
}

prop_state_machine! {
    #![proptest_config(Config { cases: 48, failure_persistence: None, ..Config::default() })]

    #[test]
    fn skill_states_match_the_model(sequential 1..60 => Lives);
}
