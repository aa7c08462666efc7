//! Helpers shared by the tests.

use std::sync::Mutex;
use std::time::Duration;

use deft_llm::{Answer, Ask, Delta, ModelOptions, Models, ProviderKind};
use deft_model::{Failure, Message, ModelRequest, Object, PromptPart, ToolSpec};
use deft_testkit::{Dialect, ModelServer};
use serde_json::json;
use tokio_util::sync::CancellationToken;

/// All providers, with the dialect of the test server for each.
pub(crate) const ALL: [(ProviderKind, Dialect); 4] = [
    (ProviderKind::OpenAi, Dialect::OpenAi),
    (ProviderKind::Anthropic, Dialect::Anthropic),
    (ProviderKind::Gemini, Dialect::Gemini),
    (ProviderKind::Ollama, Dialect::Ollama),
];

pub(crate) fn options(provider: ProviderKind, base_url: &str) -> ModelOptions {
    ModelOptions {
        name: "main".to_owned(),
        provider,
        model: "double".to_owned(),
        base_url: Some(base_url.to_owned()),
        api_key: Some("sk-secret-0123".to_owned()),
        tools: true,
        max_tokens: 64,
        context_tokens: None,
        temperature: None,
        timeout: Duration::from_mins(2),
        retries: 0,
        fallback: Vec::new(),
        concurrency: 4,
        price: None,
        extra: Object::new(),
    }
}

pub(crate) fn models(provider: ProviderKind, server: &ModelServer) -> Models {
    Models::new(vec![options(provider, &server.url)])
}

/// Returns a request about water, with a tool for it.
pub(crate) fn request() -> ModelRequest {
    let system = PromptPart {
        text: "You help.".to_owned(),
        stable: true,
    };
    let tool = ToolSpec {
        name: "send_message".to_owned(),
        description: "Send a message.".to_owned(),
        schema: json!({"type": "object", "required": ["message"],
            "properties": {"message": {"type": "string"}}}),
    };
    ModelRequest {
        system: [system].into(),
        messages: vec![Message::User {
            text: "Remind me to drink water.".to_owned(),
        }],
        tools: [tool].into(),
        ..ModelRequest::default()
    }
}

pub(crate) async fn ask(models: &Models, request: &ModelRequest) -> Result<Answer, Failure> {
    models
        .ask(Ask {
            model: "main",
            request,
            listener: None,
            deadline: None,
            cancel: CancellationToken::new(),
            tries: None,
        })
        .await
}

/// Asks the model, and records the deltas.
pub(crate) async fn listen(
    models: &Models,
    request: &ModelRequest,
) -> (Result<Answer, Failure>, Vec<Delta>) {
    let received = Mutex::new(Vec::new());
    let note = |delta| received.lock().expect("no thread panicked").push(delta);
    let answer = models
        .ask(Ask {
            model: "main",
            request,
            listener: Some(&note),
            deadline: None,
            cancel: CancellationToken::new(),
            tries: None,
        })
        .await;
    (answer, received.into_inner().expect("no thread panicked"))
}
