//! Benchmarks of replay and of the interpreter's own cost per step.
//!
//! Target: replay takes less than a microsecond per step, that is for its two events.

#![expect(
    clippy::unwrap_used,
    reason = "a bench that cannot be set up should stop"
)]

use std::collections::HashMap;
use std::hint::black_box;
use std::sync::Arc;

use deft_model::{Authority, Effects, Object};
use deft_skillfile::{Document, FileLocation, Moment, Profile, parse};
use deft_workflow::{Ask, Event, Facts, Machine, Permit, Plan, Rules, RunStart};
use divan::Bencher;
use divan::counter::ItemsCount;
use jiff::{Timestamp, tz::TimeZone};
use serde_json::json;

fn main() {
    divan::main();
}

struct NoFacts;

impl Facts for NoFacts {
    fn effects(&self, _: &str, _: &deft_model::Object) -> Option<Effects> {
        Some(Effects::Idempotent)
    }

    fn permit(&self, _: &Authority, _: &str, _: Option<&deft_model::Object>) -> Permit {
        Permit::Free
    }
}

fn plan(steps: &str) -> Arc<Plan> {
    let file = format!("name: bench\ndescription: x\nsteps:\n{steps}");
    let location = FileLocation {
        file: "bench.yaml",
        folder: "skills",
        domain: None,
    };
    let moment = Moment {
        now: Timestamp::UNIX_EPOCH,
        zone: TimeZone::UTC,
    };
    let parsed = parse(file.as_bytes(), &location, Profile::Deft, &moment);
    let Some(Document::Skill(skill)) = parsed.document else {
        panic!("{:?}", parsed.diagnostics);
    };
    Arc::new(Plan::compile(&skill, "rev").unwrap())
}

/// Returns `count` steps, each of which passes a small value to the next.
fn chain(count: usize) -> String {
    let mut steps = String::from("  - {id: s0, tool: t, args: {n: 0, text: start}}\n");
    for at in 1..count {
        let before = at - 1;
        steps += &format!(
            "  - {{id: s{at}, tool: t, args: {{n: {at}, text: \"{{{{ s{before}.text }}}}\"}}}}\n"
        );
    }
    steps
}

fn started() -> Event {
    Event::Started(RunStart {
        skill: "bench".to_owned(),
        revision: "rev".to_owned(),
        execution_id: "run_0198c7a0".to_owned(),
        workspace_uri: "file:///work".to_owned(),
        inputs: Object::new(),
        nonce: "nonce".to_owned(),
        check_failed: None,
        authority: None,
        origin: deft_model::RunOrigin::default(),
    })
}

/// Drives a run to its end and returns its events; every call succeeds at once.
fn drive(plan: &Arc<Plan>, rules: &Arc<Rules>) -> Vec<Event> {
    let now = Timestamp::UNIX_EPOCH;
    let mut machine = Machine::new(Arc::clone(plan), Arc::clone(rules));
    let mut log = vec![started()];
    machine.apply(now, &log[0]).unwrap();
    loop {
        log.extend(machine.advance(now, &NoFacts));
        if machine.end().is_some() {
            return log;
        }
        for action in machine.take_asks() {
            let Ask::Call { path, attempt, .. } = action else {
                panic!("only calls here");
            };
            let result = Ok(json!({ "text": "ok", "n": 1 }));
            let event = machine.end_call(&path, attempt, result, now, 3, false);
            machine.apply(now, &event).unwrap();
            log.push(event);
        }
    }
}

#[divan::bench]
fn replay_100_steps(bencher: Bencher) {
    let plan = plan(&chain(100));
    let rules = Arc::new(Rules::default());
    let log = drive(&plan, &rules);
    assert_eq!(log.len(), 202);
    bencher.counter(ItemsCount::new(100_usize)).bench(|| {
        let events = log.iter().map(|event| (Timestamp::UNIX_EPOCH, event));
        Machine::replay(
            Arc::clone(&plan),
            Arc::clone(&rules),
            HashMap::new(),
            events,
        )
        .unwrap()
    });
}

#[divan::bench]
fn drive_5_steps(bencher: Bencher) {
    let plan = plan(&chain(5));
    let rules = Arc::new(Rules::default());
    bencher
        .counter(ItemsCount::new(5_usize))
        .bench(|| drive(black_box(&plan), &rules));
}

#[divan::bench]
fn drive_5_conditions(bencher: Bencher) {
    let mut steps = String::from("  - {id: s0, tool: t}\n");
    for at in 1..6 {
        steps += &format!(
            "  - {{id: s{at}, tool: t, condition: \"s0 and s0.n > {at} and '❌' in str(s0)\"}}\n"
        );
    }
    let plan = plan(&steps);
    let rules = Arc::new(Rules::default());
    bencher
        .counter(ItemsCount::new(5_usize))
        .bench(|| drive(black_box(&plan), &rules));
}

#[divan::bench]
fn drive_loop_of_1000(bencher: Bencher) {
    let steps = "  - {id: list, tool: t}\n  - {id: each, loop: \"{{ range(1000) }}\", loop_concurrency: 4, tool: t, args: {x: \"{{ item }}\"}}\n";
    let plan = plan(steps);
    let rules = Arc::new(Rules::default());
    bencher
        .counter(ItemsCount::new(1000_usize))
        .bench(|| drive(black_box(&plan), &rules));
}
