//! The choice of a model from the detected ones. Not here: writing it to the configuration (`connect.rs`).

use deft_config::Config;
use deft_llm::ProviderKind;
use deft_tools::Secret;
use deft_wire::setup::SetupFindings;
use deft_wire::{Done, Failure};

use super::machine::Machine;
use super::providers::{KEY_PROVIDERS, KeyProvider, LOCAL_SERVERS, OLLAMA};
use crate::secrets::named_reference;
use crate::workspace::Workspace;

/// A detected provider, with the models to choose from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ModelCandidate {
    /// The name of its section and of `--provider`.
    pub provider: String,
    /// The display name of the provider.
    pub title: String,
    /// The models of a server, or the default model of a provider.
    pub models: Vec<String>,
    /// The reference to its API key; `None` for a server that needs no key.
    pub key: Option<String>,
    wire: ProviderKind,
    base_url: Option<String>,
}

/// The model to use.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ModelChoice {
    pub(super) provider: String,
    pub(super) wire: ProviderKind,
    pub(super) model: String,
    pub(super) base_url: Option<String>,
    pub(super) key: ModelKey,
}

/// The API key of a chosen model.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum ModelKey {
    /// No key is needed.
    Absent,
    Reference(String),
    /// A value to be stored as a secret under this name.
    Value(&'static str, Secret),
}

/// The choice made by command line options.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ModelPreferences {
    /// The provider.
    pub provider: Option<String>,
    /// The model.
    pub model: Option<String>,
    /// The address of the provider.
    pub base_url: Option<String>,
}

impl ModelPreferences {
    /// Whether no option is given.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

impl ModelCandidate {
    /// Chooses one of its models.
    pub fn choose(&self, model: &str) -> ModelChoice {
        let key = self.key.clone();
        ModelChoice {
            provider: self.provider.clone(),
            wire: self.wire,
            model: model.to_owned(),
            base_url: self.base_url.clone(),
            key: key.map_or(ModelKey::Absent, ModelKey::Reference),
        }
    }
}

impl ModelChoice {
    /// Applies the address given by `preferences`. Fails if the key is missing and no address is given: only other
    /// addresses may need no key.
    pub fn at_address(mut self, preferences: &ModelPreferences) -> Done<Self> {
        if preferences.base_url.is_some() {
            self.base_url.clone_from(&preferences.base_url);
        } else if self.key == ModelKey::Absent {
            return Err(missing_provider(&self.provider, preferences));
        }
        Ok(self)
    }
}

/// Returns the provider named by `preferences`, if its key was not found.
pub fn provider_without_key(
    candidates: &[ModelCandidate],
    preferences: &ModelPreferences,
) -> Option<&'static KeyProvider> {
    let name = preferences.provider.as_deref()?;
    let provider = KEY_PROVIDERS.iter().find(|one| one.name == name)?;
    let found = candidates.iter().any(|one| one.provider == name);
    (!found).then_some(provider)
}

/// Chooses a model of a provider whose key the user has typed; an empty key counts as none.
pub fn choose_with_key(
    machine: &Machine,
    provider: &KeyProvider,
    model: &str,
    key: &str,
) -> ModelChoice {
    let variable = provider.variables.first().copied().unwrap_or_default();
    let key = match key.trim() {
        "" => ModelKey::Absent,
        key => ModelKey::Value(variable, Secret::new(key)),
    };
    ModelChoice {
        provider: provider.name.to_owned(),
        wire: provider.wire,
        model: model.to_owned(),
        base_url: base_url(machine, provider),
        key,
    }
}

/// Returns all candidates: providers with a key, then local servers.
pub fn candidates(
    workspace: &Workspace,
    machine: &Machine,
    found: &SetupFindings,
) -> Done<Vec<ModelCandidate>> {
    let home = workspace.home_to_read()?;
    let with_key = KEY_PROVIDERS.iter().filter_map(|provider| {
        let in_environment = found.keys.iter().find(|key| key.provider == provider.name);
        let key = in_environment
            .map(|key| format!("env:{}", key.variable))
            .or_else(|| stored_key(&home.config, provider))?;
        Some(ModelCandidate {
            provider: provider.name.to_owned(),
            title: provider.title.to_owned(),
            models: vec![provider.model.to_owned()],
            key: Some(key),
            wire: provider.wire,
            base_url: base_url(machine, provider),
        })
    });
    let nearby = found
        .models
        .iter()
        .filter(|server| !server.models.is_empty());
    let nearby = nearby.map(|server| ModelCandidate {
        provider: server.provider.clone(),
        title: server.title.clone(),
        models: server.models.clone(),
        key: None,
        wire: if server.provider == OLLAMA.name {
            ProviderKind::Ollama
        } else {
            ProviderKind::OpenAi
        },
        base_url: Some(server.base_url.clone()),
    });
    Ok(with_key.chain(nearby).collect())
}

/// Returns the reference to a key that `deft secrets set` has stored under the provider's variable name.
fn stored_key(config: &Config, provider: &KeyProvider) -> Option<String> {
    let mut names = provider.variables.iter();
    names.find_map(|name| named_reference(config, name))
}

fn base_url(machine: &Machine, provider: &KeyProvider) -> Option<String> {
    let set = provider
        .base_variable
        .and_then(|name| machine.environment.get(name).cloned());
    set.or_else(|| provider.base_url.map(str::to_owned))
}

/// Chooses without asking: by the command line options, else the first candidate.
pub fn choose(
    candidates: &[ModelCandidate],
    preferences: &ModelPreferences,
) -> Done<Option<ModelChoice>> {
    let provider = preferences.provider.as_deref();
    let found = candidates
        .iter()
        .find(|one| provider.is_none_or(|name| one.provider == name));
    let mut choice = match (found, provider, &preferences.base_url) {
        (Some(found), ..) if provider.is_some() || preferences.base_url.is_none() => {
            let proposed = found.models.first().map_or("", String::as_str);
            found.choose(preferences.model.as_deref().unwrap_or(proposed))
        }
        (_, None, Some(_)) => server_at_address(preferences)?,
        (None, Some(name), _) => return Err(missing_provider(name, preferences)),
        _ if preferences.is_empty() => return Ok(None),
        _ => {
            let failure = Failure::input("no_model", "no provider was found for `--model`");
            return Err(failure.hint("name one with `--provider`, or a server with `--base-url`"));
        }
    };
    if preferences.base_url.is_some() {
        choice.base_url.clone_from(&preferences.base_url);
    }
    Ok(Some(choice))
}

/// Chooses a server with the chat completions API, given by `--base-url`.
fn server_at_address(preferences: &ModelPreferences) -> Done<ModelChoice> {
    let Some(model) = &preferences.model else {
        let failure = Failure::input("no_model", "`--base-url` needs the name of a model");
        return Err(failure.hint("give it with `--model`"));
    };
    Ok(ModelChoice {
        provider: "local".to_owned(),
        wire: ProviderKind::OpenAi,
        model: model.clone(),
        base_url: None,
        key: ModelKey::Absent,
    })
}

/// The failure for a provider that is named on the command line but was not detected.
fn missing_provider(name: &str, preferences: &ModelPreferences) -> Failure {
    if let Some(provider) = KEY_PROVIDERS.iter().find(|one| one.name == name) {
        let variable = provider.variables.first().copied().unwrap_or_default();
        let message = format!("no API key of {} was found", provider.title);
        let keyless = match preferences.base_url {
            Some(_) => {
                "; for a server that needs no key, leave out `--provider` and name the model with `--model`"
            }
            None => "",
        };
        let hint = format!("set `{variable}`, or store it: `deft secrets set {variable}`{keyless}");
        return Failure::input("no_model", message).hint(hint);
    }
    let local = std::iter::once(&OLLAMA).chain(LOCAL_SERVERS);
    if let Some(server) = local.clone().find(|one| one.name == name) {
        let message = format!(
            "{} does not answer on this machine, or has no model",
            server.title
        );
        return Failure::input("no_model", message)
            .hint("start it, and load a model; `--base-url` names another address");
    }
    let known = KEY_PROVIDERS.iter().map(|one| one.name);
    let known: Vec<&str> = known.chain(local.map(|one| one.name)).collect();
    Failure::input("no_model", format!("unknown provider `{name}`"))
        .hint(format!("known providers: {}", known.join(", ")))
}
