//! Test deliveries: signed as the sender of a hook would sign them, and posted to the running daemon.
//!
//! A test delivery takes the same path as a real one, so its result is what the sender would get.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use deft_config::{HookConfig, HookScheme, Secrets};
use deft_tools::webhook::{self, DeliveryAnswer};
use deft_tools::{Secret, SecretSource};
use deft_wire::hook::HookReceipt;
use deft_wire::problem::ProblemView;
use deft_wire::{Done, Failure};
use jiff::Timestamp;
use ring::hmac::{self, HMAC_SHA256, Key};
use serde_json::json;
use uuid::Uuid;

use super::signature;
use crate::hex::hex;
use crate::workspace::Workspace;
use crate::{listener, runtime};

/// The HTTP status of an accepted delivery.
const ACCEPTED_STATUS: u16 = 202;

/// The kind of the deliveries with which GitHub itself tests hooks.
const PING: &str = "ping";

/// Sends a test delivery to the hook `name`, with `payload` or a generated body.
pub fn send_trial(
    workspace: &Workspace,
    name: &str,
    payload: Option<Vec<u8>>,
) -> Done<HookReceipt> {
    let home = workspace.home_to_read()?;
    let hook = home.config.hooks.iter().find(|hook| hook.name == name);
    let Some(hook) = hook else {
        let message = format!("unknown hook `{name}`");
        return Err(Failure::input("unknown_hook", message).hint(
            "`deft hooks list` shows all hooks; a section `[hooks.NAME]` of the configuration adds \
             one",
        ));
    };
    let secret = Secrets::new(&home.config).secret(&hook.secret);
    let secret = secret.map_err(|why| {
        let message = format!("the secret of `{name}` cannot be read: {why}");
        Failure::input("hook_secret", message).hint(format!(
            "store the secret that `hooks.{name}.secret` refers to, for this command and for `deft up`"
        ))
    })?;
    let url = listener::find(&home.path).and_then(|state| state.url);
    let url = url.ok_or_else(|| {
        let message = "no running daemon accepts deliveries";
        Failure::input("not_up", message).hint("start `deft up`; `deft doctor` shows the problems")
    })?;
    let body = payload.unwrap_or_else(|| own_body(hook));
    let headers = sign(hook, secret.expose(), &body, Timestamp::now())?;
    let address = format!("{url}/hooks/{name}");
    let sent = runtime::start()?.block_on(webhook::deliver(&address, body, &headers));
    let answer = sent.map_err(|failure| {
        let message = format!("the delivery did not arrive: {}", failure.message);
        Failure::input("not_up", message).maybe_hint(failure.hint)
    })?;
    read_answer(name, &answer)
}

/// Returns a unique body: a delivery with a repeated body would fire nothing.
fn own_body(hook: &HookConfig) -> Vec<u8> {
    let kind = hook.events.first().map_or("test", String::as_str);
    let id = format!("test_{}", Uuid::now_v7().simple());
    json!({"id": id, "type": kind, "test": true})
        .to_string()
        .into_bytes()
}

/// Returns the headers with which the sender of a hook proves its identity.
fn sign(
    hook: &HookConfig,
    secret: &str,
    body: &[u8],
    now: Timestamp,
) -> Done<Vec<(String, Secret)>> {
    let at = now.as_second().to_string();
    let own = secret.as_bytes();
    let headers = match hook.scheme {
        HookScheme::Standard => {
            let id = format!("msg_{}", Uuid::now_v7().simple());
            let content = [id.as_bytes(), b".", at.as_bytes(), b".", body].concat();
            let key = signature::standard_key(secret)?;
            let signature = format!("v1,{}", STANDARD.encode(hmac(&key, &content)));
            vec![
                ("webhook-id", id),
                ("webhook-timestamp", at),
                ("webhook-signature", signature),
            ]
        }
        HookScheme::Github => {
            let kind = hook.events.first().map_or(PING, String::as_str);
            vec![
                (
                    "X-Hub-Signature-256",
                    format!("sha256={}", hex(&hmac(own, body))),
                ),
                ("X-GitHub-Event", kind.to_owned()),
                ("X-GitHub-Delivery", Uuid::now_v7().to_string()),
            ]
        }
        HookScheme::Stripe => {
            let content = [at.as_bytes(), b".", body].concat();
            let signature = hex(&hmac(own, &content));
            vec![("Stripe-Signature", format!("t={at},v1={signature}"))]
        }
        HookScheme::Plain => vec![(hook.header.as_str(), hex(&hmac(own, body)))],
    };
    let headers = headers.into_iter();
    Ok(headers
        .map(|(name, value)| (name.to_owned(), Secret::new(value)))
        .collect())
}

fn hmac(key: &[u8], content: &[u8]) -> Vec<u8> {
    let key = Key::new(HMAC_SHA256, key);
    hmac::sign(&key, content).as_ref().to_vec()
}

fn read_answer(name: &str, answer: &DeliveryAnswer) -> Done<HookReceipt> {
    let unreadable = |problem: serde_json::Error| {
        let message = format!(
            "the hook `{name}` answered with status {} and an invalid document: {problem}",
            answer.status
        );
        Failure::input("hook_refused", message)
            .hint("check whether another program listens on the port of `server.listen`")
    };
    if answer.status == ACCEPTED_STATUS {
        return serde_json::from_slice(&answer.body).map_err(unreadable);
    }
    let problem: ProblemView = serde_json::from_slice(&answer.body).map_err(unreadable)?;
    let message = format!("the hook `{name}` refused the delivery: {}", problem.detail);
    Err(Failure::input("hook_refused", message).maybe_hint(problem.hint))
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::hooks::HookRequest;

    /// A delivery signed here passes the check of its scheme, and fails it with any other secret.
    #[test]
    fn deliveries_of_every_scheme_are_accepted() {
        let now = Timestamp::from_second(1_800_000_000).unwrap();
        for (scheme, secret) in [
            (HookScheme::Standard, "plain text"),
            (
                HookScheme::Standard,
                "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw",
            ),
            (HookScheme::Github, "s3cret"),
            (HookScheme::Stripe, "whsec_test"),
            (HookScheme::Plain, "s3cret"),
        ] {
            let hook = HookConfig {
                name: "x".to_owned(),
                secret: String::new(),
                scheme,
                header: "X-My-Signature".to_owned(),
                events: vec!["push".to_owned()],
                tolerance: Duration::from_mins(5),
            };
            let body = own_body(&hook);
            let headers = sign(&hook, secret, &body, now).unwrap();
            let headers = headers.into_iter();
            let headers =
                headers.map(|(name, value)| (name.to_lowercase(), value.expose().to_owned()));
            let request = HookRequest {
                hook: "x".to_owned(),
                headers: headers.collect(),
                body,
                ..HookRequest::default()
            };
            let checked = signature::check(&hook, secret, &request, now);
            assert!(checked.is_ok(), "{scheme:?}: {checked:?}");
            let other = signature::check(&hook, "whsec_AAAA", &request, now);
            assert_eq!(other.unwrap_err().code, "bad_signature", "{scheme:?}");
        }
    }

    /// Two test deliveries in a row are different deliveries.
    #[test]
    fn no_two_bodies_are_the_same() {
        let hook = HookConfig {
            name: "x".to_owned(),
            secret: String::new(),
            scheme: HookScheme::Plain,
            header: String::new(),
            events: Vec::new(),
            tolerance: Duration::ZERO,
        };
        assert_ne!(own_body(&hook), own_body(&hook));
    }
}
