//! The meaning of a status and of a provider's error.

use std::time::Duration;

use deft_model::FailureClass;

use super::{Overflow, ProviderFailure, is_page, quote};
use crate::head::Head;

/// The parts of a provider's error.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Words {
    /// The status inside the body.
    pub(crate) status: Option<u16>,
    /// The provider's words for the kind of failure: a type, a code, a reason.
    pub(crate) kinds: Vec<String>,
    /// The message.
    pub(crate) message: String,
    /// How long to wait before a retry.
    pub(crate) after: Option<Duration>,
    /// The counts of a prompt that is too long.
    pub(crate) overflow: Option<Overflow>,
}

impl Words {
    fn has(&self, kinds: &[&str]) -> bool {
        self.kinds.iter().any(|kind| kinds.contains(&kind.as_str()))
    }

    fn mentions(&self, phrases: &[&str]) -> bool {
        let message = self.message.to_lowercase();
        phrases.iter().any(|phrase| message.contains(phrase))
    }

    /// Returns the status that fits the kind, for errors that come with status 200 or inside a stream.
    fn own_status(&self) -> Option<u16> {
        let by_kind = |kind: &String| match kind.as_str() {
            "invalid_request_error" | "INVALID_ARGUMENT" | "FAILED_PRECONDITION" => Some(400),
            "authentication_error" | "invalid_api_key" | "UNAUTHENTICATED" => Some(401),
            "billing_error" => Some(402),
            "permission_error" | "PERMISSION_DENIED" => Some(403),
            "not_found_error" | "model_not_found" | "NOT_FOUND" => Some(404),
            "request_too_large" => Some(413),
            "rate_limit_error"
            | "rate_limit_exceeded"
            | "insufficient_quota"
            | "RESOURCE_EXHAUSTED" => Some(429),
            "api_error" | "server_error" | "INTERNAL" => Some(500),
            "UNAVAILABLE" => Some(503),
            "timeout_error" | "DEADLINE_EXCEEDED" => Some(504),
            "overloaded_error" => Some(529),
            _ => None,
        };
        let given = self.status.filter(|status| (400..600).contains(status));
        given.or_else(|| self.kinds.iter().find_map(by_kind))
    }

    /// Whether waiting does not help: the account needs a payment or a new day.
    fn is_spent(&self) -> bool {
        const KINDS: [&str; 5] = [
            "insufficient_quota",
            "billing_hard_limit_reached",
            "billing_not_active",
            "billing_error",
            "quota_per_day",
        ];
        self.has(&KINDS)
            || self.mentions(&[
                "credit balance is too low",
                "insufficient balance",
                "insufficient credits",
            ])
    }

    fn is_about_key(&self) -> bool {
        self.has(&["API_KEY_INVALID", "invalid_api_key", "authentication_error"])
    }
}

impl ProviderFailure {
    /// Creates a failure from an error status, or from an error in a body with a success status.
    pub(crate) fn by_status(head: &Head, words: Option<Words>, body: &[u8]) -> Self {
        let words = words.unwrap_or_else(|| Words {
            message: if is_page(body) {
                "a web page instead of an error of the provider".to_owned()
            } else {
                String::from_utf8_lossy(body).into_owned()
            },
            ..Words::default()
        });
        let mut failed = Self::by_words(head.status, &words);
        failed.after = head.after.or(words.after).filter(|_| failed.passing);
        failed
    }

    /// Creates a failure from an error inside a stream.
    pub(crate) fn in_stream(words: &Words) -> Self {
        Self::by_words(200, words)
    }

    fn by_words(status: u16, words: &Words) -> Self {
        let status = match status {
            200..300 => words.own_status().unwrap_or(500),
            status => status,
        };
        if let Some(overflow) = Overflow::find(status, words) {
            return Self::from_overflow(overflow, words);
        }
        let (class, what) = match status {
            _ if words.is_spent() => (FailureClass::Quota, "the account's quota is used up"),
            401 => (FailureClass::Auth, "the provider refuses the key"),
            403 => (FailureClass::Auth, "the provider refuses access"),
            400..=499 if words.is_about_key() => {
                (FailureClass::Auth, "the provider refuses the key")
            }
            402 => (FailureClass::Quota, "the provider requires payment"),
            404 => (FailureClass::NotFound, "unknown model or address"),
            408 | 504 | 522 | 524 => (FailureClass::Timeout, "the provider took too long"),
            409 | 425 => (FailureClass::Other, "the provider is not available now"),
            413 => (
                FailureClass::Limit,
                "the request is too large for the provider",
            ),
            429 => (FailureClass::Quota, "the provider asks for fewer requests"),
            300..=399 => (FailureClass::Invalid, "the provider has moved"),
            500.. => (FailureClass::Network, "provider error"),
            _ => (FailureClass::Invalid, "the provider refuses the request"),
        };
        let passing = matches!(status, 408 | 409 | 425 | 429 | 500..) && !words.is_spent();
        let mut message = format!("{what} (HTTP {status})");
        if !words.message.trim().is_empty() {
            message = format!("{message}: {}", quote(&words.message));
        }
        let failed = Self {
            passing,
            ..Self::permanent(class, message)
        };
        match hint(class, status, passing, words) {
            Some(hint) => failed.hint(hint),
            None => failed,
        }
    }
}

fn hint(class: FailureClass, status: u16, passing: bool, words: &Words) -> Option<&'static str> {
    match class {
        FailureClass::Auth => Some("check `api_key` of the model"),
        FailureClass::NotFound => Some("check `model` and `base_url`"),
        FailureClass::Quota if !passing => {
            Some("check the plan of the account, or name another model under `fallback`")
        }
        FailureClass::Invalid if words.mentions(&["not support tools", "not support function"]) => {
            Some("set `tools = false` for the model; it then writes `cmd` blocks")
        }
        FailureClass::Invalid if status < 400 => Some("give the new address as `base_url`"),
        FailureClass::Network
        | FailureClass::Quota
        | FailureClass::Timeout
        | FailureClass::Invalid
        | FailureClass::Limit
        | FailureClass::Cancelled
        | FailureClass::Budget
        | FailureClass::Interrupted
        | FailureClass::Other => None,
    }
}
