//! Lists servers with their stored state, without connecting to them.
use deft_config::Home;
use deft_schedule::show;
use deft_tools::{Health, ServerOptions};
use deft_wire::Done;
use deft_wire::server::{ServerList, ServerView, Transport};
use jiff::tz::TimeZone;

use super::sign_in::sign_in_of;
use crate::router::CatalogRouter;
use crate::tools::WithWarnings;
use crate::workspace::Workspace;

/// Lists the servers of a home.
pub async fn list(workspace: &Workspace) -> Done<WithWarnings<ServerList>> {
    let home = workspace.home_to_read()?;
    let opened = CatalogRouter::to_read(&home, workspace.tell).await?;
    let zone = home.moment().zone;
    let health = opened.router.health().into_iter();
    let servers = health.filter_map(|health| view(health, &home, &opened, &zone));
    let list = ServerList {
        servers: servers.collect(),
    };
    Ok(WithWarnings::close(list, opened).await)
}

fn view(
    health: Health,
    home: &Home,
    opened: &CatalogRouter,
    zone: &TimeZone,
) -> Option<ServerView> {
    let options = home.config.tools.servers.get(&health.server)?;
    let (transport, target) = reach(options);
    // The router rejected the catalog, so it belongs to another server with the same name.
    let catalog = health.protocol.as_ref().and(opened.catalog(&health.server));
    let listed_at = catalog.as_ref().map(|(_, at)| *at);
    let failure = opened.failure(&health.server);
    // A server that has answered since the failure works again.
    let failure = failure.filter(|(_, at)| listed_at.is_none_or(|listed| listed < *at));
    let (error, failed_at) = failure.unzip();
    let sign_in = sign_in_of(home, &health.server, zone);
    Some(ServerView {
        sign_in,
        transport,
        target,
        enabled: options.enabled,
        tools: catalog.as_ref().map(|_| health.tools),
        listed_at: listed_at.map(|at| show(at, zone)),
        implementation: catalog.and_then(|(catalog, _)| catalog.implementation),
        protocol: health.protocol,
        name: health.server,
        error,
        failed_at: failed_at.map(|at| show(at, zone)),
    })
}

/// Returns the transport of a server, and its address or command line.
fn reach(options: &ServerOptions) -> (Transport, String) {
    if let Some(url) = &options.url {
        return (Transport::Http, url.clone());
    }
    let words = options.command.iter().chain(&options.args);
    // The line is for display only; it is never executed.
    let quoted = |word: &String| {
        if word.is_empty() || word.contains(char::is_whitespace) {
            format!("{word:?}")
        } else {
            word.clone()
        }
    };
    (
        Transport::Stdio,
        words.map(quoted).collect::<Vec<_>>().join(" "),
    )
}
