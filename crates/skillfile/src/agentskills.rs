//! A skill of the open agentskills format: what its keys mean.

use deft_model::{Body, Dialect, Object, OpenSpec, Skill, SkillId};

use crate::details;
use crate::diagnostic::Sink;
use crate::document::Place;
use crate::embedded::embedded;
use crate::fields::{DETAILS, Field, HOST_KEYS, Kind, METADATA, OPEN, POLICY};
use crate::markdown_file::page;
use crate::names;
use crate::policy;
use crate::read::Fields;
use crate::rules::Rule;
use crate::severity::Severity;
use crate::span::Span;
use crate::trigger::{self, Moment};
use crate::yaml::{self, Mapping, Node};

/// Reads the skill. Wrong values are reported with `fields.severity`, a warning for `SKILL.md`.
pub(crate) fn skill(
    fields: &Fields<'_>,
    text: &str,
    place: &Place<'_>,
    moment: &Moment,
    sink: &mut Sink,
) -> Skill {
    let name = fields
        .filled_text("name", sink)
        .map(|name| name.trim().to_owned());
    if name.is_none() {
        let message = format!(
            "`name` is missing; the folder's, `{}`, is used",
            place.folder
        );
        let span = key_span(fields.map, "name");
        sink.report_as(Severity::Warning, Rule::MissingName, span, message)
            .help(format!("add `name: {}`", place.folder));
    }
    let description = fields.filled_text("description", sink);
    if description.is_none() {
        sink.report(
            Rule::MissingDescription,
            key_span(fields.map, "description"),
            "`description` is missing",
        )
        .help("add a line that says what the skill does and when to use it");
    }
    let body = page(text);
    if body.is_blank() {
        sink.report_as(
            Severity::Warning,
            Rule::MissingBody,
            Span::NONE,
            "no text below the frontmatter",
        );
    }
    let metadata = fields.mapping("metadata", sink).unwrap_or_default();
    check_slips(&metadata, sink);
    let ours = extension(fields, &metadata);
    let inner = Fields {
        map: &ours,
        ..*fields
    };
    let timing = trigger::read(&inner, moment, sink);
    let keywords = inner.texts("keywords", sink);
    let name = name.unwrap_or_else(|| place.folder.to_owned());
    check_reserved(&name, fields, sink);
    Skill {
        id: SkillId::new(if names::is_dotted(&name) {
            name.as_str()
        } else {
            place.folder
        }),
        // Without a description the skill is refused, but all the rest of it
        // is read too, so that everything wrong is said at once.
        description: description.unwrap_or_default().trim().to_owned(),
        domain: names::domain_of(&name).map(str::to_owned),
        dialect: Dialect::AgentSkills,
        trigger: trigger::kind(timing.as_ref(), &keywords),
        timing,
        keywords,
        priority: inner.integer("priority", sink).unwrap_or_default(),
        details: details::read(&inner, sink),
        required_tools: inner.texts("required_tools", sink),
        body: Body::Instructions(body),
        policy: policy::read(&inner, sink),
        open: open(fields, &metadata, sink),
        extra: extra(fields.map),
        name,
    }
}

/// Where a key is, if it is there at all.
fn key_span(map: &Mapping, key: &str) -> Span {
    map.entry(key).map_or(Span::NONE, |entry| entry.key_span)
}

/// A dotted name is a command, so it must leave `get_skill` its own (S2.11).
fn check_reserved(name: &str, fields: &Fields<'_>, sink: &mut Sink) {
    if let Some(action) = names::reserved_action(name) {
        let message = format!("`{action}` is reserved by `get_skill`");
        sink.report(Rule::ReservedName, fields.span("name"), message)
            .help("choose another action");
    }
}

/// Anything may stand below `metadata`, but a key that is nearly one of deft's
/// is most likely a slip, and what it says would be lost.
fn check_slips(metadata: &Mapping, sink: &mut Sink) {
    let known = || [METADATA, DETAILS, POLICY].into_iter().flatten();
    let is_known = |key: &str| known().any(|field| field.name == key) || is_host_key(key);
    for entry in metadata.entries.iter().filter(|one| !is_known(&one.key)) {
        let alike = |name: &&str| name.len().abs_diff(entry.key.len()) <= 1;
        let names = known().map(|field| field.name).filter(alike);
        if let Some(near) = deft_model::nearest(&entry.key, names) {
            let message = format!("deft does not read `{}`", entry.key);
            let span = entry.key_span;
            sink.report_as(Severity::Warning, Rule::UnknownKey, span, message)
                .help(format!("did you mean `{near}`?"));
        }
    }
}

/// deft's own keys: below `metadata`, or beside it if the author forgot to
/// indent them.
fn extension(fields: &Fields<'_>, metadata: &Mapping) -> Mapping {
    let is_text = |key: &str| own_field(key).is_some_and(|field| matches!(field.kind, Kind::Text));
    // Lists and mappings come as texts that hold them as JSON.
    let unpack = |entry: &yaml::Entry| {
        let held = embedded(&entry.value, fields.file).filter(|_| !is_text(&entry.key));
        yaml::Entry {
            value: held.unwrap_or_else(|| entry.value.clone()),
            ..entry.clone()
        }
    };
    let outside = fields.map.entries.iter().filter(|entry| is_read(entry));
    let inside = metadata.entries.iter();
    let inside = inside.filter(|entry| own_field(&entry.key).is_some());
    Mapping {
        // The last entry of a key counts, so what is below `metadata` wins.
        entries: outside.chain(inside).map(unpack).collect(),
        flow: false,
    }
}

/// The field of deft that a key names.
fn own_field(key: &str) -> Option<&'static Field> {
    let mut all = [METADATA, DETAILS, POLICY].into_iter().flatten();
    all.find(|field| field.name == key)
}

/// Whether deft reads an entry beside `metadata` as its own.
fn is_read(entry: &yaml::Entry) -> bool {
    own_field(&entry.key).is_some() && !is_open(&entry.key) && is_meant_for_us(entry)
}

/// Whether a key is of the open format.
fn is_open(key: &str) -> bool {
    OPEN.iter().any(|field| field.name == key)
}

/// Outside of `metadata` another host may mean something else by the same word.
/// A key whose value deft cannot use stays in `extra`.
fn is_meant_for_us(entry: &yaml::Entry) -> bool {
    let text = entry.value.as_scalar().map(|scalar| scalar.text.trim());
    match entry.key.as_str() {
        "trigger_config" => text.is_none_or(|text| text.starts_with('{')),
        "schedule" => text.is_some_and(|text| deft_schedule::Cron::parse(text).is_ok()),
        "max_steps" => text.is_some_and(|text| text.parse::<u32>().is_ok()),
        key => !POLICY.iter().any(|field| field.name == key),
    }
}

fn open(fields: &Fields<'_>, metadata: &Mapping, sink: &mut Sink) -> OpenSpec {
    OpenSpec {
        license: fields.text("license", sink),
        compatibility: fields.text("compatibility", sink),
        allowed_tools: fields.node("allowed-tools").map(Node::to_value),
        metadata: metadata.to_object(),
    }
}

/// Keys that neither the open format nor deft reads, kept for other hosts.
fn extra(map: &Mapping) -> Object {
    let entries = map.entries.iter();
    let kept = entries.filter(|entry| !is_open(&entry.key) && !is_read(entry));
    kept.map(|entry| (entry.key.clone(), entry.value.to_value()))
        .collect()
}

/// Whether a frontmatter key belongs to another host and is kept for it.
pub fn is_host_key(key: &str) -> bool {
    HOST_KEYS.contains(&key)
}
