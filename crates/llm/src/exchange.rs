//! Requests to providers and their responses, as values without sockets and clocks.
//!
//! Not here: the connection (`http.rs`), and the choice between several tries (`tries.rs`).

use deft_model::{ModelReply, ModelRequest, Object};
use serde_json::Value;

use crate::draft::Draft;
use crate::frames::{Frames, Framing};
use crate::head::Head;
use crate::provider_failure::ProviderFailure;
use crate::wire::{Events, Wire, WireRequest};
use crate::{ModelOptions, ProviderKind, ReplyListener};
use crate::{anthropic, gemini, ollama, openai};

/// Maximum size of a response that is read, in bytes.
pub const MAX_BYTES: usize = 16 * 1024 * 1024;

/// Returns the wire format of a provider.
pub(crate) fn wire(kind: ProviderKind) -> &'static dyn Wire {
    match kind {
        ProviderKind::OpenAi => &openai::OpenAi,
        ProviderKind::Anthropic => &anthropic::Anthropic,
        ProviderKind::Gemini => &gemini::Gemini,
        ProviderKind::Ollama => &ollama::Ollama,
    }
}

/// Returns the request in the format of the model's provider.
pub fn request(options: &ModelOptions, request: &ModelRequest, streamed: bool) -> WireRequest {
    let mut sent = wire(options.provider).request(options, request, streamed);
    merge(&mut sent.body, &options.extra);
    sent
}

/// Merges settings into the body: objects are merged, other values are replaced.
fn merge(into: &mut Value, extra: &Object) {
    for (key, value) in extra {
        match (into.get_mut(key), value) {
            (Some(there @ Value::Object(_)), Value::Object(more)) => merge(there, more),
            _ => into[key] = value.clone(),
        }
    }
}

/// Reads a response in the pieces in which it arrives, and converts it to a reply.
pub struct ReplyReader<'a> {
    options: &'a ModelOptions,
    head: Head,
    draft: Draft<'a>,
    bytes: usize,
    body: Body,
}

enum Body {
    Whole(Vec<u8>),
    Stream(Frames, Box<dyn Events>),
}

impl<'a> ReplyReader<'a> {
    /// Creates a reader from the head of the response.
    pub fn new(
        options: &'a ModelOptions,
        request: &'a ModelRequest,
        head: Head,
        listener: Option<ReplyListener<'a>>,
    ) -> Self {
        // A server may send a whole response although streaming was requested, and errors are always whole.
        let body = match framing(&head) {
            Some(framing) => Body::Stream(Frames::new(framing), wire(options.provider).stream()),
            None => Body::Whole(Vec::new()),
        };
        Self {
            options,
            head,
            draft: Draft::new(request, listener),
            bytes: 0,
            body,
        }
    }

    /// Reads the next piece of the body.
    pub fn take(&mut self, bytes: &[u8]) -> Result<(), ProviderFailure> {
        self.bytes = self.bytes.saturating_add(bytes.len());
        if self.bytes > MAX_BYTES {
            return Err(ProviderFailure::too_large(MAX_BYTES));
        }
        match &mut self.body {
            Body::Whole(whole) => whole.extend_from_slice(bytes),
            Body::Stream(frames, events) => {
                frames.push(bytes);
                while let Some(data) = frames.next() {
                    let taken = events.take(&data, &mut self.draft);
                    taken.map_err(|failed| failed.redact(self.options))?;
                }
            }
        }
        Ok(())
    }

    /// Whether the response has ended, so that later bytes do not belong to it.
    pub fn has_ended(&self) -> bool {
        match &self.body {
            Body::Whole(_) => false,
            Body::Stream(_, events) => events.has_ended(),
        }
    }

    /// Completes the reply at the end of the body.
    pub fn end(mut self) -> Result<ModelReply, ProviderFailure> {
        let read = match self.body {
            Body::Whole(ref whole) => {
                whole_answer(self.options, &self.head, whole, &mut self.draft)
            }
            Body::Stream(mut frames, mut events) => frames
                .last()
                .map_or(Ok(()), |data| events.take(&data, &mut self.draft))
                .and_then(|()| events.end(&mut self.draft)),
        };
        read.map(|()| self.draft.finish())
            .map_err(|failed| failed.redact(self.options))
    }
}

fn framing(head: &Head) -> Option<Framing> {
    let kind = head.kind.as_deref().unwrap_or_default();
    match kind.split(';').next().map(str::trim) {
        _ if !head.is_well() => None,
        Some("text/event-stream") => Some(Framing::Events),
        Some("application/x-ndjson" | "application/jsonl") => Some(Framing::Lines),
        _ => None,
    }
}

fn whole_answer(
    options: &ModelOptions,
    head: &Head,
    body: &[u8],
    draft: &mut Draft<'_>,
) -> Result<(), ProviderFailure> {
    let wire = wire(options.provider);
    let answer: Option<Value> = serde_json::from_slice(body).ok();
    let words = answer.as_ref().and_then(|answer| wire.words(answer));
    if !head.is_well() || words.is_some() {
        return Err(ProviderFailure::by_status(head, words, body));
    }
    match answer {
        Some(answer) => wire.whole(&answer, draft),
        None => Err(ProviderFailure::not_json(body)),
    }
}

/// Evaluates a response that contains no reply, such as that to a ping.
pub(crate) fn verdict(
    options: &ModelOptions,
    head: &Head,
    body: &[u8],
) -> Result<(), ProviderFailure> {
    if head.is_well() {
        return Ok(());
    }
    let answer: Option<Value> = serde_json::from_slice(body).ok();
    let words = answer.and_then(|answer| wire(options.provider).words(&answer));
    Err(ProviderFailure::by_status(head, words, body).redact(options))
}
