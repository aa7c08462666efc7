//! `deft mcp list`: servers and what is known of them, without asking any.

use std::process::ExitCode;

use deft_schedule::show;
use deft_tools::{Health, ServerOptions};
use jiff::tz::TimeZone;
use serde_json::{Value, json};

use crate::failure::Done;
use crate::output::{Output, counted, table};
use crate::progress::say_above;
use deft_config::Home;
use deft_service::tools::Opened;

pub(super) async fn run(home: &Home, output: &Output) -> Done {
    let opened = Opened::to_read(home, say_above).await?;
    let zone = home.moment().zone;
    let row = |health: Health| Row::new(health, home, &opened, &zone);
    let rows: Vec<Row> = opened.router.health().into_iter().filter_map(row).collect();
    if output.json {
        let servers: Vec<Value> = rows.iter().map(Row::document).collect();
        output.document(&json!({"servers": servers}))?;
    } else {
        let cells: Vec<Vec<String>> = rows.iter().map(Row::cells).collect();
        if !cells.is_empty() {
            output.data(table(&cells, output.width()))?;
        }
        output.note(&counted(rows.len(), "server"));
        note(&rows, output);
    }
    output.warn(opened.close().await);
    Ok(ExitCode::SUCCESS)
}

fn note(rows: &[Row], output: &Output) {
    if rows.is_empty() {
        output.note("`deft mcp add` and `deft mcp import` bring servers in");
    } else if rows.iter().any(|row| row.tools.is_none() && row.enabled) {
        output.note("`deft mcp probe` asks the servers what they offer");
    }
}

/// A server and what is known of it.
struct Row {
    name: String,
    transport: &'static str,
    target: String,
    enabled: bool,
    tools: Option<usize>,
    listed_at: Option<String>,
    protocol: Option<String>,
    implementation: Option<String>,
    /// Why the last try to ask it failed, and when that was.
    failure: Option<(String, String)>,
}

impl Row {
    fn new(health: Health, home: &Home, opened: &Opened, zone: &TimeZone) -> Option<Self> {
        let options = home.config.tools.servers.get(&health.server)?;
        let (transport, target) = reach(options);
        // A catalog that the router did not take is one of another server.
        let catalog = health.protocol.as_ref().and(opened.catalog(&health.server));
        let listed_at = catalog.as_ref().map(|(_, at)| *at);
        let failure = opened.failure(&health.server);
        // One that answered since is well again.
        let failure = failure.filter(|(_, at)| listed_at.is_none_or(|listed| listed < *at));
        Some(Self {
            failure: failure.map(|(error, at)| (error, show(at, zone))),
            transport,
            target,
            enabled: options.enabled,
            tools: catalog.as_ref().map(|_| health.tools),
            listed_at: catalog.as_ref().map(|(_, at)| show(*at, zone)),
            implementation: catalog.and_then(|(catalog, _)| catalog.implementation),
            protocol: health.protocol,
            name: health.server,
        })
    }

    fn document(&self) -> Value {
        json!({
            "name": self.name,
            "transport": self.transport,
            "target": self.target,
            "enabled": self.enabled,
            "tools": self.tools,
            "listed_at": self.listed_at,
            "protocol": self.protocol,
            "implementation": self.implementation,
            "error": self.failure.as_ref().map(|(error, _)| error),
            "failed_at": self.failure.as_ref().map(|(_, at)| at),
        })
    }

    fn cells(&self) -> Vec<String> {
        let listed = match (&self.tools, &self.listed_at) {
            (Some(tools), Some(at)) => Some(format!("{}, {at}", counted(*tools, "tool"))),
            _ => None,
        };
        let failed = self.failure.as_ref();
        let failed = failed.map(|(error, at)| format!("failed {at}: {}", error.replace('\n', " ")));
        let known: Vec<String> = listed.into_iter().chain(failed).collect();
        let known = if known.is_empty() {
            "not asked yet".to_owned()
        } else {
            known.join("; ")
        };
        let known = if self.enabled {
            known
        } else {
            "disabled".to_owned()
        };
        vec![
            self.name.clone(),
            self.transport.to_owned(),
            known,
            self.target.clone(),
        ]
    }
}

/// How a server is reached, and where it is.
fn reach(options: &ServerOptions) -> (&'static str, String) {
    if let Some(url) = &options.url {
        return ("http", url.clone());
    }
    let words = options.command.iter().chain(&options.args);
    // Only for people to recognise it; nothing runs this line.
    let quoted = |word: &String| {
        if word.is_empty() || word.contains(char::is_whitespace) {
            format!("{word:?}")
        } else {
            word.clone()
        }
    };
    ("stdio", words.map(quoted).collect::<Vec<_>>().join(" "))
}
