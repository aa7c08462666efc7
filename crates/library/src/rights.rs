//! Rights of stored skills: the authority of the agent that stored a record, and the grants that follow when
//! a person agrees to storing it.
//!
//! The rights are part of the stored text, and so of the revision: the same record stored by a person and by
//! an agent has two revisions, and a grant for one does not cover the other.

use std::sync::Arc;

use deft_base::Error;
use deft_model::{Authority, Body, Failure, FailureClass, Object, Skill, is_template};
use deft_store::{Grant, SkillRow};
use deft_workflow::{Operation, Path, Plan};
use serde_json::{Value, json};

use crate::Library;
use crate::grants::{AllowedArguments, StepOperation};

/// The key of the rights in the text of a record. No field of a record has this name.
const AUTHORITY: &str = "deft/authority";

/// Fields that define what a record does. A person who writes one of them takes the record over.
const BODY: [&str; 5] = [
    "instructions",
    "execution_plan",
    "required_tools",
    "preflight",
    "heal",
];

/// The giver of a grant that a person agreed to when the skill was stored.
const WHEN_STORED: &str = "the person who agreed when it was stored";

/// Returns the text of a record with the rights of the agent that stored it.
pub(crate) fn write_record_text(record: &Object, authority: Option<&Authority>) -> String {
    let mut record = record.clone();
    record.shift_remove(AUTHORITY);
    if let Some(authority) = authority {
        record.insert(AUTHORITY.to_owned(), json!(authority));
    }
    Value::Object(record).to_string()
}

/// Parses a record and the rights of the agent that stored it. The error says why the text is no record.
/// Unreadable rights allow nothing.
pub(crate) fn read_record_text(text: &str) -> Result<(Object, Option<Authority>), String> {
    let mut record: Object = serde_json::from_str(text).map_err(|error| error.to_string())?;
    let authority = record.shift_remove(AUTHORITY);
    let authority =
        authority.map(|value| serde_json::from_value(value).unwrap_or_else(|_| Authority::none()));
    Ok((record, authority))
}

/// Returns the error for a record that cannot be read.
pub(crate) fn unreadable_record(row: &SkillRow, why: String) -> Error {
    Error::Unreadable {
        what: format!("the record of skill `{}`", row.text.skill),
        why,
    }
}

/// Returns the rights of a record after a change. An agent that changes anything limits it to its own rights;
/// a person takes it over by writing what it does.
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

/// Whether a change disables a skill and does nothing else.
pub fn is_only_off(changes: &Object) -> bool {
    changes.len() == 1 && changes.get("enabled") == Some(&Value::Bool(false))
}

impl Library {
    /// Stores grants for the tools that a person agreed to when the record was stored: exactly these
    /// operations of this revision need no approval from now on.
    pub(crate) async fn grant_stored(
        &self,
        row: &SkillRow,
        skill: &Skill,
        agreed: &[String],
    ) -> Result<(), Error> {
        for grant in self.stored_grants(row, skill, agreed) {
            self.store().grant(grant).await?;
        }
        Ok(())
    }
}

impl Library {
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
                grants.push(self.stored_grant(
                    row,
                    "agent",
                    tool,
                    args,
                    &AllowedArguments::Anything,
                ));
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
        allowed: &AllowedArguments,
    ) -> Grant {
        let operation = Operation {
            kind: "tool".to_owned(),
            name: Some(tool.to_owned()),
            args: Some(args),
            remember: None,
        };
        let place = StepOperation {
            skill: &row.text.skill,
            revision: &row.text.revision,
            path: &Path::from_text(step.to_owned()),
            operation: &operation,
        };
        let (id, digest, pattern) = place.grant_identity(allowed);
        Grant {
            id,
            skill: row.text.skill.clone(),
            revision: row.text.revision.clone(),
            operation: digest,
            pattern,
            describes: format!("{step}: `{tool}`, agreed to when the skill was stored"),
            by: WHEN_STORED.to_owned(),
            at: self.base.now(),
        }
    }
}

/// Returns the arguments that a grant for a planned call covers: those known only when the step runs may have
/// any value, the others are fixed.
fn open_arguments(args: &Value) -> AllowedArguments {
    let Value::Object(args) = args else {
        return AllowedArguments::Exactly;
    };
    let open: Object = args
        .iter()
        .filter(|(_, value)| is_template(&value.to_string()))
        .map(|(name, _)| (name.clone(), json!("*")))
        .collect();
    if open.is_empty() {
        AllowedArguments::Exactly
    } else {
        AllowedArguments::Like(open)
    }
}

/// Sets the rights of a skill that was read from the store.
pub fn with_authority(mut skill: Skill, authority: Option<Authority>) -> Skill {
    if authority.is_some() {
        Arc::make_mut(&mut skill.policy).authority = authority.map(Arc::new);
    }
    skill
}

/// Refuses changes to a file skill that an agent may not make, also if the call could not be checked before:
/// changing or deleting a skill that it may not name, or changing one that gets secrets.
pub(crate) fn refuse_change(
    by: Option<&Authority>,
    file: &Skill,
    changes: Option<&Object>,
) -> Result<(), Failure> {
    let Some(by) = by else {
        return Ok(());
    };
    if let Some(why) = not_named(by, file) {
        return Err(denied_failure(why));
    }
    let writes = changes.is_some_and(|changes| !is_only_off(changes));
    if writes && !file.policy.secrets.is_empty() {
        let why = format!(
            "only a person may change `{}`, because it uses secrets",
            file.id
        );
        return Err(denied_failure(why));
    }
    Ok(())
}

/// Returns why an agent may not name a skill; `None` if it may.
pub fn not_named(authority: &Authority, skill: &Skill) -> Option<String> {
    let (id, agent) = (skill.id.as_str(), &authority.agent);
    (!authority.may_run(id)).then(|| format!("`{id}` is not one of the skills of agent `{agent}`"))
}

/// Returns the failure of a call that an agent may not make.
pub fn denied_failure(why: String) -> Failure {
    Failure::new(FailureClass::Invalid, why)
        .hint("a person can store or run the skill, or give the agent the tool")
}
