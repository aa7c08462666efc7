//! Checks of models and the bot: models are configured and complete, local ones answer, and messages to the
//! bot are answered.

use deft_config::{Home, Secrets};

use super::Findings;
use crate::app::App;

/// The hint to configure a first model.
pub const ADD_A_MODEL: &str = "`deft setup` finds API keys and local models and configures one";

pub(super) fn check(home: &Home, found: &mut Findings) {
    check_models(home, found);
    check_bot(home, found);
}

fn check_models(home: &Home, found: &mut Findings) {
    let config = &home.config;
    if config.models.is_empty() {
        let message = "no model is configured; chat and agents are disabled";
        return found.note("models.ready", message, ADD_A_MODEL);
    }
    let secrets = Secrets::new(config);
    for model in &config.models {
        match model.options(&secrets) {
            Ok(_) => found.good(
                "models.ready",
                format!("model `{}` is configured", model.name),
            ),
            Err(failure) => {
                let message = format!("model `{}`: {}", model.name, failure.message);
                found.bad("models.ready", message, failure.hint);
            }
        }
        found.about(&model.name);
    }
    if config.models.len() > 1 && config.agent.llm.is_none() {
        let first = config.models.first().map_or("", |model| &model.name);
        let message = "several models are configured, but `agent.llm` does not select one";
        let hint = format!("`deft config set agent.llm {first}`");
        found.bad("models.chosen", message, Some(hint));
    }
}

/// Checks that models on this host or in its network answer. Models of providers are not contacted.
pub(super) async fn check_answers(app: &App, found: &mut Findings) {
    for (model, answered) in app.scheduler().ping_models().await {
        match answered {
            Ok(()) => found.good("models.answer", format!("the server of `{model}` answers")),
            Err(failure) => {
                let hint = failure.hint.clone();
                let usual = format!("start it, or correct `llm.{model}.base_url`");
                found.bad("models.answer", failure.message, hint.or(Some(usual)));
            }
        }
        found.about(&model);
    }
}

/// Checks that messages to the configured bot will be answered.
fn check_bot(home: &Home, found: &mut Findings) {
    let config = &home.config;
    let telegram = &config.tools.telegram;
    if telegram.token.is_none() || !config.telegram_chat {
        return;
    }
    if telegram.allowed_chats.is_empty() {
        found.note(
            "telegram.chat",
            "messages to the bot are not answered: no chat is allowed",
            "`deft config set telegram.allowed_chats '[CHAT_ID]'`",
        );
    } else if config.models.is_empty() {
        let message = "messages to the bot are not answered: no model is configured";
        found.note("telegram.chat", message, ADD_A_MODEL);
    } else {
        found.good("telegram.chat", "`deft up` answers messages to the bot");
    }
}
