//! Writes the chosen model to the configuration, and tests it with one call.

use std::time::{Duration, Instant};

use deft_config::{Editor, Home, SecretPlace, Secrets, store_secret};
use deft_llm::{Ask, Models, remove_model_name};
use deft_model::{Message, ModelRequest};
use deft_tools::Secret;
use deft_wire::setup::{ModelTest, SetupModel};
use deft_wire::{Done, Failure};
use serde_json::json;
use tokio_util::sync::CancellationToken;

use super::model::{ModelChoice, ModelKey};
use crate::runtime;
use crate::workspace::Workspace;

/// Timeout of the test call: a local model may have to be loaded first.
const TEST_CALL_TIMEOUT: Duration = Duration::from_mins(2);

/// Enough tokens for one word, even from a model that thinks first.
const MAX_TOKENS: u32 = 1024;

/// Writes the section of a model, and selects the model for agents.
pub fn configure(workspace: &Workspace, choice: &ModelChoice) -> Done<SetupModel> {
    let home = workspace.home()?;
    let name = &choice.provider;
    let api_key = match &choice.key {
        ModelKey::Absent => None,
        ModelKey::Reference(reference) => Some(reference.clone()),
        ModelKey::Value(name, secret) => {
            Some(store_secret(&home.path, name, secret, SecretPlace::KeyringOrFile)?.reference)
        }
    };
    let mut editor = Editor::open(&home.path)?;
    for (key, value) in [
        ("provider", Some(choice.wire.word())),
        ("model", Some(choice.model.as_str())),
        ("base_url", choice.base_url.as_deref()),
        ("api_key", api_key.as_deref()),
    ] {
        let path = ["llm", name, key].map(str::to_owned);
        match value {
            Some(value) => editor.set(&path, &json!(value))?,
            None => editor.unset(&path),
        }
    }
    let has_others = home.config.models.iter().any(|model| model.name != *name);
    if has_others || home.config.agent.llm.is_some() {
        let path = ["agent", "llm"].map(str::to_owned);
        editor.set(&path, &json!(name))?;
    }
    let changed = editor.save()?;
    let model = describe(&workspace.home()?, name);
    Ok(SetupModel { changed, ..model })
}

/// Returns the model that agents use. With several models and no selection, it is the first one.
pub fn configured_model(workspace: &Workspace) -> Done<Option<SetupModel>> {
    let home = workspace.home()?;
    if let Some(name) = &home.config.agent.llm {
        return Ok(Some(describe(&home, name)));
    }
    let Some(first) = home.config.models.first() else {
        return Ok(None);
    };
    let mut model = describe(&home, &first.name);
    if home.config.models.len() > 1 {
        let mut editor = Editor::open(&home.path)?;
        let path = ["agent", "llm"].map(str::to_owned);
        editor.set(&path, &json!(first.name))?;
        model.changed = editor.save()?;
    }
    Ok(Some(model))
}

fn describe(home: &Home, name: &str) -> SetupModel {
    let text = |key: &str| {
        let value = home.config.settings.get(&["llm", name, key])?.json();
        value.as_str().map(str::to_owned)
    };
    SetupModel {
        name: name.to_owned(),
        provider: text("provider").unwrap_or_default(),
        model: text("model").unwrap_or_default(),
        base_url: text("base_url"),
        api_key: text("api_key"),
        changed: false,
        test: None,
    }
}

/// Asks a configured model for one word. A failed call is reported in the result, not as an error.
pub fn test_model(workspace: &Workspace, name: &str) -> Done<ModelTest> {
    let home = workspace.home()?;
    let known = home.config.models.iter().find(|model| model.name == name);
    let known = known.ok_or_else(|| {
        Failure::input(
            "no_model",
            format!("the configuration has no model `{name}`"),
        )
    })?;
    let mut options = match known.options(&Secrets::new(&home.config)) {
        Ok(options) => options,
        Err(failure) => return Ok(failed_test(Duration::ZERO, failure)),
    };
    options.retries = 0;
    options.fallback.clear();
    options.timeout = TEST_CALL_TIMEOUT;
    let request = ModelRequest {
        messages: vec![Message::User {
            text: "Answer with one word: ready".to_owned(),
        }],
        max_tokens: Some(MAX_TOKENS),
        ..ModelRequest::default()
    };
    let models = Models::new(vec![options]);
    let ask = Ask {
        model: name,
        request: &request,
        listener: None,
        deadline: Some(TEST_CALL_TIMEOUT),
        cancel: CancellationToken::new(),
        tries: None,
    };
    let began = Instant::now();
    let answered = runtime::start()?.block_on(models.ask(ask));
    Ok(match answered {
        Ok(_) => ModelTest {
            ok: true,
            latency_ms: milliseconds(began.elapsed()),
            error: None,
            hint: None,
        },
        // The caller adds the name of the model.
        Err(failure) => failed_test(began.elapsed(), remove_model_name(name, failure)),
    })
}

fn failed_test(after: Duration, failure: deft_model::Failure) -> ModelTest {
    ModelTest {
        ok: false,
        latency_ms: milliseconds(after),
        error: Some(failure.message),
        hint: failure.hint,
    }
}

fn milliseconds(length: Duration) -> u64 {
    u64::try_from(length.as_millis()).unwrap_or(u64::MAX)
}

/// Returns the environment variable with the API key of a model, if the key comes from one.
pub fn key_variable(model: &SetupModel) -> Option<&str> {
    model.api_key.as_deref()?.strip_prefix("env:")
}

/// Stores the API key from its environment variable as a secret, and lets the model use the stored one.
pub fn store_key(workspace: &Workspace, model: &mut SetupModel) -> Done<()> {
    let Some(variable) = key_variable(model).map(str::to_owned) else {
        return Ok(());
    };
    let value = deft_config::env::text(&variable)
        .map_err(|why| Failure::input("no_model", format!("the variable `{variable}` {why}")))?;
    let home = workspace.locate()?;
    let stored = store_secret(
        &home,
        &variable,
        &Secret::new(value.trim()),
        SecretPlace::KeyringOrFile,
    )?;
    let mut editor = Editor::open(&home)?;
    let path = ["llm", &model.name, "api_key"].map(str::to_owned);
    editor.set(&path, &json!(stored.reference))?;
    model.changed = editor.save()? || model.changed;
    model.api_key = Some(stored.reference);
    Ok(())
}
