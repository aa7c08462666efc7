//! `deft hooks`: which deliveries of other programs fire skills.

use std::process::ExitCode;

use deft_service::{hooks, listener};
use deft_wire::hook::HookView;

use crate::args::{Global, Hooks};
use crate::failure::Done;
use crate::output::Output;
use crate::table::{Column, Row, Table};

pub(crate) fn run(command: &Hooks, global: &Global, output: &Output) -> Done {
    match command {
        Hooks::List => list(global, output),
    }
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
        output.note(
            "hint: a section `[hooks.NAME]` of the configuration makes one; see docs/http.md",
        );
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
                "no skill waits for `{name}`: write `trigger_config: {{hook: {name}}}` into one"
            ));
        }
    }
    Ok(ExitCode::SUCCESS)
}
