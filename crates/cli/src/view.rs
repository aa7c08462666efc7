//! Skills as JSON, in the shape that scripts rely on.

use deft_model::{Body, Input, Section, Skill, Step, StepKind};
use deft_registry::Loaded;
use deft_skillfile::{Moment, flags, schedule, sections, words};
use jiff::Timestamp;
use jiff::tz::TimeZone;
use serde_json::{Value, json};

/// How many coming fires are shown.
pub(crate) const NEXT: usize = 3;

/// A skill as listings show it.
pub(crate) fn skill(loaded: &Loaded, moment: &Moment) -> Value {
    let skill = &loaded.skill;
    json!({
        "id": skill.id.as_str(),
        "record_id": null,
        "agent_id": skill.policy.agent_id,
        "name": skill.name,
        "description": skill.description,
        "domain": skill.domain,
        "tier": skill.tier().to_string(),
        "role": skill.role().map(|role| role.to_string()),
        "dialect": skill.dialect.to_string(),
        "origin": "file",
        "path": loaded.path.display().to_string(),
        "revision": loaded.revision.to_string(),
        "enabled": skill.policy.enabled,
        "disabled_reason": off_by_file(skill),
        "trigger": trigger(skill, moment),
        "keywords": skill.keywords,
        "tags": skill.details.tags,
        "required_tools": skill.required_tools,
        "missing_tools": [],
        "last_run_at": null,
        "last_run_status": null,
        "last_run_summary": null,
    })
}

/// Why a skill that nobody has looked at yet does not fire: `enabled: false` is a wish, unless there
/// are tools that it may wait for, which is not known before the first start.
fn off_by_file(skill: &Skill) -> Option<&'static str> {
    let wished = !skill.policy.enabled && skill.required_tools.is_empty();
    wished.then_some("user")
}

/// A skill with everything in it.
pub(crate) fn full_skill(loaded: &Loaded, moment: &Moment) -> Value {
    let mut view = skill(loaded, moment);
    let skill = &loaded.skill;
    let more = json!({
        "author": skill.details.author,
        "version": skill.details.version,
        "created": skill.details.created,
        "priority": skill.priority,
        "license": skill.open.license,
        "compatibility": skill.open.compatibility,
        "allowed_tools": skill.open.allowed_tools,
        "metadata": skill.open.metadata,
        "extra": skill.extra,
        "max_steps": skill.policy.max_steps,
        "files": loaded.siblings.iter().map(|file| json!({
            "path": file.path,
            "size": file.size_bytes,
            "sha256": file.sha256.map(|digest| digest.to_string()),
        })).collect::<Vec<_>>(),
        "body": body(skill),
    });
    if let (Value::Object(view), Value::Object(more)) = (&mut view, more) {
        view.extend(more);
    }
    view
}

fn trigger(skill: &Skill, moment: &Moment) -> Value {
    let timetable = schedule(skill, moment).filter(|_| skill.policy.enabled);
    let next = timetable
        .map(|timetable| timetable.next(moment.now, NEXT))
        .unwrap_or_default();
    let next: Vec<String> = next
        .iter()
        .map(|at| deft_schedule::show(*at, &zone(skill, moment)))
        .collect();
    json!({
        "type": skill.trigger.to_string(),
        "config": skill.timing.as_ref().map(|timing| &timing.config),
        "words": words(skill, moment),
        "next": next,
    })
}

/// The zone in which a skill's times are shown.
pub(crate) fn zone(skill: &Skill, moment: &Moment) -> TimeZone {
    let name = skill
        .timing
        .as_ref()
        .and_then(|timing| timing.timezone.as_deref());
    name.and_then(|name| deft_schedule::parse_zone(name).ok())
        .unwrap_or_else(|| moment.zone.clone())
}

fn body(skill: &Skill) -> Value {
    match &skill.body {
        Body::Call {
            kind: StepKind::Tool { tool, args },
            ..
        } => json!({"tool": tool, "args": args}),
        Body::Call { .. } => Value::Null,
        Body::Instructions(text) => json!({"text": text.read()}),
        Body::Manual { handler, text } => manual(handler.as_deref(), &text.read()),
        Body::Steps(workflow) => json!({
            "inputs": workflow.inputs.iter().map(input).collect::<Vec<_>>(),
            "steps": workflow.steps.iter().map(step).collect::<Vec<_>>(),
            "outputs": workflow.outputs,
            "confirmations": workflow.confirmations.iter().map(|one| json!({
                "step": one.step, "message": one.message, "default": one.default,
            })).collect::<Vec<_>>(),
        }),
    }
}

fn manual(handler: Option<&str>, page: &str) -> Value {
    let section = |section: &Section| {
        json!({
            "title": section.title,
            "level": section.level,
            "start": section.start,
            "end": section.end,
        })
    };
    json!({
        "handler": handler,
        "flags": flags(page).iter().map(flag).collect::<Vec<_>>(),
        "sections": sections(page).iter().map(section).collect::<Vec<_>>(),
        "text": page,
    })
}

fn flag(flag: &deft_model::Flag) -> Value {
    use deft_model::FlagValue;
    let (takes, values) = match &flag.value {
        FlagValue::Presence => ("nothing", None),
        FlagValue::Any => ("text", None),
        FlagValue::Date => ("date", None),
        FlagValue::OneOf(values) => ("one", Some(values)),
        FlagValue::SomeOf(values) => ("some", Some(values)),
    };
    json!({
        "name": flag.name,
        "description": flag.description,
        "required": flag.required,
        "takes": takes,
        "values": values,
        "default": flag.default,
    })
}

fn input(input: &Input) -> Value {
    json!({
        "name": input.name,
        "type": input.kind.to_string(),
        "required": input.required,
        "default": input.default,
        "description": input.description,
        "pattern": input.pattern,
        "enum": input.choices,
        "max_length": input.max_length,
    })
}

fn step(step: &Step) -> Value {
    json!({
        "id": step.id,
        "type": step.kind.key(),
        "condition": step.condition,
        "depends_on": step.depends_on,
        "parallel_group": step.parallel_group,
        "on_error": step.on_error.to_string(),
        "output": step.output,
    })
}

/// How a skill stands after failures: how many in a row, and until when it rests, if it still does.
pub(crate) fn rest_words(
    failures: u32,
    until: Option<Timestamp>,
    zone: &TimeZone,
) -> Option<String> {
    let times = if failures == 1 { "time" } else { "times" };
    let failed = format!("failed {failures} {times} in a row");
    match until {
        Some(until) => Some(format!(
            "{failed}, rests until {}",
            deft_schedule::show(until, zone)
        )),
        None => (failures > 0).then_some(failed),
    }
}
