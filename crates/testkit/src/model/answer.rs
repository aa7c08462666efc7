//! One answer of the double, whatever the provider.

use serde_json::{Value, json};

use super::dialect::Dialect;
use super::stream;
use crate::double::{Piece, Reaction};
use crate::gate::Gate;

/// What the model does with one question.
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

/// A proper answer, and what may be wrong with it.
#[derive(Clone, Debug, Default)]
pub(super) struct ScriptedReply {
    pub(super) text: String,
    pub(super) calls: Vec<ScriptedCall>,
    /// The provider's own word; what fits when absent.
    pub(super) stop: Option<String>,
    /// Tokens read, of those from the cache, and written.
    pub(super) usage: Option<(u64, u64, u64)>,
    /// How many events a stream has before it is cut off.
    pub(super) cut: Option<usize>,
    /// How many events a stream has before it waits.
    pub(super) gate: Option<(usize, Gate)>,
    /// How many bytes go into one write; one event each when absent.
    pub(super) bytes: Option<usize>,
}

#[derive(Clone, Debug)]
pub(super) struct ScriptedCall {
    pub(super) id: Option<String>,
    pub(super) name: String,
    /// A text is sent as it is, so that it may be anything; other values as the provider wants them.
    pub(super) args: Value,
}

impl ModelAnswer {
    /// Says something, for 10 tokens in and 5 out.
    pub fn text(text: &str) -> Self {
        Self(AnswerKind::Says(ScriptedReply {
            text: text.to_owned(),
            usage: Some((10, 0, 5)),
            ..ScriptedReply::default()
        }))
    }

    /// Calls a tool. `args` is an object, or a text that is sent as it is.
    pub fn call(name: &str, args: Value) -> Self {
        Self::text("").and_call(name, args)
    }

    /// Says this before it calls.
    #[must_use]
    pub fn saying(self, text: &str) -> Self {
        self.change(|saying| text.clone_into(&mut saying.text))
    }

    /// Calls a further tool.
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

    /// Gives the last call another id, or none.
    #[must_use]
    pub fn id(self, id: Option<&str>) -> Self {
        self.change(|saying| {
            let last = saying.calls.last_mut().expect("there is a call");
            last.id = id.map(str::to_owned);
        })
    }

    /// Says how many tokens it took, of which so many were cached.
    #[must_use]
    pub fn usage(self, input: u64, cached: u64, output: u64) -> Self {
        self.change(|saying| saying.usage = Some((input, cached, output)))
    }

    /// Says nothing about tokens.
    #[must_use]
    pub fn no_usage(self) -> Self {
        self.change(|saying| saying.usage = None)
    }

    /// Stops for another reason, in the provider's own word.
    #[must_use]
    pub fn stop(self, word: &str) -> Self {
        self.change(|saying| saying.stop = Some(word.to_owned()))
    }

    /// Ends the connection after so many events of a stream.
    #[must_use]
    pub fn cut(self, events: usize) -> Self {
        self.change(|saying| saying.cut = Some(events))
    }

    /// Waits at a gate after so many events of a stream.
    #[must_use]
    pub fn gate(self, events: usize, gate: &Gate) -> Self {
        self.change(|saying| saying.gate = Some((events, gate.clone())))
    }

    /// Writes a stream so many bytes at a time, wherever that cuts it.
    #[must_use]
    pub fn bytes(self, bytes: usize) -> Self {
        self.change(|saying| saying.bytes = Some(bytes))
    }

    /// An error in the shape of the provider.
    pub fn error(status: u16, message: &str) -> Self {
        Self(AnswerKind::Error(status, message.to_owned()))
    }

    /// Too many requests; wait so many seconds.
    pub fn too_many(seconds: u64) -> Self {
        let body = json!({"error": {"message": "slow down", "type": "rate_limit_error"}});
        let wait = format!("Retry-After: {seconds}");
        Self::raw(429, &[&wait], &body.to_string())
    }

    /// The page of a proxy.
    pub fn html(status: u16) -> Self {
        let page = "<!DOCTYPE html><html><head><title>Bad gateway</title></head></html>";
        Self::raw(status, &["Content-Type: text/html"], page)
    }

    /// Anything at all; `headers` are whole lines. JSON, unless they name a content type.
    pub fn raw(status: u16, headers: &[&str], body: &str) -> Self {
        let headers = headers.iter().map(|line| (*line).to_owned()).collect();
        Self(AnswerKind::Raw(status, headers, body.to_owned()))
    }

    /// No answer; the connection stays open.
    pub fn hang() -> Self {
        Self(AnswerKind::Hang)
    }

    /// The end of the connection.
    pub fn close() -> Self {
        Self(AnswerKind::Close)
    }

    /// An answer in JSON: `text`, `calls` (`name`, `args`, `id` which may be null), `stop`, `usage`
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
