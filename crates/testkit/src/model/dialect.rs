//! Complete (not streamed) answers in the format of each provider.

use serde_json::{Value, json};

use super::answer::{ScriptedCall, ScriptedReply};

/// The provider that the double imitates.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dialect {
    /// Chat completions.
    OpenAi,
    /// The Messages API.
    Anthropic,
    /// Google's `generateContent`.
    Gemini,
    /// Ollama's `/api/chat`.
    Ollama,
}

impl Dialect {
    pub(super) fn is_streamed(self, path: &str, body: &Value) -> bool {
        match self {
            Self::Gemini => path.contains(":streamGenerateContent"),
            Self::OpenAi | Self::Anthropic | Self::Ollama => body["stream"] == true,
        }
    }

    /// Returns the stop reason in the provider's vocabulary.
    pub(super) fn stop(self, saying: &ScriptedReply) -> String {
        let calls = !saying.calls.is_empty();
        let word = match self {
            Self::OpenAi if calls => "tool_calls",
            Self::Anthropic if calls => "tool_use",
            Self::Anthropic => "end_turn",
            Self::Gemini => "STOP",
            Self::OpenAi | Self::Ollama => "stop",
        };
        saying.stop.clone().unwrap_or_else(|| word.to_owned())
    }

    pub(super) fn whole(self, saying: &ScriptedReply) -> Value {
        let mut answer = match self {
            Self::OpenAi => openai(saying),
            Self::Anthropic => anthropic(saying),
            Self::Gemini => json!({"candidates": [{"index": 0, "finishReason": self.stop(saying),
                "content": {"role": "model", "parts": gemini_parts(saying)}}]}),
            Self::Ollama => ollama(saying),
        };
        self.put_usage(&mut answer, saying);
        answer
    }

    pub(super) fn error(self, status: u16, message: &str) -> Value {
        match self {
            Self::OpenAi => json!({"error": {"message": message, "type": "error", "code": null}}),
            Self::Anthropic => {
                json!({"type": "error", "error": {"type": "error", "message": message}})
            }
            Self::Gemini => {
                json!({"error": {"code": status, "message": message, "status": "ERROR"}})
            }
            Self::Ollama => json!({"error": message}),
        }
    }

    /// Adds the token counts to the fields that this provider uses.
    pub(super) fn put_usage(self, answer: &mut Value, saying: &ScriptedReply) {
        let Some((input, cached, output)) = saying.usage else {
            return;
        };
        match self {
            Self::OpenAi => {
                answer["usage"] = json!({"prompt_tokens": input, "completion_tokens": output,
                    "total_tokens": input + output, "prompt_tokens_details": {"cached_tokens": cached}});
            }
            Self::Anthropic => {
                answer["usage"] = json!({"input_tokens": input - cached,
                    "cache_read_input_tokens": cached, "output_tokens": output});
            }
            Self::Gemini => {
                answer["usageMetadata"] = json!({"promptTokenCount": input,
                    "cachedContentTokenCount": cached, "candidatesTokenCount": output});
            }
            Self::Ollama => {
                answer["prompt_eval_count"] = input.into();
                answer["eval_count"] = output.into();
            }
        }
    }
}

fn openai(saying: &ScriptedReply) -> Value {
    let mut message = json!({"role": "assistant", "content": saying.text});
    if !saying.calls.is_empty() {
        message["tool_calls"] = saying.calls.iter().map(openai_call).collect();
    }
    json!({"id": "chatcmpl-double", "object": "chat.completion", "model": "double",
        "choices": [{"index": 0, "message": message, "finish_reason": Dialect::OpenAi.stop(saying)}]})
}

pub(super) fn openai_call(call: &ScriptedCall) -> Value {
    let args = match &call.args {
        Value::String(raw) => raw.clone(),
        args @ (Value::Null
        | Value::Bool(_)
        | Value::Number(_)
        | Value::Array(_)
        | Value::Object(_)) => args.to_string(),
    };
    let mut out = json!({"type": "function", "function": {"name": call.name, "arguments": args}});
    if let Some(id) = &call.id {
        out["id"] = id.as_str().into();
    }
    out
}

fn anthropic(saying: &ScriptedReply) -> Value {
    let mut blocks = Vec::new();
    if !saying.text.is_empty() {
        blocks.push(json!({"type": "text", "text": saying.text}));
    }
    for call in &saying.calls {
        blocks.push(
            json!({"type": "tool_use", "id": call.id, "name": call.name, "input": call.args}),
        );
    }
    json!({"id": "msg_double", "type": "message", "role": "assistant", "model": "double",
        "content": blocks, "stop_reason": Dialect::Anthropic.stop(saying), "stop_sequence": null})
}

pub(super) fn gemini_parts(saying: &ScriptedReply) -> Vec<Value> {
    let mut parts = Vec::new();
    if !saying.text.is_empty() {
        parts.push(json!({"text": saying.text}));
    }
    for call in &saying.calls {
        parts.push(json!({"functionCall": {"name": call.name, "args": call.args}}));
    }
    parts
}

fn ollama(saying: &ScriptedReply) -> Value {
    let mut message = json!({"role": "assistant", "content": saying.text});
    if !saying.calls.is_empty() {
        message["tool_calls"] = saying.calls.iter().map(ollama_call).collect();
    }
    json!({"model": "double", "message": message, "done": true,
        "done_reason": Dialect::Ollama.stop(saying)})
}

pub(super) fn ollama_call(call: &ScriptedCall) -> Value {
    json!({"function": {"name": call.name, "arguments": call.args}})
}
