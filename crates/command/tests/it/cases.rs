//! Case files. The first line names the mode; an optional head up to `-----` holds a page or a schema.
//! The cases follow: one per line with `##` for headings, or separated by `=====` where they may span
//! lines.

use std::fmt::Write as _;

use deft_command::{Problem, cast_by_schema, check, extract, fill, from_json, route, split};
use deft_model::Flag;
use serde_json::Value;

use crate::show;

/// S2.37 to S2.40; `flags` has X21 (values that begin with a dash), `words_refused` S2.51 (pipes).
#[test]
fn cases() {
    insta::glob!("../cases", "*.txt", |path| {
        let text = std::fs::read_to_string(path).expect("a case file");
        let (mode, rest) = text.split_once('\n').expect("a first line");
        let (head, rest) = rest.split_once("-----\n").unwrap_or(("", rest));
        let mut out = String::new();
        for case in split_cases(rest) {
            writeln!(out, "{case}\n{}", outcome(mode, head, case)).expect("a string");
        }
        insta::assert_snapshot!(out);
    });
}

fn split_cases(text: &str) -> Vec<&str> {
    if text.contains("=====\n") {
        let cases = text.split("=====\n");
        return cases.map(|case| case.trim_matches('\n')).collect();
    }
    text.lines().filter(|line| !line.is_empty()).collect()
}

fn outcome(mode: &str, head: &str, case: &str) -> String {
    if case.starts_with("## ") {
        return String::new();
    }
    match mode {
        "words" => split(case)
            .iter()
            .map(|line| show::line(case, line))
            .collect(),
        "commands" => commands(&deft_skillfile::flags(head), case),
        "json" => call(&deft_skillfile::flags(head), case),
        "schema" => cast(&serde_json::from_str(head).expect("a schema"), case),
        "extract" => extracted(case),
        "fill" => format!("  {}\n", fill(case, &start())),
        other => panic!("no such kind of case: {other}"),
    }
}

/// Routes each line, and checks its flags against the page.
fn commands(table: &[Flag], case: &str) -> String {
    let mut out = String::new();
    for line in split(case) {
        let routed = match &line {
            Ok(line) => route(line, |name| known(table, name)),
            Err(problem) => Err(vec![problem.clone()]),
        };
        out.push_str(&show::routed(case, &routed));
        if let Ok(deft_command::Route::Command(command)) = routed
            && !table.is_empty()
            && !command.help
        {
            out.push_str(&show::object(case, &check(table, command.flags)));
        }
    }
    out
}

fn known(table: &[Flag], name: &str) -> Result<Vec<Flag>, Problem> {
    match name {
        "email.sent" => Err(Problem::unknown_skill(name, Some("email.send".to_owned()))),
        "no.such" => Err(Problem::unknown_skill(name, None)),
        _ => Ok(table.to_vec()),
    }
}

/// Parses a JSON call; also shows the command line that it became.
fn call(table: &[Flag], case: &str) -> String {
    let call: Value = serde_json::from_str(case).expect("JSON");
    let routed = from_json(&call, |name| known(table, name));
    let mut out = String::new();
    if let Ok(deft_command::Route::Command(command)) = &routed {
        writeln!(out, "  {}", command.raw).expect("a string");
    }
    // Spans refer to the generated command line, which the caller never saw.
    let routed = routed.map_err(|problems| {
        let bare = |problem: Problem| Problem {
            span: None,
            ..problem
        };
        problems.into_iter().map(bare).collect()
    });
    out + &show::routed(case, &routed)
}

fn cast(schema: &Value, case: &str) -> String {
    let line = split(case).remove(0).expect("a command");
    match route(&line, |_| Ok(Vec::new())).expect("flags") {
        deft_command::Route::Command(command) => {
            show::object(case, &cast_by_schema(command.flags, schema))
        }
        deft_command::Route::GetSkill { .. } => panic!("not a command: {case}"),
    }
}

fn extracted(case: &str) -> String {
    let found = extract(case);
    let mut out = format!("  text {:?}\n", found.text);
    for block in &found.blocks {
        writeln!(out, "  block {:?}", block.commands).expect("a string");
    }
    for (written, problem) in found.written_commands() {
        match problem {
            None => writeln!(out, "  command {written:?}").expect("a string"),
            Some(problem) if found.unclosed.as_ref() == Some(&problem) => {}
            Some(problem) => {
                writeln!(out, "  {}: {problem} in {written:?}", problem.code()).expect("a string");
            }
        }
    }
    if let Some(problem) = &found.unclosed {
        out.push_str(&show::problem(case, problem));
    }
    out
}

pub(crate) fn start() -> jiff::Zoned {
    let zone = jiff::tz::TimeZone::fixed(jiff::tz::offset(1));
    let at: jiff::Timestamp = "2026-02-28T23:30:00Z".parse().expect("an instant");
    at.to_zoned(zone)
}
