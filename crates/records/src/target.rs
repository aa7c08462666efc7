//! The skill that a call refers to: `memory_update_skill`, `memory_get_skill` and `memory_delete_skill` take
//! an id or a name.
//!
//! Not here: whether the skill exists.

use deft_model::Object;
use serde_json::Value;

use crate::json;
use crate::names::snake;

/// A reference to a skill.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Target {
    /// The number of its record.
    Id(i64),
    /// Its name or slug.
    Name(String),
}

/// Removes the reference to a skill from the arguments; returns it and the remaining arguments.
///
/// Next to an id, `name` is a change. Without an id, `name` identifies the skill, and `new_name` is its new
/// name.
pub fn target(args: &Object) -> (Option<Target>, Object) {
    let mut rest = args.clone();
    let key = |names: &[&str], rest: &Object| {
        let found = |name: &&str| rest.keys().find(|key| snake(key) == **name).cloned();
        names.iter().find_map(found)
    };
    let id = key(&["id", "skill_id", "record_id"], &rest);
    let id = id.and_then(|key| json::take(&mut rest, &key));
    let mut target = id.as_ref().and_then(parse_target);
    if target.is_none()
        && let Some(key) = key(&["name", "skill_name", "skill", "slug"], &rest)
        && rest.get(&key).is_some_and(Value::is_string)
    {
        target = json::take(&mut rest, &key).as_ref().and_then(parse_target);
    }
    if let Some(key) = key(&["new_name", "rename_to"], &rest) {
        let name = json::take(&mut rest, &key).unwrap_or_default();
        rest.insert("name".to_owned(), name);
    }
    (target, rest)
}

/// Converts a number, also in quotes, to an id, and any other text to a name.
fn parse_target(value: &Value) -> Option<Target> {
    let text = json::text_of_scalar(value)?;
    let number = text.trim_start_matches('#').parse().ok();
    match number {
        Some(id) => Some(Target::Id(id)),
        None => (!text.is_empty()).then_some(Target::Name(text)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn ids_and_names() {
        let cases = [
            (
                json!({"id": 7, "enabled": false}),
                Some(Target::Id(7)),
                json!({"enabled": false}),
            ),
            (json!({"id": "7"}), Some(Target::Id(7)), json!({})),
            (
                json!({"skillId": "#643", "name": "x"}),
                Some(Target::Id(643)),
                json!({"name": "x"}),
            ),
            (
                json!({"name": "Water", "new_name": "Drink"}),
                Some(Target::Name("Water".into())),
                json!({"name": "Drink"}),
            ),
            (
                json!({"id": "morning-briefing"}),
                Some(Target::Name("morning-briefing".into())),
                json!({}),
            ),
            (json!({"enabled": true}), None, json!({"enabled": true})),
            (
                json!({"id": null, "name": "a"}),
                Some(Target::Name("a".into())),
                json!({}),
            ),
        ];
        for (args, wanted, rest) in cases {
            let (found, left) = target(args.as_object().unwrap());
            assert_eq!((found, Value::Object(left)), (wanted, rest), "{args}");
        }
    }
}
