//! Policy of a skill, with the field names used in files. Only fields that the skill sets are present.

use deft_model::{Object, Policy};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Policy fields that differ from their defaults, without the fields that the skill shows under separate
/// keys. A new field of `Policy` appears here as soon as `Policy::entries` returns it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
pub struct PolicyView(pub Object);

/// Policy fields that a skill from a file shows under separate keys.
const OF_FILES: &[&str] = &["enabled", "agent_id", "max_steps"];

/// Policy fields that a stored skill shows under separate keys.
const OF_RECORDS: &[&str] = &[
    "enabled",
    "agent_id",
    "max_steps",
    "notify_on_completion",
    "notify_interval_minutes",
];

impl PolicyView {
    /// Selects the fields that a skill from a file does not show elsewhere.
    pub fn for_file(policy: &Policy) -> Self {
        Self::without(OF_FILES, policy)
    }

    /// Selects the fields that a stored skill does not show elsewhere.
    pub fn for_record(policy: &Policy) -> Self {
        Self::without(OF_RECORDS, policy)
    }

    fn without(shown: &[&str], policy: &Policy) -> Self {
        let entries = policy.entries().into_iter();
        let entries = entries.filter(|(key, _)| !shown.contains(key));
        Self(
            entries
                .map(|(key, value)| (key.to_owned(), value))
                .collect(),
        )
    }

    /// Whether the skill sets none of these fields.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns the keys and values as text for people.
    pub fn texts(&self) -> impl Iterator<Item = (&str, String)> {
        let fields = self.0.iter();
        fields.map(|(key, value)| (key.as_str(), text(value)))
    }
}

/// Formats a value on one line. Of a list with mappings, only the number of entries is shown.
fn text(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Array(items) if items.iter().any(Value::is_object) => match items.len() {
            1 => "1 entry".to_owned(),
            count => format!("{count} entries"),
        },
        Value::Array(items) => items.iter().map(text).collect::<Vec<_>>().join(", "),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Object(_) => value.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use deft_model::{Effects, Heal};
    use serde_json::json;

    use super::*;

    #[test]
    fn the_settings_of_a_skill_are_shown() {
        assert!(PolicyView::for_file(&Policy::default()).is_empty());
        let heal = Heal {
            when: Vec::new(),
            tool: "vpn_connect".to_owned(),
            args: Value::Null,
        };
        let policy = Policy {
            enabled: false,
            notify_on_completion: false,
            effects: Some(Effects::Once),
            heal: vec![heal.clone(), heal],
            timeout: Some(Duration::from_secs(90)),
            secrets: vec!["A".to_owned(), "B".to_owned()],
            ..Policy::default()
        };
        let view = PolicyView::for_record(&policy);
        let remedy = json!({"tool": "vpn_connect"});
        assert_eq!(
            serde_json::to_value(&view).unwrap(),
            json!({"effects": "once", "heal": [remedy, remedy], "timeout": 90, "secrets": ["A", "B"]})
        );
        let texts: Vec<String> = view
            .texts()
            .map(|(key, text)| format!("{key} {text}"))
            .collect();
        assert_eq!(
            texts,
            [
                "effects once",
                "heal 2 entries",
                "timeout 90",
                "secrets A, B"
            ]
        );
        let file = PolicyView::for_file(&policy);
        assert_eq!(file.0["notify_on_completion"], false);
        assert_eq!(file.0.len(), view.0.len() + 1);
    }
}
