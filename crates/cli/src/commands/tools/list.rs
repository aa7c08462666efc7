//! `deft tools list`, `show`, `forget` and `catalog`.

use std::process::ExitCode;

use deft_service::tools::{self, ApprovalState, ShownTool, ToolQuery, first_sentence};
use deft_service::{Workspace, runtime};
use deft_wire::tool::{FailedServer, ToolDocument, ToolSummary};
use jiff::tz::TimeZone;
use serde_json::Value;

use crate::args::ToolList;
use crate::failure::{Done, Failure};
use crate::fold::{fold, fold_markdown};
use crate::output::{Output, format_count, local, table};
use crate::table::{Column, Row, Table};

pub(super) fn list(args: &ToolList, workspace: &Workspace, output: &Output) -> Done {
    let query = ToolQuery {
        words: args.words.clone(),
        server: args.server.clone(),
        refresh: args.refresh,
        limit: args.limit,
    };
    let found = runtime::start()?.block_on(tools::list(workspace, &query))?;
    let list = found.value;
    if output.json {
        output.document(&list)?;
    } else {
        let row = |tool: &ToolSummary| {
            let sentence = first_sentence(&tool.description);
            let (name, server) = (tool.name.as_str(), tool.server.as_str());
            Row::new([name.into(), server.into(), sentence.into()])
        };
        if !list.tools.is_empty() {
            output.page();
            let columns = [
                Column::keep("tool"),
                Column::keep("server"),
                Column::text("description"),
            ];
            output.table(&Table::new(columns, list.tools.iter().map(row)))?;
        }
        output.note(&format_count(list.tools.len(), "tool"));
        for tool in &list.disabled {
            output.note(&format!(
                "disabled: `{}.{}`: {}",
                tool.server, tool.name, tool.reason
            ));
        }
        note_unasked(&list.not_asked, output);
        note_failed(&list.failed, output);
    }
    output.warn(found.warnings);
    Ok(ExitCode::from(u8::from(!list.failed.is_empty())))
}

fn note_unasked(servers: &[String], output: &Output) {
    if !servers.is_empty() {
        let names: Vec<String> = servers.iter().map(|name| format!("`{name}`")).collect();
        output.note(&format!(
            "not queried yet: {}; `deft tools list --refresh` queries them",
            names.join(", ")
        ));
    }
}

/// Prints the servers that failed, also with `--quiet`, because these are errors.
fn note_failed(failed: &[FailedServer], output: &Output) {
    for one in failed {
        let message = format!("cannot query `{}`: {}", one.server, one.message);
        let failure = Failure::input("server", message).maybe_hint(one.hint.clone());
        output.fail(&failure);
    }
}

pub(super) fn show(name: &str, workspace: &Workspace, output: &Output) -> Done {
    let found = runtime::start()?.block_on(tools::show(workspace, name))?;
    if output.json {
        output.document(&ToolDocument {
            tool: found.value.view,
        })?;
    } else {
        let zone = workspace.home_to_read()?.moment().zone;
        output.data(page(&found.value, &zone, output.width()))?;
    }
    output.warn(found.warnings);
    Ok(ExitCode::SUCCESS)
}

pub(super) fn forget(name: &str, workspace: &Workspace, output: &Output) -> Done {
    let forgotten = runtime::start()?.block_on(tools::forget(workspace, name))?;
    if output.json {
        output.document(&forgotten)?;
    } else {
        for tool in &forgotten.forgotten {
            output.note(&format!("chats ask again before they call `{tool}`"));
        }
    }
    Ok(ExitCode::SUCCESS)
}

pub(super) fn catalog(workspace: &Workspace, output: &Output) -> Done {
    let found = runtime::start()?.block_on(tools::catalog(workspace))?;
    output.document(&found.value.catalog)?;
    note_unasked(&found.value.not_asked, output);
    output.warn(found.warnings);
    Ok(ExitCode::SUCCESS)
}

/// Describes whether a chat asks before it calls a tool, or returns `None` if it never asks.
fn approval_line(name: &str, state: &ApprovalState, zone: &TimeZone) -> Option<String> {
    match state {
        ApprovalState::NotNeeded => None,
        ApprovalState::Always(grant) => Some(format!(
            "always, since {} by {} (`deft tools forget {name}` revokes it)",
            local(grant.granted_at, zone),
            grant.by
        )),
        ApprovalState::Changed => {
            let text = "chats ask before each call: the tool has changed since you chose `always`";
            Some(text.to_owned())
        }
        ApprovalState::Asked => Some(
            "chats ask before each call: the server does not say whether the tool changes or \
             deletes data"
                .to_owned(),
        ),
    }
}

fn page(shown: &ShownTool, zone: &TimeZone, width: Option<usize>) -> String {
    let tool = &shown.view.summary;
    let mut out = format!("{:12} {}\n", "name", tool.name);
    if tool.full_name != tool.name {
        out.push_str(&format!("{:12} {}\n", "full name", tool.full_name));
    }
    out.push_str(&format!("{:12} {}\n", "server", tool.server));
    if let Some(title) = &tool.title {
        out.push_str(&format!("{:12} {title}\n", "title"));
    }
    if let Some(effects) = tool.effects {
        out.push_str(&format!("{:12} {effects}\n", "effects"));
    }
    if let Some(approval) = approval_line(&tool.name, &shown.approval, zone) {
        let approval = format!("{:12} {approval}\n", "approval");
        out.push_str(&fold(&approval, width));
    }
    if !tool.description.is_empty() {
        let description = format!("\n{}\n", tool.description.trim_end());
        out.push_str(&fold_markdown(&description, width));
    }
    let parameters = parameters(&shown.view.input_schema);
    if parameters.is_empty() {
        out.push_str("\nIt has no parameters.\n");
    } else {
        out.push_str(&format!("\nParameters:\n{}", table(&parameters, width)));
    }
    out
}

fn parameters(schema: &Value) -> Vec<Vec<String>> {
    let required = schema["required"].as_array();
    let is_required = |name: &str| required.is_some_and(|names| names.iter().any(|n| n == name));
    let row = |(name, property): (&String, &Value)| {
        let needed = if is_required(name) { ", required" } else { "" };
        vec![
            format!("  {name}"),
            format!("{}{needed}", type_of(property)),
            property["description"]
                .as_str()
                .unwrap_or_default()
                .replace('\n', " "),
        ]
    };
    let properties = schema["properties"].as_object().into_iter().flatten();
    properties.map(row).collect()
}

fn type_of(schema: &Value) -> String {
    match (&schema["enum"], &schema["type"]) {
        (Value::Array(words), _) => {
            let words: Vec<String> = words.iter().map(ToString::to_string).collect();
            words.join(" | ")
        }
        (_, Value::String(name)) => name.clone(),
        (_, Value::Array(names)) => {
            let names: Vec<&str> = names.iter().filter_map(Value::as_str).collect();
            names.join(" | ")
        }
        _ => "any".to_owned(),
    }
}
