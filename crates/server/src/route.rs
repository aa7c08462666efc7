//! Routes: one row per request with its method, path, scope, types and handler. The router and the OpenAPI
//! document are generated from these rows.

use std::sync::Arc;
use std::time::Duration;

use axum::body::Bytes;
use axum::extract::Query;
use axum::http::{StatusCode, Uri};
use deft_wire::model::RunOrigin;
use deft_wire::token::TokenScope as Scope;
use deft_wire::{Done, Failure};
use futures_util::future::BoxFuture;
use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::access::Caller;
use crate::answer::Answer;
use crate::context::Server;
use crate::description::Description;
use crate::replies::Retention;

/// An HTTP method.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verb {
    Get,
    Post,
    Put,
    Delete,
}

/// The type of an absent query or body.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Nothing {}

/// A parsed request.
pub(crate) struct Call<Q = Nothing, B = Nothing> {
    pub(crate) server: Arc<Server>,
    pub(crate) caller: Caller,
    /// The header `Idempotency-Key`.
    pub(crate) key: Option<String>,
    /// Origin of the request, as stored in journals of runs.
    pub(crate) origin: RunOrigin,
    /// The query as sent.
    pub(crate) query_text: String,
    params: Vec<(String, String)>,
    pub(crate) query: Q,
    pub(crate) body: B,
}

impl<Q, B> Call<Q, B> {
    /// Returns the first path parameter, a name or an id.
    pub(crate) fn param(&self) -> &str {
        self.params.first().map_or("", |(_, value)| value.as_str())
    }

    /// Returns the second path parameter.
    pub(crate) fn second_param(&self) -> &str {
        self.params.get(1).map_or("", |(_, value)| value.as_str())
    }

    /// Returns the caller's name as stored in records.
    pub(crate) fn record_name(&self) -> String {
        self.caller.record_name()
    }
}

/// A request before its query and body are parsed.
pub(crate) struct RawCall {
    pub(crate) server: Arc<Server>,
    pub(crate) caller: Caller,
    pub(crate) key: Option<String>,
    pub(crate) origin: RunOrigin,
    pub(crate) params: Vec<(String, String)>,
    pub(crate) uri: Uri,
    pub(crate) body: Bytes,
}

/// Handles a request.
pub(crate) type Handler = Arc<dyn Fn(RawCall) -> BoxFuture<'static, Done<Answer>> + Send + Sync>;

/// One request of the API.
#[derive(Clone)]
pub(crate) struct Route {
    pub(crate) verb: Verb,
    pub(crate) path: &'static str,
    pub(crate) scope: Scope,
    pub(crate) description: Description,
    pub(crate) handler: Handler,
    pub(crate) retention: Retention,
}

/// Maximum time that a request waits for a run.
pub(crate) const MAX_WAIT: Duration = Duration::from_mins(5);

impl Route {
    /// Creates a route with a blocking handler, which runs on a thread for blocking work.
    pub(crate) fn new<Q, B, R>(
        verb: Verb,
        path: &'static str,
        summary: &'static str,
        scope: Scope,
        work: fn(&Call<Q, B>) -> Done<R>,
    ) -> Self
    where
        Q: DeserializeOwned + JsonSchema + Send + Sync + 'static,
        B: DeserializeOwned + JsonSchema + Send + Sync + 'static,
        R: Serialize + JsonSchema + Send + 'static,
    {
        let handler: Handler = Arc::new(move |raw: RawCall| {
            Box::pin(async move {
                let server = Arc::clone(&raw.server);
                let call = read::<Q, B>(raw)?;
                server
                    .block(move |_| Answer::json(StatusCode::OK, &work(&call)?))
                    .await
            })
        });
        Self::row::<Q, B, R>(verb, path, summary, scope, handler)
    }

    /// Creates a route with an asynchronous handler, for requests that wait without holding a thread.
    pub(crate) fn new_waiting<Q, B, R>(
        verb: Verb,
        path: &'static str,
        summary: &'static str,
        scope: Scope,
        work: fn(Call<Q, B>) -> BoxFuture<'static, Done<Answer>>,
    ) -> Self
    where
        Q: DeserializeOwned + JsonSchema + Send + Sync + 'static,
        B: DeserializeOwned + JsonSchema + Send + Sync + 'static,
        R: Serialize + JsonSchema + Send + 'static,
    {
        let handler: Handler =
            Arc::new(move |raw: RawCall| Box::pin(async move { work(read::<Q, B>(raw)?).await }));
        Self::row::<Q, B, R>(verb, path, summary, scope, handler).with_statuses(&[200, 202])
    }

    fn row<Q, B, R>(
        verb: Verb,
        path: &'static str,
        summary: &'static str,
        scope: Scope,
        handler: Handler,
    ) -> Self
    where
        Q: JsonSchema + 'static,
        B: JsonSchema + 'static,
        R: JsonSchema,
    {
        Self {
            verb,
            path,
            scope,
            description: Description::new::<Q, B, R>(summary, &[200]),
            handler,
            retention: match verb {
                Verb::Post => Retention::Day,
                Verb::Get | Verb::Put | Verb::Delete => Retention::None,
            },
        }
    }

    /// Declares 200 as the only success status.
    pub(crate) fn always_ok(self) -> Self {
        self.with_statuses(&[200])
    }

    fn with_statuses(mut self, statuses: &'static [u16]) -> Self {
        self.description = self.description.with_statuses(statuses);
        self
    }

    /// Declares the body of a response with status 422, for operations that were tried and failed.
    pub(crate) fn with_refusal<R: JsonSchema>(mut self) -> Self {
        self.description = self.description.with_refusal::<R>();
        self
    }

    /// Leaves the `Idempotency-Key` to the handler.
    pub(crate) fn without_stored_reply(mut self) -> Self {
        self.retention = Retention::None;
        self
    }

    /// Marks a reply that holds a secret.
    pub(crate) fn with_secret_reply(mut self) -> Self {
        self.retention = Retention::Secret;
        self
    }
}

fn read<Q: DeserializeOwned, B: DeserializeOwned>(raw: RawCall) -> Done<Call<Q, B>> {
    let query = Query::<Q>::try_from_uri(&raw.uri).map_err(|problem| {
        let why = problem.body_text();
        let why = why
            .rsplit_once("string: ")
            .map_or(why.as_str(), |(_, why)| why);
        Failure::input("invalid_input", format!("invalid query: {why}")).hint(SHAPES)
    })?;
    // An absent body counts as an empty object.
    let body: &[u8] = match raw.body.as_ref() {
        b"" => b"{}",
        body => body,
    };
    let body = serde_json::from_slice(body).map_err(|problem| {
        Failure::input("invalid_input", format!("invalid body: {problem}")).hint(SHAPES)
    })?;
    Ok(Call {
        server: raw.server,
        caller: raw.caller,
        key: raw.key,
        origin: raw.origin,
        query_text: raw.uri.query().unwrap_or_default().to_owned(),
        params: raw.params,
        query: query.0,
        body,
    })
}

const SHAPES: &str = "`/api/openapi.json` describes every request";
