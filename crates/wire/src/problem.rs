//! Failures of HTTP requests as problem details (RFC 9457), with the codes and hints of the command line.
//!
//! Only this file maps codes to HTTP statuses.

#![allow(missing_docs, reason = "fields are named after the JSON")]

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{Failure, FailureKind};

/// Media type of [`ProblemView`].
pub const PROBLEM_TYPE: &str = "application/problem+json";

/// Body of an HTTP response that reports a failure.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ProblemView {
    /// URI of the page that documents the code.
    #[serde(rename = "type")]
    pub kind: String,
    /// Name of the HTTP status.
    pub title: String,
    pub status: u16,
    /// What is wrong.
    pub detail: String,
    /// Stable code for programs, the same as in `--json` output.
    pub code: String,
    /// What to do about it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hint: Option<String>,
    /// Id of the request, as it appears in the logs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub request_id: Option<String>,
}

/// An HTTP status of a failure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProblemStatus {
    BadRequest,
    Unauthorized,
    Forbidden,
    NotFound,
    MethodNotAllowed,
    RequestTimeout,
    Conflict,
    PayloadTooLarge,
    UnsupportedMedia,
    Unprocessable,
    TooManyRequests,
    Internal,
    Unavailable,
}

impl ProblemStatus {
    /// Returns the number of the status.
    pub fn number(self) -> u16 {
        match self {
            Self::BadRequest => 400,
            Self::Unauthorized => 401,
            Self::Forbidden => 403,
            Self::NotFound => 404,
            Self::MethodNotAllowed => 405,
            Self::RequestTimeout => 408,
            Self::Conflict => 409,
            Self::PayloadTooLarge => 413,
            Self::UnsupportedMedia => 415,
            Self::Unprocessable => 422,
            Self::TooManyRequests => 429,
            Self::Internal => 500,
            Self::Unavailable => 503,
        }
    }

    fn title(self) -> &'static str {
        match self {
            Self::BadRequest => "Bad Request",
            Self::Unauthorized => "Unauthorized",
            Self::Forbidden => "Forbidden",
            Self::NotFound => "Not Found",
            Self::MethodNotAllowed => "Method Not Allowed",
            Self::RequestTimeout => "Request Timeout",
            Self::Conflict => "Conflict",
            Self::PayloadTooLarge => "Content Too Large",
            Self::UnsupportedMedia => "Unsupported Media Type",
            Self::Unprocessable => "Unprocessable Content",
            Self::TooManyRequests => "Too Many Requests",
            Self::Internal => "Internal Server Error",
            Self::Unavailable => "Service Unavailable",
        }
    }
}

/// Statuses of codes whose status does not follow from their kind.
const STATUSES: &[(&str, ProblemStatus)] = &[
    ("already_answered", ProblemStatus::Conflict),
    ("bad_signature", ProblemStatus::Unauthorized),
    ("body_too_large", ProblemStatus::PayloadTooLarge),
    ("changed_file", ProblemStatus::Conflict),
    ("exists", ProblemStatus::Conflict),
    ("forbidden_host", ProblemStatus::Forbidden),
    ("forbidden_origin", ProblemStatus::Forbidden),
    ("key_taken", ProblemStatus::Conflict),
    ("key_unfinished", ProblemStatus::Conflict),
    ("media_type", ProblemStatus::UnsupportedMedia),
    ("method_not_allowed", ProblemStatus::MethodNotAllowed),
    ("name_taken", ProblemStatus::Conflict),
    ("no_such_key", ProblemStatus::NotFound),
    ("no_such_page", ProblemStatus::NotFound),
    ("no_such_secret", ProblemStatus::NotFound),
    ("no_such_server", ProblemStatus::NotFound),
    ("no_such_tool", ProblemStatus::NotFound),
    ("not_a_job", ProblemStatus::NotFound),
    ("not_resumable", ProblemStatus::Conflict),
    ("scope", ProblemStatus::Forbidden),
    ("sent_once", ProblemStatus::Conflict),
    ("slow_body", ProblemStatus::RequestTimeout),
    ("stopping", ProblemStatus::Unavailable),
    ("store", ProblemStatus::Unavailable),
    ("too_many_connections", ProblemStatus::Unavailable),
    ("too_many_requests", ProblemStatus::TooManyRequests),
    ("unauthorized", ProblemStatus::Unauthorized),
    ("unknown_agent", ProblemStatus::NotFound),
    ("unknown_approval", ProblemStatus::NotFound),
    ("unknown_conversation", ProblemStatus::NotFound),
    ("unknown_fact", ProblemStatus::NotFound),
    ("unknown_grant", ProblemStatus::NotFound),
    ("unknown_hook", ProblemStatus::NotFound),
    ("unknown_notice", ProblemStatus::NotFound),
    ("unknown_revision", ProblemStatus::NotFound),
    ("unknown_run", ProblemStatus::NotFound),
    ("unknown_skill", ProblemStatus::NotFound),
    ("unknown_token", ProblemStatus::NotFound),
];

impl Failure {
    /// Returns the HTTP status of the failure.
    pub fn status(&self) -> ProblemStatus {
        let known = STATUSES.iter().find(|(code, _)| *code == self.code);
        match (known, self.kind) {
            (Some((_, status)), _) => *status,
            (None, FailureKind::Input) => ProblemStatus::BadRequest,
            (None, FailureKind::Unsuccessful) => ProblemStatus::Unprocessable,
            (None, FailureKind::Interrupted) => ProblemStatus::Conflict,
            (None, FailureKind::Internal) => ProblemStatus::Internal,
        }
    }

    /// Converts the failure to the body of an HTTP response.
    pub fn problem(&self, request_id: Option<&str>) -> ProblemView {
        let status = self.status();
        ProblemView {
            kind: format!("/docs/errors/{}.md", self.code),
            title: status.title().to_owned(),
            status: status.number(),
            detail: self.message.clone(),
            code: self.code.to_owned(),
            hint: self.hint.clone(),
            request_id: request_id.map(str::to_owned),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failure_is_a_problem_with_the_same_code_and_hint() {
        let failure = Failure::input("unknown_run", "unknown run `x`").hint("look");
        let problem = failure.problem(Some("r1"));
        assert_eq!(
            (problem.status, problem.code.as_str()),
            (404, "unknown_run")
        );
        assert_eq!(problem.hint.as_deref(), Some("look"));
        assert_eq!(problem.request_id.as_deref(), Some("r1"));
        assert!(
            problem.kind.ends_with("/unknown_run.md"),
            "{}",
            problem.kind
        );
    }

    #[test]
    fn a_code_without_an_entry_follows_its_kind() {
        let status = |failure: Failure| failure.status().number();
        assert_eq!(status(Failure::input("x", "")), 400);
        assert_eq!(status(Failure::internal("x", "")), 500);
    }

    #[test]
    fn statuses_are_sorted_by_code() {
        assert!(STATUSES.is_sorted_by_key(|(code, _)| *code));
    }
}
