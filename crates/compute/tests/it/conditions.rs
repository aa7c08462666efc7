//! Conditions are evaluated in process; the worker evaluates them again. Both results must be equal.

use std::path::Path;
use std::sync::Arc;

use deft_compute::Kind;
use deft_template::{Condition, EvalKind, Lookup, Scope};
use serde_json::Value;

use crate::battery::same;
use crate::support::{compute, job};

struct Names(Value);

impl Scope for Names {
    fn get(&self, name: &str) -> Lookup {
        match self.0.get(name) {
            Some(value) => Lookup::Value(Arc::new(value.clone())),
            None => Lookup::Unknown,
        }
    }
}

/// Returns the expressions for which the evaluator is compared with `CPython`.
fn expressions() -> (Value, Vec<String>) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../template/tests/cases/evaluate");
    let read = |name: &str| std::fs::read_to_string(folder.join(name)).unwrap();
    let context = serde_json::from_str(&read("context.json")).unwrap();
    let files = ["collections.txt", "numbers.txt", "text.txt", "values.txt"];
    let lines = files.iter().flat_map(|name| {
        let text = read(name);
        let lines = text.lines().map(|line| line.replace('⏎', "\n"));
        lines.collect::<Vec<_>>()
    });
    let is_case = |line: &String| !line.trim().is_empty() && !line.starts_with("##");
    (context, lines.filter(is_case).collect())
}

/// Cases where the worker differs from `CPython`, or converts values to JSON that conditions never convert.
const KNOWN: [&str; 10] = [
    // The compiler divides two literals as floats; variables are divided correctly.
    "9007199254740993 / 3",
    "12345678901234567 / 1000",
    "-12345678901234567 / 7",
    "(v for v in nums)",
    "print('a')",
    "2.0 ** 1100",
    r"'\x1c\x1fa\u3000'.strip()",
    "f'{100.0:.2} {1.0:.3} {123456.0:.3}'",
    "f'{True:d} {True:>5}'",
    "f\"{'abc':=5}\"",
];

fn is_known(code: &str) -> bool {
    // An unknown name is None in a condition and a NameError in a block.
    let unknown = ["missing", "nothing", "nowhere"];
    KNOWN.contains(&code) || unknown.iter().any(|name| code.contains(name))
}

#[tokio::test]
async fn conditions_mean_the_same_in_process_and_in_the_worker() {
    let (context, expressions) = expressions();
    let names = Names(context.clone());
    let compute = compute();
    let mut session = compute.session();
    let (mut compared, mut different) = (0, Vec::new());
    for code in expressions.iter().filter(|code| !is_known(code)) {
        let Ok(condition) = Condition::parse(code) else {
            continue;
        };
        let here = match condition.evaluate(&names) {
            Ok(value) => Some(value),
            Err(error) if matches!(error.kind, EvalKind::Unsupported | EvalKind::Limit) => continue,
            Err(_) => None,
        };
        let there = session
            .run(job(Kind::Expression, code, &context), None)
            .await;
        let there = there.ok().map(|output| output.value);
        compared += 1;
        let agree = match (&here, &there) {
            (Some(here), Some(there)) => same(here, there),
            (None, None) => true,
            _ => false,
        };
        if !agree {
            different.push(format!("{code}\n  here  {here:?}\n  there {there:?}"));
        }
    }
    assert!(compared > 600, "only {compared} were compared");
    assert!(
        different.is_empty(),
        "{} of {compared} differ:\n{}",
        different.len(),
        different.join("\n")
    );
}
