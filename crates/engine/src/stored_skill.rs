//! The public form of a skill in the store.

use deft_library::fields;
use deft_model::{Details, Object};
use deft_store::{SkillOrigin, SkillRow};
use deft_wire::skill::{Origin, StoredSkill, TriggerView};
use deft_wire::skill_policy::PolicyView;
use deft_workflow::Mask;
use jiff::Timestamp;
use serde_json::Value;

use crate::own_tools::UNSTORED;
use crate::{Engine, Error};

impl Engine {
    /// Returns a stored skill with all columns of the seeds (S0.62) and of the contract. Secrets are shown by
    /// name only.
    pub async fn stored_skill(&self, row: &SkillRow) -> Result<StoredSkill, Error> {
        let pinned = self.inner.library.pin_row(row).await.ok();
        let skill = pinned.as_ref().map(|pinned| &pinned.skill);
        let content = match row.text.origin {
            SkillOrigin::Record => self.library().content(row).await?,
            SkillOrigin::File => skill.map(|skill| fields(skill)).unwrap_or_default(),
        };
        let moment = self.inner.base.moment();
        let text = |at: Option<Timestamp>| at.map(|at| deft_schedule::show(at, &moment.zone));
        let missing = skill.map(|skill| self.inner.library.missing(&skill.required_tools));
        let stored = row.id != UNSTORED;
        let (standing, policy) = (&row.standing, skill.map(|skill| &skill.policy));
        let authority = policy.and_then(|policy| policy.authority.as_deref());
        let grants = match authority {
            Some(_) => Some(self.grants_of(row).await?),
            None => None,
        };
        let instructions = field(&content, "instructions");
        let mut details = skill.map(|skill| skill.details.clone()).unwrap_or_default();
        details.mask();
        let mut shown = StoredSkill {
            id: row.text.skill.clone(),
            record_id: stored.then_some(row.id),
            agent_id: row.text.agent_id.clone(),
            name: row.text.name.clone(),
            description: skill.map(|skill| skill.description.clone()),
            tier: row.text.tier,
            dialect: skill.map(|skill| skill.dialect),
            origin: match row.text.origin {
                SkillOrigin::Record => Origin::Record,
                SkillOrigin::File => Origin::File,
            },
            revision: row.text.revision.clone(),
            enabled: standing.disabled.is_none(),
            disabled_reason: standing.disabled,
            trigger_type: row.text.trigger,
            trigger_config: field(&content, "trigger_config"),
            trigger: TriggerView {
                kind: row.text.trigger,
                config: field(&content, "trigger_config"),
                words: skill.map(|skill| deft_skillfile::words(skill, &moment)),
                next: text(row.timeline.next_at).into_iter().collect(),
            },
            instructions: instructions.and_then(|text| text.as_str().map(str::to_owned)),
            required_tools: row.text.required_tools.clone(),
            missing_tools: missing,
            execution_plan: field(&content, "execution_plan"),
            authority: authority.cloned(),
            max_steps: policy.map(|policy| policy.max_steps),
            notify_on_completion: policy.map(|policy| policy.notify_on_completion),
            notify_interval_minutes: policy.map(|policy| policy.notify_interval_minutes),
            policy: policy
                .map(|policy| PolicyView::for_record(policy))
                .unwrap_or_default(),
            failures: standing.streak,
            backoff_until: text(standing.backoff_until),
            last_run_at: text(standing.last_run_at),
            last_run_status: standing.last_run_status.clone(),
            last_run_summary: standing.last_run_summary.clone(),
            last_notified_at: text(standing.notified_at),
            created_at: text(stored.then_some(row.created_at)),
            updated_at: text(stored.then_some(row.updated_at)),
            tags: std::mem::take(&mut details.tags),
            described: (details != Details::default()).then(|| details.into()),
            grants,
        };
        shown.mask();
        Ok(shown)
    }

    /// Returns descriptions of the grants for the revision of a record.
    async fn grants_of(&self, row: &SkillRow) -> Result<Vec<String>, Error> {
        let grants = self.store().grants(&row.text.skill).await?;
        let grants = grants.into_iter();
        let valid = grants.filter(|grant| grant.revision == row.text.revision);
        Ok(valid.map(|grant| grant.describes).collect())
    }
}

/// Returns a field of the content of a skill; `None` if it is absent or null.
fn field(content: &Object, name: &str) -> Option<Value> {
    content.get(name).filter(|value| !value.is_null()).cloned()
}
