//! The filter of `memory_list_skills`.
//!
//! An invalid filter is an error, because ignoring it would return a list with skills that were not asked
//! for. Not here: applying the filter.

use deft_model::{Choice, Object, Trigger};
use serde_json::Value;

use crate::json;
use crate::normalise::truth;
use crate::refusal::{Problem, Refusal};

/// The filter; `None` matches every skill.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Filter {
    /// Whether the skill is enabled.
    pub enabled: Option<bool>,
    /// The kind of trigger.
    pub trigger: Option<Trigger>,
    /// The agent that owns the skill.
    pub agent_id: Option<String>,
}

/// Parses the arguments of `memory_list_skills`. Null and blank values do not filter.
pub fn filter(args: &Object) -> Result<Filter, Refusal> {
    let given = |key: &str| {
        let value = args.get(key).filter(|value| !value.is_null())?;
        Some(value).filter(|value| value.as_str().is_none_or(|text| !text.trim().is_empty()))
    };
    let mut problems = Vec::new();
    let mut refuse = |key: &str, value: &Value, wanted: &str| {
        let shown = json::text_of_scalar(value).unwrap_or_else(|| value.to_string());
        let message = format!("`{shown}` is not {wanted}");
        problems.push(Problem::new(key, message).hint("leave it out to see all skills"));
    };
    let mut wanted = Filter::default();
    if let Some(value) = given("enabled") {
        wanted.enabled = truth(value);
        if wanted.enabled.is_none() {
            refuse("enabled", value, "`true` or `false`");
        }
    }
    if let Some(value) = given("trigger_type") {
        let word = value.as_str().map(|text| text.trim().to_ascii_lowercase());
        wanted.trigger = word.and_then(|word| Trigger::from_word(&word));
        if wanted.trigger.is_none() {
            refuse("trigger_type", value, "`cron`, `event` or `manual`");
        }
    }
    if let Some(value) = given("agent_id") {
        wanted.agent_id = json::text_of_scalar(value);
        if wanted.agent_id.is_none() {
            refuse("agent_id", value, "the name of an agent");
        }
    }
    if problems.is_empty() {
        Ok(wanted)
    } else {
        Err(Refusal { problems })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn filters_are_distinguished_from_text() {
        let asks = |enabled, trigger, agent_id: Option<&str>| {
            Ok(Filter {
                enabled,
                trigger,
                agent_id: agent_id.map(str::to_owned),
            })
        };
        let refused = |lines: &[&str]| Err(lines.iter().map(|&line| line.to_owned()).collect());
        let cases: [(Value, Result<Filter, Vec<String>>); 5] = [
            (
                json!({"enabled": null, "trigger_type": "", "agent_id": " "}),
                asks(None, None, None),
            ),
            (
                json!({"enabled": "Yes", "trigger_type": "Cron", "agent_id": "scout"}),
                asks(Some(true), Some(Trigger::Cron), Some("scout")),
            ),
            (json!({"enabled": 0}), asks(Some(false), None, None)),
            (
                json!({"enabled": "maybe"}),
                refused(&["`maybe` is not `true` or `false`"]),
            ),
            (
                json!({"enabled": [true], "trigger_type": "often"}),
                refused(&[
                    "`[true]` is not `true` or `false`",
                    "`often` is not `cron`, `event` or `manual`",
                ]),
            ),
        ];
        for (args, wanted) in cases {
            let read = filter(args.as_object().unwrap());
            let read = read.map_err(|refusal| {
                let problems = refusal.problems.into_iter();
                problems.map(|problem| problem.message).collect::<Vec<_>>()
            });
            assert_eq!(read, wanted, "{args}");
        }
    }
}
