//! The list of a provider's models, before any of them is configured.
//!
//! Not here: requests to a model.

use std::time::Duration;

use serde_json::Value;

use crate::http::{Http, Shared};
use crate::unready::bare_options;
use crate::{ModelOptions, ProviderKind};

/// A possible provider.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProviderPlace {
    /// Its wire format.
    pub provider: ProviderKind,
    /// Its address; `None` for the default one.
    pub base_url: Option<String>,
}

/// Returns the names of a provider's models, or `None` if no provider answers there within `timeout`.
pub async fn list_models(place: &ProviderPlace, timeout: Duration) -> Option<Vec<String>> {
    let http = Http {
        options: ModelOptions {
            provider: place.provider,
            base_url: place.base_url.clone(),
            ..bare_options(String::new())
        },
        client: Shared::default(),
    };
    let listed = tokio::time::timeout(timeout, http.listing()).await.ok()?;
    names(&serde_json::from_slice(&listed.ok()?).ok()?)
}

/// Returns the names in a list of any provider; `None` if the answer comes from another kind of server.
fn names(listed: &Value) -> Option<Vec<String>> {
    let (list, key) = match (listed.get("data"), listed.get("models")) {
        (Some(list), _) => (list, "id"),
        (None, Some(list)) => (list, "name"),
        (None, None) => return None,
    };
    let names = list.as_array()?.iter().map(|model| {
        let name = model.get(key)?.as_str()?;
        Some(name.strip_prefix("models/").unwrap_or(name).to_owned())
    });
    names.collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn only_model_lists_of_known_providers_are_read() {
        for (listed, expected) in [
            (
                json!({"data": [{"id": "a"}, {"id": "b"}]}),
                Some(vec!["a", "b"]),
            ),
            (
                json!({"models": [{"name": "qwen3:8b"}]}),
                Some(vec!["qwen3:8b"]),
            ),
            (
                json!({"models": [{"name": "models/gemini"}]}),
                Some(vec!["gemini"]),
            ),
            (json!({"models": []}), Some(vec![])),
            (json!({"data": [{"name": "a shop"}]}), None),
            (json!({"data": "x"}), None),
            (json!("hello"), None),
        ] {
            let expected = expected.map(|names| names.into_iter().map(str::to_owned).collect());
            assert_eq!(names(&listed), expected, "{listed}");
        }
    }
}
