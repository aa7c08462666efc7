//! A double of a model server: it answers by a script, in the words of any provider, streamed or
//! whole as it is asked, and remembers every request.
//!
//! Not here: tokens, templates, or any check of what it is sent; tests look at the requests.

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

/// The double; it stops when it is dropped.
pub struct ModelServer {
    /// What to give to a client as the base URL.
    pub url: String,
    down: Arc<AtomicBool>,
    double: HttpDouble,
}

impl ModelServer {
    /// A server that gives these answers in this order. A question too many is answered with
    /// status 400 and says so.
    pub fn start(dialect: Dialect, answers: impl IntoIterator<Item = ModelAnswer>) -> Self {
        let left: Mutex<VecDeque<ModelAnswer>> = Mutex::new(answers.into_iter().collect());
        Self::answering(dialect, move |_| {
            let over = || ModelAnswer::error(400, "the script of the test is over");
            lock(&left).pop_front().unwrap_or_else(over)
        })
    }

    /// A server whose answers are written in JSON; see [`ModelAnswer::from_json`].
    pub fn script(dialect: Dialect, script: &Value) -> Self {
        let answers = script.as_array().expect("a script is a list");
        Self::start(dialect, answers.iter().map(ModelAnswer::from_json))
    }

    /// A server that thinks up each answer when it sees the request.
    pub fn answering(
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

    /// While it is down, every connection just ends.
    pub fn set_down(&self, down: bool) {
        self.down.store(down, Ordering::SeqCst);
    }

    /// The bodies of all questions so far.
    pub fn requests(&self) -> Vec<Value> {
        let asked = self.http_requests();
        asked
            .iter()
            .filter(|request| request.method == "POST")
            .map(body)
            .collect()
    }

    /// Everything that was asked so far, pings included, with paths and headers.
    pub fn http_requests(&self) -> Vec<Request> {
        self.double.requests()
    }
}

fn body(request: &Request) -> Value {
    serde_json::from_slice(&request.body).unwrap_or(Value::Null)
}

/// The lists of models of all providers, and the health of `llama.cpp`.
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
