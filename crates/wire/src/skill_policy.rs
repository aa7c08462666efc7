//! How a skill may run, as programs and people see it: the fields that the skill sets, by their names in files.

use deft_model::{Object, Policy};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// The fields of a skill that say how it may run and differ from their defaults, but for those that the skill shows
/// under keys of their own. A new field of the policy is here as soon as `Policy::entries` has it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
pub struct PolicyView(pub Object);

/// Fields that a skill of a file has under keys of their own.
const OF_FILES: &[&str] = &["enabled", "agent_id", "max_steps"];

/// Fields that a stored skill has under keys of their own.
const OF_RECORDS: &[&str] = &[
    "enabled",
    "agent_id",
    "max_steps",
    "notify_on_completion",
    "notify_interval_minutes",
];

impl PolicyView {
    /// The fields that a skill of a file does not have elsewhere.
    pub fn for_file(policy: &Policy) -> Self {
        Self::without(OF_FILES, policy)
    }

    /// The fields that a stored skill does not have elsewhere.
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

    /// Whether the skill sets none of them.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The fields for people, with their keys before them.
    pub fn texts(&self) -> impl Iterator<Item = (&str, String)> {
        let fields = self.0.iter();
        fields.map(|(key, value)| (key.as_str(), text(value)))
    }
}

/// A value in a line: a list of mappings is counted.
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
    fn what_a_skill_sets_is_shown() {
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
