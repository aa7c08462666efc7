//! `deft secrets`: stores, lists, removes and tests secrets. Values are read, but never printed.

use std::io::{self, IsTerminal, Read};
use std::process::ExitCode;

use deft_config::{SecretPlace, check_secret_name};
use deft_service::{Workspace, secrets};
use deft_wire::secret::{SecretList, SecretView};

use crate::args::{Global, Secrets};
use crate::failure::{Done, Failure};
use crate::output::Output;
use crate::questions::Questions;
use crate::table::{Cell, Column, Row, Table, Tone};

/// The maximum size of a secret in bytes, the same as everywhere else.
const MAX_BYTES: u64 = 64 * 1024;

pub(crate) fn run(command: &Secrets, global: &Global, output: &Output) -> Done {
    let workspace = global.workspace();
    match command {
        Secrets::Set { name, file } => set(name, *file, global, output),
        Secrets::List => show(&secrets::list(&workspace)?, output),
        Secrets::Rm { name } => remove(name, &workspace, output),
        Secrets::Test { names } => {
            let list = secrets::test(&workspace, names)?;
            show(&list, output)?;
            Ok(ExitCode::from(u8::from(!list.ok)))
        }
    }
}

fn set(name: &str, file: bool, global: &Global, output: &Output) -> Done {
    // Check the name before asking, so no value is typed in vain.
    check_secret_name(name)?;
    let value = match Questions::new(global, output) {
        Some(questions) => {
            let question = format!("Value of `{name}` (not shown):");
            let typed = questions.hidden_text(&question)?;
            typed
                .filter(|text| !text.trim().is_empty())
                .unwrap_or_default()
        }
        None => read_pipe()?,
    };
    let place = if file {
        SecretPlace::File
    } else {
        SecretPlace::KeyringOrFile
    };
    let stored = secrets::set(&global.workspace(), name, &value, place)?;
    if output.json {
        output.document(&stored)?;
        return Ok(ExitCode::SUCCESS);
    }
    output.prose(format!("stored `{name}` as `{}`", stored.reference))?;
    for reason in &stored.warnings {
        output.note(&format!("not in a keyring: {reason}"));
    }
    Ok(ExitCode::SUCCESS)
}

/// Reads the value from a pipe. Refuses a terminal, which would echo it.
fn read_pipe() -> Done<String> {
    if io::stdin().is_terminal() {
        let message = "no value was piped in, and deft may not prompt for one";
        return Err(Failure::input("usage", message).hint(
            "`pass show X | deft secrets set NAME`, or leave out `--json` and `--no-input`",
        ));
    }
    let mut value = String::new();
    let read = io::stdin().take(MAX_BYTES).read_to_string(&mut value);
    read.map_err(|problem| Failure::input("stdin", format!("cannot read the value: {problem}")))?;
    Ok(value)
}

fn show(list: &SecretList, output: &Output) -> Done {
    if output.json {
        output.document(list)?;
    } else if list.secrets.is_empty() {
        output.note("no secrets; `deft secrets set NAME` stores one");
    } else {
        let columns = [
            Column::keep("secret"),
            Column::keep("in"),
            Column::keep("state"),
            Column::text("used by"),
        ];
        output.table(&Table::new(columns, list.secrets.iter().map(row)))?;
    }
    Ok(ExitCode::SUCCESS)
}

fn row(secret: &SecretView) -> Row {
    let state = if secret.ok {
        Cell::with_tone("ok", Tone::Good)
    } else {
        Cell::with_tone("missing", Tone::Bad)
    };
    let users = match secret.used_by.as_slice() {
        [] => "no setting".to_owned(),
        users => users.join(", "),
    };
    let (name, source) = (secret.name.as_str(), secret.source.word());
    Row::new([name.into(), source.into(), state, users.into()]).with_below(secret.error.clone())
}

fn remove(name: &str, workspace: &Workspace, output: &Output) -> Done {
    let removed = secrets::remove(workspace, name)?;
    if output.json {
        output.document(&removed)?;
    } else {
        output.prose(format!("removed `{name}`"))?;
        output.warn(removed.warnings);
    }
    Ok(ExitCode::SUCCESS)
}
