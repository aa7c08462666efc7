//! `deft skills show`.

use std::process::ExitCode;

use deft_registry::Loaded;
use deft_skillfile::{Moment, is_host_key, render, schedule, words};
use serde_json::{Value, json};

use super::find;
use crate::args::{Global, Roots};
use crate::failure::Done;
use crate::home::Library;
use crate::output::Output;
use crate::view;

pub(crate) fn run(name: &str, global: &Global, roots: &Roots, output: &Output) -> Done {
    let library = Library::open(global, roots)?;
    let snapshot = library.load();
    let loaded = find(&snapshot, name)?;
    if output.json {
        output.document(&json!({"skill": view::full_skill(loaded, &library.moment)}))?;
    } else {
        output.data(&text(loaded, &library.moment))?;
    }
    Ok(ExitCode::SUCCESS)
}

fn text(loaded: &Loaded, moment: &Moment) -> String {
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
    line("next", next(loaded, moment));
    line(
        "enabled",
        if skill.policy.enabled {
            String::new()
        } else {
            "no".to_owned()
        },
    );
    line("keywords", skill.keywords.join(", "));
    line("tools", skill.required_tools.join(", "));
    line("tags", skill.tags.join(", "));
    line("author", skill.author.clone().unwrap_or_default());
    line("version", skill.version.clone().unwrap_or_default());
    line("licence", skill.open.license.clone().unwrap_or_default());
    line(
        "needs",
        skill.open.compatibility.clone().unwrap_or_default(),
    );
    line("written as", skill.dialect.to_string());
    line("file", loaded.path.display().to_string());
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
