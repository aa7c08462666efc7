//! Tests of the conversion of journals to spans.

use std::sync::Arc;

use deft_agent::{Address, EventKind};
use deft_model::{
    Effects, Failure, FailureClass, ModelReply, Object, Outcome, RunId, RunOrigin, SpanId, Tier,
    TokenUsage, TraceContext, TraceId,
};
use deft_workflow::{Call, CallEnd, CallIntent, Event, Next, Path, RunEnd, RunStart};
use jiff::Timestamp;
use serde_json::Value;

use crate::activity::{ModelName, Names, RunFacts, ToolName};
use crate::conventions::attribute;
use crate::fold::RunFold;
use crate::span::{AttributeValue, Span, SpanKind, SpanMaker, SpanStatus};

const PARENT: &str = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";

struct KnownNames;

impl Names for KnownNames {
    fn tool(&self, name: &str) -> ToolName {
        let (server, tool) = name.split_once('.').unwrap_or(("deft", name));
        ToolName {
            server: server.to_owned(),
            tool: tool.to_owned(),
            is_mcp: server != "deft",
        }
    }

    fn model(&self, name: &str) -> ModelName {
        ModelName {
            provider: "openai".to_owned(),
            model: name.to_owned(),
        }
    }
}

fn run() -> RunId {
    RunId::new("run_0190163d8694739b9fea2dc8e8e0ce33")
}

fn facts(tier: Tier) -> RunFacts {
    RunFacts {
        id: run(),
        skill: "report".to_owned(),
        revision: "r".to_owned(),
        tier,
        cause: "api".to_owned(),
        slot: None,
    }
}

fn start_event(trace: Option<&str>) -> Event {
    let trace = trace.map(|parent| Arc::new(TraceContext::parse(parent, None).unwrap()));
    Event::Started(RunStart {
        skill: "report".to_owned(),
        revision: "r".to_owned(),
        execution_id: run().to_string(),
        workspace_uri: String::new(),
        inputs: Object::new(),
        nonce: "n".to_owned(),
        check_failed: None,
        authority: None,
        origin: RunOrigin {
            request_id: None,
            trace,
        },
    })
}

fn begin(path: &str, attempt: u32, call: Call) -> Event {
    Event::Begun(CallIntent {
        path: Path::from_text(path),
        attempt,
        call: Arc::new(call),
        effects: Effects::None,
    })
}

fn end_event(path: &str, attempt: u32, error: Option<Failure>) -> Event {
    let next = match &error {
        Some(_) => Next::Retry {
            at: Timestamp::UNIX_EPOCH,
        },
        None => Next::Done,
    };
    Event::Ended(CallEnd {
        path: Path::from_text(path),
        attempt,
        value: error.is_none().then(|| Arc::new(Value::from(1))),
        error,
        next,
        cached: false,
        called: Vec::new(),
        ms: 1,
    })
}

fn tool(name: &str) -> Call {
    Call::Tool {
        tool: name.to_owned(),
        args: Object::new(),
    }
}

fn agent(path: &str, what: EventKind) -> Event {
    Event::Agent {
        path: Path::from_text(path),
        event: Box::new(deft_agent::Event {
            agent: Address::root(),
            what,
        }),
    }
}

fn finish_event(outcome: Outcome) -> Event {
    Event::Finished(RunEnd {
        outcome,
        outputs: Value::Null,
        error: None,
        ms: 1,
    })
}

/// Returns the spans of a journal whose events are one second apart.
fn spans(tier: Tier, events: &[Event]) -> Vec<Span> {
    let mut fold = RunFold::new(facts(tier), false);
    let mut activities = Vec::new();
    for (second, event) in (0..).zip(events) {
        activities.extend(fold.apply(Timestamp::from_second(second).unwrap(), event));
    }
    let facts = fold.facts().clone();
    let maker = SpanMaker::new(&facts, fold.origin(), &KnownNames, false);
    activities.iter().map(|it| maker.make(it)).collect()
}

fn span_at(ends: u32, place: &str) -> SpanId {
    SpanId::derive(&run(), ends, place)
}

fn attribute_of<'a>(span: &'a Span, name: &str) -> Option<&'a AttributeValue> {
    let mut all = span.attributes.iter();
    all.find(|(known, _)| *known == name)
        .map(|(_, value)| value)
}

/// Returns the shape of a trace: name and parent of each span, and its start and end in seconds.
fn shape(spans: &[Span]) -> Vec<(&str, Option<SpanId>, i64, i64)> {
    let spans = spans.iter();
    spans
        .map(|it| {
            (
                it.name.as_str(),
                it.parent,
                it.start.as_second(),
                it.end.as_second(),
            )
        })
        .collect()
}

#[test]
fn a_workflow_with_a_tool_and_an_agent_is_one_trace() {
    let reply = ModelReply {
        usage: TokenUsage {
            input: 10,
            output: 5,
            ..TokenUsage::default()
        },
        ..ModelReply::default()
    };
    let asks = Call::Agent {
        instructions: "think".to_owned(),
    };
    let spans = spans(
        Tier::Workflow,
        &[
            start_event(Some(PARENT)),
            begin("fetch", 1, tool("mail.list")),
            end_event("fetch", 1, Some(Failure::new(FailureClass::Network, "x"))),
            begin("fetch", 2, tool("mail.list")),
            end_event("fetch", 2, None),
            begin("think", 1, asks),
            agent("think", EventKind::Asked { turn: 1 }),
            agent(
                "think",
                EventKind::Replied {
                    turn: 1,
                    reply,
                    model: "gpt".to_owned(),
                    commands: Vec::new(),
                    cost_usd: None,
                    ms: 1000,
                },
            ),
            agent(
                "think",
                EventKind::Called {
                    turn: 1,
                    call: 0,
                    tool: "wait_a_bit".to_owned(),
                    args: Object::new(),
                    effects: Effects::None,
                    skill: None,
                    covers: None,
                },
            ),
            agent(
                "think",
                EventKind::Returned {
                    turn: 1,
                    call: 0,
                    value: None,
                    error: Some(Failure::new(FailureClass::Other, "no").mark_reported()),
                    ms: 1000,
                },
            ),
            end_event("think", 1, None),
            finish_event(Outcome::Success),
        ],
    );
    let caller = TraceContext::parse(PARENT, None).unwrap();
    let (root, think) = (Some(span_at(0, "")), Some(span_at(0, "think@1")));
    assert_eq!(
        shape(&spans),
        [
            ("tools/call list", root, 1, 2),
            ("tools/call list", root, 3, 4),
            ("chat gpt", think, 6, 7),
            ("execute_tool wait_a_bit", think, 8, 9),
            ("invoke_agent ", root, 5, 10),
            ("invoke_workflow report", Some(caller.span), 0, 11),
        ]
    );
    assert!(spans.iter().all(|span| span.trace == caller.trace));
    assert_eq!(spans[0].kind, SpanKind::Client);
    assert_eq!(spans[0].status, SpanStatus::Error(None));
    assert_eq!(
        attribute_of(&spans[0], attribute::ERROR_TYPE),
        Some(&"network".into())
    );
    assert_eq!(
        attribute_of(&spans[3], attribute::ERROR_TYPE),
        Some(&"tool_error".into())
    );
    assert_eq!(spans[3].id, span_at(0, "think#:1.0"));
    assert_eq!(
        attribute_of(&spans[2], attribute::INPUT_TOKENS),
        Some(&10_u64.into())
    );
    assert_eq!(spans[5].status, SpanStatus::Unset);
}

#[test]
fn spans_of_nested_steps_are_below_their_skill() {
    let inner = Call::Skill {
        skill: "mail".to_owned(),
        args: Object::new(),
    };
    let spans = spans(
        Tier::Workflow,
        &[
            start_event(None),
            begin("outer[1]", 2, inner),
            begin("outer[1]~2/send", 1, tool("mail.send")),
            end_event("outer[1]~2/send", 1, None),
            end_event("outer[1]", 2, None),
            finish_event(Outcome::Success),
        ],
    );
    assert_eq!(
        shape(&spans),
        [
            ("tools/call send", Some(span_at(0, "outer[1]@2")), 2, 3),
            ("skill mail", Some(span_at(0, "")), 1, 4),
            ("skill report", None, 0, 5),
        ]
    );
    assert!(
        spans
            .iter()
            .all(|span| span.trace == TraceId::from_run(&run()))
    );
}

#[test]
fn a_resumed_run_makes_new_spans_below_the_first() {
    let spans = spans(
        Tier::Direct,
        &[
            start_event(None),
            begin("a", 1, tool("mail.send")),
            Event::Recovered {
                interrupted_at: Timestamp::UNIX_EPOCH,
            },
            finish_event(Outcome::Interrupted),
            Event::Resumed {
                by: "cli".to_owned(),
            },
            begin("a", 1, tool("mail.send")),
            end_event("a", 1, None),
            finish_event(Outcome::Success),
        ],
    );
    assert_eq!(
        shape(&spans),
        [
            ("tools/call send", Some(span_at(0, "")), 1, 3),
            ("skill report", None, 0, 3),
            ("tools/call send", Some(span_at(1, "")), 5, 6),
            ("skill report", Some(span_at(0, "")), 4, 7),
        ]
    );
    assert_eq!(spans[1].events.len(), 1);
    assert_eq!(
        attribute_of(&spans[0], attribute::ERROR_TYPE),
        Some(&"cancelled".into())
    );
    assert_ne!(spans[0].id, spans[2].id);
}
