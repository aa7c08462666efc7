//! Adds and removes servers in the configuration, even if the file has mistakes.

use std::path::Path;

use deft_config::{Config, Editor, bad_name, config_file, is_literal_secret};
use deft_model::nearest;
use deft_store::{Sqlite, SqliteOptions};
use deft_wire::server::{ServerAdded, ServerRemoved};
use deft_wire::{Done, Failure};
use serde_json::{Map, Value, json};

use crate::router::forget_server;
use crate::runtime;
use crate::workspace::Workspace;

/// A server to add.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewServer {
    /// The name.
    pub name: String,
    /// How it is reached.
    pub address: ServerAddress,
    /// Environment variables of the process.
    pub env: Vec<(String, String)>,
    /// HTTP headers of its requests.
    pub headers: Vec<(String, String)>,
    /// Whether to replace a server of the same name.
    pub force: bool,
}

/// How a server is reached.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ServerAddress {
    /// Over HTTP, at this URL.
    Url(String),
    /// As a child process.
    Command {
        /// The program.
        program: String,
        /// The arguments.
        args: Vec<String>,
    },
}

/// Adds a server to the configuration. The boolean is true if it replaces a server.
pub fn add(workspace: &Workspace, server: &NewServer) -> Done<(ServerAdded, bool)> {
    let (home, name) = (workspace.locate()?, &server.name);
    if let Some(problem) = bad_name(name) {
        return Err(
            Failure::input("invalid_name", problem).hint("use letters, digits, `-` and `_`")
        );
    }
    let fields = fields(server);
    let mut editor = Editor::open(&home)?;
    let replaces = editor.server(name).is_some();
    if replaces && !server.force {
        return Err(
            Failure::input("exists", format!("the server `{name}` already exists"))
                .hint("`--force` replaces it"),
        );
    }
    editor.put_server(name, &fields)?;
    let added = ServerAdded {
        ok: true,
        changed: editor.save()?,
        path: config_file(&home).display().to_string(),
        server: name.clone(),
        warnings: literal_secrets(name, &fields),
    };
    Ok((added, replaces))
}

/// Returns the fields of the server's section.
fn fields(server: &NewServer) -> Value {
    let mut fields = Map::new();
    match &server.address {
        ServerAddress::Url(url) => drop(fields.insert("url".to_owned(), json!(url))),
        ServerAddress::Command { program, args } => {
            fields.insert("command".to_owned(), json!(program));
            if !args.is_empty() {
                fields.insert("args".to_owned(), json!(args));
            }
        }
    }
    for (name, pairs) in [("env", &server.env), ("headers", &server.headers)] {
        if !pairs.is_empty() {
            let pairs = pairs.iter().map(|(key, value)| (key.clone(), json!(value)));
            fields.insert(name.to_owned(), Value::Object(pairs.collect()));
        }
    }
    Value::Object(fields)
}

/// Returns warnings about values that look like plaintext secrets.
pub(super) fn literal_secrets(server: &str, fields: &Value) -> Vec<String> {
    let mut warnings = Vec::new();
    for map in ["env", "headers"] {
        for (name, value) in fields[map].as_object().into_iter().flatten() {
            if value
                .as_str()
                .is_some_and(|value| is_literal_secret(name, value))
            {
                warnings.push(format!(
                    "`mcp_servers.{server}.{map}.{name}` looks like a plaintext secret; \
                     `env:NAME` or `file:PATH` keeps it out of the file"
                ));
            }
        }
    }
    warnings
}

/// Removes a server from the configuration.
pub fn remove(workspace: &Workspace, name: &str) -> Done<ServerRemoved> {
    let home = workspace.locate()?;
    let mut editor = Editor::open(&home)?;
    let names = editor.servers();
    if !editor.remove_server(name) {
        let near = nearest(name, names.iter().map(String::as_str));
        let hint = match near {
            Some(near) => format!("did you mean `{near}`?"),
            None => "`deft mcp list` shows all servers".to_owned(),
        };
        let message = format!("server `{name}` is not in the file");
        return Err(Failure::input("no_such_server", message).hint(hint));
    }
    editor.save()?;
    let file = config_file(&home);
    forget(name, &file);
    Ok(ServerRemoved {
        ok: true,
        removed: name.to_owned(),
        path: file.display().to_string(),
    })
}

/// Deletes the stored catalog of a server. A catalog that stays is harmless: it becomes invalid when another
/// server gets the name.
fn forget(name: &str, file: &Path) {
    let Ok(config) = Config::read(file) else {
        return;
    };
    let path = &config.store.path;
    if !path.exists() {
        return;
    }
    let store = Sqlite::open(path, &SqliteOptions::default());
    if let (Ok(store), Ok(runtime)) = (store, runtime::start()) {
        runtime.block_on(forget_server(&store, name));
    }
}
