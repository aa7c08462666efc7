//! Skills fired by deliveries to hooks.
//!
//! A delivery fires every enabled skill that names its hook. The key of the run contains the id of the
//! delivery, so a repeated delivery fires nothing. Not here: signatures, which are checked earlier.

use deft_base::Error;
use deft_engine::{Admission, Fire};
use deft_model::{Body, Cause, Object, Overlap, RunId, RunOrigin, Skill, Trigger};
use deft_store::{SkillFilter, SkillRow};

use crate::{Scheduler, readable_timing};

/// A delivery from another program.
#[derive(Clone, Debug)]
pub struct HookDelivery {
    /// The hook that received it.
    pub hook: String,
    /// Distinguishes it from other deliveries to this hook.
    pub key: String,
    /// Values by name. A skill gets those that it declares as inputs.
    pub values: Object,
    /// The request that brought it.
    pub origin: RunOrigin,
}

/// A skill that a delivery should fire, and the result.
#[derive(Debug)]
pub struct HookFire {
    /// The skill.
    pub skill: String,
    /// The run, and whether it already existed.
    pub run: Result<(RunId, bool), Error>,
}

impl Scheduler {
    /// Queues a run for each enabled skill that names this hook. A skill that cannot take the delivery does
    /// not affect the others.
    pub async fn fire_hook(&self, delivery: &HookDelivery) -> Result<Vec<HookFire>, Error> {
        let by_event = SkillFilter {
            enabled: Some(true),
            trigger: Some(Trigger::Event),
            ..SkillFilter::default()
        };
        let mut fired = Vec::new();
        for row in self.store().skills(by_event).await? {
            let timed = readable_timing(&row);
            if timed.is_none_or(|timed| timed.hook() != Some(&delivery.hook)) {
                continue;
            }
            let run = match self.fire_delivery(&row, delivery).await {
                Err(error @ Error::Store(_)) => return Err(error),
                run => run,
            };
            fired.push(HookFire {
                skill: row.text.skill,
                run,
            });
        }
        Ok(fired)
    }

    async fn fire_delivery(
        &self,
        row: &SkillRow,
        delivery: &HookDelivery,
    ) -> Result<(RunId, bool), Error> {
        let skill = &row.text.skill;
        let pinned = self.library().pin_row(row).await?;
        let fire = Fire {
            skill: skill.clone(),
            inputs: declared_values(&pinned.skill, &delivery.values),
            cause: Cause::Event,
            key: Some(format!("hook {} {skill} {}", delivery.hook, delivery.key)),
            origin: delivery.origin.clone(),
            overlap: Some(pinned.skill.policy.overlap.unwrap_or(Overlap::Queue)),
            ..Fire::default()
        };
        Ok(match self.engine.admit_pinned(fire, pinned).await? {
            Admission::Run(run) => (run.id, false),
            Admission::Existing(run) => (run.id, true),
        })
    }
}

/// Returns the values that a skill declares as inputs.
fn declared_values(skill: &Skill, values: &Object) -> Object {
    let Body::Steps(workflow) = &skill.body else {
        return Object::new();
    };
    let names = workflow.inputs.iter().map(|input| &input.name);
    let given = names.filter_map(|name| Some((name.clone(), values.get(name)?.clone())));
    given.collect()
}
