//! A reply under construction, from the pieces of any wire format.
//!
//! A call without an id, or with the id of another call, gets a new id; arguments that are not a JSON object
//! are kept as they are. Not here: the format of any provider.

use std::collections::HashSet;

use deft_model::{
    CallArgs, Message, ModelReply, ModelRequest, Object, StopReason, TokenUsage, ToolCall,
    estimate_tokens,
};
use serde_json::Value;

use crate::{Delta, ReplyListener};

/// The parts of a reply received so far.
pub(crate) struct Draft<'a> {
    request: &'a ModelRequest,
    listener: Option<ReplyListener<'a>>,
    text: String,
    calls: Vec<PartialCall>,
    /// Why the model stopped, once known.
    pub(crate) stop: Option<StopReason>,
    pub(crate) counts: Counts,
    pub(crate) opaque: Option<Value>,
}

/// Token counts reported by a provider.
#[derive(Default)]
pub(crate) struct Counts {
    /// Including cached tokens.
    pub(crate) input: Option<u64>,
    pub(crate) cached: Option<u64>,
    pub(crate) cache_write: Option<u64>,
    pub(crate) output: Option<u64>,
}

/// A call that may be incomplete.
#[derive(Default)]
struct PartialCall {
    id: String,
    name: String,
    args: Args,
    announced: bool,
}

/// Arguments as they were received.
pub(crate) enum Args {
    /// Text that should be JSON.
    Text(String),
    /// A JSON value.
    Value(Value),
}

impl Default for Args {
    fn default() -> Self {
        Self::Text(String::new())
    }
}

impl<'a> Draft<'a> {
    pub(crate) fn new(request: &'a ModelRequest, listener: Option<ReplyListener<'a>>) -> Self {
        Self {
            request,
            listener,
            text: String::new(),
            calls: Vec::new(),
            stop: None,
            counts: Counts::default(),
            opaque: None,
        }
    }

    /// Appends to the text.
    pub(crate) fn say(&mut self, text: &str) {
        if text.is_empty() {
            return;
        }
        self.text.push_str(text);
        self.emit(Delta::Text(text.to_owned()));
    }

    /// Adds a whole call.
    pub(crate) fn call(&mut self, id: &str, name: &str, args: Args) {
        let place = self.begin();
        self.grow(place, id, name);
        self.calls[place].args = args;
    }

    /// Begins a call that arrives in pieces, and returns its index.
    pub(crate) fn begin(&mut self) -> usize {
        self.calls.push(PartialCall::default());
        self.calls.len() - 1
    }

    /// Sets the id and the name of a call. Only the first value of each counts, even if the server repeats
    /// them.
    pub(crate) fn grow(&mut self, place: usize, id: &str, name: &str) {
        let Some(call) = self.calls.get_mut(place) else {
            return;
        };
        if call.id.is_empty() {
            id.clone_into(&mut call.id);
        }
        if call.name.is_empty() {
            name.clone_into(&mut call.name);
        }
        if !call.announced && !call.name.is_empty() {
            call.announced = true;
            let name = call.name.clone();
            self.emit(Delta::Call { name });
        }
    }

    /// Appends to the arguments of a call.
    pub(crate) fn grow_args(&mut self, place: usize, more: &str) {
        match self.calls.get_mut(place).map(|call| &mut call.args) {
            Some(Args::Text(text)) => text.push_str(more),
            Some(Args::Value(_)) if more.is_empty() => {}
            Some(args @ Args::Value(_)) => *args = Args::Text(more.to_owned()),
            None => {}
        }
    }

    /// Sets all arguments of a call at once.
    pub(crate) fn set_args(&mut self, place: usize, args: Value) {
        if let Some(call) = self.calls.get_mut(place) {
            call.args = Args::Value(args);
        }
    }

    /// Returns the id of a call; empty if it has none yet.
    pub(crate) fn id(&self, place: usize) -> &str {
        self.calls.get(place).map_or("", |call| &call.id)
    }

    pub(crate) fn count(&self) -> usize {
        self.calls.len()
    }

    /// Completes the reply.
    pub(crate) fn finish(self) -> ModelReply {
        let stop = match self.stop {
            // Some servers report "stop" together with calls, or no reason at all.
            None | Some(StopReason::Done | StopReason::Calls) if !self.calls.is_empty() => {
                StopReason::Calls
            }
            // Conversely, without calls there is nothing to call.
            None | Some(StopReason::Calls) => StopReason::Done,
            Some(stop) => stop,
        };
        let mut reply = ModelReply {
            text: self.text,
            calls: Vec::new(),
            stop,
            usage: TokenUsage::default(),
            opaque: self.opaque,
        };
        let mut ids = Ids::new(self.request);
        for call in self.calls {
            reply.calls.push(ToolCall {
                id: ids.issue(&call.id),
                name: call.name,
                args: read_args(call.args, reply.stop == StopReason::Length),
            });
        }
        reply.usage = usage(&self.counts, self.request, &reply);
        reply
    }

    fn emit(&self, delta: Delta) {
        if let Some(listener) = self.listener {
            listener(delta);
        }
    }
}

/// Converts arguments to an object, or keeps them as received. Empty arguments are an empty object, unless
/// the reply was cut off there: then the missing part is unknown.
fn read_args(args: Args, cut: bool) -> CallArgs {
    match args {
        Args::Value(Value::Object(object)) => CallArgs::Object(object),
        Args::Value(Value::Null) if !cut => CallArgs::Object(Object::new()),
        Args::Value(Value::String(text)) | Args::Text(text) => text_args(text, cut),
        Args::Value(value) => CallArgs::Invalid(value.to_string()),
    }
}

fn text_args(text: String, cut: bool) -> CallArgs {
    if text.trim().is_empty() && !cut {
        return CallArgs::Object(Object::new());
    }
    match serde_json::from_str(&text) {
        Ok(Value::Object(object)) => CallArgs::Object(object),
        // Some models send `null` for no arguments.
        Ok(Value::Null) if !cut => CallArgs::Object(Object::new()),
        // Some models send an object as JSON text inside JSON text.
        Ok(Value::String(inner)) => match serde_json::from_str(&inner) {
            Ok(Value::Object(object)) => CallArgs::Object(object),
            _ => CallArgs::Invalid(text),
        },
        _ => CallArgs::Invalid(text),
    }
}

/// The ids in use in a conversation.
struct Ids<'a> {
    used: HashSet<&'a str>,
    issued: HashSet<String>,
    next: usize,
}

impl<'a> Ids<'a> {
    fn new(request: &'a ModelRequest) -> Self {
        let mut used = HashSet::new();
        for message in &request.messages {
            if let Message::Assistant { calls, .. } = message {
                used.extend(calls.iter().map(|call| call.id.as_str()));
            }
        }
        Self {
            next: used.len(),
            used,
            issued: HashSet::new(),
        }
    }

    fn issue(&mut self, given: &str) -> String {
        let mut id = given.to_owned();
        if id.is_empty() {
            id = format!("call_{}", self.next);
        }
        let base = id.clone();
        let mut turn = 1;
        while self.used.contains(id.as_str()) || self.issued.contains(&id) {
            turn += 1;
            id = format!("{base}_{turn}");
        }
        self.next += 1;
        self.issued.insert(id.clone());
        id
    }
}

fn usage(counts: &Counts, request: &ModelRequest, reply: &ModelReply) -> TokenUsage {
    // A server that caches the prompt may report a count of 0.
    let input = counts.input.filter(|count| *count > 0);
    let cached = counts.cached.unwrap_or_default();
    let cache_write = counts.cache_write.unwrap_or_default();
    TokenUsage {
        input: input
            .unwrap_or_else(|| estimate_request(request))
            .max(cached.saturating_add(cache_write)),
        cached,
        cache_write,
        output: counts.output.unwrap_or_else(|| estimate_reply(reply)),
        estimated: input.is_none() || counts.output.is_none(),
    }
}

fn estimate_request(request: &ModelRequest) -> u64 {
    let system = request
        .system
        .iter()
        .map(|part| estimate_tokens(&part.text));
    let messages = request.messages.iter().map(|message| match message {
        Message::User { text } | Message::Tool { text, .. } => estimate_tokens(text),
        Message::Assistant { text, calls, .. } => estimate_tokens(text) + estimate_calls(calls),
    });
    let tools = request.tools.iter().map(|tool| {
        estimate_tokens(&tool.name)
            + estimate_tokens(&tool.description)
            + estimate_tokens(&tool.schema.to_string())
    });
    system.chain(messages).chain(tools).sum()
}

fn estimate_reply(reply: &ModelReply) -> u64 {
    estimate_tokens(&reply.text) + estimate_calls(&reply.calls)
}

fn estimate_calls(calls: &[ToolCall]) -> u64 {
    let args = |call: &ToolCall| match &call.args {
        CallArgs::Object(object) => {
            estimate_tokens(&serde_json::to_string(object).unwrap_or_default())
        }
        CallArgs::Invalid(raw) => estimate_tokens(raw),
    };
    calls
        .iter()
        .map(|call| estimate_tokens(&call.name) + args(call))
        .sum()
}
