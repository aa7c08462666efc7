//! Settings of a model (`[llm.NAME]` in the configuration).

use std::net::IpAddr;
use std::time::Duration;

use deft_model::Object;
use reqwest::Url;

use crate::Price;

/// The wire format of a model.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProviderKind {
    /// Chat completions, of OpenAI or any compatible server.
    OpenAi,
    /// The Messages API of Anthropic.
    Anthropic,
    /// Google's Gemini.
    Gemini,
    /// Ollama's own API.
    Ollama,
}

impl ProviderKind {
    /// All providers.
    const ALL: [Self; 4] = [Self::OpenAi, Self::Anthropic, Self::Gemini, Self::Ollama];

    /// The words for all providers in the configuration.
    pub const WORDS: &'static [&'static str] = &[
        Self::OpenAi.word(),
        Self::Anthropic.word(),
        Self::Gemini.word(),
        Self::Ollama.word(),
    ];

    /// Parses a word of the configuration; `None` if it is unknown.
    pub fn from_word(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.word() == word)
    }

    /// Returns the word for it in the configuration.
    pub const fn word(self) -> &'static str {
        match self {
            Self::OpenAi => "openai",
            Self::Anthropic => "anthropic",
            Self::Gemini => "gemini",
            Self::Ollama => "ollama",
        }
    }

    /// The price factor of a token that the provider writes into its cache, if no price is configured.
    /// Anthropic charges a quarter more for the five minutes that deft asks for; others charge nothing or
    /// do not report the number.
    pub fn cache_write_factor(self) -> f64 {
        match self {
            Self::Anthropic => 1.25,
            Self::OpenAi | Self::Gemini | Self::Ollama => 1.0,
        }
    }
}

/// The settings of a model.
#[derive(Clone)]
pub struct ModelOptions {
    /// Name of the model in the configuration.
    pub name: String,
    /// The wire format.
    pub provider: ProviderKind,
    /// Name of the model at the provider.
    pub model: String,
    /// The address of the provider; `None` for the default one.
    pub base_url: Option<String>,
    /// The API key; never printed.
    pub api_key: Option<String>,
    /// Whether the model can call tools. If not, it writes `cmd` blocks.
    pub tools: bool,
    /// Maximum number of tokens of a reply, unless the request sets it.
    pub max_tokens: u32,
    /// Size of the model's context in tokens.
    pub context_tokens: Option<u64>,
    /// The sampling temperature.
    pub temperature: Option<f64>,
    /// Timeout of one try.
    pub timeout: Duration,
    /// Maximum number of retries after transient failures.
    pub retries: u32,
    /// Models to ask if this one fails, in order.
    pub fallback: Vec<String>,
    /// Maximum number of concurrent calls.
    pub concurrency: usize,
    /// Its price.
    pub price: Option<Price>,
    /// Additional fields of the request, in the provider's spelling.
    pub extra: Object,
}

impl std::fmt::Debug for ModelOptions {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        // Leaves out the key, and the address, which may contain one.
        f.debug_struct("ModelOptions")
            .field("name", &self.name)
            .field("provider", &self.provider)
            .field("model", &self.model)
            .finish_non_exhaustive()
    }
}

impl ModelOptions {
    /// Whether the model runs on this host or in its network, so that the user can restart it.
    pub fn is_local(&self) -> bool {
        match (&self.base_url, self.provider) {
            (Some(base_url), _) => is_near(base_url),
            (None, provider) => provider == ProviderKind::Ollama,
        }
    }

    /// Returns the key without surrounding white space, which files and clipboards add.
    pub(crate) fn key(&self) -> Option<&str> {
        let key = self.api_key.as_deref().map(str::trim);
        key.filter(|key| !key.is_empty())
    }
}

/// Whether an address is on this host or in its network: a private IP address, `localhost`, or a name without
/// a dot, such as that of another container.
fn is_near(base_url: &str) -> bool {
    let Ok(url) = Url::parse(base_url.trim()) else {
        return false;
    };
    let host = url.host_str().unwrap_or_default();
    let host = host.trim_start_matches('[').trim_end_matches(']');
    match host.parse() {
        Ok(IpAddr::V4(ip)) => ip.is_loopback() || ip.is_private() || ip.is_link_local(),
        Ok(IpAddr::V6(ip)) => {
            ip.is_loopback() || ip.is_unique_local() || ip.is_unicast_link_local()
        }
        Err(_) => {
            let local = [".localhost", ".local", ".internal", ".lan"];
            !host.is_empty()
                && (!host.contains('.') || local.iter().any(|ending| host.ends_with(ending)))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::is_near;

    #[test]
    fn models_in_the_local_network_are_local() {
        let cases = [
            ("http://localhost:8080/v1", true),
            ("http://127.0.0.1:11434", true),
            ("http://[::1]:11434", true),
            ("http://192.168.1.7:8000/v1", true),
            ("http://10.0.0.2", true),
            ("http://[fd00::1]:8000", true),
            ("http://llama:8080", true),
            ("http://box.local", true),
            ("http://host.docker.internal:11434", true),
            ("https://api.example.com/v1", false),
            ("http://8.8.8.8", false),
            ("http://localhost.example.com", false),
            ("no address", false),
        ];
        for (base_url, near) in cases {
            assert_eq!(is_near(base_url), near, "{base_url}");
        }
    }
}
