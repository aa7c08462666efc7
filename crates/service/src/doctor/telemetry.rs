//! Checks of the export of traces and metrics.

use deft_config::Home;
use deft_telemetry::{ExportState, ReceiverClient, fetch_page};

use super::Findings;
use crate::telemetry::{find_note, receiver};
use crate::words::format_count;
use crate::{listener, tokens};

pub(super) async fn check(home: &Home, found: &mut Findings) {
    check_export(home, found).await;
    check_metrics(home, found).await;
}

/// Checks that the OTLP receiver answers. Adds no finding if nothing is exported.
async fn check_export(home: &Home, found: &mut Findings) {
    const ID: &str = "telemetry.export";
    let options = match receiver(&home.config) {
        Ok(Some(options)) => options,
        Ok(None) => return,
        Err(failure) => {
            found.bad(ID, failure.message, failure.hint);
            return;
        }
    };
    let answered = match ReceiverClient::new(options) {
        Ok(receiving) => receiving.probe().await,
        Err(why) => Err(why),
    };
    let state = find_note(&home.path).unwrap_or_default();
    let state_text = describe(&state);
    match answered {
        Err(why) => {
            let hint = "`deft config get telemetry.endpoint` shows its address; it must accept OTLP over HTTP";
            found.bad(ID, format!("{why}; {state_text}"), Some(hint.to_owned()));
        }
        Ok(()) if state.dropped > 0 => {
            let message = format!("the OTLP receiver answers; {state_text}");
            found.note(ID, message, "`deft logs` shows why spans were lost");
        }
        Ok(()) => found.good(ID, format!("the OTLP receiver answers; {state_text}")),
    }
}

fn describe(state: &ExportState) -> String {
    let Some(at) = state.last_export else {
        return match state.dropped {
            0 => "nothing was exported yet".to_owned(),
            lost => format!("{lost} spans were lost"),
        };
    };
    let sent = usize::try_from(state.exported).unwrap_or(usize::MAX);
    let sent = format_count(sent, "span");
    let lost = match state.dropped {
        0 => "none lost".to_owned(),
        lost => format!("{lost} lost"),
    };
    format!("last export {at:.0}, {sent}, {lost}")
}

/// Checks the metrics page of the running daemon.
async fn check_metrics(home: &Home, found: &mut Findings) {
    const ID: &str = "telemetry.metrics";
    let Some(url) = listener::find(&home.path).and_then(|api| api.url) else {
        return;
    };
    let page = format!("{url}/metrics");
    // The certificate may be self-signed, which this check cannot verify.
    if url.starts_with("https://") {
        found.good(ID, format!("metrics for Prometheus are at {page}"));
        return;
    }
    let token = tokens::token_file(&home.path);
    let token = deft_registry::read_text(&token, 4096).unwrap_or_default();
    match fetch_page(&page, token.trim()).await {
        Ok(()) => found.good(ID, format!("metrics for Prometheus are at {page}")),
        Err(why) => {
            let hint = "start `deft up` again; `deft logs` shows details".to_owned();
            found.bad(
                ID,
                format!("{page} does not show metrics: {why}"),
                Some(hint),
            );
        }
    }
}
