//! One scripted answer of the double, independent of the provider.

use serde_json::{Value, json};

use super::dialect::Dialect;
use super::stream;
use crate::double::{Piece, Reaction};
use crate::gate::Gate;

/// The answer of the model to one request.
#[derive(Clone, Debug)]
pub struct ModelAnswer(pub(super) AnswerKind);

#[derive(Clone, Debug)]
pub(super) enum AnswerKind {
    Says(ScriptedReply),
    Error(u16, String),
    /// Status, header lines, body.
    Raw(u16, Vec<String>, String),
    Hang,
    Close,
}

/// A regular reply, with optional defects.
#[derive(Clone, Debug, Default)]
pub(super) struct ScriptedReply {
    pub(super) text: String,
    pub(super) calls: Vec<ScriptedCall>,
    /// The stop reason in the provider's vocabulary, or `None` for the regular one.
    pub(super) stop: Option<String>,
    /// Input tokens, cached input tokens and output tokens.
    pub(super) usage: Option<(u64, u64, u64)>,
    /// The number of events after which a stream is cut off.
    pub(super) cut: Option<usize>,
    /// The number of events after which a stream waits at a gate.
    pub(super) gate: Option<(usize, Gate)>,
    /// The number of bytes per write, or `None` for one event per write.
    pub(super) bytes: Option<usize>,
}

#[derive(Clone, Debug)]
pub(super) struct ScriptedCall {
    pub(super) id: Option<String>,
    pub(super) name: String,
    /// The arguments. A string is sent as it is, so it can be invalid; other values in the provider's format.
    pub(super) args: Value,
}

impl ModelAnswer {
    /// Replies with a text, using 10 input tokens and 5 output tokens.
    pub fn text(text: &str) -> Self {
        Self(AnswerKind::Says(ScriptedReply {
            text: text.to_owned(),
            usage: Some((10, 0, 5)),
            ..ScriptedReply::default()
        }))
    }

    /// Calls a tool. `args` is an object, or a string that is sent as it is.
    pub fn call(name: &str, args: Value) -> Self {
        Self::text("").and_call(name, args)
    }

    /// Adds a text before the calls.
    #[must_use]
    pub fn with_text(self, text: &str) -> Self {
        self.change(|saying| text.clone_into(&mut saying.text))
    }

    /// Adds a call.
    #[must_use]
    pub fn and_call(self, name: &str, args: Value) -> Self {
        self.change(|saying| {
            let id = format!("call_{name}_{}", saying.calls.len());
            saying.calls.push(ScriptedCall {
                id: Some(id),
                name: name.to_owned(),
                args,
            });
        })
    }

    /// Replaces or removes the id of the last call.
    #[must_use]
    pub fn id(self, id: Option<&str>) -> Self {
        self.change(|saying| {
            let last = saying.calls.last_mut().expect("there is a call");
            last.id = id.map(str::to_owned);
        })
    }

    /// Sets the reported tokens: input, the cached part of the input, and output.
    #[must_use]
    pub fn usage(self, input: u64, cached: u64, output: u64) -> Self {
        self.change(|saying| saying.usage = Some((input, cached, output)))
    }

    /// Omits the reported tokens.
    #[must_use]
    pub fn no_usage(self) -> Self {
        self.change(|saying| saying.usage = None)
    }

    /// Sets the stop reason, in the provider's vocabulary.
    #[must_use]
    pub fn stop(self, word: &str) -> Self {
        self.change(|saying| saying.stop = Some(word.to_owned()))
    }

    /// Closes the connection after `events` events of a stream.
    #[must_use]
    pub fn cut(self, events: usize) -> Self {
        self.change(|saying| saying.cut = Some(events))
    }

    /// Waits at a gate after `events` events of a stream.
    #[must_use]
    pub fn gate(self, events: usize, gate: &Gate) -> Self {
        self.change(|saying| saying.gate = Some((events, gate.clone())))
    }

    /// Writes a stream in pieces of `bytes` bytes, regardless of event boundaries.
    #[must_use]
    pub fn bytes(self, bytes: usize) -> Self {
        self.change(|saying| saying.bytes = Some(bytes))
    }

    /// Returns an error in the provider's format.
    pub fn error(status: u16, message: &str) -> Self {
        Self(AnswerKind::Error(status, message.to_owned()))
    }

    /// Returns status 429 with `Retry-After: seconds`.
    pub fn too_many(seconds: u64) -> Self {
        let body = json!({"error": {"message": "slow down", "type": "rate_limit_error"}});
        let wait = format!("Retry-After: {seconds}");
        Self::raw(429, &[&wait], &body.to_string())
    }

    /// Returns an HTML page, as a proxy does.
    pub fn html(status: u16) -> Self {
        let page = "<!DOCTYPE html><html><head><title>Bad gateway</title></head></html>";
        Self::raw(status, &["Content-Type: text/html"], page)
    }

    /// Returns any response. `headers` are whole lines; the content type is JSON unless they set another.
    pub fn raw(status: u16, headers: &[&str], body: &str) -> Self {
        let headers = headers.iter().map(|line| (*line).to_owned()).collect();
        Self(AnswerKind::Raw(status, headers, body.to_owned()))
    }

    /// Never responds; the connection stays open.
    pub fn hang() -> Self {
        Self(AnswerKind::Hang)
    }

    /// Closes the connection without a response.
    pub fn close() -> Self {
        Self(AnswerKind::Close)
    }

    /// Parses an answer from JSON: `text`, `calls` (`name`, `args`, `id` which may be null), `stop`, `usage`
    /// (`[in, cached, out]`, or null for none), `cut`, `bytes`; or one of `error` (`[status, message]`), `too_many`
    /// (seconds), `html` (status), `raw` (`[status, [headers], body]`), `hang`, `close`.
    pub fn from_json(value: &Value) -> Self {
        let number = |value: &Value| value.as_u64().expect("a number");
        let status = |value: &Value| u16::try_from(number(value)).expect("a status");
        let text = |value: &Value| value.as_str().expect("a text").to_owned();
        let (word, given) = value
            .as_object()
            .and_then(|object| object.iter().next())
            .expect("an answer is an object with something in it");
        match word.as_str() {
            "error" => return Self::error(status(&given[0]), &text(&given[1])),
            "too_many" => return Self::too_many(number(given)),
            "html" => return Self::html(status(given)),
            "hang" => return Self::hang(),
            "close" => return Self::close(),
            "raw" => {
                let headers = given[1].as_array().expect("a list");
                let headers: Vec<&str> = headers.iter().filter_map(Value::as_str).collect();
                return Self::raw(status(&given[0]), &headers, &text(&given[2]));
            }
            _ => {}
        }
        let mut answer = Self::text(value["text"].as_str().unwrap_or_default());
        for call in value["calls"].as_array().into_iter().flatten() {
            answer = answer.and_call(&text(&call["name"]), call["args"].clone());
            if let Some(id) = call.get("id") {
                answer = answer.id(id.as_str());
            }
        }
        answer.change(|saying| {
            if let Some(usage) = value.get("usage") {
                let three =
                    |list: &Vec<Value>| (number(&list[0]), number(&list[1]), number(&list[2]));
                saying.usage = usage.as_array().map(three);
            }
            let size = |key: &str| {
                value[key]
                    .as_u64()
                    .and_then(|size| usize::try_from(size).ok())
            };
            saying.stop = value["stop"].as_str().map(str::to_owned);
            saying.cut = size("cut");
            saying.bytes = size("bytes");
        })
    }

    fn change(mut self, change: impl FnOnce(&mut ScriptedReply)) -> Self {
        let AnswerKind::Says(saying) = &mut self.0 else {
            panic!("only a proper answer has this");
        };
        change(saying);
        self
    }

    pub(super) fn react(&self, dialect: Dialect, streamed: bool) -> Reaction {
        match &self.0 {
            AnswerKind::Says(saying) if streamed => stream::reaction(dialect, saying),
            AnswerKind::Says(saying) => {
                Reaction::Answer(200, Vec::new(), dialect.whole(saying).to_string())
            }
            AnswerKind::Raw(status, headers, body) => {
                if headers
                    .iter()
                    .any(|line| line.to_lowercase().starts_with("content-type"))
                {
                    let body = Piece::Bytes(body.clone().into_bytes());
                    return Reaction::Stream(*status, headers.clone(), vec![body]);
                }
                Reaction::Answer(*status, headers.clone(), body.clone())
            }
            AnswerKind::Error(status, message) => {
                let body = dialect.error(*status, message).to_string();
                Reaction::Answer(*status, Vec::new(), body)
            }
            AnswerKind::Hang => Reaction::Hang,
            AnswerKind::Close => Reaction::Close,
        }
    }
}
