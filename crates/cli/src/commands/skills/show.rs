//! `deft skills show`.

use std::process::ExitCode;

use deft_service::skills::{SkillCatalog, SkillPage, is_remote};
use deft_wire::model::value_text;
use deft_wire::skill::{
    FileDetails, FileSkill, SkillChange, SkillDocument, SkillView, StoredSkill,
};
use deft_wire::skill_details::DetailsView;
use deft_wire::skill_policy::PolicyView;
use deft_wire::words::disabled_words;
use serde_json::Value;

use super::{failure_words, remote};
use crate::args::{Global, Roots};
use crate::failure::Done;
use crate::fold::fold_markdown;
use crate::output::Output;

pub(crate) fn run(name: &str, global: &Global, roots: &Roots, output: &Output) -> Done {
    if is_remote(name) {
        return remote::show(name, global, output);
    }
    let page = SkillCatalog::open(&global.workspace_of(roots))?.show(name)?;
    if output.json {
        output.document(&SkillDocument { skill: page.skill })?;
        return Ok(ExitCode::SUCCESS);
    }
    match &page.skill {
        SkillView::Stored(record) => {
            output.prose(record_text(record, &page))?;
            if let Some(text) = &record.instructions {
                output.data(fold_markdown(&format!("\n{text}\n"), output.width()))?;
            }
        }
        SkillView::File(skill) => {
            output.prose(file_text(skill, &page))?;
            let manual = page.manual.as_deref().unwrap_or_default();
            output.data(fold_markdown(&format!("\n{manual}\n"), output.width()))?;
            if let Some(why) = &skill.unavailable {
                output.prose(format!("not available now: {why}"))?;
            }
        }
    }
    if page.file_is_broken {
        output.note("its file is broken; the last good version, shown here, stays in use");
    }
    Ok(ExitCode::SUCCESS)
}

/// Lines of a key and a value; empty values are left out.
#[derive(Default)]
struct Lines(String);

impl Lines {
    fn add(&mut self, key: &str, value: impl AsRef<str>) {
        let value = value.as_ref();
        if !value.is_empty() {
            self.0.push_str(&format!("{key:12} {value}\n"));
        }
    }

    fn add_some(&mut self, key: &str, value: Option<&String>) {
        self.add(key, value.map(String::as_str).unwrap_or_default());
    }
}

fn record_text(record: &StoredSkill, page: &SkillPage) -> String {
    let head = &record.head;
    let mut lines = Lines::default();
    lines.add("id", &head.id);
    let number = head.record_id.map(|number| number.to_string());
    lines.add_some("number", number.as_ref());
    lines.add("name", &head.name);
    lines.add_some("description", head.description.as_ref());
    lines.add("runs as", head.tier.to_string());
    lines.add_some("fires", head.trigger.words.as_ref());
    lines.add_some("next", head.trigger.next.first());
    let disabled = head.disabled_reason.map(disabled_words);
    lines.add("disabled", disabled.unwrap_or_default());
    if let Some(file) = &record.replaces_file {
        lines.add("replaces", format!("{file}, which does not fire"));
    }
    lines.add_some("last run", page.last_run.as_ref());
    lines.add_some("result", head.last_run_summary.as_ref());
    lines.add("tags", record.tags.join(", "));
    if let Some(details) = &record.described {
        add_details(&mut lines, details);
    }
    add_policy(&mut lines, &record.policy);
    lines.add("agent", &head.agent_id);
    lines.add("revision", &head.revision);
    let failures = failure_words(record.standing.failures, page.backs_off_until.as_deref());
    let has_failed = record.standing.failures > 0;
    lines.add_some("failures", failures.filter(|_| has_failed).as_ref());
    add_rights(&mut lines, record);
    let plan = record.execution_plan.as_ref();
    for (key, list) in [
        ("required_tools", names(&head.required_tools)),
        (
            "missing_tools",
            head.missing_tools.as_deref().and_then(names),
        ),
        (
            "execution_plan",
            plan.filter(|plan| plan.as_array().is_some_and(|steps| !steps.is_empty()))
                .map(Value::to_string),
        ),
    ] {
        lines.add_some(key, list.as_ref());
    }
    lines.0
}

/// Formats a list of names as JSON, or returns `None` if it is empty.
fn names(list: &[String]) -> Option<String> {
    (!list.is_empty()).then(|| Value::from(list).to_string())
}

/// Adds the authority of the agent that stored a record, and the approvals of a person. A record stored by a
/// person has neither.
fn add_rights(lines: &mut Lines, record: &StoredSkill) {
    let Some(authority) = &record.authority else {
        return;
    };
    let place = if authority.attended {
        "in a chat"
    } else {
        "unattended"
    };
    let agent = &authority.agent;
    lines.add("stored by", format!("agent `{agent}`, {place}"));
    for list in &authority.tools {
        lines
            .0
            .push_str(&format!("{:12} {}\n", "may call", list.join(", ")));
    }
    let mut asks = authority.approve.join(", ");
    if authority.ask_unannotated {
        asks.push_str(", tools without annotations");
    }
    lines.add("asks before", asks);
    for grant in record.grants.iter().flatten() {
        lines.add("granted", grant);
    }
}

fn file_text(skill: &FileSkill, page: &SkillPage) -> String {
    let head = &skill.head;
    let mut lines = Lines::default();
    lines.add("id", &head.id);
    if head.name != head.id {
        lines.add("name", &head.name);
    }
    lines.add_some("description", head.description.as_ref());
    let role = skill.role.map(|role| format!(" ({role})"));
    let role = role.unwrap_or_default();
    lines.add("runs as", format!("{}{role}", head.tier));
    lines.add_some("fires", head.trigger.words.as_ref());
    match (skill.clashes_with, &skill.standing, head.disabled_reason) {
        (Some(record), _, _) => lines.add("disabled", format!("record {record} has the same id")),
        (None, Some(_), Some(why)) => lines.add("disabled", disabled_words(why)),
        (None, None, _) if !head.enabled => lines.add("enabled", "no"),
        (None, Some(_) | None, _) => lines.add_some("next", head.trigger.next.first()),
    }
    if let Some(standing) = &skill.standing {
        let words = failure_words(standing.failures, page.backs_off_until.as_deref());
        lines.add_some("failures", words.as_ref());
    }
    lines.add("keywords", skill.keywords.join(", "));
    lines.add("tools", head.required_tools.join(", "));
    let missing = head.missing_tools.as_deref().unwrap_or_default();
    lines.add("missing", missing.join(", "));
    lines.add("tags", skill.tags.join(", "));
    let details = skill.details.as_ref();
    if let Some(details) = details {
        add_details(&mut lines, &details.described);
        lines.add_some("licence", details.license.as_ref());
        lines.add_some("needs", details.compatibility.as_ref());
        add_policy(&mut lines, &details.policy);
    }
    let dialect = head.dialect.map(|dialect| dialect.to_string());
    lines.add_some("dialect", dialect.as_ref());
    lines.add("file", &skill.path);
    if let Some(change) = &skill.change {
        lines.add("changed", change_words(change, &head.id));
    }
    lines.add("revision", head.revision.get(..12).unwrap_or_default());
    if let Some(details) = details {
        add_extra(&mut lines, details, &page.host_keys);
    }
    lines.0
}

/// Adds the descriptive fields.
fn add_details(lines: &mut Lines, details: &DetailsView) {
    for (key, text) in details.texts() {
        lines.add_some(key, text);
    }
}

/// Adds the policy fields that the skill sets.
fn add_policy(lines: &mut Lines, policy: &PolicyView) {
    for (key, text) in policy.texts() {
        lines.add(key, text);
    }
}

/// Adds the keys that deft does not read, and the files in the skill's folder.
fn add_extra(lines: &mut Lines, details: &FileDetails, host_keys: &[String]) {
    for (key, value) in &details.extra {
        let reader = if host_keys.contains(key) {
            " (for another host)"
        } else {
            " (not read by deft)"
        };
        lines.add(key, format!("{}{reader}", value_text(value)));
    }
    for file in &details.files {
        let hash = file.sha256.as_deref().and_then(|hash| hash.get(..12));
        let hash = hash.unwrap_or_default();
        lines.add(
            "includes",
            format!("{}  {} bytes  {hash}", file.path, file.size),
        );
    }
}

/// Describes the overlay of a skill with a file, and how to discard it.
fn change_words(change: &SkillChange, id: &str) -> String {
    let by = match &change.changed_by {
        Some(agent) => format!("agent `{agent}`, with whose rights the skill runs"),
        None => "a person".to_owned(),
    };
    let what = match change.changed_fields.as_slice() {
        [] => format!("by {by}"),
        fields => format!("{} by {by}", fields.join(", ")),
    };
    format!("{what}; `deft skills restore {id}` discards that")
}
