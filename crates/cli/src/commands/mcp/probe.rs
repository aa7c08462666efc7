//! `deft mcp probe`: connects to servers and shows what they offer, or the error.

use std::process::ExitCode;

use deft_service::{Workspace, runtime, servers};
use deft_wire::server::ProbeView;
use jiff::tz::TimeZone;

use super::login::words;
use crate::failure::Done;
use crate::output::Output;

pub(super) fn run(name: Option<&str>, workspace: &Workspace, output: &Output) -> Done {
    let found = runtime::start()?.block_on(servers::probe(workspace, name))?;
    let list = found.value;
    if output.json {
        output.document(&list)?;
    } else {
        let zone = workspace.home()?.moment().zone;
        for server in &list.servers {
            output.prose(page(server, &zone))?;
        }
        for name in &list.disabled {
            output.note(&format!("`{name}` is disabled; skipped"));
        }
    }
    output.warn(found.warnings);
    Ok(ExitCode::from(u8::from(!list.ok)))
}

fn page(probe: &ProbeView, zone: &TimeZone) -> String {
    let mut out = format!("{}\n", probe.server);
    let mut line = |key: &str, value: String| out.push_str(&format!("  {key:10} {value}\n"));
    if let Some(error) = &probe.error {
        let class = probe.class.map(|class| format!(" ({class})"));
        line("error", format!("{error}{}", class.unwrap_or_default()));
        if let Some(hint) = &probe.hint {
            line("hint", hint.clone());
        }
        return out;
    }
    if let Some(sign_in) = &probe.sign_in {
        line("sign-in", words(sign_in, &probe.server, zone));
    }
    let unknown = |text: &Option<String>| text.clone().unwrap_or_else(|| "unknown".to_owned());
    line("is", unknown(&probe.implementation));
    line("protocol", unknown(&probe.protocol));
    let (connect, latency) = (probe.connect.trunc(), probe.latency.trunc());
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
