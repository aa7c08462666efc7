//! Detection of prompts that are too long, in the words of each provider.

use deft_model::FailureClass;

use super::{ProviderFailure, Words, quote};

/// By how much a prompt does not fit, as far as the provider reports it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Overflow {
    /// Tokens that the prompt needs.
    pub needed: Option<u64>,
    /// Tokens that fit.
    pub fits: Option<u64>,
}

/// Phrases of OpenAI and compatible servers, `llama.cpp`, Anthropic, vLLM, Ollama, Gemini and LM Studio.
const PHRASES: [&str; 12] = [
    "maximum context length",
    "exceeds the context window",
    "exceeds the available context size",
    "prompt is too long",
    "exceed context limit",
    "exceeds the context length",
    "exceeds the maximum number of tokens",
    "exceeds maximum context",
    "context length exceeded",
    "context size has been exceeded",
    "context overflow",
    "greater than the context length",
];

const KINDS: [&str; 2] = ["context_length_exceeded", "exceed_context_size_error"];

impl Overflow {
    /// Creates it from counts that the provider reports.
    pub(crate) fn new(needed: Option<u64>, fits: Option<u64>) -> Self {
        Self { needed, fits }
    }

    /// Returns the overflow if the provider's error reports one.
    pub(super) fn find(status: u16, words: &Words) -> Option<Self> {
        let message = words.message.to_lowercase();
        let kind = words
            .kinds
            .iter()
            .any(|kind| KINDS.contains(&kind.as_str()));
        let is_named = matches!(status, 400 | 413 | 422 | 500)
            && PHRASES.iter().any(|phrase| message.contains(phrase));
        if !kind && !is_named {
            return None;
        }
        Some(words.overflow.unwrap_or_else(|| extract_counts(&message)))
    }
}

/// Extracts both counts from a sentence: "A + B > C", or two numbers, the larger of which is the prompt.
fn extract_counts(message: &str) -> Overflow {
    let cleaned: String = message.replace(',', "");
    let words: Vec<&str> = cleaned
        .split(|c: char| c.is_whitespace() || "().:;`".contains(c))
        .filter(|word| !word.is_empty())
        .collect();
    if let [a, "+", b, ">", c] = window(&words)
        && let (Ok(a), Ok(b), Ok(c)) = (a.parse::<u64>(), b.parse::<u64>(), c.parse::<u64>())
    {
        return Overflow::new(Some(a + b), Some(c));
    }
    let mut numbers = words.iter().filter_map(|word| word.parse::<u64>().ok());
    match (numbers.next(), numbers.next()) {
        (Some(a), Some(b)) => Overflow::new(Some(a.max(b)), Some(a.min(b))),
        (Some(fits), None) => Overflow::new(None, Some(fits)),
        (None, _) => Overflow::default(),
    }
}

/// Returns the five words around the first "+".
fn window<'a>(words: &'a [&'a str]) -> &'a [&'a str] {
    let plus = words.iter().position(|word| *word == "+");
    let start = plus.and_then(|plus| plus.checked_sub(1));
    start
        .and_then(|start| words.get(start..start + 5))
        .unwrap_or_default()
}

impl ProviderFailure {
    pub(super) fn from_overflow(overflow: Overflow, words: &Words) -> Self {
        let message = match (overflow.needed, overflow.fits) {
            (Some(needed), Some(fits)) => {
                format!("the prompt has {needed} tokens; the model's context fits {fits}")
            }
            _ => format!(
                "the prompt is too long for the model: {}",
                quote(&words.message)
            ),
        };
        let hint = "offer fewer tools (`agent.tools`), set `context_tokens` of the model to its context size, or use a model with a larger context";
        Self {
            overflow: Some(Box::new(overflow)),
            ..Self::permanent(FailureClass::Limit, message).hint(hint)
        }
    }
}
