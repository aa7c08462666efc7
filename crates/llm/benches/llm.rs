//! Benchmarks of the overhead of this crate: `cargo bench -p deft-llm`.
//!
//! Target: less than 5 ms from the moment the server writes the first piece of a reply to the moment the
//! listener gets it.

#![allow(clippy::expect_used, reason = "a measurement that fails is none")]
#![allow(
    clippy::disallowed_methods,
    reason = "a measurement prints its own figures"
)]

use std::sync::Arc;
use std::sync::Mutex;
use std::time::{Duration, Instant};

use deft_llm::exchange::{ReplyReader, request};
use deft_llm::{Ask, Delta, Head, ModelOptions, Models, ProviderKind};
use deft_model::{CallArgs, Message, ModelRequest, Object, PromptPart, ToolCall, ToolSpec};
use deft_testkit::{Dialect, Gate, ModelAnswer, ModelServer};
use serde_json::json;
use tokio_util::sync::CancellationToken;

const KINDS: [ProviderKind; 4] = [
    ProviderKind::OpenAi,
    ProviderKind::Anthropic,
    ProviderKind::Gemini,
    ProviderKind::Ollama,
];

fn main() {
    first_token();
    divan::main();
}

/// Divan measures whole calls; this measures the time between two moments inside one call.
fn first_token() {
    // Without `--bench` the code is only checked to run.
    let rounds = if std::env::args().any(|word| word == "--bench") {
        400
    } else {
        3
    };
    let gates: Arc<Mutex<Vec<Gate>>> = Arc::default();
    let next = gates.clone();
    let server = ModelServer::start_with(Dialect::OpenAi, move |_| {
        let gate = Gate::default();
        next.lock().expect("no thread panicked").push(gate.clone());
        // The head and the empty first event are sent at once; the first word waits for the gate.
        ModelAnswer::text("Hello there.").gate(1, &gate)
    });
    let models = Models::new(vec![options(ProviderKind::OpenAi, &server.url)]);
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(1)
        .enable_all()
        .build()
        .expect("a runtime");
    let mut times: Vec<Duration> = (0..rounds)
        .map(|_| runtime.block_on(one(&models, &gates)))
        .collect();
    times.sort();
    divan::black_box(&times);
    let at = |share: usize| times[rounds * share / 100].as_secs_f64() * 1e3;
    let line = format!("first token: p50 {:.3} ms, p99 {:.3} ms", at(50), at(99));
    std::io::Write::write_all(&mut std::io::stdout(), format!("{line}\n").as_bytes())
        .expect("somebody reads");
}

async fn one(models: &Models, gates: &Mutex<Vec<Gate>>) -> Duration {
    let heard = Mutex::new(None);
    let note = |delta: Delta| {
        let mut heard = heard.lock().expect("no thread panicked");
        if heard.is_none() && matches!(delta, Delta::Text(_)) {
            *heard = Some(Instant::now());
        }
    };
    let request = ModelRequest {
        messages: vec![Message::User {
            text: "Hello?".to_owned(),
        }],
        ..ModelRequest::default()
    };
    let asking = models.ask(Ask {
        model: "main",
        request: &request,
        listener: Some(&note),
        deadline: None,
        cancel: CancellationToken::new(),
        tries: None,
    });
    let opening = async {
        let gate = loop {
            if let Some(gate) = gates.lock().expect("no thread panicked").pop() {
                break gate;
            }
            tokio::time::sleep(Duration::from_millis(1)).await;
        };
        // By then the client waits for the next event.
        tokio::time::sleep(Duration::from_millis(2)).await;
        let opened = Instant::now();
        gate.open();
        opened
    };
    let (answer, opened) = tokio::join!(asking, opening);
    answer.expect("an answer");
    let heard = heard.into_inner().expect("no thread panicked");
    heard.expect("something was heard") - opened
}

/// Mapping a conversation of 40 messages with 50 tools to the format of a provider.
#[divan::bench(args = KINDS)]
fn map_request(bencher: divan::Bencher<'_, '_>, kind: ProviderKind) {
    let (options, asked) = (options(kind, "http://127.0.0.1:1"), long());
    bencher.bench(|| request(&options, &asked, true).body);
}

/// Reading a stream of 1,000 words.
#[divan::bench]
fn read_stream(bencher: divan::Bencher<'_, '_>) {
    let (options, asked) = (options(ProviderKind::OpenAi, "http://127.0.0.1:1"), long());
    let event = |delta: serde_json::Value, stop: Option<&str>| {
        let choice = json!({"index": 0, "delta": delta, "finish_reason": stop});
        format!("data: {}\n\n", json!({"choices": [choice]}))
    };
    let mut stream = event(json!({"content": "word "}), None).repeat(1000);
    stream.push_str(&event(json!({}), Some("stop")));
    bencher.bench(|| {
        let head = Head {
            status: 200,
            kind: Some("text/event-stream".to_owned()),
            after: None,
        };
        let mut reader = ReplyReader::new(&options, &asked, head, Some(&|_| ()));
        for piece in stream.as_bytes().chunks(1400) {
            reader.take(piece).expect("a good stream");
        }
        reader.end().expect("a whole answer")
    });
}

fn options(provider: ProviderKind, base_url: &str) -> ModelOptions {
    ModelOptions {
        name: "main".to_owned(),
        provider,
        model: "double".to_owned(),
        base_url: Some(base_url.to_owned()),
        api_key: None,
        tools: true,
        max_tokens: 256,
        context_tokens: None,
        temperature: None,
        timeout: Duration::from_secs(30),
        retries: 0,
        fallback: Vec::new(),
        concurrency: 4,
        price: None,
        extra: Object::new(),
    }
}

fn long() -> ModelRequest {
    let tool = |number: usize| ToolSpec {
        name: format!("tool_{number}"),
        description: "Does one thing and says what came of it.".to_owned(),
        schema: json!({"type": "object", "required": ["a"], "properties": {
            "a": {"type": "string", "description": "What to do it with."},
            "b": {"type": ["integer", "null"], "minimum": 0}}}),
    };
    let turn = |number: usize| {
        let args = json!({"a": "x".repeat(100), "b": number});
        let call = ToolCall {
            id: format!("call_{number}"),
            name: "tool_1".to_owned(),
            args: CallArgs::Object(args.as_object().cloned().unwrap_or_default()),
        };
        let assistant = Message::Assistant {
            text: "I look.".to_owned(),
            calls: vec![call],
            opaque: None,
        };
        let tool = Message::Tool {
            id: format!("call_{number}"),
            name: "tool_1".to_owned(),
            text: "y".repeat(1000),
            failed: false,
        };
        [assistant, tool]
    };
    ModelRequest {
        system: [PromptPart {
            text: "z".repeat(8000),
            stable: true,
        }]
        .into(),
        messages: (0..20).flat_map(turn).collect(),
        tools: (0..50).map(tool).collect(),
        ..ModelRequest::default()
    }
}
