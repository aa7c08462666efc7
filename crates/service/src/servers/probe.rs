//! Connects to servers and reports their offers, or why they fail.

use std::time::Duration;

use deft_config::Home;
use deft_model::FailureClass;
use deft_tools::Era;
use deft_wire::server::{ProbeList, ProbeView, ProtocolEra, UnusableTool};
use deft_wire::{Done, Failure};
use tokio::task::JoinSet;

use super::sign_in::sign_in_of;
use crate::doorbell::{self, Ring};
use crate::router::{CatalogRouter, remember};
use crate::store;
use crate::tools::{WithWarnings, no_such_server};
use crate::workspace::Workspace;

/// Connects to one server, or to all enabled servers.
pub async fn probe(workspace: &Workspace, name: Option<&str>) -> Done<WithWarnings<ProbeList>> {
    let home = workspace.home()?;
    let names = choose_servers(name, &home)?;
    let store = store::open(&home)?;
    let mut probing = JoinSet::new();
    for name in names {
        // A router with this server only, so that no other server is started.
        let opened = CatalogRouter::to_ask_one(&home, store.clone(), &name, workspace.tell).await?;
        probing.spawn(probe_one(opened, name));
    }
    let mut found: Vec<(ProbeView, CatalogRouter)> =
        probing.join_all().await.into_iter().flatten().collect();
    found.sort_by(|(one, _), (other, _)| one.server.cmp(&other.server));
    let zone = home.moment().zone;
    for (view, _) in &mut found {
        view.sign_in = sign_in_of(&home, &view.server, &zone);
        remember(&*store, &view.server, reason(view).as_deref()).await;
    }
    // Tell a running daemon to query its own connections again.
    doorbell::ring(&home.path, Ring::Tools);
    let (mut servers, mut warnings) = (Vec::new(), Vec::new());
    for (view, opened) in found {
        servers.push(view);
        warnings.extend(opened.close().await);
    }
    let list = ProbeList {
        ok: servers.iter().all(|view| view.ok),
        servers,
        disabled: match name {
            Some(_) => Vec::new(),
            None => disabled_servers(&home),
        },
    };
    Ok(WithWarnings {
        value: list,
        warnings,
    })
}

async fn probe_one(opened: CatalogRouter, name: String) -> Option<(ProbeView, CatalogRouter)> {
    let probe = Box::pin(opened.router.probe(&name)).await?;
    let class = if probe.error.is_some() {
        // Does not retry the start that has just failed, but returns its failure class.
        let failed = opened.router.list_servers().await;
        failed.first().map(|(_, failure)| failure.class)
    } else {
        None
    };
    let known = opened.catalog(&name).filter(|_| probe.error.is_none());
    let disabled = probe.disabled.into_iter();
    let view = ProbeView {
        ok: probe.error.is_none(),
        era: known.map(|(catalog, _)| era(catalog.era)),
        class,
        server: probe.server,
        implementation: probe.implementation,
        protocol: probe.protocol,
        tools: probe.tools,
        disabled: disabled
            .map(|tool| UnusableTool {
                name: tool.name,
                reason: tool.reason,
            })
            .collect(),
        connect: millis(probe.connect),
        latency: millis(probe.latency),
        error: probe.error,
        hint: probe.hint,
        sign_in: None,
    };
    Some((view, opened))
}

/// Returns the failure for `deft mcp list`. For authentication failures it includes the hint, which says how
/// to sign in.
fn reason(view: &ProbeView) -> Option<String> {
    let error = view.error.as_ref()?;
    let hint = view.hint.as_ref();
    let hint = hint.filter(|_| view.class == Some(FailureClass::Auth));
    Some(hint.map_or_else(|| error.clone(), |hint| format!("{error}; {hint}")))
}

fn era(era: Era) -> ProtocolEra {
    match era {
        Era::Legacy => ProtocolEra::Initialize,
        Era::Modern => ProtocolEra::Discover,
    }
}

fn millis(length: Duration) -> f64 {
    length.as_secs_f64() * 1000.0
}

/// Returns the servers to probe: the named one, or all enabled ones.
fn choose_servers(name: Option<&str>, home: &Home) -> Done<Vec<String>> {
    let servers = &home.config.tools.servers;
    match name {
        Some(name) if servers.contains_key(name) => Ok(vec![name.to_owned()]),
        Some(name) => Err(no_such_server(name, home)),
        None if servers.is_empty() => {
            Err(Failure::input("no_servers", "no servers are configured")
                .hint("`deft mcp add` and `deft mcp import` add servers"))
        }
        None => {
            let enabled = servers.iter().filter(|(_, server)| server.enabled);
            Ok(enabled.map(|(name, _)| name.clone()).collect())
        }
    }
}

fn disabled_servers(home: &Home) -> Vec<String> {
    let servers = home.config.tools.servers.iter();
    let disabled = servers.filter(|(_, server)| !server.enabled);
    disabled.map(|(name, _)| name.clone()).collect()
}
