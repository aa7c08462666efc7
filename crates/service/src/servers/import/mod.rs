//! Imports servers from the configuration files of other hosts.
//!
//! The file is parsed in its own format (`codex`, `goose`), each entry is converted (`entry`), and then the
//! configuration is changed in one step. No server is started, and no `${…}` is expanded.

mod codex;
mod entry;
mod goose;
mod own;
mod plain_secrets;
mod variables;

use std::path::{Path, PathBuf};

use deft_config::{Editor, Settings, bad_name, config_file};
use deft_registry::read_text;
use deft_wire::server::{ImportEffect, ImportedServer, ServerImport};
use deft_wire::{Done, Failure};
use serde_json::{Map, Value};

use super::edit::literal_secrets;
use crate::jsonc;
use crate::workspace::Workspace;
use entry::ServerEntry;

/// Maximum size of another host's file; some hosts store more than servers in it.
const MAX_BYTES: u64 = 16 * 1024 * 1024;

/// What to import, and how.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ImportOptions {
    /// The file of the other host.
    pub file: PathBuf,
    /// Whether to replace servers of the same name.
    pub force: bool,
    /// Whether to change nothing.
    pub dry_run: bool,
    /// Import only servers with these names.
    pub only: Option<Vec<String>>,
    /// Whether to store plaintext secrets as secrets, so that the configuration gets references.
    pub store_secrets: bool,
}

/// Imports the servers of a file.
pub fn import(workspace: &Workspace, options: &ImportOptions) -> Done<ServerImport> {
    let home = workspace.locate()?;
    let entries = entries(&options.file)?;
    let mut editor = Editor::open(&home)?;
    let mut servers = Vec::new();
    for (name, entry) in &entries {
        let wanted = options.only.as_ref();
        if wanted.is_none_or(|names| names.contains(name)) {
            servers.push(take(name, entry, options, &home, &mut editor)?);
        }
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

/// Returns the names of the servers in a file of any host, without deft; empty if the file has none or cannot
/// be read.
pub(crate) fn server_names(file: &Path) -> Vec<String> {
    let entries = entries(file).unwrap_or_default();
    let others = entries.iter().filter(|(_, entry)| !own::is_deft(entry));
    others.map(|(name, _)| name.clone()).collect()
}

/// Parses the servers in a file of any host.
fn entries(file: &Path) -> Done<Map<String, Value>> {
    let text =
        read_text(file, MAX_BYTES).map_err(|problem| Failure::file(file, "read", &problem))?;
    let place = file.display();
    let ending = file.extension().and_then(|ending| ending.to_str());
    let found = match ending {
        Some("toml") => codex_servers(file, &text)?,
        Some("yaml" | "yml") => goose_servers(file, &text)?,
        _ => json_servers(file, &text)?,
    };
    match found {
        Some(entries) if !entries.is_empty() => Ok(entries),
        Some(_) => Err(nothing(format!("{place}: it contains no servers"))),
        None => Err(nothing(format!("{place}: it has no list of MCP servers"))),
    }
}

fn codex_servers(file: &Path, text: &str) -> Done<Option<Map<String, Value>>> {
    let settings = Settings::parse(text).map_err(|problem| {
        let message = format!("{}: {}", file.display(), problem.message);
        Failure::input("not_toml", message)
            .hint("deft reads the `[mcp_servers.NAME]` of a TOML file")
    })?;
    let Some(servers) = settings.get(&["mcp_servers"]) else {
        return Ok(None);
    };
    let common = |(name, entry): (&String, &Value)| (name.clone(), codex::in_common_words(entry));
    let servers = servers.json();
    let servers = servers.as_object().into_iter().flatten();
    Ok(Some(servers.map(common).collect()))
}

fn goose_servers(file: &Path, text: &str) -> Done<Option<Map<String, Value>>> {
    let document = deft_skillfile::read_yaml(text).map_err(|problem| {
        let message = format!("{}:{problem}", file.display());
        Failure::input("not_yaml", message).hint("deft reads the `extensions` of a YAML file")
    })?;
    let Some(extensions) = document.get("extensions").and_then(Value::as_object) else {
        return Ok(None);
    };
    let common =
        |(name, entry): (&String, &Value)| Some((name.clone(), goose::in_common_words(entry)?));
    Ok(Some(extensions.iter().filter_map(common).collect()))
}

fn json_servers(file: &Path, text: &str) -> Done<Option<Map<String, Value>>> {
    let document: Value = serde_json::from_str(&jsonc::plain(text)).map_err(|problem| {
        let message = format!("{}: not JSON: {problem}", file.display());
        Failure::input("not_json", message)
            .hint("deft reads the `mcpServers` or `servers` of a JSON file")
    })?;
    let mut found = ["/mcpServers", "/servers", "/mcp/servers", "/mcp/mcpServers"]
        .iter()
        .find_map(|pointer| document.pointer(pointer)?.as_object())
        .cloned();
    // Claude Code stores the servers of each project in the same file; the user's own servers have
    // precedence.
    for project in document["projects"].as_object().into_iter().flatten() {
        for (name, entry) in project.1["mcpServers"].as_object().into_iter().flatten() {
            let all = found.get_or_insert_default();
            if !all.contains_key(name) {
                all.insert(name.clone(), entry.clone());
            }
        }
    }
    Ok(found)
}

fn nothing(message: String) -> Failure {
    Failure::input("nothing_to_import", message)
        .hint("give the file in which the other host keeps its MCP servers")
}

/// Adds one entry to the configuration, or returns why it is refused.
fn take(
    given: &str,
    entry: &Value,
    options: &ImportOptions,
    home: &Path,
    editor: &mut Editor,
) -> Done<ImportedServer> {
    let name = allowed_name(given);
    let imported = |effect, reason, warnings| ImportedServer {
        name: name.clone(),
        effect,
        reason,
        warnings,
    };
    let refused = |reason, warnings| imported(ImportEffect::Refused, Some(reason), warnings);
    if own::is_home(entry, home) {
        let reason = "it is this home of deft, which would call itself".to_owned();
        return Ok(refused(reason, Vec::new()));
    }
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
    let mut fields = Value::Object(fields);
    let old = editor.server(&name);
    if let Some(old) = old.as_ref().filter(|_| options.store_secrets) {
        fields = plain_secrets::with_known_references(&name, &fields, old);
    }
    let effect = match &old {
        Some(old) if *old == fields => {
            remarks.extend(literal_secrets(&name, &fields));
            return Ok(imported(ImportEffect::Unchanged, None, remarks));
        }
        Some(_) if !options.force => {
            let reason = "a server with that name already exists; `--force` replaces it".to_owned();
            remarks.extend(literal_secrets(&name, &fields));
            return Ok(refused(reason, remarks));
        }
        Some(_) => ImportEffect::Replaced,
        None => ImportEffect::New,
    };
    if options.store_secrets && !options.dry_run {
        remarks.extend(plain_secrets::store_all(home, &name, &mut fields)?);
    }
    remarks.extend(literal_secrets(&name, &fields));
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

/// Returns `name` with all characters replaced that are not allowed in the name of a server.
pub(crate) fn allowed_name(name: &str) -> String {
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
