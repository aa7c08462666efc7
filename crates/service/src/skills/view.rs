//! Converts file skills for output: the content of the file, overridden by the state in the store.

use deft_model::{
    Body, Confirmation, DisabledReason, Flag, FlagValue, Input, Section, SiblingFile, Skill, Step,
};
use deft_registry::LoadedSkill;
use deft_skillfile::{Moment, flags, schedule, sections, words};
use deft_wire::Done;
use deft_wire::skill::{
    FileDetails, FileSkill, Origin, SiblingView, SkillChange, SkillHead, TriggerView,
};
use deft_wire::skill_body::{
    ConfirmationView, FlagTakes, FlagView, InputView, SectionView, SkillBody, StepView,
};
use deft_wire::skill_policy::PolicyView;
use jiff::tz::TimeZone;
use serde_json::Value;

use super::catalog::SkillCatalog;

/// Number of next fires to show.
pub(super) const NEXT: usize = 3;

impl SkillCatalog {
    /// Returns a file skill as listings show it.
    pub(super) fn file_skill(&self, loaded: &LoadedSkill) -> Done<FileSkill> {
        let mut shown = as_written(loaded, self.moment());
        let head = &mut shown.head;
        let id = loaded.skill.id.as_str();
        if let Some(record) = self.clash(id) {
            shown.clashes_with = Some(record);
            head.enabled = false;
            head.trigger.next = Vec::new();
        }
        let Some(row) = self.file_row(id) else {
            return Ok(shown);
        };
        if let Some(next) = self.next_fires(loaded)? {
            head.trigger.next = next;
        }
        deft_engine::add_state(head, row);
        head.missing_tools = Some(self.missing_tools(row));
        shown.standing = Some(deft_engine::skill_standing(&row.standing));
        Ok(shown)
    }

    /// Returns a file skill with all details.
    pub(super) fn full_file_skill(&self, loaded: &LoadedSkill) -> Done<FileSkill> {
        let mut shown = self.file_skill(loaded)?;
        shown.details = Some(details(loaded));
        let change = self.change(loaded.skill.id.as_str());
        shown.change = change.map(|change| SkillChange {
            changed_fields: change.fields.clone(),
            changed_by: change.agent.clone(),
        });
        Ok(shown)
    }
}

/// Returns a skill with the content of its file only.
fn as_written(loaded: &LoadedSkill, moment: &Moment) -> FileSkill {
    let skill = &loaded.skill;
    let head = SkillHead {
        id: skill.id.to_string(),
        record_id: None,
        agent_id: skill.policy.agent_id.clone(),
        name: skill.name.clone(),
        description: Some(skill.description.clone()),
        tier: skill.tier(),
        dialect: Some(skill.dialect),
        origin: Origin::File,
        revision: loaded.revision.to_string(),
        enabled: skill.policy.enabled,
        disabled_reason: disabled_by_file(skill),
        trigger: trigger(skill, moment),
        required_tools: skill.required_tools.clone(),
        missing_tools: Some(Vec::new()),
        last_run_at: None,
        last_run_status: None,
        last_run_summary: None,
    };
    FileSkill {
        head,
        domain: skill.domain.clone(),
        role: skill.role(),
        path: loaded.path.display().to_string(),
        keywords: skill.keywords.clone(),
        tags: skill.details.tags.clone(),
        details: None,
        clashes_with: None,
        standing: None,
        change: None,
        unavailable: None,
        warnings: Vec::new(),
    }
}

/// Returns why a skill without a row does not fire. `enabled: false` is the author's choice, unless the skill
/// needs tools: whether it waits for them is known after the first start.
fn disabled_by_file(skill: &Skill) -> Option<DisabledReason> {
    let wished = !skill.policy.enabled && skill.required_tools.is_empty();
    wished.then_some(DisabledReason::User)
}

fn details(loaded: &LoadedSkill) -> FileDetails {
    let skill = &loaded.skill;
    let sibling = |file: &SiblingFile| SiblingView {
        path: file.path.clone(),
        size: file.size_bytes,
        sha256: file.sha256.map(|digest| digest.to_string()),
    };
    FileDetails {
        described: skill.details.clone().into(),
        priority: skill.priority,
        license: skill.open.license.clone(),
        compatibility: skill.open.compatibility.clone(),
        allowed_tools: skill.open.allowed_tools.clone(),
        metadata: skill.open.metadata.clone(),
        extra: skill.extra.clone(),
        max_steps: skill.policy.max_steps,
        policy: PolicyView::for_file(&skill.policy),
        files: loaded.siblings.iter().map(sibling).collect(),
        body: body(skill),
    }
}

fn trigger(skill: &Skill, moment: &Moment) -> TriggerView {
    let timetable = schedule(skill, moment).filter(|_| skill.policy.enabled);
    let next = timetable
        .map(|timetable| timetable.next(moment.now, NEXT))
        .unwrap_or_default();
    let zone = zone(skill, moment);
    let timing = skill.timing.as_ref();
    TriggerView {
        kind: skill.trigger,
        config: timing.map(|timing| Value::Object(timing.config.clone())),
        words: Some(words(skill, moment)),
        next: next
            .iter()
            .map(|at| deft_schedule::show(*at, &zone))
            .collect(),
    }
}

/// Returns the zone for the times of a skill.
pub(crate) fn zone(skill: &Skill, moment: &Moment) -> TimeZone {
    let name = skill
        .timing
        .as_ref()
        .and_then(|timing| timing.timezone.as_deref());
    name.and_then(|name| deft_schedule::parse_zone(name).ok())
        .unwrap_or_else(|| moment.zone.clone())
}

fn body(skill: &Skill) -> Option<SkillBody> {
    match &skill.body {
        Body::Call { kind, .. } => kind.tool_call().map(|(tool, args)| SkillBody::Call {
            tool: tool.to_owned(),
            args: args.clone(),
        }),
        Body::Instructions(text) => Some(SkillBody::Text {
            text: text.read().to_string(),
        }),
        Body::Manual { handler, text } => Some(manual(handler.clone(), text.read().to_string())),
        Body::Steps(workflow) => Some(SkillBody::Workflow {
            inputs: workflow.inputs.iter().map(input).collect(),
            steps: workflow.steps.iter().map(step).collect(),
            outputs: workflow.outputs.clone(),
            confirmations: workflow.confirmations.iter().map(confirmation).collect(),
        }),
    }
}

fn manual(handler: Option<String>, page: String) -> SkillBody {
    let section = |section: &Section| SectionView {
        title: section.title.clone(),
        level: section.level,
        start: section.start,
        end: section.end,
    };
    SkillBody::Manual {
        handler,
        flags: flags(&page).iter().map(flag).collect(),
        sections: sections(&page).iter().map(section).collect(),
        text: page,
    }
}

fn flag(flag: &Flag) -> FlagView {
    let (takes, values) = match &flag.value {
        FlagValue::Presence => (FlagTakes::Nothing, None),
        FlagValue::Any => (FlagTakes::Text, None),
        FlagValue::Date => (FlagTakes::Date, None),
        FlagValue::OneOf(values) => (FlagTakes::One, Some(values)),
        FlagValue::SomeOf(values) => (FlagTakes::Some, Some(values)),
    };
    FlagView {
        name: flag.name.clone(),
        description: flag.description.clone(),
        required: flag.required,
        takes,
        values: values.cloned(),
        default: flag.default.clone(),
    }
}

fn input(input: &Input) -> InputView {
    InputView {
        name: input.name.clone(),
        kind: input.kind,
        required: input.required,
        default: input.default.clone(),
        description: input.description.clone(),
        pattern: input.pattern.clone(),
        choices: input.choices.clone(),
        max_length: input.max_length,
    }
}

fn step(step: &Step) -> StepView {
    StepView {
        id: step.id.clone(),
        kind: step.kind.step_type(),
        condition: step.condition.clone(),
        depends_on: step.depends_on.clone(),
        parallel_group: step.parallel_group.clone(),
        on_error: step.on_error.to_string(),
        output: step.output.clone(),
    }
}

fn confirmation(confirmation: &Confirmation) -> ConfirmationView {
    ConfirmationView {
        step: confirmation.step.clone(),
        message: confirmation.message.clone(),
        default: confirmation.default,
    }
}
