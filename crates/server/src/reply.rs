//! HTTP responses: JSON documents, and failures as problem details.

use axum::body::Body;
use axum::http::header::{CONTENT_TYPE, HeaderValue, RETRY_AFTER, WWW_AUTHENTICATE};
use axum::http::{Response, StatusCode};
use deft_wire::Failure;
use deft_wire::problem::{PROBLEM_TYPE, ProblemStatus};
use serde::Serialize;

use crate::request_id::RequestId;

/// Builds the response that reports a failure.
pub(crate) fn problem(failure: &Failure, id: &RequestId) -> Response<Body> {
    let status = failure.status();
    let body = failure.problem(Some(&id.0));
    let mut response = json(code(status.number()), &body);
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static(PROBLEM_TYPE));
    if status == ProblemStatus::Unauthorized {
        headers.insert(WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
    }
    if matches!(
        status,
        ProblemStatus::TooManyRequests | ProblemStatus::Unavailable
    ) {
        headers.insert(RETRY_AFTER, HeaderValue::from_static("1"));
    }
    response
}

/// Builds a response with a JSON body.
pub(crate) fn json(status: StatusCode, body: &impl Serialize) -> Response<Body> {
    // The types of `wire` have only string keys, so serialization cannot fail.
    let text = serde_json::to_vec(body).unwrap_or_default();
    let mut response = Response::new(Body::from(text));
    *response.status_mut() = status;
    let json = HeaderValue::from_static("application/json");
    response.headers_mut().insert(CONTENT_TYPE, json);
    response
}

/// Converts a number that is known to be a valid status.
pub(crate) fn code(number: u16) -> StatusCode {
    StatusCode::from_u16(number).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR)
}
