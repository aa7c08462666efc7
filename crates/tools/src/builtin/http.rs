//! `http.request`: calls to the allowed hosts.
//!
//! Not here: which hosts are allowed (`host.rs`), cookies, and the interpretation of a body beyond JSON
//! or text.

use std::sync::OnceLock;

use deft_model::{Effects, Failure, FailureClass, Object, clip};
use reqwest::header::{HeaderMap, HeaderName, HeaderValue};
use reqwest::{Client, Method, Response, Url};
use serde_json::{Value, json};

use super::host::{Resolver, host_of, is_allowed};
use super::{BuiltinTool, Context, Definition, Settings, handler, invalid, text};
use crate::classify;
use crate::limit::words;
use crate::options::HttpOptions;
use crate::transport::transport;

/// The maximum number of redirects to follow.
const MAX_REDIRECTS: usize = 5;

pub(super) fn tool(settings: &Settings) -> BuiltinTool {
    let definition = Definition::new(
        "http.request",
        "Send an HTTP request and return status, headers and body. Statuses of 400 and above are failures.",
        Effects::Once,
        json!({
            "type": "object",
            "additionalProperties": false,
            "required": ["url"],
            "properties": {
                "method": {"enum": ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"]},
                "url": {"type": "string"},
                "headers": {"type": "object", "additionalProperties": {"type": "string"}},
                "body": {"type": "string"},
                "json": {"description": "A body that is sent as JSON"},
                "accept_status": {
                    "type": "array", "items": {"type": "integer"},
                    "description": "Statuses of 400 and above that are not failures"
                }
            }
        }),
    );
    let settings = settings.clone();
    let client = std::sync::Arc::new(OnceLock::new());
    let run = handler(move |arguments: Object, context: Context| {
        let (settings, client) = (settings.clone(), client.clone());
        async move { request(&settings, &client, &arguments, &context).await }
    });
    BuiltinTool::new(definition, run)
        .only_if(
            |options| !options.http.allow.is_empty(),
            "`deft config set tools.http.allow HOST` names the host that it may call",
        )
        .with_effects(|arguments| Some(effects(&method(arguments))))
}

fn effects(method: &Method) -> Effects {
    match method.as_str() {
        "GET" | "HEAD" | "OPTIONS" => Effects::None,
        "PUT" | "DELETE" => Effects::Idempotent,
        _ => Effects::Once,
    }
}

fn method(arguments: &Object) -> Method {
    text(arguments, "method").parse().unwrap_or(Method::GET)
}

async fn request(
    settings: &Settings,
    client: &OnceLock<Result<Client, String>>,
    arguments: &Object,
    context: &Context,
) -> Result<Value, Failure> {
    let options = settings.load().http.clone();
    let client = client
        .get_or_init(|| build(settings.clone()))
        .as_ref()
        .map_err(|error| {
            Failure::new(
                FailureClass::Other,
                format!("the HTTP client could not be created: {error}"),
            )
        })?;
    let hop = Hop::first(&options, arguments, context)?;
    let changes = effects(&hop.method) != Effects::None;
    let work = exchange(client, &options, hop, arguments);
    match tokio::time::timeout(options.timeout, work).await {
        Ok(answer) => answer.map_err(|failure| Failure {
            in_doubt: failure.in_doubt && changes,
            ..failure
        }),
        Err(_) => Err(Failure {
            in_doubt: changes,
            ..Failure::new(
                FailureClass::Timeout,
                format!("no answer within {}", words(options.timeout)),
            )
            .hint("raise `tools.http.timeout`")
        }),
    }
}

fn build(settings: Settings) -> Result<Client, String> {
    deft_http::client()
        // A proxy would resolve names itself, without deft's address check.
        .no_proxy()
        .dns_resolver(std::sync::Arc::new(Resolver(settings)))
        .build()
        .map_err(|error| error.to_string())
}

/// One request of a chain of redirects.
struct Hop {
    method: Method,
    url: Url,
    headers: HeaderMap,
    body: Option<Vec<u8>>,
}

impl Hop {
    fn first(
        options: &HttpOptions,
        arguments: &Object,
        context: &Context,
    ) -> Result<Self, Failure> {
        let given = text(arguments, "url");
        let url = Url::parse(given)
            .map_err(|error| invalid(format!("`{given}` is not a URL: {error}")))?;
        admit(options, &url)?;
        let method = method(arguments);
        let mut headers = headers(arguments)?;
        let body = match (
            arguments.get("json"),
            arguments.get("body").and_then(Value::as_str),
        ) {
            (Some(_), Some(_)) => return Err(invalid("give `body` or `json`, not both")),
            (Some(json), None) => {
                headers
                    .entry(reqwest::header::CONTENT_TYPE)
                    .or_insert(HeaderValue::from_static("application/json"));
                Some(json.to_string().into_bytes())
            }
            (None, body) => body.map(|text| text.as_bytes().to_vec()),
        };
        if matches!(method, Method::POST | Method::PATCH)
            && let Ok(key) = HeaderValue::from_str(&context.key)
            && !context.key.is_empty()
        {
            headers
                .entry(HeaderName::from_static("idempotency-key"))
                .or_insert(key);
        }
        add_trace(&mut headers, context);
        Ok(Self {
            method,
            url,
            headers,
            body,
        })
    }

    /// Returns the next request if the response is a redirect; fails if its host is not allowed.
    fn next(mut self, options: &HttpOptions, answer: &Response) -> Result<Option<Self>, Failure> {
        let status = answer.status().as_u16();
        let place = answer.headers().get(reqwest::header::LOCATION);
        let (301 | 302 | 303 | 307 | 308, Some(place)) = (status, place) else {
            return Ok(None);
        };
        let target = place
            .to_str()
            .ok()
            .and_then(|place| self.url.join(place).ok());
        let target = target.ok_or_else(|| invalid("the answer redirects to an invalid URL"))?;
        admit(options, &target)?;
        if matches!(status, 301..=303) && self.method != Method::HEAD {
            self.method = Method::GET;
            self.body = None;
            self.headers.remove(reqwest::header::CONTENT_TYPE);
        }
        let same = host_of(&self.url) == host_of(&target)
            && self.url.port_or_known_default() == target.port_or_known_default()
            && self.url.scheme() == target.scheme();
        if !same {
            // Credentials are meant for the first host only.
            self.headers.clear();
        }
        self.url = target;
        Ok(Some(self))
    }
}

/// Adds the trace context of the call, unless the skill sets its own.
fn add_trace(headers: &mut HeaderMap, context: &Context) {
    let Some(trace) = &context.trace else {
        return;
    };
    let own = headers.contains_key("traceparent");
    let parent = HeaderValue::from_str(&trace.parent()).ok();
    let state = trace.state.as_deref();
    let state = state.and_then(|state| HeaderValue::from_str(state).ok());
    for (name, value) in [("traceparent", parent), ("tracestate", state)] {
        if let (Some(value), false) = (value, own) {
            headers.insert(HeaderName::from_static(name), value);
        }
    }
}

fn admit(options: &HttpOptions, url: &Url) -> Result<(), Failure> {
    if !matches!(url.scheme(), "http" | "https") {
        return Err(invalid(format!(
            "the scheme `{}` is not HTTP",
            url.scheme()
        )));
    }
    if is_allowed(&options.allow, url) {
        return Ok(());
    }
    let host = host_of(url).unwrap_or_default();
    Err(
        invalid(format!("the host `{host}` is not in `tools.http.allow`"))
            .hint(format!("add `{host}` to `tools.http.allow`")),
    )
}

fn headers(arguments: &Object) -> Result<HeaderMap, Failure> {
    let mut headers = HeaderMap::new();
    for (name, value) in arguments
        .get("headers")
        .and_then(Value::as_object)
        .into_iter()
        .flatten()
    {
        let parsed = (
            name.parse::<HeaderName>(),
            HeaderValue::from_str(value.as_str().unwrap_or_default()),
        );
        let (Ok(key), Ok(mut value)) = parsed else {
            return Err(invalid(format!("the header `{name}` cannot be sent")));
        };
        value.set_sensitive(true);
        headers.insert(key, value);
    }
    Ok(headers)
}

async fn exchange(
    client: &Client,
    options: &HttpOptions,
    mut hop: Hop,
    arguments: &Object,
) -> Result<Value, Failure> {
    for _ in 0..=MAX_REDIRECTS {
        let mut request = client
            .request(hop.method.clone(), hop.url.clone())
            .headers(hop.headers.clone());
        if let Some(body) = &hop.body {
            request = request.body(body.clone());
        }
        let answer = request.send().await.map_err(|error| transport(&error))?;
        let url = hop.url.clone();
        match hop.next(options, &answer)? {
            Some(next) => hop = next,
            None => return read(options, answer, &url, arguments).await,
        }
    }
    Err(Failure::new(
        FailureClass::Limit,
        format!("the answer redirects more than {MAX_REDIRECTS} times"),
    ))
}

async fn read(
    options: &HttpOptions,
    mut answer: Response,
    url: &Url,
    arguments: &Object,
) -> Result<Value, Failure> {
    let status = answer.status().as_u16();
    let mut bytes = Vec::new();
    while let Some(chunk) = answer.chunk().await.map_err(|error| transport(&error))? {
        if bytes.len() + chunk.len() > options.max_bytes {
            return Err(Failure::new(
                FailureClass::Limit,
                format!("the answer is larger than {} bytes", options.max_bytes),
            )
            .hint("raise `tools.http.max_bytes`"));
        }
        bytes.extend_from_slice(&chunk);
    }
    let body = String::from_utf8_lossy(&bytes).into_owned();
    let fine = arguments
        .get("accept_status")
        .and_then(Value::as_array)
        .is_some_and(|list| list.iter().any(|one| one.as_u64() == Some(status.into())));
    if status >= 400 && !fine {
        return Err(status_failure(status, &answer, &body));
    }
    let parsed = serde_json::from_str::<Value>(&body)
        .ok()
        .filter(|_| is_json(&answer));
    let headers: Object = answer
        .headers()
        .iter()
        .map(|(name, value)| {
            (
                name.to_string(),
                String::from_utf8_lossy(value.as_bytes())
                    .into_owned()
                    .into(),
            )
        })
        .collect();
    Ok(json!({
        "status": status,
        "url": url.as_str(),
        "headers": headers,
        "body": parsed.unwrap_or(Value::String(body)),
    }))
}

fn is_json(answer: &Response) -> bool {
    let kind = answer.headers().get(reqwest::header::CONTENT_TYPE);
    kind.and_then(|kind| kind.to_str().ok())
        .is_some_and(|kind| kind.contains("json"))
}

fn status_failure(status: u16, answer: &Response, body: &str) -> Failure {
    let reason = answer
        .status()
        .canonical_reason()
        .unwrap_or("no reason given");
    let excerpt = clip(body.trim(), 300);
    let failure = Failure::new(
        classify::status(status),
        format!("the answer was {status} ({reason}): {excerpt}"),
    );
    if classify::status_in_doubt(status) {
        return failure.in_doubt();
    }
    failure
}
