//! Spans and metrics as OTLP requests in protobuf. Field numbers are those of `opentelemetry-proto`.

use jiff::Timestamp;

use crate::conventions::attribute;
use crate::families::FamilyKind;
use crate::protobuf::Message;
use crate::registry::{Distribution, FamilySnapshot, Registry, SeriesValue};
use crate::span::{AttributeValue, Span, SpanKind, SpanStatus};

/// Aggregation temporality: sums and histograms are cumulative since the start of the process.
const CUMULATIVE: u64 = 2;

/// The sender: attributes of an OpenTelemetry resource.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Resource(pub Vec<(String, String)>);

impl Resource {
    /// Describes deft under a service name, with further attributes.
    pub fn new(service: &str, more: impl IntoIterator<Item = (String, String)>) -> Self {
        let own = [
            (attribute::SERVICE_NAME, service),
            (attribute::SERVICE_VERSION, env!("CARGO_PKG_VERSION")),
        ];
        let own = own.map(|(name, value)| (name.to_owned(), value.to_owned()));
        let more = more
            .into_iter()
            .filter(|(name, _)| !own.iter().any(|(known, _)| known == name));
        let more: Vec<_> = more.collect();
        Self(own.into_iter().chain(more).collect())
    }
}

/// Encodes a request with spans.
pub(crate) fn trace_request(resource: &Resource, spans: &[Span]) -> Vec<u8> {
    let mut scope = scope();
    for one in spans {
        scope.message(2, &span(one));
    }
    request(resource, &scope)
}

/// Encodes a request with all metrics.
pub(crate) fn metric_request(resource: &Resource, registry: &Registry, now: Timestamp) -> Vec<u8> {
    let mut scope = scope();
    for reading in registry.read() {
        scope.message(2, &metric(&reading, registry.since, now));
    }
    request(resource, &scope)
}

/// Wraps a scope in a request; requests for spans and for metrics have the same structure.
fn request(resource: &Resource, scope: &Message) -> Vec<u8> {
    let mut described = Message::default();
    for (name, value) in &resource.0 {
        described.message(1, &key_value(name, &value.as_str().into()));
    }
    let mut group = Message::default();
    group.message(1, &described);
    group.message(2, scope);
    let mut request = Message::default();
    request.message(1, &group);
    request.into_bytes()
}

fn scope() -> Message {
    let mut name = Message::default();
    name.bytes(1, b"deft");
    name.bytes(2, env!("CARGO_PKG_VERSION").as_bytes());
    let mut scope = Message::default();
    scope.message(1, &name);
    scope
}

fn span(span: &Span) -> Message {
    let mut out = Message::default();
    out.bytes(1, &span.trace.bytes());
    out.bytes(2, &span.id.bytes());
    if let Some(state) = &span.state {
        out.bytes(3, state.as_bytes());
    }
    if let Some(parent) = span.parent {
        out.bytes(4, &parent.bytes());
    }
    out.bytes(5, span.name.as_bytes());
    let kind = match span.kind {
        SpanKind::Internal => 1,
        SpanKind::Client => 3,
    };
    out.number(6, kind);
    out.encode_fixed(7, nanos(span.start));
    out.encode_fixed(8, nanos(span.end));
    for (name, value) in &span.attributes {
        out.message(9, &key_value(name, value));
    }
    for (at, name) in &span.events {
        let mut event = Message::default();
        event.encode_fixed(1, nanos(*at));
        event.bytes(2, name.as_bytes());
        out.message(11, &event);
    }
    if let SpanStatus::Error(message) = &span.status {
        let mut status = Message::default();
        if let Some(message) = message {
            status.bytes(2, message.as_bytes());
        }
        status.number(3, 2);
        out.message(15, &status);
    }
    out
}

fn metric(reading: &FamilySnapshot, since: Timestamp, now: Timestamp) -> Message {
    let family = reading.family;
    let mut points = Message::default();
    for (labels, value) in &reading.series {
        let attributes = family.labels.iter().zip(labels);
        // An empty label does not apply to the series.
        let attributes: Vec<Message> = attributes
            .filter(|(_, value)| !value.is_empty())
            .map(|(name, value)| key_value(name, &value.as_str().into()))
            .collect();
        let mut point = Message::default();
        if family.kind != FamilyKind::Gauge {
            point.encode_fixed(2, nanos(since));
        }
        point.encode_fixed(3, nanos(now));
        match value {
            SeriesValue::Number(number) => {
                point.double(4, *number);
                attributes.iter().for_each(|it| point.message(7, it));
            }
            SeriesValue::Histogram(seen) => {
                add_histogram(&mut point, family.kind, seen);
                attributes.iter().for_each(|it| point.message(9, it));
            }
        }
        points.message(1, &point);
    }
    let mut out = Message::default();
    out.bytes(1, family.name.as_bytes());
    out.bytes(2, family.help.as_bytes());
    out.bytes(3, family.unit.as_bytes());
    let field = match family.kind {
        FamilyKind::Gauge => 5,
        FamilyKind::Counter => {
            points.number(2, CUMULATIVE);
            points.number(3, 1);
            7
        }
        FamilyKind::Histogram(_) => {
            points.number(2, CUMULATIVE);
            9
        }
    };
    out.message(field, &points);
    out
}

fn add_histogram(point: &mut Message, kind: FamilyKind, seen: &Distribution) {
    point.encode_fixed(4, seen.count);
    point.double(5, seen.sum);
    point.encode_packed(6, seen.counts.iter().copied());
    if let FamilyKind::Histogram(bounds) = kind {
        point.encode_packed(7, bounds.iter().map(|bound| bound.to_bits()));
    }
}

fn key_value(name: &str, value: &AttributeValue) -> Message {
    let mut pair = Message::default();
    pair.bytes(1, name.as_bytes());
    pair.message(2, &any_value(value));
    pair
}

fn any_value(value: &AttributeValue) -> Message {
    let mut out = Message::default();
    match value {
        AttributeValue::Text(text) => out.bytes(1, text.as_bytes()),
        AttributeValue::Truth(truth) => out.number(2, u64::from(*truth)),
        AttributeValue::Integer(number) => out.number(3, number.cast_unsigned()),
        AttributeValue::Number(number) => out.double(4, *number),
        AttributeValue::Texts(texts) => {
            let mut list = Message::default();
            for text in texts {
                list.message(1, &any_value(&text.as_str().into()));
            }
            out.message(5, &list);
        }
    }
    out
}

fn nanos(at: Timestamp) -> u64 {
    u64::try_from(at.as_nanosecond()).unwrap_or_default()
}
