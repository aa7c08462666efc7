//! `deft mcp list`: servers and their stored state, without connecting to them.

use std::process::ExitCode;

use deft_service::{Workspace, runtime, servers};
use deft_wire::server::ServerView;
use jiff::Timestamp;
use jiff::tz::TimeZone;

use super::login::words;
use crate::failure::Done;
use crate::output::{Output, format_count};
use crate::table::{Cell, Column, Row, Table, Tone};
use crate::when;

pub(super) fn run(workspace: &Workspace, output: &Output) -> Done {
    let found = runtime::start()?.block_on(servers::list(workspace))?;
    let servers = &found.value.servers;
    if output.json {
        output.document(&found.value)?;
    } else {
        if !servers.is_empty() {
            let zone = workspace.home_to_read()?.moment().zone;
            let columns = [
                Column::keep("server"),
                Column::keep("transport"),
                Column::text("state"),
                Column::extra("target"),
            ];
            output.table(&Table::new(
                columns,
                servers.iter().map(|server| row(server, &zone)),
            ))?;
        }
        output.note(&format_count(servers.len(), "server"));
        note(servers, output);
    }
    output.warn(found.warnings);
    Ok(ExitCode::SUCCESS)
}

fn note(servers: &[ServerView], output: &Output) {
    if servers.is_empty() {
        output.note("`deft mcp add` and `deft mcp import` add servers");
    } else if servers
        .iter()
        .any(|server| server.tools.is_none() && server.enabled)
    {
        output.note("`deft mcp probe` shows what the servers offer");
    }
}

fn row(server: &ServerView, zone: &TimeZone) -> Row {
    let tone = match (&server.error, server.enabled) {
        (_, false) => Tone::Dim,
        (Some(_), true) => Tone::Bad,
        (None, true) => Tone::Plain,
    };
    Row::new([
        server.name.as_str().into(),
        server.transport.word().into(),
        Cell::with_tone(state(server, zone), tone),
        server.target.as_str().into(),
    ])
}

fn state(server: &ServerView, zone: &TimeZone) -> String {
    let short = |at: &String| match at.parse() {
        Ok(at) => when::short(at, Timestamp::now(), zone),
        Err(_) => at.clone(),
    };
    if !server.enabled {
        return "disabled".to_owned();
    }
    let listed = match (server.tools, &server.listed_at) {
        (Some(tools), Some(at)) => Some(format!("{}, {}", format_count(tools, "tool"), short(at))),
        _ => None,
    };
    let failed = match (&server.error, &server.failed_at) {
        (Some(error), Some(at)) => Some(format!("failed {}: {error}", short(at))),
        _ => None,
    };
    let sign_in = server.sign_in.as_ref();
    let sign_in = sign_in.map(|sign_in| words(sign_in, &server.name, zone));
    let known = listed.into_iter().chain(failed).chain(sign_in);
    let known: Vec<String> = known.collect();
    if known.is_empty() {
        "not queried yet".to_owned()
    } else {
        known.join("; ")
    }
}
