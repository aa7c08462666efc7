//! Rendering of a parsed file as text that a person can check.

use std::fmt::Write as _;

use deft_model::{
    Body, Details, Flag, FlagValue, Input, OnError, Policy, Skill, Step, StepKind, Workflow,
};
use deft_skillfile::Document;
use serde_json::Value;

/// Renders the document, one fact per line, without defaults.
pub(crate) fn document(document: &Document) -> String {
    match document {
        Document::Skill(skill) => dump(skill),
        Document::Domain(index) => {
            let lines = index.text.read().lines().count();
            let mut out = format!("domain {}: {}\n", index.domain, index.description);
            details(&mut out, &index.details);
            writeln!(out, "  text: {lines} lines").unwrap();
            out
        }
        Document::Agent(agent) => format!("{agent:#?}\n"),
    }
}

fn dump(skill: &Skill) -> String {
    let mut out = String::new();
    let role = skill.role().map_or("-".to_owned(), |role| role.to_string());
    let domain = skill.domain.as_deref().unwrap_or("-");
    writeln!(out, "skill {}", skill.id).unwrap();
    writeln!(
        out,
        "  {} of tier {}, role {role}, domain {domain}, trigger {}",
        skill.dialect,
        skill.tier(),
        skill.trigger
    )
    .unwrap();
    line(&mut out, "name", &skill.name);
    line(&mut out, "description", &skill.description);
    timing(skill, &mut out);
    list(&mut out, "keywords", &skill.keywords);
    if skill.priority != 0 {
        line(&mut out, "priority", &skill.priority.to_string());
    }
    details(&mut out, &skill.details);
    for (key, value) in [
        ("license", &skill.open.license),
        ("compatibility", &skill.open.compatibility),
    ] {
        value.iter().for_each(|text| line(&mut out, key, text));
    }
    if let Some(allowed) = &skill.open.allowed_tools {
        line(&mut out, "allowed-tools", &allowed.to_string());
    }
    list(&mut out, "required_tools", &skill.required_tools);
    policy(&skill.policy, &mut out);
    body(&skill.body, &mut out);
    for (key, value) in &skill.open.metadata {
        writeln!(out, "  metadata.{key}: {value}").unwrap();
    }
    for (key, value) in &skill.extra {
        writeln!(out, "  extra.{key}: {value}").unwrap();
    }
    out
}

fn details(out: &mut String, details: &Details) {
    for (key, value) in details.entries() {
        match value {
            Value::String(text) => line(out, key, &text),
            other => list(out, key, &texts(&other)),
        }
    }
}

fn line(out: &mut String, key: &str, text: &str) {
    writeln!(out, "  {key}: {text:?}").unwrap();
}

fn list(out: &mut String, key: &str, items: &[String]) {
    if !items.is_empty() {
        writeln!(out, "  {key}: {}", items.join(" | ")).unwrap();
    }
}

fn texts(value: &Value) -> Vec<String> {
    let items = value.as_array().into_iter().flatten();
    items.filter_map(Value::as_str).map(str::to_owned).collect()
}

fn timing(skill: &Skill, out: &mut String) {
    let Some(timing) = &skill.timing else {
        return;
    };
    out.push_str("  timing:");
    for (key, text) in [
        ("schedule", timing.schedule.clone()),
        (
            "every",
            timing.interval_minutes.map(|m| format!("{m} minutes")),
        ),
        ("at", timing.at.clone()),
        ("delay", timing.delay_seconds.map(|s| format!("{s} s"))),
        ("event", timing.event.map(|event| event.to_string())),
        ("hook", timing.hook.clone()),
        ("zone", timing.timezone.clone()),
    ] {
        text.iter()
            .for_each(|text| write!(out, " {key} `{text}`").unwrap());
    }
    writeln!(out, " from {}", Value::Object(timing.config.clone())).unwrap();
    let words = deft_skillfile::words(skill, &crate::support::moment());
    writeln!(out, "    fires {words}").unwrap();
}

fn policy(policy: &Policy, out: &mut String) {
    for (key, value) in policy.entries() {
        writeln!(out, "  policy.{key}: {value}").unwrap();
    }
}

fn body(body: &Body, out: &mut String) {
    match body {
        Body::Call {
            step,
            kind,
            on_error,
            timeout,
            instructions,
        } => {
            writeln!(out, "  call {step}: {}", show(kind)).unwrap();
            if *on_error != OnError::Fail {
                line(out, "on_error", &on_error.to_string());
            }
            if let Some(timeout) = timeout {
                line(out, "timeout", &format!("{timeout:?}"));
            }
            line(out, "instructions", &instructions.read());
        }
        Body::Steps(workflow) => steps(workflow, out),
        Body::Instructions(text) => prose(&text.read(), out),
        Body::Manual { handler, text } => {
            let text = text.read();
            handler.iter().for_each(|name| line(out, "handler", name));
            deft_skillfile::flags(&text)
                .iter()
                .for_each(|one| flag(one, out));
            for section in deft_skillfile::sections(&text) {
                let text = &text[section.body..section.end];
                let lines = text.trim().lines().count();
                let marks = "#".repeat(section.level.into());
                writeln!(out, "  section {marks} {}: {lines} lines", section.title).unwrap();
            }
            prose(&text, out);
        }
    }
}

fn prose(text: &str, out: &mut String) {
    let first = text.lines().next().unwrap_or_default();
    writeln!(out, "  text: {} lines, {first:?}", text.lines().count()).unwrap();
}

fn flag(flag: &Flag, out: &mut String) {
    let value = match &flag.value {
        FlagValue::Presence => "presence".to_owned(),
        FlagValue::Any => "text".to_owned(),
        FlagValue::Date => "date".to_owned(),
        FlagValue::OneOf(words) => format!("one of {}", words.join("|")),
        FlagValue::SomeOf(words) => format!("some of {}", words.join("|")),
    };
    let required = if flag.required { ", required" } else { "" };
    let default = match flag.default.as_slice() {
        [] => String::new(),
        words => format!(", default {}", words.join("|")),
    };
    let text = &flag.description;
    writeln!(
        out,
        "  --{}: {value}{required}{default}: {text:?}",
        flag.name
    )
    .unwrap();
}

fn steps(workflow: &Workflow, out: &mut String) {
    workflow.inputs.iter().for_each(|one| input(one, out));
    workflow.steps.iter().for_each(|one| step(one, out));
    for (key, value) in &workflow.outputs {
        writeln!(out, "  output {key}: {value}").unwrap();
    }
    for asked in &workflow.confirmations {
        writeln!(
            out,
            "  before {} ask {:?}, preselected {}",
            asked.step, asked.message, asked.default
        )
        .unwrap();
    }
}

fn input(input: &Input, out: &mut String) {
    write!(out, "  input {}: {}", input.name, input.kind).unwrap();
    if input.required {
        out.push_str(", required");
    }
    if let Some(default) = &input.default {
        write!(out, ", default {default}").unwrap();
    }
    if !input.choices.is_empty() {
        write!(out, ", one of {}", Value::Array(input.choices.clone())).unwrap();
    }
    if let Some(pattern) = &input.pattern {
        write!(out, ", pattern {pattern}").unwrap();
    }
    if let Some(most) = input.max_length {
        write!(out, ", at most {most} characters").unwrap();
    }
    match &input.description {
        Some(description) => writeln!(out, ": {description:?}").unwrap(),
        None => out.push('\n'),
    }
}

fn step(step: &Step, out: &mut String) {
    writeln!(out, "  step {}: {}", step.id, show(&step.kind)).unwrap();
    if step.on_error != OnError::Fail {
        writeln!(out, "    on_error: {}", step.on_error).unwrap();
    }
    for (key, text) in [
        ("description", &step.description),
        ("output", &step.output),
        ("condition", &step.condition),
        ("parallel_group", &step.parallel_group),
    ] {
        text.iter()
            .for_each(|text| writeln!(out, "    {key}: {text:?}").unwrap());
    }
    if let Some(ids) = &step.depends_on {
        writeln!(out, "    depends_on: [{}]", ids.join(", ")).unwrap();
    }
    if let Some(repeat) = &step.repeat {
        let most = repeat
            .concurrency
            .map_or(String::new(), |most| format!(", {most} at once"));
        writeln!(out, "    for each {} of {}{most}", repeat.var, repeat.over).unwrap();
    }
    for (key, duration) in [("timeout", step.timeout), ("cache", step.cache)] {
        duration
            .iter()
            .for_each(|time| writeln!(out, "    {key}: {time:?}").unwrap());
    }
    if let Some(effects) = step.effects {
        writeln!(out, "    effects: {effects}").unwrap();
    }
    for heal in &step.heal {
        writeln!(out, "    heal: {heal:?}").unwrap();
    }
    if let Some(most) = step.max_heals {
        writeln!(out, "    max_heals: {most}").unwrap();
    }
    if let Some(expect) = &step.expect {
        writeln!(out, "    expect: {expect:?}").unwrap();
    }
}

/// Renders the keys of a step's kind, with their values.
fn show(kind: &StepKind) -> String {
    let entries = kind.entries();
    if let [(key, Value::String(name)), ("args", args)] = entries.as_slice() {
        return format!("{key} {name} {args}");
    }
    let given = entries.iter().filter(|(_, value)| {
        !value.is_null() && value.as_array().is_none_or(|all| !all.is_empty())
    });
    let given: Vec<String> = given.map(|(key, value)| format!("{key} {value}")).collect();
    given.join(", ")
}
