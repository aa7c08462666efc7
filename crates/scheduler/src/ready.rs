//! Skills that wait for their tools, enabled once all of these are available.

use deft_base::Error;
use deft_model::{DisabledReason, Tier};
use deft_store::{SkillFilter, SkillRow};
use jiff::Timestamp;

use crate::Scheduler;

/// Number of skills enabled in one transaction.
const BATCH_SIZE: usize = 1000;

impl Scheduler {
    /// Enables skills that waited for tools, if all of these are available. An agent also needs a model:
    /// without one it could only wait, and a model that appears later must not start to cost money unnoticed.
    pub async fn enable_ready(&self, now: Timestamp) -> Result<Vec<String>, Error> {
        let waiting = SkillFilter {
            disabled: Some(DisabledReason::MissingTools),
            ..SkillFilter::default()
        };
        let mut ready = self.store().skills(waiting).await?;
        ready.retain(|row| self.is_ready(row));
        let mut enabled = Vec::new();
        for some in ready.chunks(BATCH_SIZE) {
            let on = some.iter().filter_map(|row| {
                let change = self.library().switched_on(row, now);
                let change = change.map_err(|error| {
                    tracing::error!(%error, "a skill could not be enabled");
                });
                Some((row.id, row.version, change.ok()?))
            });
            let changed = self.store().change_skills(on.collect()).await?;
            for row in changed.into_iter().flatten() {
                tracing::info!(skill = %row.text.skill, "its tools are available; the skill is enabled");
                enabled.push(row.text.skill);
            }
        }
        Ok(enabled)
    }

    /// Whether any skill waits for tools.
    pub(crate) async fn has_skills_without_tools(&self) -> Result<bool, Error> {
        let waiting = SkillFilter {
            disabled: Some(DisabledReason::MissingTools),
            limit: Some(1),
            ..SkillFilter::default()
        };
        Ok(!self.store().skills(waiting).await?.is_empty())
    }
}

impl Scheduler {
    /// Whether the tools of a skill are available, and for an agent also its model.
    fn is_ready(&self, row: &SkillRow) -> bool {
        !self.lacks_model(row)
            && self
                .library()
                .missing_tools(&row.text.required_tools)
                .is_empty()
    }

    /// Whether a skill runs as an agent and no model is configured for it.
    pub(crate) fn lacks_model(&self, row: &SkillRow) -> bool {
        let thinks = row.text.tier == Tier::Agent;
        thinks && !self.engine.agents().has_model(&row.text.agent_id)
    }
}
