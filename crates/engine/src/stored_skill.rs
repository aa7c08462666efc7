//! The public form of a skill in the store.

use deft_base::read_or_log;
use deft_library::{fields, skip_unknown};
use deft_model::{Details, Object, Skill};
use deft_store::{SkillOrigin, SkillRow, SkillState};
use deft_wire::skill::{Origin, SkillHead, SkillStanding, StoredSkill, TriggerView};
use deft_wire::skill_policy::PolicyView;
use deft_workflow::Mask;
use serde_json::Value;

use crate::own_tools::UNSTORED;
use crate::{Engine, Error};

impl Engine {
    /// Returns a stored skill with all columns of the seeds (S0.62) and of the contract. Secrets are shown by
    /// name only.
    pub async fn stored_skill(&self, row: &SkillRow) -> Result<StoredSkill, Error> {
        let pinned = skip_unknown(self.inner.library.pin_row(row).await);
        let pinned = read_or_log(pinned, "the content of a skill").flatten();
        let skill = pinned.as_ref().map(|pinned| &pinned.skill);
        let content = match row.text.origin {
            SkillOrigin::Record => self.library().content(row).await?,
            SkillOrigin::File => skill.map(|skill| fields(skill)).unwrap_or_default(),
        };
        let moment = self.inner.base.moment();
        let stored = row.id != UNSTORED;
        let policy = skill.map(|skill| &skill.policy);
        let authority = policy.and_then(|policy| policy.authority.as_deref());
        let grants = match authority {
            Some(_) => Some(self.grants_of(row).await?),
            None => None,
        };
        let instructions = field(&content, "instructions");
        let mut details = skill.map(|skill| skill.details.clone()).unwrap_or_default();
        details.mask();
        let next = row.timeline.next_at;
        let next = next.map(|at| deft_schedule::show(at, &moment.zone));
        let mut head = self.head(row, skill.map(|skill| &**skill));
        head.trigger.config = field(&content, "trigger_config");
        head.trigger.words = skill.map(|skill| deft_skillfile::words(skill, &moment));
        head.trigger.next = next.into_iter().collect();
        let mut shown = StoredSkill {
            head,
            trigger_type: row.text.trigger,
            trigger_config: field(&content, "trigger_config"),
            instructions: instructions.and_then(|text| text.as_str().map(str::to_owned)),
            execution_plan: field(&content, "execution_plan"),
            authority: authority.cloned(),
            max_steps: policy.map(|policy| policy.max_steps),
            notify_on_completion: policy.map(|policy| policy.notify_on_completion),
            notify_interval_minutes: policy.map(|policy| policy.notify_interval_minutes),
            policy: policy
                .map(|policy| PolicyView::for_record(policy))
                .unwrap_or_default(),
            standing: skill_standing(&row.standing),
            last_notified_at: row.standing.notified_at,
            created_at: stored.then_some(row.created_at),
            updated_at: stored.then_some(row.updated_at),
            replaces_file: None,
            tags: std::mem::take(&mut details.tags),
            described: (details != Details::default()).then(|| details.into()),
            grants,
        };
        shown.mask();
        Ok(shown)
    }

    /// Returns the head of a skill with a row, without what its trigger says.
    fn head(&self, row: &SkillRow, skill: Option<&Skill>) -> SkillHead {
        let text = &row.text;
        let mut head = SkillHead {
            id: text.skill.clone(),
            record_id: None,
            agent_id: text.agent_id.clone(),
            name: text.name.clone(),
            description: skill.map(|skill| skill.description.clone()),
            tier: text.tier,
            dialect: skill.map(|skill| skill.dialect),
            origin: match text.origin {
                SkillOrigin::Record => Origin::Record,
                SkillOrigin::File => Origin::File,
            },
            revision: text.revision.clone(),
            enabled: false,
            disabled_reason: None,
            trigger: TriggerView {
                kind: text.trigger,
                config: None,
                words: None,
                next: Vec::new(),
            },
            required_tools: text.required_tools.clone(),
            missing_tools: skill
                .map(|skill| self.inner.library.missing_tools(&skill.required_tools)),
            last_run_at: None,
            last_run_status: None,
            last_run_summary: None,
        };
        add_state(&mut head, row);
        head
    }

    /// Returns descriptions of the grants for the revision of a record.
    async fn grants_of(&self, row: &SkillRow) -> Result<Vec<String>, Error> {
        let grants = self.store().grants(&row.text.skill).await?;
        let grants = grants.into_iter();
        let valid = grants.filter(|grant| grant.revision == row.text.revision);
        Ok(valid.map(|grant| grant.describes).collect())
    }
}

/// Adds the state of a skill that its row holds.
pub fn add_state(head: &mut SkillHead, row: &SkillRow) {
    let standing = &row.standing;
    head.record_id = (row.id != UNSTORED).then_some(row.id);
    head.enabled = standing.disabled.is_none();
    head.disabled_reason = standing.disabled;
    head.last_run_at = standing.last_run_at;
    head.last_run_status.clone_from(&standing.last_run_status);
    head.last_run_summary.clone_from(&standing.last_run_summary);
}

/// Returns the failures and the backoff of a skill.
pub fn skill_standing(standing: &SkillState) -> SkillStanding {
    SkillStanding {
        failures: standing.streak,
        backoff_until: standing.backoff_until,
    }
}

/// Returns a field of the content of a skill; `None` if it is absent or null.
fn field(content: &Object, name: &str) -> Option<Value> {
    content.get(name).filter(|value| !value.is_null()).cloned()
}
