//! What a stored record carries of the agent that stored it, and the standing grants that a person's
//! yes to it becomes.
//!
//! The rights are part of the text that is stored, and so of the revision: the same record stored by
//! a person and by an agent are two revisions, and a grant for one is none for the other.

use std::sync::Arc;

use deft_model::{Authority, Body, Object, Skill};
use deft_store::{Grant, SkillRow};
use deft_workflow::{Operation, Path, Plan};
use serde_json::{Value, json};

use crate::engine::Inner;
use crate::grants::{Allowed, Place};
use crate::{Engine, Error};

/// The key of the rights in the text of a record. No field of a record is called like this.
const AUTHORITY: &str = "deft/authority";

/// Fields of a record that say what it does. A person who writes one of them takes the record over.
const BODY: [&str; 5] = [
    "instructions",
    "execution_plan",
    "required_tools",
    "preflight",
    "heal",
];

/// The text of a record with the rights of the agent that stored it.
pub(crate) fn write_record_text(record: &Object, authority: Option<&Authority>) -> String {
    let mut record = record.clone();
    record.shift_remove(AUTHORITY);
    if let Some(authority) = authority {
        record.insert(AUTHORITY.to_owned(), json!(authority));
    }
    Value::Object(record).to_string()
}

/// A record and the rights of the agent that stored it; none if the text is no record. Rights that
/// cannot be read allow nothing.
pub(crate) fn read_record_text(text: &str) -> Option<(Object, Option<Authority>)> {
    let Ok(Value::Object(mut record)) = serde_json::from_str(text) else {
        return None;
    };
    let authority = record.shift_remove(AUTHORITY);
    let authority =
        authority.map(|value| serde_json::from_value(value).unwrap_or_else(|_| Authority::none()));
    Some((record, authority))
}

/// Who answers for a record after a change. An agent that changes anything puts it under its own
/// rights; a person takes it over by writing what it does.
pub(crate) fn after_change(
    before: Option<&Authority>,
    by: Option<&Authority>,
    changes: &Object,
) -> Option<Authority> {
    let Some(by) = by else {
        let takes_over = BODY.iter().any(|field| changes.contains_key(*field));
        return before.filter(|_| !takes_over).cloned();
    };
    if is_only_off(changes) {
        return before.cloned();
    }
    let by = by.not_agreed();
    Some(before.map_or_else(|| by.clone(), |before| by.and(before)))
}

/// Whether a change switches a skill off and does nothing else.
pub(crate) fn is_only_off(changes: &Object) -> bool {
    changes.len() == 1 && changes.get("enabled") == Some(&Value::Bool(false))
}

impl Engine {
    /// A person has agreed to tools of a record when it was stored: the very operations of this
    /// revision pass from now on.
    pub(crate) async fn grant_stored(
        &self,
        row: &SkillRow,
        skill: &Skill,
        agreed: &[String],
    ) -> Result<(), Error> {
        for grant in self.inner.stored_grants(row, skill, agreed) {
            self.store().grant(grant).await?;
        }
        Ok(())
    }
}

impl Inner {
    fn stored_grants(&self, row: &SkillRow, skill: &Skill, agreed: &[String]) -> Vec<Grant> {
        let Ok(plan) = Plan::compile(skill, &row.text.revision) else {
            return Vec::new();
        };
        let mut grants = Vec::new();
        for call in plan.calls() {
            let (Some(step), Some(tool), Some(args)) = (call.step, call.tool, call.args) else {
                continue;
            };
            if agreed.iter().any(|name| name == tool) {
                let allowed = open_arguments(args);
                grants.push(self.stored_grant(row, step, tool, args.clone(), &allowed));
            }
        }
        if let Body::Instructions(_) = skill.body {
            for tool in skill
                .required_tools
                .iter()
                .filter(|tool| agreed.contains(tool))
            {
                let args = Value::Object(Object::new());
                grants.push(self.stored_grant(row, "agent", tool, args, &Allowed::Anything));
            }
        }
        grants
    }

    fn stored_grant(
        &self,
        row: &SkillRow,
        step: &str,
        tool: &str,
        args: Value,
        allowed: &Allowed,
    ) -> Grant {
        let operation = Operation {
            kind: "tool".to_owned(),
            name: Some(tool.to_owned()),
            args: Some(args),
            remember: None,
        };
        let place = Place {
            skill: &row.text.skill,
            revision: &row.text.revision,
            path: &Path::from_text(step.to_owned()),
            operation: &operation,
        };
        let (id, digest, pattern) = place.bound(allowed);
        Grant {
            id,
            skill: row.text.skill.clone(),
            revision: row.text.revision.clone(),
            operation: digest,
            pattern,
            describes: format!("{step}: `{tool}`, agreed to when the skill was stored"),
            by: crate::ask::WHEN_STORED.to_owned(),
            at: self.now(),
        }
    }
}

/// Arguments that are only known when the step runs may be anything; the others are as written.
fn open_arguments(args: &Value) -> Allowed {
    let Value::Object(args) = args else {
        return Allowed::Exactly;
    };
    let open: Object = args
        .iter()
        .filter(|(_, value)| value.to_string().contains("{{"))
        .map(|(name, _)| (name.clone(), json!("*")))
        .collect();
    if open.is_empty() {
        Allowed::Exactly
    } else {
        Allowed::Like(open)
    }
}

/// The rights of a skill, set where it was read from the store.
pub(crate) fn with_authority(mut skill: Skill, authority: Option<Authority>) -> Skill {
    if authority.is_some() {
        Arc::make_mut(&mut skill.policy).authority = authority.map(Arc::new);
    }
    skill
}
