//! Failures of HTTP connections.
//!
//! Not here: error responses.

use deft_model::{Failure, FailureClass};

/// Returns the failure for a connection error, without the URL, which may contain a secret.
pub(crate) fn transport(error: &reqwest::Error) -> Failure {
    let mut reason = error.to_string();
    let mut source = std::error::Error::source(error);
    while let Some(inner) = source {
        reason = inner.to_string();
        source = inner.source();
    }
    // An error without a source contains the whole URL.
    if let Some(url) = error.url() {
        reason = reason.replace(url.as_str(), "…");
    }
    if error.is_timeout() && !error.is_connect() {
        return Failure::new(
            FailureClass::Timeout,
            format!("no answer in time: {reason}"),
        )
        .in_doubt();
    }
    let failure = Failure::new(
        FailureClass::Network,
        format!("the host cannot be reached: {reason}"),
    );
    if error.is_connect() || error.is_builder() {
        return failure;
    }
    failure.in_doubt()
}
