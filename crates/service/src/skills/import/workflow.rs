//! Builds workflows for imports.

use std::sync::Arc;

use deft_model::{
    Body, Details, Dialect, Object, OpenSpec, Policy, Skill, SkillId, Timing, Trigger, Workflow,
};
use deft_skillfile::{FileLocation, Moment, Profile, has_errors, parse, render};

use super::gather::first_error;

/// Returns a workflow skill with steps only.
pub(super) fn workflow_skill(id: &str, description: String, workflow: Workflow) -> Skill {
    Skill {
        id: SkillId::new(id),
        name: id.to_owned(),
        description,
        domain: None,
        dialect: Dialect::Workflow,
        trigger: Trigger::Manual,
        timing: None,
        keywords: Vec::new(),
        priority: 0,
        details: Details::default(),
        required_tools: Vec::new(),
        body: Body::Steps(Box::new(workflow)),
        policy: Arc::new(Policy::default()),
        open: OpenSpec::default(),
        extra: Object::new(),
    }
}

/// Returns the trigger for a cron expression.
pub(super) fn timing(schedule: &str, zone: Option<&str>) -> Timing {
    let mut config = Object::from_iter([("schedule".to_owned(), schedule.into())]);
    if let Some(zone) = zone {
        config.insert("timezone".to_owned(), zone.into());
    }
    Timing {
        schedule: Some(schedule.to_owned()),
        interval_minutes: None,
        at: None,
        delay_seconds: None,
        event: None,
        hook: None,
        timezone: zone.map(str::to_owned),
        config,
    }
}

/// Renders the file of a workflow. The error says why it would not load.
pub(super) fn file(skill: &Skill, moment: &Moment) -> Result<String, String> {
    let content = render::workflow(skill).unwrap_or_default();
    let name = format!("{}.yaml", skill.id);
    let location = FileLocation {
        file: &name,
        folder: "skills",
        domain: None,
    };
    let parsed = parse(content.as_bytes(), &location, Profile::Deft, moment);
    if has_errors(&parsed.diagnostics) {
        return Err(first_error(&parsed.diagnostics));
    }
    Ok(content)
}
