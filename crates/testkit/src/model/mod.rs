//! A double of a model server. It answers from a script, in the format of any provider, streamed or complete
//! as requested, and records every request.
//!
//! Not here: tokenization, templates, or checks of the requests; tests inspect the recorded requests.

mod answer;
mod dialect;
mod stream;

use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

use serde_json::{Value, json};

pub use self::answer::ModelAnswer;
pub use self::dialect::Dialect;
use crate::double::{HttpDouble, Reaction, lock};
use crate::wire::Request;

/// The double. Dropping it stops the server.
pub struct ModelServer {
    /// The base URL for clients.
    pub url: String,
    down: Arc<AtomicBool>,
    double: HttpDouble,
}

impl ModelServer {
    /// Starts a server that returns `answers` in order. A request after the last answer gets status 400 with
    /// a message about it.
    pub fn start(dialect: Dialect, answers: impl IntoIterator<Item = ModelAnswer>) -> Self {
        let left: Mutex<VecDeque<ModelAnswer>> = Mutex::new(answers.into_iter().collect());
        Self::start_with(dialect, move |_| {
            let over = || ModelAnswer::error(400, "the script of the test is over");
            lock(&left).pop_front().unwrap_or_else(over)
        })
    }

    /// Starts a server with answers given as JSON; see [`ModelAnswer::from_json`].
    pub fn script(dialect: Dialect, script: &Value) -> Self {
        let answers = script.as_array().expect("a script is a list");
        Self::start(dialect, answers.iter().map(ModelAnswer::from_json))
    }

    /// Starts a server that computes each answer from the body of the request.
    pub fn start_with(
        dialect: Dialect,
        answer: impl Fn(&Value) -> ModelAnswer + Send + Sync + 'static,
    ) -> Self {
        let down = Arc::new(AtomicBool::new(false));
        let is_down = down.clone();
        let double = HttpDouble::start(move |request| {
            if is_down.load(Ordering::SeqCst) {
                return Reaction::Close;
            }
            if request.method == "GET" {
                return listing(request);
            }
            let body = body(request);
            answer(&body).react(dialect, dialect.is_streamed(&request.path, &body))
        });
        Self {
            url: double.url.clone(),
            down,
            double,
        }
    }

    /// Makes the server unavailable or available. While it is down, it closes every connection.
    pub fn set_down(&self, down: bool) {
        self.down.store(down, Ordering::SeqCst);
    }

    /// Returns the bodies of all model requests so far.
    pub fn requests(&self) -> Vec<Value> {
        let asked = self.http_requests();
        asked
            .iter()
            .filter(|request| request.method == "POST")
            .map(body)
            .collect()
    }

    /// Returns all HTTP requests so far, including pings, with paths and headers.
    pub fn http_requests(&self) -> Vec<Request> {
        self.double.requests()
    }
}

fn body(request: &Request) -> Value {
    serde_json::from_slice(&request.body).unwrap_or(Value::Null)
}

/// Responds to requests for the model lists of all providers and for the health of `llama.cpp`.
fn listing(request: &Request) -> Reaction {
    let path = request.path.split('?').next().unwrap_or_default();
    let list = match path {
        "/v1/models" => json!({"object": "list", "data": [{"id": "double", "object": "model"}]}),
        "/v1beta/models" => json!({"models": [{"name": "models/double"}]}),
        "/api/tags" => json!({"models": [{"name": "double:latest", "model": "double:latest"}]}),
        "/health" => json!({"status": "ok"}),
        _ => return Reaction::Answer(404, Vec::new(), "not found".to_owned()),
    };
    Reaction::Answer(200, Vec::new(), list.to_string())
}
