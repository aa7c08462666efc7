//! `deft tools list`, `show` and `catalog`.

use std::process::ExitCode;

use deft_model::{Failure as ToolFailure, nearest};
use deft_tools::{DisabledTool, Found, Router, ServerState, ToolInfo};
use serde_json::{Value, json};

use super::remembered;
use crate::args::ToolList;
use crate::failure::{Done, Failure};
use crate::output::{Output, counted, table};
use crate::progress::say_above;
use deft_config::Home;
use deft_service::app;
use deft_service::doorbell::{self, Ring};
use deft_service::tools::Opened;

pub(super) async fn list(args: &ToolList, home: &Home, output: &Output) -> Done {
    let (opened, failed) = if args.refresh {
        let opened = Opened::to_ask(home, say_above).await?;
        let failed = opened.router.listed().await;
        // A daemon asks its own connections again.
        doorbell::ring(&home.path, Ring::Tools);
        (opened, failed)
    } else {
        (Opened::to_read(home, say_above).await?, Vec::new())
    };
    if let Some(server) = &args.server {
        check_server(server, home)?;
    }
    let mut tools = opened.router.list();
    tools.retain(|tool| is_wanted(tool, args));
    tools.truncate(args.limit.unwrap_or(usize::MAX));
    let unasked = never_asked(&opened, home);
    let disabled = disabled(&opened, args);
    if output.json {
        output.document(&json!({
            "tools": tools.iter().map(short).collect::<Vec<_>>(),
            "disabled": disabled.iter().map(disabled_document).collect::<Vec<_>>(),
            "not_asked": unasked,
            "failed": failed.iter().map(failure).collect::<Vec<_>>(),
        }))?;
    } else {
        let row = |tool: &ToolInfo| vec![tool.shown.clone(), tool.server.clone(), tool.summary()];
        let rows: Vec<Vec<String>> = tools.iter().map(row).collect();
        if !rows.is_empty() {
            output.data(table(&rows, output.width()))?;
        }
        output.note(&counted(tools.len(), "tool"));
        for (server, tool) in &disabled {
            output.note(&format!(
                "disabled: `{server}.{}`: {}",
                tool.name, tool.reason
            ));
        }
        note_unasked(&unasked, output);
        note_failed(&failed, output);
    }
    output.warn(opened.close().await);
    Ok(ExitCode::from(u8::from(!failed.is_empty())))
}

/// Tools that servers list and that cannot be used, with their servers.
fn disabled(opened: &Opened, args: &ToolList) -> Vec<(String, DisabledTool)> {
    let wanted = args.server.as_deref();
    let servers = opened.router.health().into_iter();
    servers
        .filter(|health| wanted.is_none_or(|wanted| health.server == wanted))
        .flat_map(|health| {
            let tools = health.disabled.into_iter();
            tools.map(move |tool| (health.server.clone(), tool))
        })
        .collect()
}

fn disabled_document((server, tool): &(String, DisabledTool)) -> Value {
    json!({"server": server, "name": tool.name, "reason": tool.reason})
}

/// A slip in the name of a server would look like "no tools".
fn check_server(name: &str, home: &Home) -> Done<()> {
    let servers = &home.config.tools.servers;
    if name == deft_tools::BUILTIN_SERVER || servers.contains_key(name) {
        return Ok(());
    }
    Err(no_such_server(name, home))
}

pub(crate) fn no_such_server(name: &str, home: &Home) -> Failure {
    let servers = home.config.tools.servers.keys().map(String::as_str);
    let hint = match nearest(name, servers) {
        Some(near) => format!("did you mean `{near}`?"),
        None => "`deft mcp list` shows what there is".to_owned(),
    };
    Failure::input("no_such_server", format!("there is no server `{name}`")).hint(hint)
}

fn is_wanted(tool: &ToolInfo, args: &ToolList) -> bool {
    let text = format!("{} {}", tool.full_name(), tool.description).to_lowercase();
    let mut words = args.words.iter();
    words.all(|word| text.contains(&word.to_lowercase()))
        && args
            .server
            .as_ref()
            .is_none_or(|server| tool.server == *server)
}

/// Servers in use of which nothing is known.
fn never_asked(opened: &Opened, home: &Home) -> Vec<String> {
    let known = opened.router.health();
    let unknown = known
        .into_iter()
        .filter(|server| server.protocol.is_none() && server.state != ServerState::Disabled);
    let names = unknown.map(|server| server.server);
    names
        .filter(|name| home.config.tools.servers.contains_key(name))
        .collect()
}

fn note_unasked(servers: &[String], output: &Output) {
    if !servers.is_empty() {
        let names: Vec<String> = servers.iter().map(|name| format!("`{name}`")).collect();
        output.note(&format!(
            "never asked so far: {}; `deft tools list --refresh` asks",
            names.join(", ")
        ));
    }
}

/// Also said to those who want only errors: it is one.
fn note_failed(failed: &[(String, ToolFailure)], output: &Output) {
    for (server, failure) in failed {
        let message = format!("`{server}` could not be asked: {}", failure.message);
        let failure = Failure::input("server", message).maybe_hint(failure.hint.clone());
        output.fail(&failure);
    }
}

fn failure((server, failure): &(String, ToolFailure)) -> Value {
    json!({"server": server, "class": failure.class, "message": failure.message,
        "hint": failure.hint})
}

/// A tool as a list has it.
fn short(tool: &ToolInfo) -> Value {
    json!({
        "name": tool.shown,
        "full_name": tool.full_name(),
        "server": tool.server,
        "title": tool.title,
        "description": tool.description,
        "effects": tool.effects(),
        "builtin": tool.builtin,
    })
}

pub(super) async fn show(name: &str, home: &Home, output: &Output) -> Done {
    let opened = Opened::to_read(home, say_above).await?;
    let tool = find(&opened.router, name)?;
    let grant = match app::read_store(home) {
        Ok(store) => remembered::find(&*store, &tool).await,
        // It has been said that the store cannot be read.
        Err(_) => None,
    };
    if output.json {
        let mut document = short(&tool);
        document["input_schema"] = json!(tool.input_schema);
        document["output_schema"] = json!(tool.output_schema);
        document["annotations"] = json!(tool.annotations);
        document["approval"] = remembered::document(&tool, grant.as_ref());
        output.document(&json!({"tool": document}))?;
    } else {
        let approval = remembered::line(&tool, grant.as_ref(), home);
        output.data(page(&tool, approval))?;
    }
    output.warn(opened.close().await);
    Ok(ExitCode::SUCCESS)
}

/// The tool of this name, as far as is known without asking a server.
fn find(router: &Router, name: &str) -> Done<ToolInfo> {
    let unknown =
        |message: String, hint: String| Err(Failure::input("no_such_tool", message).hint(hint));
    match router.find(name) {
        Found::Tool(tool) => Ok(*tool),
        Found::Ambiguous(names) => unknown(
            format!("the tool `{name}` could be {}", names.join(" or ")),
            "write the name with its server".to_owned(),
        ),
        Found::Missing { nearest } => unknown(
            format!("there is no tool `{name}`"),
            match nearest.first() {
                Some(near) => format!("did you mean `{near}`?"),
                None => "`deft tools list` shows what there is".to_owned(),
            },
        ),
        Found::Unknown { .. } => {
            let known = router.list();
            let near = nearest(name, known.iter().map(|tool| tool.shown.as_str()));
            let refresh = "`deft tools list --refresh` asks the servers";
            unknown(
                format!("there is no tool `{name}` so far"),
                match near {
                    Some(near) => format!("did you mean `{near}`? {refresh}"),
                    None => refresh.to_owned(),
                },
            )
        }
    }
}

fn page(tool: &ToolInfo, approval: Option<String>) -> String {
    let mut out = format!("{:12} {}\n", "name", tool.shown);
    let full = tool.full_name();
    if full != tool.shown {
        out.push_str(&format!("{:12} {full}\n", "full name"));
    }
    out.push_str(&format!("{:12} {}\n", "server", tool.server));
    if let Some(title) = &tool.title {
        out.push_str(&format!("{:12} {title}\n", "title"));
    }
    if let Some(effects) = tool.effects() {
        out.push_str(&format!("{:12} {effects}\n", "effects"));
    }
    if let Some(approval) = approval {
        out.push_str(&format!("{:12} {approval}\n", "approval"));
    }
    if !tool.description.is_empty() {
        out.push_str(&format!("\n{}\n", tool.description.trim_end()));
    }
    let parameters = parameters(&tool.input_schema);
    if parameters.is_empty() {
        out.push_str("\nIt takes no parameters.\n");
    } else {
        out.push_str(&format!("\nParameters:\n{}", table(&parameters, None)));
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

pub(super) async fn catalog(home: &Home, output: &Output) -> Done {
    let opened = Opened::to_read(home, say_above).await?;
    output.document(&opened.router.catalog())?;
    note_unasked(&never_asked(&opened, home), output);
    output.warn(opened.close().await);
    Ok(ExitCode::SUCCESS)
}
