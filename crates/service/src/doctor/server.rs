//! Checks of the API: it is served, its certificate is valid, and its tokens can be read.

use deft_config::Home;
use deft_wire::listener::ListenerState;
use jiff::{SignedDuration, Timestamp};

use super::Findings;
use crate::tls::TlsFiles;
use crate::workspace::Workspace;
use crate::{listener, tokens};

/// How long before it expires a certificate should be renewed.
const RENEW_BEFORE_EXPIRY: SignedDuration = SignedDuration::from_hours(14 * 24);

const HOW_TO_RENEW: &str = "renew it and replace the file in `server.tls_cert`; a running daemon uses the new one \
     immediately";

/// Checks that the API is served. A daemon without the API does everything else.
pub(super) fn check_api(home: &Home, found: &mut Findings) {
    match listener::find(&home.path) {
        Some(ListenerState { url: Some(url), .. }) => {
            found.good("server.up", format!("the API is at {url}"));
        }
        Some(ListenerState { problem, hint, .. }) => {
            let why = problem.unwrap_or_default();
            found.bad("server.up", format!("cannot serve the API: {why}"), hint);
        }
        None => found.note(
            "server.up",
            "the API is not served",
            "`deft config set server.enabled true`, then start `deft up` again",
        ),
    }
}

/// Checks that the certificate can be used, and when it expires. Adds no finding if no certificate is
/// configured.
pub(super) fn check_certificate(home: &Home, now: Timestamp, found: &mut Findings) {
    let files = TlsFiles::from_config(&home.config.server);
    let identity = match files.and_then(|files| files.map(|files| files.load()).transpose()) {
        Ok(None) => return,
        Ok(Some(identity)) => identity,
        Err(failure) => return found.bad("server.certificate", failure.message, failure.hint),
    };
    let Some(end) = identity.expires_at else {
        return found.good("server.certificate", "the certificate can be used");
    };
    let day = end.strftime("%Y-%m-%d");
    if end <= now {
        let message = format!("the certificate of the API expired on {day}");
        found.note("server.certificate", message, HOW_TO_RENEW);
    } else if end.duration_since(now) < RENEW_BEFORE_EXPIRY {
        let message = format!("the certificate of the API expires on {day}");
        found.note("server.certificate", message, HOW_TO_RENEW);
    } else {
        let message = format!("the certificate of the API is valid until {day}");
        found.good("server.certificate", message);
    }
}

/// Checks that the added tokens can be read: while they cannot, the API refuses all of them. Adds no finding if there
/// are none.
pub(super) fn check_tokens(workspace: &Workspace, found: &mut Findings) {
    match tokens::list(workspace) {
        Ok(list) if list.tokens.is_empty() => {}
        Ok(list) => {
            let count = list.tokens.len();
            let tokens = if count == 1 { "token" } else { "tokens" };
            found.good(
                "server.tokens",
                format!("{count} added {tokens} of the API"),
            );
        }
        Err(failure) => found.bad("server.tokens", failure.message, failure.hint),
    }
}
