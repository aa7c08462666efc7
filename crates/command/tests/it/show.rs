//! Formats outcomes for snapshots.

use std::fmt::Write as _;

use deft_command::{Command, Line, Problem, Route};
use deft_model::Object;

pub(crate) fn line(text: &str, line: &Result<Line, Problem>) -> String {
    let line = match line {
        Ok(line) => line,
        Err(problem) => return self::problem(text, problem),
    };
    let mut out = format!("  line {:?}\n", line.raw);
    for word in &line.words {
        let mark = if word.literal { " (literal)" } else { "" };
        writeln!(out, "    {:?} at {:?}{mark}", word.text, word.span).expect("a string");
    }
    out
}

pub(crate) fn routed(text: &str, routed: &Result<Route, Vec<Problem>>) -> String {
    match routed {
        Ok(Route::GetSkill { topic }) => format!("  get_skill {topic:?}\n"),
        Ok(Route::Command(command)) => self::command(command),
        Err(problems) => self::problems(text, problems),
    }
}

fn command(command: &Command) -> String {
    let skill = &command.skill_name;
    if command.help {
        return format!("  help of {skill}\n");
    }
    format!("  {skill} {}\n", json(&command.flags))
}

pub(crate) fn object(text: &str, object: &Result<Object, Vec<Problem>>) -> String {
    match object {
        Ok(object) => format!("  = {}\n", json(object)),
        Err(problems) => self::problems(text, problems),
    }
}

pub(crate) fn problems(text: &str, problems: &[Problem]) -> String {
    let shown = problems.iter().map(|found| problem(text, found));
    shown.collect()
}

pub(crate) fn problem(text: &str, problem: &Problem) -> String {
    let mut out = format!("  {}: {problem}\n", problem.code());
    if let Some(span) = &problem.span {
        writeln!(out, "    at {span:?}: {:?}", &text[span.clone()]).expect("a string");
    }
    if let Some(hint) = problem.hint() {
        writeln!(out, "    hint: {hint}").expect("a string");
    }
    out
}

fn json(object: &Object) -> String {
    serde_json::to_string(object).expect("JSON")
}
