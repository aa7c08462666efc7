//! A model in this process. Its answers depend only on the request, so that they are the same before and
//! after a crash; only its failures happen once, and files record which ones did.

use std::fs::OpenOptions;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use deft_llm::{
    ModelOptions, Models, Pong, Price, Provider, ProviderFailure, ProviderKind, Reply,
    ReplyListener,
};
use deft_model::{
    CallArgs, Failure, FailureClass, Message, ModelReply, ModelRequest, Object, StopReason,
    TokenUsage, ToolCall,
};
use serde_json::{Value, json};

/// The tokens of every answer, so that the test can count them.
const USAGE: TokenUsage = TokenUsage {
    input: 7,
    cached: 0,
    cache_write: 0,
    output: 3,
    estimated: false,
};

/// Returns the tokens of an answer in the tests with shared budgets: less than was reserved for it, or more.
fn spends(what: &str) -> Option<TokenUsage> {
    let input = match what {
        "modest" => 100,
        "greedy" => 2000,
        _ => return None,
    };
    Some(TokenUsage {
        input,
        output: 50,
        ..TokenUsage::default()
    })
}

/// How long an answer takes, so that some kills interrupt a request.
const THINKS: Duration = Duration::from_millis(2);

struct Mind {
    troubles: PathBuf,
}

pub(crate) fn models(home: &Path) -> Models {
    let options = ModelOptions {
        name: "mind".to_owned(),
        provider: ProviderKind::OpenAi,
        model: "mind".to_owned(),
        base_url: None,
        api_key: None,
        tools: true,
        max_tokens: 64,
        context_tokens: None,
        temperature: None,
        timeout: Duration::from_secs(20),
        retries: 0,
        fallback: Vec::new(),
        concurrency: 16,
        price: Some(Price {
            input: 1.0,
            cached: None,
            cache_write: None,
            output: 2.0,
        }),
        extra: Object::new(),
    };
    let troubles = home.join("troubles");
    std::fs::create_dir_all(&troubles).unwrap();
    Models::with_providers(vec![(options, Arc::new(Mind { troubles }))])
}

impl Provider for Mind {
    fn reply<'a>(&'a self, request: &'a ModelRequest, _: Option<ReplyListener<'a>>) -> Reply<'a> {
        Box::pin(async move {
            tokio::time::sleep(THINKS).await;
            let (task, turn) = place(&request.messages);
            let mut words = task.split_whitespace();
            let (what, nth) = (words.next().unwrap_or_default(), words.next());
            let nth: Option<u64> = nth.and_then(|word| word.parse().ok());
            if let Some(nth) = nth.filter(|_| what == "errand" && turn == 2) {
                self.fail_once(nth)?;
                if nth % 4 == 1 && self.first(&format!("refuses-{nth}")) {
                    return Ok(refusal());
                }
            }
            if let (Some(usage), Some(turns)) = (spends(what), nth) {
                let more = u64::try_from(turn).unwrap_or(u64::MAX) < turns;
                let mut reply = if more {
                    call_reply(turn, &[("look", json!({ "n": turn }))])
                } else {
                    ModelReply::default()
                };
                reply.text = format!("turn {turn}");
                reply.usage = usage;
                return Ok(reply);
            }
            let mut reply = answer(what, turn);
            reply.usage = USAGE;
            Ok(reply)
        })
    }

    fn ping(&self) -> Pong<'_> {
        Box::pin(async { Ok(()) })
    }
}

impl Mind {
    /// Fails once for some runs.
    fn fail_once(&self, nth: u64) -> Result<(), ProviderFailure> {
        if nth.is_multiple_of(4) && self.first(&format!("fails-{nth}")) {
            return Err(Failure::new(FailureClass::Network, "the model is gone").into());
        }
        Ok(())
    }

    /// Whether this has never happened before, in any process.
    fn first(&self, name: &str) -> bool {
        let file = self.troubles.join(name);
        let made = OpenOptions::new().write(true).create_new(true).open(file);
        made.is_ok()
    }
}

/// Returns the current question, and how often the model has answered it.
fn place(messages: &[Message]) -> (&str, usize) {
    let asked = messages.iter().rposition(
        |message| matches!(message, Message::User { text } if !text.starts_with("command:")),
    );
    let asked = asked.unwrap_or(0);
    let task = match messages.get(asked) {
        Some(Message::User { text }) => text.as_str(),
        _ => "",
    };
    let answers = messages[asked..].iter();
    let answers = answers.filter(|message| matches!(message, Message::Assistant { .. }));
    (task, answers.count())
}

fn answer(what: &str, turn: usize) -> ModelReply {
    let n = |n: u64| json!({ "n": n });
    let send = |name: &str, mission: &str| {
        let skills = json!(["look", "put", "act"]);
        json!({ "agent_id": name, "mission": mission, "skills": skills })
    };
    match (what, turn) {
        ("errand", 0) => call_reply(turn, &[("look", n(1)), ("look", n(2)), ("look", n(3))]),
        ("errand", 1) => call_reply(turn, &[("act", n(1)), ("put", n(1)), ("look", n(4))]),
        ("errand", 2) => call_reply(
            turn,
            &[
                ("dispatch_agent", send("one", "help 1")),
                ("dispatch_agent", send("two", "help 2")),
                ("look", n(5)),
            ],
        ),
        ("errand", 3) => call_reply(turn, &[("look", n(6)), ("sign", n(2))]),
        ("errand", 4) => call_reply(turn, &[("act", n(3)), ("look", n(7)), ("look", n(8))]),
        // After a rejected answer it repeats its calls, as far as the engine allows.
        ("Your", 0) => call_reply(turn, &[("act", n(1)), ("look", n(9)), ("put", n(1))]),
        ("help", 0) => call_reply(turn, &[("look", n(1)), ("put", n(2))]),
        ("help", 1) | ("chat", 0) => call_reply(turn, &[("look", n(3)), ("act", n(4))]),
        _ => ModelReply {
            text: format!("{what} is done"),
            ..ModelReply::default()
        },
    }
}

fn call_reply(turn: usize, calls: &[(&str, Value)]) -> ModelReply {
    let calls = calls
        .iter()
        .enumerate()
        .map(|(nth, (name, args))| ToolCall {
            id: format!("call_{turn}_{nth}"),
            name: (*name).to_owned(),
            args: CallArgs::Object(args.as_object().cloned().unwrap_or_default()),
        });
    ModelReply {
        calls: calls.collect(),
        stop: StopReason::Calls,
        ..ModelReply::default()
    }
}

fn refusal() -> ModelReply {
    ModelReply {
        text: "No.".to_owned(),
        stop: StopReason::Refused,
        usage: USAGE,
        ..ModelReply::default()
    }
}
