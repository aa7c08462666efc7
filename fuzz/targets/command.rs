//! Any text as a model's reply, as commands and as the flags of a page.

#![no_main]

use deft_command::{
    Problem, Route, cast_by_schema, check, extract, fill, from_json, route, split,
};
use deft_model::Flag;
use libfuzzer_sys::fuzz_target;

const PAGE: &str = "## Flags\n\n--to  Who (required)\n--sort  Sort by: a, b (default: a)\n\
    --status  One or more of: x, y\n--all  (boolean flag)\n";

fuzz_target!(|text: &str| {
    // The first half of a text may also be the page for the rest.
    let half = text.split_once("\n---\n");
    let (page, commands) = half.unwrap_or((PAGE, text));
    let table = deft_skillfile::flags(page);
    for line in split(commands) {
        match line {
            Ok(line) => {
                assert_eq!(commands.get(line.span.clone()), Some(line.raw.as_str()));
                follow(commands, route(&line, |_| Ok(table.clone())), &table);
            }
            Err(problem) => in_text(commands, &problem),
        }
    }
    extract(text).lines();
    let moment = deft_fuzz::moment();
    fill(text, &moment.now.to_zoned(moment.zone));
    if let Ok(value) = text.parse() {
        follow_call(&value, &table);
    }
});

fn follow(text: &str, routed: Result<Route, Vec<Problem>>, table: &[Flag]) {
    match routed {
        Ok(Route::Command(command)) => drop(check(table, command.flags)),
        Ok(Route::GetSkill { .. }) => {}
        Err(problems) => problems.iter().for_each(|problem| in_text(text, problem)),
    }
}

/// Uses a value both as a call and as the schema of its own flags.
fn follow_call(value: &serde_json::Value, table: &[Flag]) {
    drop(from_json(value, |_| Ok(table.to_vec())));
    if let Some(flags) = value.as_object() {
        drop(cast_by_schema(flags.clone(), value));
    }
}

fn in_text(text: &str, problem: &Problem) {
    assert!(!problem.to_string().contains('\n'));
    let span = problem.span.clone();
    assert!(span.is_none_or(|span| text.get(span).is_some()));
}
