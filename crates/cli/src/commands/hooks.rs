//! `deft hooks`: lists hooks, and sends a test delivery.

use std::io::Read;
use std::path::Path;
use std::process::ExitCode;

use deft_service::{hooks, listener, runs};
use deft_wire::hook::HookView;

use crate::args::{Global, Hooks};
use crate::failure::{Done, Failure};
use crate::output::Output;
use crate::table::{Column, Row, Table};

pub(crate) fn run(command: &Hooks, global: &Global, output: &Output) -> Done {
    match command {
        Hooks::List => list(global, output),
        Hooks::Test { name, payload } => test(name, payload.as_deref(), global, output),
    }
}

/// Sends a test delivery and prints the skills it fired. The exit code is 1 if it fired none.
fn test(name: &str, payload: Option<&Path>, global: &Global, output: &Output) -> Done {
    let payload = payload.map(read_payload).transpose()?;
    let receipt = hooks::send_trial(&global.workspace(), name, payload)?;
    let has_fired = receipt.runs.iter().any(|one| one.run.is_some());
    if output.json {
        output.document(&receipt)?;
        return Ok(ExitCode::from(u8::from(!has_fired)));
    }
    for one in &receipt.runs {
        let skill = &one.skill;
        match (&one.run, &one.error) {
            (Some(run), _) => output.data(format!("{run} {skill}"))?,
            (None, why) => {
                let why = why.as_deref().unwrap_or("no reason was given");
                output.note(&format!("`{skill}` was not started: {why}"));
            }
        }
    }
    if receipt.repeated {
        output.note("this delivery was already accepted; its runs:");
    }
    if let Some(why) = &receipt.ignored {
        output.note(&format!("no skill was started: {why}"));
    }
    Ok(ExitCode::from(u8::from(!has_fired)))
}

fn read_payload(path: &Path) -> Done<Vec<u8>> {
    let read = if path.as_os_str() == "-" {
        let mut body = Vec::new();
        std::io::stdin().read_to_end(&mut body).map(|_| body)
    } else {
        runs::read_input_file(path).map(String::into_bytes)
    };
    read.map_err(|problem| Failure::file(path, "read", &problem))
}

fn list(global: &Global, output: &Output) -> Done {
    let workspace = global.workspace();
    let list = hooks::list(&workspace)?;
    if output.json {
        output.document(&list)?;
        return Ok(ExitCode::SUCCESS);
    }
    if list.hooks.is_empty() {
        output.note("no hooks");
        output.note("hint: add a section `[hooks.NAME]` to the configuration; see docs/http.md");
        return Ok(ExitCode::SUCCESS);
    }
    let up = listener::find(&workspace.locate()?).and_then(|state| state.url);
    let columns = [
        Column::keep("address"),
        Column::keep("scheme"),
        Column::text("skills"),
    ];
    let row = |hook: &HookView| {
        let address = format!("{}{}", up.as_deref().unwrap_or_default(), hook.path);
        Row::new([
            address.into(),
            hook.scheme.as_str().into(),
            hook.skills.join(", ").into(),
        ])
    };
    output.table(&Table::new(columns, list.hooks.iter().map(row)))?;
    for hook in &list.hooks {
        let name = &hook.name;
        if let Some(problem) = &hook.problem {
            output.note(&format!("the secret of `{name}` cannot be read: {problem}"));
        }
        if hook.skills.is_empty() {
            output.note(&format!(
                "no skill waits for `{name}`\nhint: write `trigger_config: {{hook: {name}}}` into a skill"
            ));
        }
    }
    Ok(ExitCode::SUCCESS)
}
