//! Parsing of skills in the open agentskills format, once the frontmatter is a tree.

use deft_model::{Body, Dialect, Object, OpenSpec, Skill, SkillId};

use crate::details;
use crate::diagnostic::Sink;
use crate::document::FileLocation;
use crate::embedded::parse_embedded;
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

/// Parses the skill. Invalid values are reported with `fields.severity`, a warning for `SKILL.md`.
pub(crate) fn skill(
    fields: &Fields<'_>,
    text: &str,
    location: &FileLocation<'_>,
    moment: &Moment,
    sink: &mut Sink,
) -> Skill {
    let name = fields
        .filled_text("name", sink)
        .map(|name| name.trim().to_owned());
    if name.is_none() {
        let message = format!(
            "`name` is missing; the folder's, `{}`, is used",
            location.folder
        );
        let span = key_span(fields.map, "name");
        sink.report_as(Severity::Warning, Rule::MissingName, span, message)
            .help(format!("add `name: {}`", location.folder));
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
    let name = name.unwrap_or_else(|| location.folder.to_owned());
    check_reserved(&name, fields, sink);
    Skill {
        id: SkillId::new(if names::is_dotted(&name) {
            name.as_str()
        } else {
            location.folder
        }),
        // Without a description the skill is rejected, but the rest is parsed too, so that all problems are
        // reported at once.
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

/// Returns the span of a key, if it exists.
fn key_span(map: &Mapping, key: &str) -> Span {
    map.entry(key).map_or(Span::NONE, |entry| entry.key_span)
}

/// Reports a reserved action. A dotted name is a command, so it must not use the words of `get_skill`
/// (S2.11).
fn check_reserved(name: &str, fields: &Fields<'_>, sink: &mut Sink) {
    if let Some(action) = names::reserved_action(name) {
        let message = format!("`{action}` is reserved by `get_skill`");
        sink.report(Rule::ReservedName, fields.span("name"), message)
            .help("choose another action");
    }
}

/// Reports keys below `metadata` that are similar to one of deft's. Any key is allowed there, but such a key
/// is most likely misspelt, and its value would be ignored.
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

/// Collects deft's own keys: below `metadata`, or next to it if the author forgot to indent them.
fn extension(fields: &Fields<'_>, metadata: &Mapping) -> Mapping {
    let is_text = |key: &str| own_field(key).is_some_and(|field| matches!(field.kind, Kind::Text));
    // Lists and mappings are texts that contain them as JSON.
    let unpack = |entry: &yaml::Entry| {
        let held = parse_embedded(&entry.value, fields.file).filter(|_| !is_text(&entry.key));
        yaml::Entry {
            value: held.unwrap_or_else(|| entry.value.clone()),
            ..entry.clone()
        }
    };
    let outside = fields.map.entries.iter().filter(|entry| is_read(entry));
    let inside = metadata.entries.iter();
    let inside = inside.filter(|entry| own_field(&entry.key).is_some());
    Mapping {
        // The last entry of a key takes precedence, so entries below `metadata` win.
        entries: outside.chain(inside).map(unpack).collect(),
        flow: false,
    }
}

/// Returns the field of deft with this key.
fn own_field(key: &str) -> Option<&'static Field> {
    let mut all = [METADATA, DETAILS, POLICY].into_iter().flatten();
    all.find(|field| field.name == key)
}

/// Whether deft reads an entry next to `metadata` as its own.
fn is_read(entry: &yaml::Entry) -> bool {
    own_field(&entry.key).is_some() && !is_open(&entry.key) && is_usable(entry)
}

/// Whether a key belongs to the open format.
fn is_open(key: &str) -> bool {
    OPEN.iter().any(|field| field.name == key)
}

/// Whether deft can use the value of a key outside of `metadata`, where another host may use the same key
/// differently. If not, the entry stays in `extra`.
fn is_usable(entry: &yaml::Entry) -> bool {
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

/// Collects keys that neither the open format nor deft reads; they are preserved for other hosts.
fn extra(map: &Mapping) -> Object {
    let entries = map.entries.iter();
    let kept = entries.filter(|entry| !is_open(&entry.key) && !is_read(entry));
    kept.map(|entry| (entry.key.clone(), entry.value.to_value()))
        .collect()
}

/// Returns whether a frontmatter key belongs to another host and is preserved for it.
pub fn is_host_key(key: &str) -> bool {
    HOST_KEYS.contains(&key)
}
