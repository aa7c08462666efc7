//! Case files. Each file in `cases/requests` is one request; its form for each provider is a snapshot. Each
//! file in `cases/answers` has responses of one provider: a title, a status with a content type and an
//! optional `after=SECONDS`, and a body. The result must be the same wherever the bytes of a body are split,
//! and the beginning of a stream must never count as a whole response.

use std::sync::Mutex;
use std::time::Duration;

use deft_llm::exchange::{ReplyReader, request};
use deft_llm::{Delta, Head, ModelOptions, ProviderFailure, ProviderKind, WireRequest};
use deft_model::{
    CallArgs, Message, ModelReply, ModelRequest, Object, PromptPart, ToolCall, ToolChoice, ToolSpec,
};
use serde::Deserialize;

use crate::support::{ALL, options};

#[derive(Deserialize, Default)]
#[serde(default, deny_unknown_fields)]
struct Question {
    stream: bool,
    model: Option<String>,
    temperature: Option<f64>,
    context_tokens: Option<u64>,
    extra: Object,
    system: Vec<PromptPart>,
    messages: Vec<Message>,
    tools: Vec<ToolSpec>,
    choice: ToolChoice,
    max_tokens: Option<u32>,
    grammar: Option<String>,
}

#[test]
fn requests() {
    insta::glob!("../cases/requests", "*.json", |path| {
        let text = std::fs::read_to_string(path).expect("a case file");
        let case: Question = serde_json::from_str(&text).expect("a question");
        for (provider, dialect) in ALL {
            let options = ModelOptions {
                model: case.model.clone().unwrap_or_else(|| "double".to_owned()),
                temperature: case.temperature,
                context_tokens: case.context_tokens,
                extra: case.extra.clone(),
                ..options(provider, "http://127.0.0.1:1")
            };
            let asked = ModelRequest {
                system: case.system.clone().into(),
                messages: case.messages.clone(),
                tools: case.tools.clone().into(),
                choice: case.choice.clone(),
                max_tokens: case.max_tokens,
                grammar: case.grammar.clone(),
            };
            let sent = request(&options, &asked, case.stream);
            let name = format!("{dialect:?}").to_lowercase();
            insta::assert_snapshot!(name, show_sent(&sent));
        }
    });
}

fn show_sent(sent: &WireRequest) -> String {
    let mut out = format!("/{}", sent.path.join("/"));
    if let Some(query) = sent.query {
        out.push_str(&format!("?{query}"));
    }
    for (name, value) in &sent.headers {
        out.push_str(&format!("\n{name}: {value}"));
    }
    let body = serde_json::to_string_pretty(&sent.body).expect("JSON");
    format!("{out}\n\n{body}")
}

#[test]
fn answers() {
    insta::glob!("../cases/answers", "*.txt", |path| {
        let text = std::fs::read_to_string(path).expect("a case file");
        let stem = path.file_stem().and_then(|stem| stem.to_str());
        let provider = match stem {
            Some("openai") => ProviderKind::OpenAi,
            Some("anthropic") => ProviderKind::Anthropic,
            Some("gemini") => ProviderKind::Gemini,
            Some("ollama") => ProviderKind::Ollama,
            other => panic!("no such provider: {other:?}"),
        };
        let options = options(provider, "http://127.0.0.1:1");
        let mut out = String::new();
        for case in text.split("=====\n") {
            let (title, rest) = case.split_once('\n').expect("a heading");
            let (head, body) = rest.split_once('\n').expect("a head");
            let head = read_head(head);
            let (said, result) = read_response(&options, &head, &[body.as_bytes()]);
            check_cuts(&options, &head, body.as_bytes(), &result, title);
            check_damage(&options, &head, body.as_bytes());
            out.push_str(&format!("{title}\n{}\n", show(&said, &result)));
        }
        insta::assert_snapshot!(out);
    });
}

type Outcome = Result<ModelReply, ProviderFailure>;

fn read_head(line: &str) -> Head {
    let mut words = line.splitn(2, ' ');
    let status = words.next().and_then(|word| word.parse().ok());
    let kind = words.next().unwrap_or_default();
    let (kind, after) = kind.split_once(" after=").unwrap_or((kind, ""));
    Head {
        status: status.expect("a status"),
        kind: Some(kind.to_owned()),
        after: after.parse().ok().map(Duration::from_secs),
    }
}

/// Returns a request whose conversation already contains a call.
fn asked() -> ModelRequest {
    let call = ToolCall {
        id: "old".to_owned(),
        name: "a".to_owned(),
        args: CallArgs::Object(Object::new()),
    };
    ModelRequest {
        messages: vec![Message::Assistant {
            text: "a question of 40 characters, so to speak".to_owned(),
            calls: vec![call],
            opaque: None,
        }],
        ..ModelRequest::default()
    }
}

fn read_response(options: &ModelOptions, head: &Head, pieces: &[&[u8]]) -> (Vec<Delta>, Outcome) {
    let said = Mutex::new(Vec::new());
    let note = |delta| said.lock().expect("no thread panicked").push(delta);
    let asked = asked();
    let mut reader = ReplyReader::new(options, &asked, head.clone(), Some(&note));
    let taken: Result<(), ProviderFailure> = pieces.iter().try_for_each(|piece| reader.take(piece));
    let result = taken.and_then(|()| reader.end());
    (said.into_inner().expect("no thread panicked"), result)
}

fn check_cuts(options: &ModelOptions, head: &Head, body: &[u8], result: &Outcome, title: &str) {
    let bytes: Vec<&[u8]> = body.chunks(1).collect();
    assert_eq!(
        read_response(options, head, &bytes).1,
        *result,
        "{title}, byte by byte"
    );
    let Ok(whole) = result else {
        return;
    };
    for end in 0..body.len() {
        match read_response(options, head, &[&body[..end]]).1 {
            // Only counts may be missing, if they come last.
            Ok(mut part) => {
                part.usage = whole.usage;
                assert_eq!(part, *whole, "{title}, {end} bytes");
            }
            Err(failed) => assert!(failed.passing, "{title}, {end} bytes: {failed:?}"),
        }
    }
}

/// Checks that reading a damaged body ends with a reply or a failure.
fn check_damage(options: &ModelOptions, head: &Head, body: &[u8]) {
    for place in (0..body.len()).step_by(3) {
        let (before, after) = body.split_at(place);
        let (_, result) = read_response(options, head, &[before, &after[1..]]);
        if let Err(failed) = result {
            assert!(!failed.failure.message.is_empty());
        }
    }
}

fn show(heard: &[Delta], result: &Outcome) -> String {
    let mut out = String::new();
    for delta in heard {
        out.push_str(&match delta {
            Delta::Text(text) => format!("  heard {text:?}\n"),
            Delta::Call { name } => format!("  heard a call of {name}\n"),
            Delta::Again => "  heard it start again\n".to_owned(),
        });
    }
    match result {
        Ok(reply) => {
            let reply = serde_json::to_string(reply).expect("JSON");
            out.push_str(&format!("  {reply}\n"));
        }
        Err(failed) => {
            let again = if failed.passing { "passing" } else { "lasting" };
            out.push_str(&format!("  {:?}, {again}", failed.failure.class));
            if let Some(after) = failed.after {
                out.push_str(&format!(", after {after:?}"));
            }
            if let Some(overflow) = &failed.overflow {
                out.push_str(&format!(", {:?} of {:?}", overflow.needed, overflow.fits));
            }
            out.push_str(&format!("\n  {}\n", failed.failure.message));
            if let Some(hint) = &failed.failure.hint {
                out.push_str(&format!("  hint: {hint}\n"));
            }
        }
    }
    out
}
