//! `deft mcp import`: servers out of the files of other hosts.
//!
//! The file is read as it is (`jsonc`), each entry becomes what deft would write
//! (`entry`), and only then is the configuration changed, in one step. Nothing
//! is started, and no `${…}` is expanded.

mod entry;
mod jsonc;
mod variables;

use std::path::Path;
use std::process::ExitCode;

use deft_registry::read_text;
use serde_json::{Map, Value, json};

use super::edit::literal_secrets;
use crate::failure::{Done, Failure};
use crate::output::{Output, counted};
use deft_config::config_file;
use deft_config::{Editor, bad_name};
use entry::Taken;

/// The largest file of another host; some hosts keep more than servers in it.
const MAX_BYTES: u64 = 16 * 1024 * 1024;

/// How to import.
#[derive(Clone, Copy)]
pub(super) struct How {
    pub force: bool,
    pub dry_run: bool,
}

/// What becomes of an entry.
struct Outcome {
    name: String,
    effect: Effect,
    remarks: Vec<String>,
}

enum Effect {
    New,
    Replaced,
    Unchanged,
    Refused(String),
}

pub(super) fn run(file: &Path, how: How, home: &Path, output: &Output) -> Done {
    let entries = entries(file)?;
    let mut editor = Editor::open(home)?;
    let mut outcomes = Vec::new();
    for (name, entry) in &entries {
        outcomes.push(take(name, entry, how, &mut editor)?);
    }
    let changes = |one: &Outcome| matches!(one.effect, Effect::New | Effect::Replaced);
    if !how.dry_run && outcomes.iter().any(changes) {
        editor.save()?;
    }
    print(&outcomes, how, home, output)?;
    let refused = outcomes
        .iter()
        .any(|one| matches!(one.effect, Effect::Refused(_)));
    Ok(ExitCode::from(u8::from(refused)))
}

/// The servers in a file, whichever host wrote it.
fn entries(file: &Path) -> Done<Map<String, Value>> {
    let text =
        read_text(file, MAX_BYTES).map_err(|problem| Failure::file(file, "read", &problem))?;
    let place = file.display();
    let document: Value = serde_json::from_str(&jsonc::plain(&text)).map_err(|problem| {
        Failure::input("not_json", format!("{place}: not JSON: {problem}"))
            .hint("deft reads the `mcpServers` or `servers` of a JSON file")
    })?;
    let found = ["/mcpServers", "/servers", "/mcp/servers", "/mcp/mcpServers"]
        .iter()
        .find_map(|pointer| document.pointer(pointer)?.as_object());
    match found {
        Some(entries) if !entries.is_empty() => Ok(entries.clone()),
        Some(_) => Err(nothing(format!("{place}: there are no servers in it"))),
        None => Err(nothing(format!(
            "{place}: it has neither `mcpServers` nor `servers`"
        ))),
    }
}

fn nothing(message: String) -> Failure {
    Failure::input("nothing_to_import", message)
        .hint("give the file in which the other host keeps its MCP servers")
}

/// Puts one entry into the file, unless something is against it.
fn take(given: &str, entry: &Value, how: How, editor: &mut Editor) -> Done<Outcome> {
    let name = allowed(given);
    let outcome = |effect, remarks| Outcome {
        name: name.clone(),
        effect,
        remarks,
    };
    let Taken {
        fields,
        mut remarks,
    } = match entry::read(entry) {
        Ok(taken) => taken,
        Err(reason) => return Ok(outcome(Effect::Refused(reason), Vec::new())),
    };
    if name != given {
        remarks.push(format!(
            "it was called `{given}`, which cannot be the name of a server here"
        ));
    }
    let fields = Value::Object(fields);
    remarks.extend(literal_secrets(&name, &fields));
    let old = editor.server(&name);
    let effect = match &old {
        Some(old) if *old == fields => return Ok(outcome(Effect::Unchanged, remarks)),
        Some(_) if !how.force => {
            let reason = "there is another server of that name; `--force` replaces it".to_owned();
            return Ok(outcome(Effect::Refused(reason), remarks));
        }
        Some(_) => Effect::Replaced,
        None => Effect::New,
    };
    editor.put_server(&name, &fields)?;
    if let Some(mistake) = editor.mistakes().first() {
        let reason = mistake.message.clone();
        match &old {
            Some(old) => editor.put_server(&name, old)?,
            None => drop(editor.remove_server(&name)),
        }
        return Ok(outcome(Effect::Refused(reason), remarks));
    }
    Ok(outcome(effect, remarks))
}

/// The name with everything replaced that deft does not take.
fn allowed(name: &str) -> String {
    if bad_name(name).is_none() {
        return name.to_owned();
    }
    let fits = |c: char| c != '.' && c != '/' && !c.is_whitespace();
    let name: String = name
        .trim()
        .chars()
        .map(|c| if fits(c) { c } else { '-' })
        .collect();
    if name.is_empty() {
        "server".to_owned()
    } else {
        name
    }
}

fn print(outcomes: &[Outcome], how: How, home: &Path, output: &Output) -> Done<()> {
    let file = config_file(home);
    if output.json {
        let list: Vec<Value> = outcomes.iter().map(document).collect();
        let ok = !outcomes
            .iter()
            .any(|one| matches!(one.effect, Effect::Refused(_)));
        return output.document(&json!({
            "ok": ok, "dry_run": how.dry_run, "path": file.display().to_string(), "servers": list,
        }));
    }
    for one in outcomes {
        let (word, reason) = word(&one.effect);
        let reason = reason
            .map(|reason| format!(": {reason}"))
            .unwrap_or_default();
        output.data(format!("{word:9} {}{reason}", one.name))?;
        for remark in &one.remarks {
            output.note(&format!("warning: `{}`: {remark}", one.name));
        }
    }
    output.note(&summary(outcomes, how, &file));
    Ok(())
}

fn summary(outcomes: &[Outcome], how: How, file: &Path) -> String {
    let changes = |one: &&Outcome| matches!(one.effect, Effect::New | Effect::Replaced);
    let count = outcomes.iter().filter(changes).count();
    let servers = counted(count, "server");
    match (count, how.dry_run) {
        (0, _) => "nothing to import".to_owned(),
        (_, true) => format!("{servers} would be imported"),
        (_, false) => {
            let file = file.display();
            format!("{servers} imported into {file}; `deft mcp probe` connects to all")
        }
    }
}

fn word(effect: &Effect) -> (&'static str, Option<&str>) {
    match effect {
        Effect::New => ("new", None),
        Effect::Replaced => ("replaced", None),
        Effect::Unchanged => ("unchanged", None),
        Effect::Refused(reason) => ("refused", Some(reason)),
    }
}

fn document(one: &Outcome) -> Value {
    let (effect, reason) = word(&one.effect);
    json!({"name": one.name, "effect": effect, "reason": reason, "warnings": one.remarks})
}
