//! Verification of the signature of a delivery, and its key, which identifies it. Signatures are compared in
//! constant time.

use std::collections::BTreeMap;

use deft_config::{HookConfig, HookScheme};
use deft_wire::{Done, Failure};
use jiff::{SignedDuration, Timestamp};
use ring::hmac::{self, HMAC_SHA256, Key};
use serde::Deserialize;

use super::HookRequest;
use crate::hex::{decode_hex, hex_digest};

/// The part of a Stripe body that identifies the event.
#[derive(Deserialize)]
struct StripeEvent {
    id: String,
}

/// Maximum length of the id of a delivery, in bytes.
const MAX_ID_LEN: usize = 255;

/// Verifies the signature and the age of a delivery and returns its key.
///
/// The key is always covered by the signature: an id that a replay could change cannot be the key.
pub(super) fn check(
    hook: &HookConfig,
    secret: &str,
    request: &HookRequest,
    now: Timestamp,
) -> Done<String> {
    let body = request.body.as_slice();
    match hook.scheme {
        HookScheme::Standard => {
            let id = require_header(request, "webhook-id")?;
            let at = require_header(request, "webhook-timestamp")?;
            let given = require_header(request, "webhook-signature")?;
            let given = given.split(' ').filter_map(|one| one.strip_prefix("v1,"));
            let given = given.filter_map(decode_base64);
            verify(
                &standard_key(secret)?,
                &[id.as_bytes(), b".", at.as_bytes(), b".", body],
                given,
            )?;
            check_time(hook, at, now)?;
            check_id(id)
        }
        HookScheme::Github => {
            let given = require_header(request, "x-hub-signature-256")?;
            let given = given.strip_prefix("sha256=").and_then(decode_hex);
            verify(secret.as_bytes(), &[body], given)?;
            Ok(hex_digest(body))
        }
        HookScheme::Stripe => {
            let header = require_header(request, "stripe-signature")?;
            let parts = || {
                header
                    .split(',')
                    .filter_map(|part| part.trim().split_once('='))
            };
            let at = parts()
                .find(|(name, _)| *name == "t")
                .map_or("", |(_, at)| at);
            let given = parts().filter(|(name, _)| *name == "v1");
            let given = given.filter_map(|(_, hex)| decode_hex(hex));
            verify(secret.as_bytes(), &[at.as_bytes(), b".", body], given)?;
            check_time(hook, at, now)?;
            // A retry by Stripe has a new timestamp and the same id.
            match serde_json::from_slice::<StripeEvent>(body) {
                Ok(event) => check_id(&event.id),
                Err(_) => Ok(hex_digest(body)),
            }
        }
        HookScheme::Plain => {
            let given = require_header(request, &hook.header.to_lowercase())?;
            let given = given.strip_prefix("sha256=").unwrap_or(given);
            verify(secret.as_bytes(), &[body], decode_hex(given))?;
            Ok(hex_digest(body))
        }
    }
}

/// Refuses a delivery without the headers that its scheme signs with.
pub(super) fn check_headers(hook: &HookConfig, headers: &BTreeMap<String, String>) -> Done<()> {
    let plain = hook.header.to_lowercase();
    let names: &[&str] = match hook.scheme {
        HookScheme::Standard => &["webhook-id", "webhook-timestamp", "webhook-signature"],
        HookScheme::Github => &["x-hub-signature-256"],
        HookScheme::Stripe => &["stripe-signature"],
        HookScheme::Plain => &[&plain],
    };
    let mut names = names.iter();
    match names.find(|name| !headers.contains_key(**name)) {
        Some(missing) => Err(missing_header(missing)),
        None => Ok(()),
    }
}

/// The key in a secret of Standard Webhooks. An empty key would let anyone sign.
pub(super) fn standard_key(secret: &str) -> Done<Vec<u8>> {
    let key = match secret.strip_prefix("whsec_") {
        Some(rest) => decode_base64(rest).ok_or_else(broken_secret)?,
        None => secret.as_bytes().to_vec(),
    };
    if key.is_empty() {
        return Err(broken_secret());
    }
    Ok(key)
}

fn require_header<'a>(request: &'a HookRequest, name: &str) -> Done<&'a str> {
    request.header(name).ok_or_else(|| missing_header(name))
}

fn missing_header(name: &str) -> Failure {
    refused_failure(&format!("the delivery needs one header `{name}`"))
}

/// Checks that one of the signatures `given` is right. A sender may send several while a secret is being
/// replaced.
fn verify(secret: &[u8], content: &[&[u8]], given: impl IntoIterator<Item = Vec<u8>>) -> Done<()> {
    let key = Key::new(HMAC_SHA256, secret);
    let content = content.concat();
    let is_right = |one: &Vec<u8>| hmac::verify(&key, &content, one).is_ok();
    // More than a few signatures are an attack.
    if given.into_iter().take(8).any(|one| is_right(&one)) {
        Ok(())
    } else {
        Err(refused_failure("the signature is wrong"))
    }
}

/// Fails if the delivery was signed too long ago, or in the future.
fn check_time(hook: &HookConfig, at: &str, now: Timestamp) -> Done<()> {
    let at = at
        .parse()
        .ok()
        .and_then(|at| Timestamp::from_second(at).ok());
    let at =
        at.ok_or_else(|| refused_failure("the time of the delivery is not a number of seconds"))?;
    let tolerance = SignedDuration::try_from(hook.tolerance).unwrap_or(SignedDuration::MAX);
    if now.duration_since(at).abs() > tolerance {
        return Err(refused_failure(
            "the delivery was signed too long ago, or a clock is wrong",
        ));
    }
    Ok(())
}

fn check_id(id: &str) -> Done<String> {
    let is_plain = id.chars().all(|c| c.is_ascii_graphic());
    if id.is_empty() || id.len() > MAX_ID_LEN || !is_plain {
        let message = format!(
            "the id of the delivery must have 1 to {MAX_ID_LEN} printable ASCII characters without spaces"
        );
        return Err(Failure::input("invalid_input", message));
    }
    Ok(id.to_owned())
}

fn decode_base64(text: &str) -> Option<Vec<u8>> {
    use base64::Engine;
    base64::engine::general_purpose::STANDARD.decode(text).ok()
}

fn refused_failure(message: &str) -> Failure {
    let hint = "sign the delivery with the secret of the hook, as its scheme says";
    Failure::input("bad_signature", message).hint(hint)
}

fn broken_secret() -> Failure {
    let message = "the secret of this hook is not base64 after `whsec_`";
    Failure::internal("hook_secret", message).hint("store the secret as its sender shows it")
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::hex::hex;

    fn hook(scheme: HookScheme) -> HookConfig {
        HookConfig {
            name: "x".to_owned(),
            secret: String::new(),
            scheme,
            header: "X-Signature".to_owned(),
            events: Vec::new(),
            tolerance: Duration::from_mins(5),
        }
    }

    fn verdict(
        scheme: HookScheme,
        secret: &str,
        headers: &[(&str, &str)],
        body: &str,
        now: i64,
    ) -> Result<String, String> {
        let headers = headers.iter();
        let request = HookRequest {
            hook: "x".to_owned(),
            headers: headers
                .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
                .collect(),
            body: body.as_bytes().to_vec(),
            ..HookRequest::default()
        };
        let now = Timestamp::from_second(now).unwrap();
        check(&hook(scheme), secret, &request, now).map_err(|failure| failure.code.to_owned())
    }

    /// The example from the specification of Standard Webhooks.
    #[test]
    fn standard_webhooks_are_checked() {
        let secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
        let id = "msg_p5jXN8AQM9LWM0D4loKWxJek";
        let signature = "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=";
        let body = "{\"test\": 2432232314}";
        let ask = |signature: &str, body: &str, now: i64| {
            let headers = [
                ("webhook-id", id),
                ("webhook-timestamp", "1614265330"),
                ("webhook-signature", signature),
            ];
            verdict(HookScheme::Standard, secret, &headers, body, now)
        };
        let bad = Err("bad_signature".to_owned());
        assert_eq!(ask(signature, body, 1_614_265_330), Ok(id.to_owned()));
        let two = format!("v1,AAAA v2,x {signature}");
        assert_eq!(ask(&two, body, 1_614_265_330), Ok(id.to_owned()));
        assert_eq!(ask(signature, "{}", 1_614_265_330), bad);
        assert_eq!(ask("v1,", body, 1_614_265_330), bad);
        assert_eq!(ask("", body, 1_614_265_330), bad);
        assert_eq!(ask(signature, body, 1_614_265_330 + 301), bad);
        assert_eq!(ask(signature, body, 1_614_265_330 - 301), bad);
        let none: [(&str, &str); 0] = [];
        assert_eq!(verdict(HookScheme::Standard, secret, &none, body, 0), bad);
    }

    #[test]
    fn a_secret_without_a_key_is_refused() {
        for secret in ["whsec_", "whsec_%"] {
            assert_eq!(standard_key(secret).unwrap_err().code, "hook_secret");
        }
    }

    #[test]
    fn each_scheme_needs_its_headers() {
        for (scheme, names) in [
            (
                HookScheme::Standard,
                &["webhook-id", "webhook-timestamp", "webhook-signature"][..],
            ),
            (HookScheme::Github, &["x-hub-signature-256"]),
            (HookScheme::Stripe, &["stripe-signature"]),
            (HookScheme::Plain, &["x-signature"]),
        ] {
            let all = names.iter().map(|name| ((*name).to_owned(), String::new()));
            let all: BTreeMap<String, String> = all.collect();
            check_headers(&hook(scheme), &all).unwrap();
            for name in names {
                let mut without = all.clone();
                without.remove(*name);
                let failure = check_headers(&hook(scheme), &without).unwrap_err();
                assert_eq!(failure.code, "bad_signature", "{name}");
            }
        }
    }

    /// The example from GitHub's documentation.
    #[test]
    fn deliveries_of_github_are_checked() {
        let secret = "It's a Secret to Everybody";
        let right = "sha256=757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17";
        let ask = |signature: &str, id: &str| {
            let headers = [
                ("x-hub-signature-256", signature),
                ("x-github-delivery", id),
            ];
            verdict(HookScheme::Github, secret, &headers, "Hello, World!", 0)
        };
        let key = ask(right, "1").unwrap();
        assert_eq!(key.len(), 64);
        // The id is not signed: a replay with another id is the same delivery.
        assert_eq!(ask(right, "2"), Ok(key));
        for wrong in [
            "",
            "sha256=",
            "sha256=zz",
            &right[7..],
            &right.replace('7', "8"),
        ] {
            assert_eq!(ask(wrong, "1"), Err("bad_signature".to_owned()), "{wrong}");
        }
    }

    #[test]
    fn deliveries_of_stripe_are_checked() {
        let body = "{\"id\":\"evt_1\"}";
        let sign = |at: &str| {
            let key = Key::new(HMAC_SHA256, b"whsec_test");
            let tag = hmac::sign(&key, format!("{at}.{body}").as_bytes());
            format!("t={at},v0=00,v1={}", hex(tag.as_ref()))
        };
        let ask = |header: &str, now| {
            let headers = [("stripe-signature", header)];
            verdict(HookScheme::Stripe, "whsec_test", &headers, body, now)
        };
        assert_eq!(ask(&sign("1000"), 1010), Ok("evt_1".to_owned()));
        let bad = Err("bad_signature".to_owned());
        assert_eq!(ask(&sign("1000"), 2000), bad);
        assert_eq!(ask(&sign("1000").replace("t=1000", "t=1990"), 2000), bad);
        assert_eq!(ask("t=1000", 1000), bad);
    }
}
