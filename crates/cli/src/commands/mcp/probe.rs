//! `deft mcp probe`: connects to servers and says what they offer, or why not.

use std::process::ExitCode;

use deft_model::FailureClass;
use deft_tools::{Era, Probe};
use serde_json::{Value, json};
use tokio::task::JoinSet;

use super::super::tools::no_such_server;
use crate::failure::{Done, Failure};
use crate::output::Output;
use crate::progress::say_above;
use deft_config::Home;
use deft_service::app;
use deft_service::doorbell::{self, Ring};
use deft_service::tools::{Opened, remember};

/// What was found.
struct Look {
    probe: Probe,
    class: Option<FailureClass>,
    era: Option<Era>,
    opened: Opened,
}

pub(super) async fn run(name: Option<&str>, home: &Home, output: &Output) -> Done {
    let names = chosen(name, home)?;
    let store = app::open_store(home)?;
    let mut looking = JoinSet::new();
    for name in names {
        // A router of its own, so that no other server is started by the way.
        let opened = Opened::to_ask_one(home, store.clone(), &name, say_above).await?;
        looking.spawn(look(opened, name));
    }
    let mut looks: Vec<Look> = looking.join_all().await.into_iter().flatten().collect();
    looks.sort_by(|one, other| one.probe.server.cmp(&other.probe.server));
    let ok = looks.iter().all(|look| look.probe.error.is_none());
    for look in &looks {
        remember(&*store, &look.probe.server, look.probe.error.as_deref()).await;
    }
    // A daemon asks its own connections again.
    doorbell::ring(&home.path, Ring::Tools);
    let disabled = if name.is_none() {
        disabled(home)
    } else {
        Vec::new()
    };
    if output.json {
        let servers: Vec<Value> = looks.iter().map(Look::document).collect();
        output.document(&json!({"ok": ok, "servers": servers, "disabled": disabled}))?;
    } else {
        for look in &looks {
            output.data(look.text())?;
        }
        for name in &disabled {
            output.note(&format!("`{name}` is disabled and was not asked"));
        }
    }
    for look in looks {
        output.warn(look.opened.close().await);
    }
    Ok(ExitCode::from(u8::from(!ok)))
}

async fn look(opened: Opened, name: String) -> Option<Look> {
    let probe = Box::pin(opened.router.probe(&name)).await?;
    let class = if probe.error.is_some() {
        // A start that just failed is not tried again, but its class is known here.
        let failed = opened.router.listed().await;
        failed.first().map(|(_, failure)| failure.class)
    } else {
        None
    };
    let known = opened.catalog(&name).filter(|_| probe.error.is_none());
    Some(Look {
        class,
        era: known.map(|(catalog, _)| catalog.era),
        probe,
        opened,
    })
}

/// The servers to look at: the one that was named, or all in use.
fn chosen(name: Option<&str>, home: &Home) -> Done<Vec<String>> {
    let servers = &home.config.tools.servers;
    match name {
        Some(name) if servers.contains_key(name) => Ok(vec![name.to_owned()]),
        Some(name) => Err(no_such_server(name, home)),
        None if servers.is_empty() => Err(Failure::input("no_servers", "there are no servers")
            .hint("`deft mcp add` and `deft mcp import` bring servers in")),
        None => {
            let enabled = servers.iter().filter(|(_, server)| server.enabled);
            Ok(enabled.map(|(name, _)| name.clone()).collect())
        }
    }
}

fn disabled(home: &Home) -> Vec<String> {
    let servers = home.config.tools.servers.iter();
    let disabled = servers.filter(|(_, server)| !server.enabled);
    disabled.map(|(name, _)| name.clone()).collect()
}

impl Look {
    fn era(&self) -> Option<&'static str> {
        self.era.map(|era| match era {
            Era::Legacy => "legacy",
            Era::Modern => "modern",
        })
    }

    fn document(&self) -> Value {
        let mut document = json!(self.probe);
        document["ok"] = json!(self.probe.error.is_none());
        document["era"] = json!(self.era());
        document["class"] = json!(self.class);
        document
    }

    fn text(&self) -> String {
        let probe = &self.probe;
        let mut out = format!("{}\n", probe.server);
        let mut line = |key: &str, value: String| out.push_str(&format!("  {key:10} {value}\n"));
        if let Some(error) = &probe.error {
            let class = self.class.map(|class| format!(" ({class})"));
            line("error", format!("{error}{}", class.unwrap_or_default()));
            if let Some(hint) = &probe.hint {
                line("hint", hint.clone());
            }
            return out;
        }
        let unknown = |text: &Option<String>| text.clone().unwrap_or_else(|| "unknown".to_owned());
        line("is", unknown(&probe.implementation));
        let era = self.era().map(|era| format!(" ({era})"));
        line(
            "protocol",
            format!("{}{}", unknown(&probe.protocol), era.unwrap_or_default()),
        );
        let (connect, latency) = (probe.connect.as_millis(), probe.latency.as_millis());
        line(
            "latency",
            format!("{latency} ms, after {connect} ms to connect"),
        );
        line(
            "tools",
            format!("{}: {}", probe.tools.len(), probe.tools.join(", ")),
        );
        for tool in &probe.disabled {
            line("disabled", format!("{}: {}", tool.name, tool.reason));
        }
        out
    }
}
