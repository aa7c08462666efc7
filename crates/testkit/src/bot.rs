//! A double of the Telegram Bot API: it keeps the rules that a sender can break,
//! and fails on request in the words of the real one.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};

use serde_json::{Value, json};

use crate::double::{HttpDouble, Reaction, lock};
use crate::wire::Request;

/// What the next call of a method meets instead of a good answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BotAnswer {
    /// A good answer after all, to place failures in between.
    Ok,
    /// Too many requests: `429` with this many seconds to wait.
    TooMany(u64),
    /// An error with this code and description.
    Error(u16, String),
    /// A status with a body that is not from the Bot API.
    Foreign(u16, String),
    /// No answer at all until the client gives up.
    Hang,
    /// The end of the connection.
    Close,
}

/// A call that the double was asked for.
#[derive(Clone, Debug, PartialEq)]
pub struct BotCall {
    /// The method, such as `sendMessage`.
    pub method: String,
    /// Its arguments.
    pub body: Value,
}

#[derive(Default)]
struct State {
    script: VecDeque<BotAnswer>,
    calls: Vec<BotCall>,
    /// How many messages were taken.
    sent: i64,
}

/// The double; it stops when it is dropped.
pub struct BotApi {
    /// What to give to a client as the base URL.
    pub url: String,
    /// The token of its only bot.
    pub token: String,
    state: Arc<Mutex<State>>,
    _server: HttpDouble,
}

impl BotApi {
    /// Starts a double with one bot.
    pub fn start() -> Self {
        let token = "8304042211:AAF-dOubLe_t0ken".to_owned();
        let state: Arc<Mutex<State>> = Arc::default();
        let (inner, known) = (state.clone(), token.clone());
        let server = HttpDouble::start(move |request| lock(&inner).react(request, &known));
        Self {
            url: server.url.clone(),
            token,
            state,
            _server: server,
        }
    }

    /// What the next calls meet, in this order; after that all is well.
    pub fn script(&self, answers: impl IntoIterator<Item = BotAnswer>) {
        lock(&self.state).script.extend(answers);
    }

    /// The calls so far, those that failed included, but not those with a wrong token.
    pub fn calls(&self) -> Vec<BotCall> {
        lock(&self.state).calls.clone()
    }
}

impl State {
    fn react(&mut self, request: &Request, token: &str) -> Reaction {
        let path = request.path.strip_prefix("/bot").unwrap_or_default();
        let Some((given, method)) = path.split_once('/') else {
            return error(404, "Not Found", Value::Null);
        };
        if given != token {
            return error(401, "Unauthorized", Value::Null);
        }
        let body = serde_json::from_slice(&request.body).unwrap_or(Value::Null);
        self.calls.push(BotCall {
            method: method.to_owned(),
            body: body.clone(),
        });
        match self.script.pop_front().unwrap_or(BotAnswer::Ok) {
            BotAnswer::Ok => self.perform(method, &body),
            BotAnswer::TooMany(seconds) => error(
                429,
                &format!("Too Many Requests: retry after {seconds}"),
                json!({"retry_after": seconds}),
            ),
            BotAnswer::Error(code, description) => error(code, &description, Value::Null),
            BotAnswer::Foreign(status, body) => Reaction::Answer(status, Vec::new(), body),
            BotAnswer::Hang => Reaction::Hang,
            BotAnswer::Close => Reaction::Close,
        }
    }

    fn perform(&mut self, method: &str, body: &Value) -> Reaction {
        match method {
            "sendMessage" => self.send_message(body),
            "getMe" => {
                good(&json!({"id": 8_304_042_211_i64, "is_bot": true, "username": "double_bot"}))
            }
            _ => error(404, "Not Found", Value::Null),
        }
    }

    fn send_message(&mut self, body: &Value) -> Reaction {
        let chat = match &body["chat_id"] {
            Value::Number(number) => number.as_i64(),
            Value::String(text) if text.starts_with('@') => Some(-1),
            Value::String(text) => text.parse().ok(),
            _ => None,
        };
        let Some(chat) = chat else {
            return error(400, "Bad Request: chat not found", Value::Null);
        };
        let text = body["text"].as_str().unwrap_or_default();
        if text.trim().is_empty() {
            return error(400, "Bad Request: message text is empty", Value::Null);
        }
        if text.encode_utf16().count() > 4096 {
            return error(400, "Bad Request: message is too long", Value::Null);
        }
        self.sent += 1;
        good(
            &json!({"message_id": self.sent, "date": 1_760_000_000, "chat": {"id": chat}, "text": text}),
        )
    }
}

fn good(result: &Value) -> Reaction {
    let body = json!({"ok": true, "result": result});
    Reaction::Answer(200, Vec::new(), body.to_string())
}

fn error(code: u16, description: &str, parameters: Value) -> Reaction {
    let mut body = json!({"ok": false, "error_code": code, "description": description});
    if !parameters.is_null() {
        body["parameters"] = parameters;
    }
    Reaction::Answer(code, Vec::new(), body.to_string())
}
