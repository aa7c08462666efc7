//! Whether there are models to ask, and whether they can be asked.

use super::Findings;
use crate::home::Home;
use crate::secrets::Secrets;

/// How somebody gets a first model.
pub(crate) const ADD_A_MODEL: &str = "`deft config set llm.local.provider openai`, then `llm.local.model`, \
     `llm.local.base_url` and `llm.local.api_key` in the same way";

pub(super) fn check(home: &Home, found: &mut Findings) {
    let config = &home.config;
    if config.models.is_empty() {
        let message = "there is no model: agents and chats cannot work";
        return found.note("models.ready", message, ADD_A_MODEL);
    }
    let secrets = Secrets::new(config);
    for model in &config.models {
        match model.options(&secrets) {
            Ok(_) => found.good("models.ready", format!("`{}` can be asked", model.name)),
            Err(failure) => found.bad("models.ready", failure.message, failure.hint),
        }
    }
    if config.models.len() > 1 && config.agent.llm.is_none() {
        let first = config.models.first().map_or("", |model| &model.name);
        let message = "there are several models, and nothing says which one agents use";
        let hint = format!("`deft config set agent.llm {first}`");
        found.bad("models.chosen", message, Some(hint));
    }
}
