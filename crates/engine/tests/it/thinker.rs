//! A model in this process; a test computes its answers from the requests.

use std::sync::{Arc, Mutex};

use deft_llm::{ModelOptions, Models, Pong, Provider, ProviderFailure, Reply, ReplyListener};
use deft_model::{
    CallArgs, Failure, FailureClass, Message, ModelReply, ModelRequest, StopReason, TokenUsage,
    ToolCall,
};
use deft_store_testkit::Memory;
use serde_json::Value;

use crate::agent_case::model;
use crate::world::{Folder, World, load};

/// The requests that the model received, in order.
pub(crate) type AskedRequests = Arc<Mutex<Vec<ModelRequest>>>;

type Answers = dyn Fn(&ModelRequest, usize) -> Result<ModelReply, ProviderFailure> + Send + Sync;

struct Thinker {
    asked: AskedRequests,
    answers: Box<Answers>,
}

impl Provider for Thinker {
    fn reply<'a>(&'a self, request: &'a ModelRequest, _: Option<ReplyListener<'a>>) -> Reply<'a> {
        Box::pin(async move {
            // Other tasks get a turn, as they would while a real model answers.
            tokio::task::yield_now().await;
            let nth = {
                let mut asked = self.asked.lock().unwrap();
                asked.push(request.clone());
                asked.len()
            };
            (self.answers)(request, nth)
        })
    }

    fn ping(&self) -> Pong<'_> {
        Box::pin(async { Ok(()) })
    }
}

/// Returns one model, with the requests that it receives. `answers` gets the request and its number, starting
/// at 1.
pub(crate) fn thinker(
    answers: impl Fn(&ModelRequest, usize) -> Result<ModelReply, ProviderFailure>
    + Send
    + Sync
    + 'static,
) -> (Models, AskedRequests) {
    let asked = AskedRequests::default();
    let options = ModelOptions {
        concurrency: 64,
        ..model("thinker", "")
    };
    let thinker = Thinker {
        asked: Arc::clone(&asked),
        answers: Box::new(answers),
    };
    let models = Models::with_providers(vec![(options, Arc::new(thinker))]);
    (models, asked)
}

/// Tokens that each answer takes.
pub(crate) const USAGE: TokenUsage = TokenUsage {
    input: 300,
    cached: 0,
    cache_write: 0,
    output: 60,
    estimated: false,
};

pub(crate) fn text_reply(text: &str) -> ModelReply {
    ModelReply {
        text: text.to_owned(),
        usage: USAGE,
        ..ModelReply::default()
    }
}

pub(crate) fn call_reply(calls: &[(&str, Value)]) -> ModelReply {
    let calls = calls
        .iter()
        .enumerate()
        .map(|(nth, (name, args))| ToolCall {
            id: format!("call_{nth}"),
            name: (*name).to_owned(),
            args: CallArgs::Object(args.as_object().cloned().unwrap_or_default()),
        });
    ModelReply {
        calls: calls.collect(),
        stop: StopReason::Calls,
        usage: USAGE,
        ..ModelReply::default()
    }
}

pub(crate) fn connection_failure() -> ProviderFailure {
    Failure::new(FailureClass::Network, "the model is gone").into()
}

/// Returns the current question, and how often the model has answered it.
pub(crate) fn place(request: &ModelRequest) -> (String, usize) {
    let messages = &request.messages;
    let asked = messages
        .iter()
        .rposition(|it| matches!(it, Message::User { .. }));
    let asked = asked.unwrap();
    let Message::User { text } = &messages[asked] else {
        panic!("the last question is a question");
    };
    let answers = messages[asked..].iter();
    let answers = answers.filter(|it| matches!(it, Message::Assistant { .. }));
    (text.clone(), answers.count())
}

/// Returns a world with a model, in memory.
pub(crate) fn world_with_model(skills: &[(&str, &str)], models: Models) -> World {
    let home = tempfile::tempdir().unwrap();
    let folder = Folder(Arc::new(Mutex::new(load(&home, skills))));
    let parts = (deft_tools::Options::default(), models);
    World::from_parts(home, folder, Arc::new(Memory::new()), parts, |_| {})
}
