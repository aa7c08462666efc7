//! Imports servers from the files of other hosts.
//!
//! The file is read as it is (`jsonc`), each entry becomes what deft would write (`entry`), and only
//! then is the configuration changed, in one step. Nothing is started, and no `${…}` is expanded.

mod entry;
mod jsonc;
mod variables;

use std::path::{Path, PathBuf};

use deft_config::{Editor, bad_name, config_file};
use deft_registry::read_text;
use deft_wire::server::{ImportEffect, ImportedServer, ServerImport};
use deft_wire::{Done, Failure};
use serde_json::{Map, Value};

use super::edit::literal_secrets;
use crate::workspace::Workspace;
use entry::ServerEntry;

/// The largest file of another host; some hosts keep more than servers in it.
const MAX_BYTES: u64 = 16 * 1024 * 1024;

/// What to import, and how.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ImportOptions {
    /// The file of the other host.
    pub file: PathBuf,
    /// Replace servers of the same name.
    pub force: bool,
    /// Change nothing.
    pub dry_run: bool,
}

/// Imports the servers of a file.
pub fn import(workspace: &Workspace, options: &ImportOptions) -> Done<ServerImport> {
    let home = workspace.locate()?;
    let entries = entries(&options.file)?;
    let mut editor = Editor::open(&home)?;
    let mut servers = Vec::new();
    for (name, entry) in &entries {
        servers.push(take(name, entry, options.force, &mut editor)?);
    }
    if !options.dry_run && servers.iter().any(|one| one.effect.changes()) {
        editor.save()?;
    }
    Ok(ServerImport {
        ok: servers
            .iter()
            .all(|one| one.effect != ImportEffect::Refused),
        dry_run: options.dry_run,
        path: config_file(&home).display().to_string(),
        servers,
    })
}

/// The servers in a file of any host.
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
        Some(_) => Err(nothing(format!("{place}: it contains no servers"))),
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
fn take(given: &str, entry: &Value, force: bool, editor: &mut Editor) -> Done<ImportedServer> {
    let name = allowed(given);
    let imported = |effect, reason, warnings| ImportedServer {
        name: name.clone(),
        effect,
        reason,
        warnings,
    };
    let refused = |reason, warnings| imported(ImportEffect::Refused, Some(reason), warnings);
    let ServerEntry {
        fields,
        mut remarks,
    } = match entry::read(entry) {
        Ok(taken) => taken,
        Err(reason) => return Ok(refused(reason, Vec::new())),
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
        Some(old) if *old == fields => {
            return Ok(imported(ImportEffect::Unchanged, None, remarks));
        }
        Some(_) if !force => {
            let reason = "there is another server of that name; `--force` replaces it".to_owned();
            return Ok(refused(reason, remarks));
        }
        Some(_) => ImportEffect::Replaced,
        None => ImportEffect::New,
    };
    editor.put_server(&name, &fields)?;
    if let Some(mistake) = editor.mistakes().first() {
        let reason = mistake.message.clone();
        match &old {
            Some(old) => editor.put_server(&name, old)?,
            None => drop(editor.remove_server(&name)),
        }
        return Ok(refused(reason, remarks));
    }
    Ok(imported(effect, None, remarks))
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
