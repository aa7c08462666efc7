//! Snapshot tests: every file below `tests/cases` is a skill and the world it runs in. A new case is a new
//! file; `script.rs` documents the format.

use deft_workflow::{Event, Path, check_inputs};
use serde_json::Value;

use crate::drive::Driver;
use crate::script::Script;
use crate::show;
use crate::world::{Pick, World};

#[test]
fn cases() {
    insta::glob!("../cases", "*.yaml", |path| {
        let text = std::fs::read_to_string(path).unwrap();
        println!("{}", path.display());
        let script = Script::parse(&text);
        let mut out = String::new();
        match check_inputs(script.plan.inputs(), &script.inputs) {
            Ok(inputs) => {
                let mut driver = driver(script);
                driver.start(inputs);
                reuse(&mut driver);
                let outcome = driver.driver.run();
                out += &show::run(&driver.driver, &outcome);
            }
            Err(problems) => {
                for problem in problems {
                    out += &format!("{} ({:?})\n", problem.message, problem.hint);
                }
            }
        }
        insta::with_settings!({ omit_expression => true, prepend_module_to_snapshot => false }, {
            insta::assert_snapshot!(out);
        });
    });
}

struct Case {
    driver: Driver,
    reuse: deft_model::Object,
}

impl Case {
    fn start(&mut self, inputs: deft_model::Object) {
        self.driver.start(inputs);
    }
}

fn driver(script: Script) -> Case {
    let world = World {
        results: script.results,
        answers: script.answers,
        skills: script.skills,
        effects: script.effects,
        authority: script.authority,
        hangs: script.hangs,
        pick: if script.last_first {
            Pick::Last
        } else {
            Pick::Named(script.order)
        },
        ..World::default()
    };
    let mut driver = Driver::new(script.plan, script.rules, world);
    driver.crash_after = script.crash_after;
    driver.stop = script.stop;
    driver.resumes = script.resumes;
    let reuse = script.reuse;
    Case { driver, reuse }
}

fn reuse(case: &mut Case) {
    for (step, ended) in std::mem::take(&mut case.reuse) {
        let error = ended.get("error").filter(|error| !error.is_null());
        case.driver.record(&Event::Reused {
            path: Path::from_text(step),
            value: ended.get("value").cloned(),
            called: Vec::new(),
            error: error.map(|error| {
                let text = error.as_str().map(Value::from).unwrap();
                serde_json::from_value(serde_json::json!({ "class": "other", "message": text }))
                    .unwrap()
            }),
        });
    }
}
