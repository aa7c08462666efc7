//! A double of the Telegram Bot API. It enforces the rules that a sender can break, returns updates as the
//! real API does, and returns the real API's errors on request.

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::double::{HttpDouble, Reaction, lock};
use crate::wire::Request;

/// A scripted response to the next call of a method.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BotAnswer {
    /// The normal response, to place failures between successes.
    Ok,
    /// Too many requests: `429` with this many seconds to wait.
    TooMany(u64),
    /// An error with a code and a description.
    Error(u16, String),
    /// A status with a body that the Bot API would not send.
    Foreign(u16, String),
    /// No response: the connection stays open until the client gives up.
    Hang,
    /// The connection is closed without a response.
    Close,
}

/// A call that the double received.
#[derive(Clone, Debug, PartialEq)]
pub struct BotCall {
    /// The method, such as `sendMessage`.
    pub method: String,
    /// The arguments.
    pub body: Value,
}

/// The time a test waits for a call before it fails.
const CALL_TIMEOUT: Duration = Duration::from_secs(30);

#[derive(Default)]
struct State {
    script: VecDeque<BotAnswer>,
    /// Scripted responses by method.
    scripts: HashMap<String, VecDeque<BotAnswer>>,
    /// Updates not yet confirmed by the client.
    updates: Vec<Value>,
    /// The number of the last update.
    last: i64,
    calls: Vec<BotCall>,
    /// The number of accepted messages.
    sent: i64,
}

/// The double. Dropping it stops the server.
pub struct BotApi {
    /// The base URL for clients.
    pub url: String,
    /// The token of its only bot.
    pub token: String,
    shared: Arc<Shared>,
    _server: HttpDouble,
}

#[derive(Default)]
struct Shared {
    state: Mutex<State>,
    /// Notified on every change of the state.
    changed: Condvar,
}

impl BotApi {
    /// Starts a double with one bot.
    pub fn start() -> Self {
        let token = "8304042211:AAF-dOubLe_t0ken".to_owned();
        let shared: Arc<Shared> = Arc::default();
        let (inner, known) = (shared.clone(), token.clone());
        let server = HttpDouble::start(move |request| inner.react(request, &known));
        Self {
            url: server.url.clone(),
            token,
            shared,
            _server: server,
        }
    }

    /// Scripts the responses to the next calls, in this order. Later calls get the normal response.
    pub fn script(&self, answers: impl IntoIterator<Item = BotAnswer>) {
        lock(&self.shared.state).script.extend(answers);
    }

    /// Like [`Self::script`], for the calls of one method.
    pub fn script_for(&self, method: &str, answers: impl IntoIterator<Item = BotAnswer>) {
        let mut state = lock(&self.shared.state);
        let script = state.scripts.entry(method.to_owned()).or_default();
        script.extend(answers);
    }

    /// Adds an update for a message from a person, and returns its number.
    pub fn write(&self, chat: i64, text: &str) -> i64 {
        self.push(json!({"message": {
            "message_id": 900, "date": 1_760_000_000, "text": text,
            "chat": {"id": chat, "type": "private"}, "from": {"id": chat, "first_name": "Ada"},
        }}))
    }

    /// Adds an update for a pressed button of a message, and returns its number.
    pub fn press(&self, chat: i64, message: i64, data: &str) -> i64 {
        self.push(json!({"callback_query": {
            "id": "q1", "data": data, "from": {"id": chat, "first_name": "Ada"},
            "message": {"message_id": message, "chat": {"id": chat, "type": "private"}},
        }}))
    }

    /// Adds an update and returns its number.
    pub fn push(&self, mut update: Value) -> i64 {
        let mut state = lock(&self.shared.state);
        state.last += 1;
        update["update_id"] = state.last.into();
        state.updates.push(update);
        self.shared.changed.notify_all();
        state.last
    }

    /// Returns the numbers of updates not yet confirmed.
    pub fn unconfirmed_updates(&self) -> Vec<i64> {
        let state = lock(&self.shared.state);
        let number = |update: &Value| update["update_id"].as_i64();
        state.updates.iter().filter_map(number).collect()
    }

    /// Returns the bodies of the calls of one method.
    pub fn calls_of(&self, method: &str) -> Vec<Value> {
        let calls = self.calls().into_iter();
        let fits = calls.filter(|call| call.method == method);
        fits.map(|call| call.body).collect()
    }

    /// Waits until the calls so far satisfy `wanted`, and returns them.
    pub fn until(&self, wanted: impl Fn(&[BotCall]) -> bool) -> Vec<BotCall> {
        let end = Instant::now() + CALL_TIMEOUT;
        let mut state = lock(&self.shared.state);
        while !wanted(&state.calls) {
            let left = end.saturating_duration_since(Instant::now());
            assert!(!left.is_zero(), "not in time; calls: {:#?}", state.calls);
            let woken = self.shared.changed.wait_timeout(state, left);
            (state, _) = woken.unwrap_or_else(PoisonError::into_inner);
        }
        state.calls.clone()
    }

    /// Waits for `times` calls of a method, and returns their bodies.
    pub fn until_called(&self, method: &str, times: usize) -> Vec<Value> {
        self.until(|calls| calls.iter().filter(|call| call.method == method).count() >= times);
        self.calls_of(method)
    }

    /// Returns the calls so far, including failed ones but not those with a wrong token.
    pub fn calls(&self) -> Vec<BotCall> {
        lock(&self.shared.state).calls.clone()
    }
}

impl Shared {
    /// Handles a request. `getUpdates` blocks until an update is available, unless another response is
    /// scripted.
    fn react(&self, request: &Request, token: &str) -> Reaction {
        let mut state = lock(&self.state);
        let reaction = state.react(request, token);
        self.changed.notify_all();
        let polls = request.path.ends_with("/getUpdates");
        match reaction {
            Reaction::Answer(200, _, _) if polls => {}
            other @ (Reaction::Answer(..)
            | Reaction::Hang
            | Reaction::Close
            | Reaction::Stream(..)) => return other,
        }
        let body: Value = serde_json::from_slice(&request.body).unwrap_or_default();
        let from = body["offset"].as_i64().unwrap_or_default();
        let wait = Duration::from_secs(body["timeout"].as_u64().unwrap_or_default());
        let end = Instant::now() + wait;
        state
            .updates
            .retain(|update| update["update_id"].as_i64() >= Some(from));
        self.changed.notify_all();
        loop {
            let left = end.saturating_duration_since(Instant::now());
            if !state.updates.is_empty() || left.is_zero() {
                return good(&Value::Array(state.updates.clone()));
            }
            let waited = self.changed.wait_timeout(state, left);
            (state, _) = waited.unwrap_or_else(PoisonError::into_inner);
        }
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
        let own = self.scripts.get_mut(method);
        let own = own.and_then(VecDeque::pop_front);
        let next = own.or_else(|| self.script.pop_front());
        match next.unwrap_or(BotAnswer::Ok) {
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
            // The waiting request adds the pending updates.
            "getUpdates" => good(&json!([])),
            "sendChatAction" | "answerCallbackQuery" => good(&json!(true)),
            "editMessageText" => edit_message(body),
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
            Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_) => None,
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

fn edit_message(body: &Value) -> Reaction {
    let text = body["text"].as_str().unwrap_or_default();
    match body["message_id"].as_i64() {
        Some(id) if !text.is_empty() => good(&json!({"message_id": id, "text": text})),
        _ => error(400, "Bad Request: message to edit not found", Value::Null),
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
