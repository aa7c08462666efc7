//! `deft skills show`.

use std::process::ExitCode;

use deft_engine::{Commands, FileChange};
use deft_model::SkillId;
use deft_registry::{Loaded, Snapshot, State};
use deft_skillfile::{Moment, is_host_key, render, schedule, words};
use serde_json::{Value, json};

use super::find;
use super::stored::Stored;
use crate::args::{Global, Roots};
use crate::failure::Done;
use crate::output::Output;
use crate::view;
use deft_service::Library;
use deft_service::app::App;

pub(crate) fn run(name: &str, global: &Global, roots: &Roots, output: &Output) -> Done {
    let library = global.workspace_of(roots).library()?;
    let (snapshot, changes) = global.workspace_of(roots).load_changed(&library);
    let stored = Stored::read(global, roots)?;
    if snapshot.find(name).is_none()
        && let Some(record) = stored.find(name)
    {
        return show_record(record, output);
    }
    let loaded = find(&snapshot, name)?;
    if output.json {
        let mut shown = view::full_skill(loaded, &library.moment);
        stored.overlay(loaded, &library.moment, &mut shown);
        if let Some(change) = changes.get(loaded.skill.id.as_str()) {
            shown["changed_fields"] = json!(change.fields);
            shown["changed_by"] = json!(change.agent);
        }
        if let Some(why) = unavailable(&snapshot, loaded, &library, global, roots)? {
            shown["unavailable"] = why.into();
        }
        output.document(&json!({ "skill": shown }))?;
    } else {
        let change = changes.get(loaded.skill.id.as_str());
        output.data(text(loaded, &library.moment, &stored, change))?;
        if let Some(why) = unavailable(&snapshot, loaded, &library, global, roots)? {
            output.data(format!("not available now: {why}"))?;
        }
    }
    let kept = Some(loaded.skill.id.clone());
    if snapshot
        .files()
        .iter()
        .any(|file| file.state == State::Broken { kept: kept.clone() })
    {
        output.note("its file is broken; this is what it was before, and stays in use");
    }
    Ok(ExitCode::SUCCESS)
}

/// Why a command cannot be run now, as far as is known without asking a server.
fn unavailable(
    snapshot: &Snapshot,
    loaded: &Loaded,
    library: &Library,
    global: &Global,
    roots: &Roots,
) -> Done<Option<String>> {
    let home = if roots.roots.is_empty() {
        Some(App::to_read(&global.workspace())?)
    } else {
        None
    };
    let router = home.as_ref().map(|home| home.engine.router());
    let start = library.moment.now.to_zoned(library.moment.zone.clone());
    let commands = Commands::new(snapshot, router, start);
    Ok(commands.unavailable(&loaded.skill, true))
}

/// What is shown of a record, and where it stands.
const LINES: [(&str, &str); 12] = [
    ("id", "/id"),
    ("number", "/record_id"),
    ("name", "/name"),
    ("description", "/description"),
    ("runs as", "/tier"),
    ("fires", "/trigger/words"),
    ("next", "/trigger/next/0"),
    ("off because", "/disabled_reason"),
    ("last run", "/last_run_at"),
    ("came to", "/last_run_summary"),
    ("agent", "/agent_id"),
    ("revision", "/revision"),
];

/// A record, field by field.
fn show_record(record: &Value, output: &Output) -> Done {
    if output.json {
        output.document(&json!({ "skill": record }))?;
        return Ok(ExitCode::SUCCESS);
    }
    let mut out = String::new();
    for (name, place) in LINES {
        if let Some(value) = record.pointer(place).filter(|value| !value.is_null()) {
            out.push_str(&format!("{name:12} {}\n", plain(value)));
        }
    }
    let failures = record["failures"].as_u64().unwrap_or_default();
    if failures > 0 {
        let until = record["backoff_until"].as_str();
        let until = until.map_or(String::new(), |until| format!(", rests until {until}"));
        out.push_str(&format!(
            "{:12} failed {failures} in a row{until}\n",
            "lately"
        ));
    }
    out.push_str(&rights(record));
    for key in ["required_tools", "missing_tools", "execution_plan"] {
        let value = &record[key];
        if value.as_array().is_some_and(|list| !list.is_empty()) {
            out.push_str(&format!("{key:12} {value}\n"));
        }
    }
    if let Some(text) = record["instructions"].as_str() {
        out.push_str(&format!("\n{text}\n"));
    }
    output.data(&out)?;
    Ok(ExitCode::SUCCESS)
}

/// The rights of the agent that stored a record, and what a person has agreed to; nothing for a record
/// of a person.
fn rights(record: &Value) -> String {
    let authority = &record["authority"];
    let Some(agent) = authority["agent"].as_str() else {
        return String::new();
    };
    let place = if authority["attended"] == true {
        "in a chat"
    } else {
        "unattended"
    };
    let mut out = format!("{:12} agent `{agent}`, {place}\n", "stored by");
    let names = |list: &Value| {
        let names = list.as_array().into_iter().flatten();
        names
            .filter_map(Value::as_str)
            .collect::<Vec<_>>()
            .join(", ")
    };
    for list in authority["tools"].as_array().into_iter().flatten() {
        out.push_str(&format!("{:12} {}\n", "may call", names(list)));
    }
    let mut asks = names(&authority["approve"]);
    if authority["ask_unannotated"] == true {
        asks.push_str(", tools without annotations");
    }
    if !asks.is_empty() {
        out.push_str(&format!("{:12} {asks}\n", "asks before"));
    }
    for grant in record["grants"].as_array().into_iter().flatten() {
        out.push_str(&format!("{:12} {}\n", "granted", plain(grant)));
    }
    out
}

/// A file skill for people.
fn text(loaded: &Loaded, moment: &Moment, stored: &Stored, change: Option<&FileChange>) -> String {
    let mut out = String::new();
    let mut line = |key: &str, value: String| {
        if !value.is_empty() {
            out.push_str(&format!("{key:12} {value}\n"));
        }
    };
    let skill = &loaded.skill;
    line("id", skill.id.to_string());
    if skill.name != skill.id.as_str() {
        line("name", skill.name.clone());
    }
    line("description", skill.description.clone());
    let role = skill
        .role()
        .map(|role| format!(" ({role})"))
        .unwrap_or_default();
    line("runs as", format!("{}{role}", skill.tier()));
    line("fires", words(skill, moment));
    let standing = stored.standing(skill.id.as_str());
    let clash = stored.clash(skill.id.as_str());
    if let Some(record) = clash {
        line("off because", format!("record {record} has its name"));
    }
    match standing.map(|standing| standing.disabled) {
        _ if clash.is_some() => {}
        Some(Some(why)) => line("off because", why.to_string()),
        None if !skill.policy.enabled => line("enabled", "no".to_owned()),
        Some(None) | None => {
            let known = stored.next(loaded, moment);
            let first = |next: Vec<String>| next.into_iter().next().unwrap_or_default();
            let next = known.map_or_else(|| next(loaded, moment), first);
            line("next", next);
        }
    }
    if let Some(standing) = standing {
        let until = standing.backoff_until.filter(|until| *until > moment.now);
        let zone = view::zone(skill, moment);
        let rest = view::rest_words(standing.streak, until, &zone);
        line("lately", rest.unwrap_or_default());
    }
    line("keywords", skill.keywords.join(", "));
    line("tools", skill.required_tools.join(", "));
    line(
        "missing",
        stored.missing_tools(skill.id.as_str()).join(", "),
    );
    line("tags", skill.details.tags.join(", "));
    line("author", skill.details.author.clone().unwrap_or_default());
    line("version", skill.details.version.clone().unwrap_or_default());
    line("licence", skill.open.license.clone().unwrap_or_default());
    line(
        "needs",
        skill.open.compatibility.clone().unwrap_or_default(),
    );
    line("written as", skill.dialect.to_string());
    line("file", loaded.path.display().to_string());
    if let Some(change) = change {
        line("changed", change_words(change, &skill.id));
    }
    line("revision", loaded.revision.short());
    for (key, value) in &skill.extra {
        let whose = if is_host_key(key) {
            " (for another host)"
        } else {
            " (not read by deft)"
        };
        line(key, format!("{}{whose}", plain(value)));
    }
    for file in &loaded.siblings {
        let hash = file
            .sha256
            .map(|digest| digest.to_string()[..12].to_owned())
            .unwrap_or_default();
        line(
            "with",
            format!("{}  {} bytes  {hash}", file.path, file.size_bytes),
        );
    }
    out.push('\n');
    out.push_str(&render::manual(skill));
    out.push('\n');
    out
}

/// What tools changed about a file skill, and how to drop it.
fn change_words(change: &FileChange, id: &SkillId) -> String {
    let by = match &change.agent {
        Some(agent) => format!("agent `{agent}`, whose rights it has"),
        None => "a person".to_owned(),
    };
    let what = match change.fields.as_slice() {
        [] => format!("by {by}"),
        fields => format!("{} by {by}", fields.join(", ")),
    };
    format!("{what}; `deft skills restore {id}` drops that")
}

fn next(loaded: &Loaded, moment: &Moment) -> String {
    let zone = view::zone(&loaded.skill, moment);
    let next = schedule(&loaded.skill, moment).and_then(|schedule| schedule.next_after(moment.now));
    next.map(|at| deft_schedule::show(at, &zone))
        .unwrap_or_default()
}

fn plain(value: &Value) -> String {
    value
        .as_str()
        .map_or_else(|| value.to_string(), str::to_owned)
}
