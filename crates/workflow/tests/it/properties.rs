//! Properties of every workflow in every world: a replay gives the live machine, no finished call is
//! repeated, the order in which parallel calls end does not matter, and runs end.

use std::collections::{HashMap, HashSet};

use deft_model::{Choice, FailureClass, StepType};
use deft_wire::event::EventBody;
use deft_wire::run::StepStatus;
use deft_workflow::{
    Call, CallIntent, Event, Machine, Next, Path, Rules, dry_run, public, step_views,
};
use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::TestRunner;

use crate::drive::{Driver, Outcome};
use crate::generate::{GeneratedWorkflow, generated};
use crate::script::Stop;
use crate::world::{Pick, World};

fn driver(generated: &GeneratedWorkflow, seed: u64, pick: Pick) -> Driver {
    let world = World {
        skills: generated.skills(),
        seed: Some(seed),
        pick,
        ..World::default()
    };
    Driver::new(generated.plan(), Rules::default(), world)
}

/// A kind of step that is missing in the strategy would be checked by none of the properties.
#[test]
fn every_kind_of_step_is_generated() {
    let mut runner = TestRunner::deterministic();
    let mut types = HashSet::new();
    for _ in 0..100 {
        let workflows = generated().new_tree(&mut runner).unwrap().current();
        let steps = workflows.root.steps.iter();
        types.extend(steps.map(|step| step.kind.step_type().word()));
    }
    let all: HashSet<&str> = StepType::WORDS.iter().map(|(word, _)| *word).collect();
    assert_eq!(types, all);
}

/// Whether it is the intent to have a value checked, which may be repeated.
fn is_verdict(begun: &CallIntent) -> bool {
    matches!(*begun.call, Call::Expect { .. })
}

/// Returns calls that ended permanently and were begun again. A value that was not checked is not final, but its
/// call is.
fn repeated(events: &[(jiff::Timestamp, Event)]) -> Vec<&Path> {
    let mut done: HashSet<&Path> = HashSet::new();
    let mut repeated = Vec::new();
    for (_, event) in events {
        match event {
            Event::Ended(ended) => match (&ended.next, &ended.error) {
                (Next::Done | Next::Tolerate | Next::Verify { .. }, _) => {
                    done.insert(&ended.path);
                }
                (_, Some(error)) if error.class == FailureClass::Invalid => {
                    done.remove(&ended.path);
                }
                _ => {}
            },
            Event::Begun(begun) if is_verdict(begun) => {}
            Event::Begun(begun) if done.contains(&begun.path) => repeated.push(&begun.path),
            _ => {}
        }
    }
    repeated
}

/// Returns `once` calls that were in doubt and were begun again without a person's consent.
fn doubted(events: &[(jiff::Timestamp, Event)]) -> Vec<&Path> {
    let mut once: HashMap<&Path, bool> = HashMap::new();
    let mut doubted = HashSet::new();
    let mut begun_again = Vec::new();
    for (_, event) in events {
        match event {
            Event::Begun(begun) if is_verdict(begun) => {}
            Event::Begun(begun) => {
                if doubted.contains(&begun.path) {
                    begun_again.push(&begun.path);
                }
                let is_once = begun.effects == deft_model::Effects::Once;
                once.insert(&begun.path, is_once);
            }
            Event::Ended(ended) => {
                let in_doubt = ended.error.as_ref().is_some_and(|error| error.in_doubt);
                if in_doubt && once.get(&ended.path) == Some(&true) {
                    doubted.insert(&ended.path);
                }
            }
            Event::Resumed { .. } => doubted.clear(),
            _ => {}
        }
    }
    begun_again
}

/// Returns the part of a run that must not depend on the order in which calls end.
fn essence(driver: &Driver) -> (String, Vec<String>) {
    let finished = driver.machine.end().unwrap();
    let error = finished
        .error
        .as_ref()
        .map(|error| (&error.failure, &error.step));
    let outcome = format!("{} {} {error:?}", finished.outcome, finished.outputs);
    let mut calls: Vec<String> = driver
        .calls
        .iter()
        .map(|call| format!("{} {} {}", call.key, call.what, call.once))
        .collect();
    calls.sort();
    (outcome, calls)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn runs_end_and_replay(
        generated in generated(),
        seed in any::<u64>(),
        crashes in prop::collection::btree_set(2_usize..60, 0..4),
        stop in prop::option::weighted(0.3, 2_usize..40),
        resumes in 0_usize..3,
    ) {
        let mut driver = driver(&generated.hurried(seed), seed, Pick::Random(seed));
        driver.crash_after = crashes.into_iter().collect();
        driver.resumes = resumes;
        driver.stop = stop.map(|after| Stop {
            after,
            class: FailureClass::Cancelled,
            late: vec!["s0".to_owned(), "s1[0]".to_owned()],
        });
        driver.start(deft_model::Object::new());
        prop_assert_eq!(driver.run(), Outcome::Finished);
        prop_assert_eq!(repeated(&driver.log), Vec::<&Path>::new());
        prop_assert_eq!(doubted(&driver.log), Vec::<&Path>::new());

        let nested: Vec<_> = driver.nested.values().cloned().collect();
        let events = driver.log.iter().map(|(at, event)| (*at, event));
        for view in step_views(&driver.plan, &nested, events) {
            let open = matches!(view.status, StepStatus::Running | StepStatus::Waiting);
            prop_assert!(!open, "{view:?} in a run that has ended");
        }
        for (_, event) in &driver.log {
            if let Some(body) = public(event) {
                let shown = serde_json::to_value(&body).unwrap();
                prop_assert_eq!(serde_json::from_value::<EventBody>(shown).unwrap(), body);
            }
        }
    }

    #[test]
    fn order_of_results_does_not_matter(generated in generated(), seed in any::<u64>()) {
        let essences: Vec<_> = [Pick::First, Pick::Last, Pick::Random(seed), Pick::Random(!seed)]
            .into_iter()
            .map(|pick| {
                let mut driver = driver(&generated, seed, pick);
                driver.start(deft_model::Object::new());
                driver.run();
                essence(&driver)
            })
            .collect();
        for other in &essences[1..] {
            prop_assert_eq!(&essences[0], other);
        }
    }

    #[test]
    fn damaged_logs_are_refused_or_run(
        generated in generated(),
        seed in any::<u64>(),
        damage in prop::collection::vec((any::<prop::sample::Index>(), any::<prop::sample::Index>(), 0_u8..4), 1..4),
    ) {
        let mut driver = driver(&generated, seed, Pick::Random(seed));
        driver.resumes = 1;
        driver.start(deft_model::Object::new());
        driver.run();
        for (one, other, kind) in damage {
            let (one, other) = (one.index(driver.log.len()), other.index(driver.log.len()));
            match kind {
                0 => driver.log.truncate(one.max(1)),
                1 => { driver.log.remove(one); }
                2 => driver.log.swap(one, other),
                _ => driver.log.insert(one, driver.log[other].clone()),
            }
            if driver.log.is_empty() {
                return Ok(());
            }
        }
        let events = driver.log.iter().map(|(at, event)| (*at, event));
        let replayed = Machine::replay(
            driver.plan.clone(),
            driver.rules.clone(),
            driver.nested.clone(),
            events.clone(),
        );
        if let Ok(mut machine) = replayed {
            machine.asks_in_flight();
            machine.advance(driver.now, &driver.world);
            machine.take_asks();
        }
        let nested: Vec<_> = driver.nested.values().cloned().collect();
        step_views(&driver.plan, &nested, events);
    }

    #[test]
    fn dry_runs_name_every_step_once(generated in generated()) {
        let plan = generated.plan();
        let steps = dry_run(&plan, &deft_model::Object::new(), &Rules::default(), &World::default(), jiff::Timestamp::UNIX_EPOCH);
        let mut ids: Vec<&str> = steps.iter().map(|step| step.id.as_str()).collect();
        ids.sort_unstable();
        let mut expected: Vec<&str> = plan.steps().map(|step| step.id.as_str()).collect();
        expected.sort_unstable();
        prop_assert_eq!(ids, expected);
    }
}
