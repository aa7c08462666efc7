//! `deft mcp add` and `remove`: changes to the file.

use std::path::Path;
use std::process::ExitCode;

use deft_store::{Sqlite, SqliteOptions};
use serde_json::{Map, Value, json};

use crate::args::McpAdd;
use crate::failure::{Done, Failure};
use crate::output::Output;
use deft_config::config_file;
use deft_config::secrets::is_literal_secret;
use deft_config::{Config, Editor, bad_name};
use deft_service::app;

pub(super) fn add(args: &McpAdd, home: &Path, output: &Output) -> Done {
    let name = &args.name;
    if let Some(problem) = bad_name(name) {
        return Err(
            Failure::input("invalid_name", problem).hint("use letters, digits, `-` and `_`")
        );
    }
    let fields = fields(args)?;
    let mut editor = Editor::open(home)?;
    let old = editor.server(name);
    if old.is_some() && !args.force {
        return Err(
            Failure::input("exists", format!("there is already a server `{name}`"))
                .hint("`--force` replaces it"),
        );
    }
    editor.put_server(name, &fields)?;
    let changed = editor.save()?;
    let warnings = literal_secrets(name, &fields);
    let file = config_file(home);
    if output.json {
        output.document(&json!({
            "ok": true, "changed": changed, "path": file.display().to_string(),
            "server": name, "warnings": warnings,
        }))?;
        return Ok(ExitCode::SUCCESS);
    }
    output.data(format!(
        "{} {name}",
        if old.is_some() { "replaced" } else { "added" }
    ))?;
    warnings
        .iter()
        .for_each(|warning| output.note(&format!("warning: {warning}")));
    output.note(&format!(
        "written to {}; `deft mcp probe {name}` tries it",
        file.display()
    ));
    Ok(ExitCode::SUCCESS)
}

/// The server as the file has it.
fn fields(args: &McpAdd) -> Done<Value> {
    let mut fields = Map::new();
    match (&args.url, args.command.split_first()) {
        (Some(url), None) => drop(fields.insert("url".to_owned(), json!(url))),
        (None, Some((command, rest))) => {
            fields.insert("command".to_owned(), json!(command));
            if !rest.is_empty() {
                fields.insert("args".to_owned(), json!(rest));
            }
        }
        (Some(_), Some(_)) | (None, None) => {
            return Err(
                Failure::input("usage", "a server is an address or a command")
                    .hint("give `--url URL`, or the command after `--`"),
            );
        }
    }
    let pair = |text: &str, sign: char, form: &str| match text.split_once(sign) {
        Some((name, value)) if !name.trim().is_empty() => {
            Ok((name.trim().to_owned(), json!(value.trim())))
        }
        _ => Err(Failure::input(
            "usage",
            format!("`{text}` is not of the form `{form}`"),
        )),
    };
    let env: Done<Map<_, _>> = args
        .env
        .iter()
        .map(|text| pair(text, '=', "NAME=value"))
        .collect();
    let headers = args
        .headers
        .iter()
        .map(|text| pair(text, ':', "Name: value"));
    let headers: Done<Map<_, _>> = headers.collect();
    for (name, map) in [("env", env?), ("headers", headers?)] {
        if !map.is_empty() {
            fields.insert(name.to_owned(), Value::Object(map));
        }
    }
    Ok(Value::Object(fields))
}

/// What to say about values that look like secrets written down.
pub(super) fn literal_secrets(server: &str, fields: &Value) -> Vec<String> {
    let mut warnings = Vec::new();
    for map in ["env", "headers"] {
        for (name, value) in fields[map].as_object().into_iter().flatten() {
            if value
                .as_str()
                .is_some_and(|value| is_literal_secret(name, value))
            {
                warnings.push(format!(
                    "`mcp_servers.{server}.{map}.{name}` looks like a secret written down; \
                     `env:NAME` or `file:PATH` keeps it out of the file"
                ));
            }
        }
    }
    warnings
}

pub(super) fn remove(name: &str, home: &Path, output: &Output) -> Done {
    let mut editor = Editor::open(home)?;
    let names = editor.servers();
    if !editor.remove_server(name) {
        let near = deft_model::nearest(name, names.iter().map(String::as_str));
        let hint = match near {
            Some(near) => format!("did you mean `{near}`?"),
            None => "`deft mcp list` shows what there is".to_owned(),
        };
        let message = format!("there is no server `{name}` in the file");
        return Err(Failure::input("no_such_server", message).hint(hint));
    }
    editor.save()?;
    let file = config_file(home);
    forget(name, &file);
    if output.json {
        let path = file.display().to_string();
        output.document(&json!({"ok": true, "removed": name, "path": path}))?;
    } else {
        output.data(format!("removed {name}"))?;
    }
    Ok(ExitCode::SUCCESS)
}

/// Drops what is stored about a server. A catalog that stays does no harm: it is
/// void as soon as another server has the name.
fn forget(name: &str, file: &Path) {
    let Ok(config) = Config::read(file) else {
        return;
    };
    let path = &config.store.path;
    if !path.exists() {
        return;
    }
    let store = Sqlite::open(path, &SqliteOptions::default());
    if let (Ok(store), Ok(runtime)) = (store, app::runtime()) {
        runtime.block_on(deft_service::tools::forget(&store, name));
    }
}
