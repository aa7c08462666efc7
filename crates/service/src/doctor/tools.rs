//! Checks of servers, the channel of notices, programs that use deft, and the sandbox.

use deft_compute::{Job, Kind};
use deft_config::Home;
use deft_model::Object;
use deft_tools::{DisabledTool, Probe};
use serde_json::json;

use super::Findings;
use crate::app::{self, App};
use crate::hosts::{self, InstalledHost};
use crate::relay::{self, Clash};
use crate::servers::sign_in_note;
use crate::words::format_count;

pub(super) fn check_channel(home: &Home, found: &mut Findings) {
    use deft_channels::{kind, problem};
    use deft_config::ChannelKind;
    match (kind(&home.config), problem(&home.config)) {
        (ChannelKind::Log, _) => found.note(
            "notify.channel",
            "notices go to `logs/notices.log` only",
            "set `notify.channel` and `notify.target` to send them elsewhere",
        ),
        (_, Some((problem, hint))) => {
            found.bad("notify.channel", problem, Some(hint.to_owned()));
        }
        // `check_channel_tool` checks the tool, after the servers have been asked.
        (ChannelKind::Tool(_), None) => {}
        (_, None) => found.good("notify.channel", "the channel of notices is configured"),
    }
}

/// Checks the programs in which deft is installed. Adds no finding if there are none: deft works without
/// them.
pub(super) fn check_hosts(found: &mut Findings) {
    let (broken, good): (Vec<InstalledHost>, Vec<InstalledHost>) = hosts::list_installed()
        .into_iter()
        .partition(|host| host.missing.is_some());
    if !good.is_empty() {
        let titles: Vec<&str> = good.iter().map(|host| host.client.title()).collect();
        let message = format!("deft is installed in {}", titles.join(", "));
        found.good("hosts.installed", message);
    }
    for InstalledHost { client, missing } in broken {
        let (title, word) = (client.title(), client.word());
        let program = missing.unwrap_or_default();
        let message = format!("{title} starts `{program}`, which does not exist");
        let hint = format!("`deft mcp install --client {word}` corrects the entry");
        found.note("hosts.installed", message, &hint);
        found.about(word);
    }
}

/// Checks that the tool that delivers notices exists and takes the fields of a notice.
pub(super) async fn check_channel_tool(home: &Home, app: &App, found: &mut Findings) {
    let kind = deft_channels::kind(&home.config);
    let Some(tool) = kind.tool() else {
        return;
    };
    match deft_channels::tool_problem(home, app.engine.router()).await {
        Some((problem, hint)) => found.bad("notify.channel", problem, Some(hint)),
        None => found.good(
            "notify.channel",
            format!("notices are delivered by `{tool}`"),
        ),
    }
}

pub(super) async fn check_servers(home: &Home, app: &App, found: &mut Findings) {
    let router = app.engine.router();
    let servers: Vec<String> = router
        .health()
        .into_iter()
        .map(|health| health.server)
        .collect();
    for server in servers {
        match router.probe(&server).await {
            Some(Probe {
                error: Some(error),
                hint,
                ..
            }) => {
                found.bad(
                    "servers.answer",
                    format!("server `{server}`: {error}"),
                    hint,
                );
            }
            Some(probe) => {
                let tools = format_count(probe.tools.len(), "tool");
                let sign_in = sign_in_note(home, &server);
                found.good(
                    "servers.answer",
                    format!("`{server}` answers: {tools}{sign_in}"),
                );
                found.about(&server);
                for tool in probe.disabled {
                    let DisabledTool { name, reason } = tool;
                    let message = format!("the tool `{server}.{name}` is disabled: {reason}");
                    let hint = "update the server, or hide the tool with `exclude_tools`";
                    found.note("servers.tools", message, hint);
                    found.about(&server);
                }
                continue;
            }
            None => continue,
        }
        found.about(&server);
    }
}

/// Checks that everything that deft's MCP server offers on behalf of other servers has a unique name.
pub(super) async fn check_exports(app: &App, found: &mut Findings) {
    for clash in relay::clashes(app).await {
        let Clash {
            server,
            kind,
            name,
            holder,
        } = clash;
        let message =
            format!("the {kind} `{name}` of `{server}` is not offered: `{holder}` has the name");
        let hint = format!("set `mcp_servers.{server}.reexport` to `prefixed`");
        found.note("servers.reexport", message, &hint);
        found.about(&server);
    }
}

/// Checks that the sandbox can start.
pub(super) async fn check_compute(home: &Home, found: &mut Findings) {
    let options = match app::worker(&home.config) {
        Ok(options) => options,
        Err(failure) => return found.bad("compute.works", failure.message, failure.hint),
    };
    let mut session = deft_compute::Compute::new(options).session();
    let job = Job::new(Kind::Block, "result = 6 * 7", Object::new());
    match session.run(job, None).await {
        Ok(output) if output.value == json!(42) => {
            found.good("compute.works", "the sandbox of compute blocks works");
        }
        Ok(output) => {
            let message = format!(
                "the self-test of the sandbox failed: 6 * 7 gave {}",
                output.value
            );
            found.bad("compute.works", message, None);
        }
        Err(error) => {
            let hint = error.hint().map(str::to_owned);
            found.bad("compute.works", error.to_string(), hint);
        }
    }
}
