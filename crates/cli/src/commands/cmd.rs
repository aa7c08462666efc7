//! `deft cmd`: one command line, as a model would write it.

use std::process::ExitCode;

use deft_registry::Snapshot;
use deft_registry::discovery::{Topic, Unknown, get_skill, help};
use serde_json::json;

use crate::args::{Global, Roots};
use crate::failure::{Done, Failure};
use crate::home::Library;
use crate::output::Output;

/// What a command line asks for.
enum Line {
    /// The skills, or one of them.
    GetSkill(Topic),
    /// The page of a skill.
    Help(String),
    /// A skill is to be run.
    Run(String),
}

pub(crate) fn run(line: &str, global: &Global, roots: &Roots, output: &Output) -> Done {
    let line = parse(line)?;
    let library = Library::open(global, roots)?;
    let snapshot = library.load();
    let answer = match line {
        Line::GetSkill(topic) => {
            get_skill(&snapshot, &topic).map_err(|problem| unknown(&problem))?
        }
        Line::Help(name) => help(&snapshot, &name).map_err(|problem| unknown(&problem))?,
        Line::Run(name) => return Err(cannot_run(&snapshot, &name)),
    };
    if output.json {
        output.document(&json!({"ok": true, "status": "ok", "content": answer}))?;
    } else {
        output.data(&answer)?;
    }
    Ok(ExitCode::SUCCESS)
}

fn parse(line: &str) -> Done<Line> {
    let words = shlex::split(line).ok_or_else(|| {
        Failure::input(
            "invalid_command",
            "a quote in the command line is not closed",
        )
        .hint("close it, or write `\\\"` for a quote that is meant literally")
    })?;
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    match words.as_slice() {
        [] => Err(
            Failure::input("invalid_command", "the command line is empty")
                .hint("try `deft cmd get_skill`"),
        ),
        ["get_skill" | "get_skill:"] => Ok(Line::GetSkill(Topic::All)),
        ["get_skill" | "get_skill:", topic] => Ok(Line::GetSkill(Topic::parse(topic))),
        ["get_skill" | "get_skill:", _, extra, ..] => Err(Failure::input(
            "invalid_command",
            format!("`{extra}` is one word too many for `get_skill`"),
        )
        .hint("ask for one domain or skill at a time")),
        [first] if first.starts_with("get_skill:") => Ok(Line::GetSkill(Topic::parse(
            first.trim_start_matches("get_skill:"),
        ))),
        [name, rest @ ..] if rest.contains(&"--help") => Ok(Line::Help((*name).to_owned())),
        [name, ..] => Ok(Line::Run((*name).to_owned())),
    }
}

fn unknown(problem: &Unknown) -> Failure {
    let hint = match problem.near() {
        Some(near) => format!("did you mean `{near}`?"),
        None => "`deft cmd get_skill` lists what there is".to_owned(),
    };
    Failure::input(problem.code(), problem.to_string()).hint(hint)
}

/// Skills are only read so far; nothing runs them yet, and nothing pretends to.
fn cannot_run(snapshot: &Snapshot, name: &str) -> Failure {
    match help(snapshot, name) {
        Err(problem) => unknown(&problem),
        Ok(_) => Failure::input(
            "cannot_run",
            format!("`{name}` is a skill, but this version of deft cannot run skills"),
        )
        .hint(format!("`deft cmd '{name} --help'` shows its page")),
    }
}
