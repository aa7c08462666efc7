//! W3C trace context: the trace that a run belongs to, and the span that started it.
//!
//! Span ids are computed from the run and the position in it, so that a call knows the id of its span without
//! shared state, and a run resumed by another process stays in one trace. Not here: spans themselves, and
//! their export.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::{RunId, scatter};

/// Maximum length of a `tracestate` that is passed on, in bytes.
const MAX_STATE: usize = 512;

/// A trace and a span in it: the caller of a run, or the span of a call.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "StoredContext", into = "StoredContext")]
pub struct TraceContext {
    /// The trace.
    pub trace: TraceId,
    /// The span.
    pub span: SpanId,
    /// Whether the caller records the trace.
    pub is_sampled: bool,
    /// The `tracestate` header, passed on unchanged.
    pub state: Option<String>,
}

/// The id of a trace; never all zero.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct TraceId(u128);

/// The id of a span; never zero.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct SpanId(u64);

/// A trace context as stored, in the form of the headers.
#[derive(Clone, Serialize, Deserialize)]
struct StoredContext {
    parent: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    state: Option<String>,
}

/// The error for a text that is not a `traceparent`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TraceParentError;

impl fmt::Display for TraceParentError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("not of the form `00-TRACE-SPAN-FLAGS` in lower-case hexadecimal digits")
    }
}

impl TraceContext {
    /// Parses the headers `traceparent` and `tracestate`.
    pub fn parse(parent: &str, state: Option<&str>) -> Result<Self, TraceParentError> {
        let mut parts = parent.trim().split('-');
        let mut part = |digits: usize| {
            let part = parts.next().filter(|part| is_hex(part, digits));
            part.ok_or(TraceParentError)
        };
        let version = part(2)?;
        let (trace, span, flags) = (part(32)?, part(16)?, part(2)?);
        // Later versions may have more parts; version 00 has exactly four, and `ff` is not a version.
        if version == "ff" || (version == "00" && parts.next().is_some()) {
            return Err(TraceParentError);
        }
        let trace = u128::from_str_radix(trace, 16).map_err(|_| TraceParentError)?;
        let span = u64::from_str_radix(span, 16).map_err(|_| TraceParentError)?;
        let flags = u8::from_str_radix(flags, 16).map_err(|_| TraceParentError)?;
        if trace == 0 || span == 0 {
            return Err(TraceParentError);
        }
        let state = state.map(str::trim).filter(|state| is_state(state));
        Ok(Self {
            trace: TraceId(trace),
            span: SpanId(span),
            is_sampled: flags & 1 == 1,
            state: state.map(str::to_owned),
        })
    }

    /// Returns the `traceparent` header.
    pub fn parent(&self) -> String {
        let flags = u8::from(self.is_sampled);
        format!("00-{}-{}-{flags:02x}", self.trace, self.span)
    }

    /// Returns the same trace with another span.
    #[must_use]
    pub fn with_span(&self, span: SpanId) -> Self {
        Self {
            span,
            ..self.clone()
        }
    }
}

impl From<TraceContext> for StoredContext {
    fn from(context: TraceContext) -> Self {
        Self {
            parent: context.parent(),
            state: context.state,
        }
    }
}

impl TryFrom<StoredContext> for TraceContext {
    type Error = TraceParentError;

    fn try_from(stored: StoredContext) -> Result<Self, TraceParentError> {
        Self::parse(&stored.parent, stored.state.as_deref())
    }
}

impl TraceId {
    /// Returns the bytes, most significant first.
    pub fn bytes(self) -> [u8; 16] {
        self.0.to_be_bytes()
    }

    /// Returns the trace id of a run whose caller sent no trace context: the digits of the run's id, or a
    /// hash of the id.
    pub fn from_run(run: &RunId) -> Self {
        let digits = run.as_str().rsplit('_').next().unwrap_or_default();
        let number = u128::from_str_radix(digits, 16).ok();
        let number = number.filter(|number| is_hex(digits, 32) && *number != 0);
        Self(number.unwrap_or_else(|| {
            let high = scatter(run.as_str().bytes());
            let low = scatter(run.as_str().bytes().rev());
            (u128::from(high) << 64 | u128::from(low)).max(1)
        }))
    }
}

impl SpanId {
    /// Returns the bytes, most significant first.
    pub fn bytes(self) -> [u8; 8] {
        self.0.to_be_bytes()
    }

    /// Returns the id of the span at `place` in `run`. `ends` is the number of times the run had ended
    /// before, so that a resumed run gets new spans.
    pub fn derive(run: &RunId, ends: u32, place: &str) -> Self {
        let ends = ends.to_le_bytes();
        let bytes = run.as_str().bytes().chain(ends).chain(place.bytes());
        Self(scatter(bytes).max(1))
    }
}

impl fmt::Display for TraceId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:032x}", self.0)
    }
}

impl fmt::Display for SpanId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:016x}", self.0)
    }
}

/// Positions of spans in a run, as text. Both the calls and the export of spans compute ids from them.
pub mod span_place {
    /// The run itself.
    pub const RUN: &str = "";

    /// The position of a call of a step.
    pub fn call(path: &str, attempt: u32) -> String {
        format!("{path}@{attempt}")
    }

    /// The position of a heal of a step.
    pub fn heal(path: &str, ordinal: u32) -> String {
        format!("{path}!{ordinal}")
    }

    /// The position of a request to the model of an agent.
    pub fn turn(path: &str, agent: &str, turn: u32) -> String {
        format!("{path}#{agent}:{turn}")
    }

    /// The position of a call of an agent.
    pub fn agent_call(path: &str, agent: &str, turn: u32, call: u32) -> String {
        format!("{path}#{agent}:{turn}.{call}")
    }
}

fn is_hex(text: &str, digits: usize) -> bool {
    text.len() == digits
        && text
            .bytes()
            .all(|it| matches!(it, b'0'..=b'9' | b'a'..=b'f'))
}

fn is_state(text: &str) -> bool {
    !text.is_empty() && text.len() <= MAX_STATE && text.bytes().all(|it| matches!(it, b' '..=b'~'))
}

#[cfg(test)]
mod tests {
    use super::*;

    const PARENT: &str = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";

    #[test]
    fn headers_round_trip() {
        let context = TraceContext::parse(PARENT, Some("vendor=1")).unwrap();
        assert_eq!(context.parent(), PARENT);
        assert_eq!(context.state.as_deref(), Some("vendor=1"));
        let stored = serde_json::to_string(&context).unwrap();
        assert_eq!(
            stored,
            format!(r#"{{"parent":"{PARENT}","state":"vendor=1"}}"#)
        );
        assert_eq!(
            serde_json::from_str::<TraceContext>(&stored).unwrap(),
            context
        );
    }

    #[test]
    fn wrong_headers_are_refused() {
        for wrong in [
            "",
            "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331",
            "00-0AF7651916CD43DD8448EB211C80319C-b7ad6b7169203331-01",
            "00-00000000000000000000000000000000-b7ad6b7169203331-01",
            "00-0af7651916cd43dd8448eb211c80319c-0000000000000000-01",
            "ff-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
            "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01-more",
        ] {
            assert_eq!(
                TraceContext::parse(wrong, None),
                Err(TraceParentError),
                "{wrong}"
            );
        }
        let later = "01-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-00-more";
        let later = TraceContext::parse(later, Some("a=\u{e9}")).unwrap();
        assert!(!later.is_sampled);
        assert_eq!(later.state, None);
    }

    #[test]
    fn ids_are_derived_from_the_run() {
        let run = RunId::new("run_0190163d8694739b9fea2dc8e8e0ce33");
        assert_eq!(
            TraceId::from_run(&run).to_string(),
            "0190163d8694739b9fea2dc8e8e0ce33"
        );
        let named = TraceId::from_run(&RunId::new("run_7"));
        assert_eq!(named.to_string().len(), 32);
        let first = SpanId::derive(&run, 0, &span_place::call("fetch", 1));
        assert_eq!(first, SpanId::derive(&run, 0, "fetch@1"));
        for other in [
            SpanId::derive(&run, 1, "fetch@1"),
            SpanId::derive(&run, 0, "fetch@2"),
            SpanId::derive(&run, 0, &span_place::turn("fetch", "", 1)),
            SpanId::derive(&run, 0, &span_place::agent_call("fetch", "", 1, 0)),
        ] {
            assert_ne!(first, other);
        }
    }
}
