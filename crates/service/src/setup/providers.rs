//! Providers that deft can use with an API key, and the usual addresses of local model servers.
//!
//! Names of models become outdated. They are proposals that the user confirms, and the test call fails if a
//! model no longer exists.

use deft_llm::ProviderKind;

/// A provider that needs an API key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KeyProvider {
    /// The name of its section in the configuration and of `--provider`.
    pub name: &'static str,
    /// The display name.
    pub title: &'static str,
    /// The usual environment variables for the key, most specific first.
    pub variables: &'static [&'static str],
    /// The proposed model.
    pub model: &'static str,
    pub(super) wire: ProviderKind,
    /// The address, if it is not the default of the wire format.
    pub(super) base_url: Option<&'static str>,
    /// The usual environment variable for another address, such as that of a proxy.
    pub(super) base_variable: Option<&'static str>,
}

/// Providers that need an API key, those with their own wire format first.
pub const KEY_PROVIDERS: &[KeyProvider] = &[
    KeyProvider {
        name: "anthropic",
        title: "Anthropic",
        variables: &["ANTHROPIC_API_KEY"],
        model: "claude-sonnet-4-5",
        wire: ProviderKind::Anthropic,
        base_url: None,
        base_variable: Some("ANTHROPIC_BASE_URL"),
    },
    KeyProvider {
        name: "openai",
        title: "OpenAI",
        variables: &["OPENAI_API_KEY"],
        model: "gpt-5-mini",
        wire: ProviderKind::OpenAi,
        base_url: None,
        base_variable: Some("OPENAI_BASE_URL"),
    },
    KeyProvider {
        name: "gemini",
        title: "Google Gemini",
        variables: &["GEMINI_API_KEY", "GOOGLE_API_KEY"],
        model: "gemini-2.5-flash",
        wire: ProviderKind::Gemini,
        base_url: None,
        base_variable: Some("GOOGLE_GEMINI_BASE_URL"),
    },
    compatible(
        "openrouter",
        "OpenRouter",
        &["OPENROUTER_API_KEY"],
        "openrouter/auto",
        "https://openrouter.ai/api/v1",
    ),
    compatible(
        "mistral",
        "Mistral",
        &["MISTRAL_API_KEY"],
        "mistral-medium-latest",
        "https://api.mistral.ai/v1",
    ),
    compatible(
        "deepseek",
        "DeepSeek",
        &["DEEPSEEK_API_KEY"],
        "deepseek-chat",
        "https://api.deepseek.com/v1",
    ),
    compatible(
        "groq",
        "Groq",
        &["GROQ_API_KEY"],
        "llama-3.3-70b-versatile",
        "https://api.groq.com/openai/v1",
    ),
    compatible(
        "xai",
        "xAI",
        &["XAI_API_KEY"],
        "grok-4",
        "https://api.x.ai/v1",
    ),
    compatible(
        "together",
        "Together",
        &["TOGETHER_API_KEY"],
        "meta-llama/Llama-3.3-70B-Instruct-Turbo",
        "https://api.together.xyz/v1",
    ),
    compatible(
        "cerebras",
        "Cerebras",
        &["CEREBRAS_API_KEY"],
        "llama-3.3-70b",
        "https://api.cerebras.ai/v1",
    ),
];

/// Returns a provider with the chat completions API at its own address.
const fn compatible(
    name: &'static str,
    title: &'static str,
    variables: &'static [&'static str],
    model: &'static str,
    base_url: &'static str,
) -> KeyProvider {
    KeyProvider {
        name,
        title,
        variables,
        model,
        wire: ProviderKind::OpenAi,
        base_url: Some(base_url),
        base_variable: None,
    }
}

/// A kind of model server that runs on the user's machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct LocalServer {
    pub(super) name: &'static str,
    pub(super) title: &'static str,
    pub(super) wire: ProviderKind,
    pub(super) port: u16,
}

/// The environment variable with the address of Ollama.
pub(super) const OLLAMA_HOST: &str = "OLLAMA_HOST";

pub(super) const OLLAMA: LocalServer = LocalServer {
    name: "ollama",
    title: "Ollama",
    wire: ProviderKind::Ollama,
    port: 11434,
};

/// Servers with the chat completions API and their usual ports.
pub(super) const LOCAL_SERVERS: &[LocalServer] = &[
    LocalServer {
        name: "lmstudio",
        title: "LM Studio",
        wire: ProviderKind::OpenAi,
        port: 1234,
    },
    LocalServer {
        name: "llamacpp",
        title: "llama.cpp",
        wire: ProviderKind::OpenAi,
        port: 8080,
    },
    LocalServer {
        name: "vllm",
        title: "vLLM",
        wire: ProviderKind::OpenAi,
        port: 8000,
    },
];

/// Returns the names of all environment variables that discovery reads.
pub(super) fn variables() -> impl Iterator<Item = &'static str> {
    let of_keys = KEY_PROVIDERS.iter();
    let of_keys = of_keys.flat_map(|one| one.variables.iter().copied().chain(one.base_variable));
    of_keys.chain([OLLAMA_HOST])
}
