//! Parsing of YAML workflows (S3.1 to S3.5). Checks every field, compiles every template and condition,
//! parses every block of Python and resolves every name.

mod advice;
mod graph;
mod inputs;
mod kinds;
mod mentions;
mod scope;
mod steps;
mod values;
mod wait;

use deft_model::{Body, Confirmation, Dialect, Object, OpenSpec, Skill, SkillId, Workflow};

use crate::details;
use crate::diagnostic::Sink;
use crate::document::{Document, FileLocation};
use crate::fields::{CONFIRMATION, DETAILS, POLICY, WORKFLOW};
use crate::names::{is_id, reserved_action};
use crate::policy::{self, mappings};
use crate::read::Fields;
use crate::rules::Rule;
use crate::severity::Severity;
use crate::source::Source;
use crate::span::Span;
use crate::syntax;
use crate::trigger::{self, Moment};
use crate::yaml::{self, Mapping};

use graph::Graph;
use steps::Draft;
pub(crate) use steps::{BUILT_IN, on_error};

/// Parses a YAML file. One that is not meant to be a workflow only gets a hint.
pub(crate) fn read(
    source: &Source<'_>,
    location: &FileLocation<'_>,
    moment: &Moment,
    sink: &mut Sink,
) -> Option<Document> {
    let root = match yaml::parse(&source.file[source.start..], source.start) {
        Ok(root) => root,
        Err(problem) => {
            let text = &source.file[source.start..];
            syntax::report(text, source.start, problem, sink);
            return None;
        }
    };
    let map = root.as_ref().and_then(yaml::Node::as_mapping);
    let Some(map) = map.filter(|map| is_workflow(map)) else {
        let foreign = map.and_then(foreign_key);
        let message = match foreign {
            Some(key) => format!("not loaded: `{key}` belongs to another tool's YAML format"),
            None => "YAML without `steps` is not loaded".to_owned(),
        };
        let span = Span::new(source.start, source.start);
        sink.report(Rule::NotASkill, span, message)
            .help("a workflow has `name`, `description` and `steps`");
        return None;
    };
    let fields = Fields {
        map,
        file: source.file,
        severity: Severity::Error,
    };
    let skill = skill(&fields, location, moment, sink);
    Some(Document::Skill(Box::new(skill)))
}

/// Keys of other tools, whose files may also have `steps` and a name.
const FOREIGN: &[&str] = &["apiVersion", "jobs", "pool", "runs", "stages"];

fn foreign_key(map: &Mapping) -> Option<&'static str> {
    let mut keys = FOREIGN.iter().copied();
    keys.find(|key| map.get(key).is_some())
}

/// Whether a mapping is meant to be a workflow: it has `steps`, possibly misspelt, or a name, a description
/// and only fields of a skill.
fn is_workflow(map: &Mapping) -> bool {
    if foreign_key(map).is_some() {
        return false;
    }
    let has = |key: &str| map.get(key).is_some();
    let nearly = |entry: &yaml::Entry| deft_model::nearest(&entry.key, ["steps"]).is_some();
    let known = |entry: &yaml::Entry| {
        let mut fields = [WORKFLOW, DETAILS, POLICY].into_iter().flatten();
        fields.any(|field| field.name == entry.key)
    };
    let head = has("name") && has("description") && map.entries.iter().all(known);
    has("confirmations") || head || map.entries.iter().any(nearly)
}

/// Parses the fields of a workflow. A missing field has been reported and keeps the skill from loading. The
/// rest is parsed too, so that all problems are reported at once.
fn skill(
    fields: &Fields<'_>,
    location: &FileLocation<'_>,
    moment: &Moment,
    sink: &mut Sink,
) -> Skill {
    fields.check_keys(&[WORKFLOW, DETAILS, POLICY], Severity::Error, sink);
    let help = format!("add `name: {}`", location.stem());
    let missing = (Rule::MissingName, "`name` is missing", help.as_str());
    let name = fields.required_text("name", missing, sink);
    let description = fields.required_text(
        "description",
        (
            Rule::MissingDescription,
            "`description` is missing",
            "add the line that listings show",
        ),
        sink,
    );
    let policy = policy::read(fields, sink);
    let own = name.as_deref().filter(|name| is_id(name));
    let workflow = workflow(fields, own.unwrap_or(location.stem()), &policy, sink);
    let timing = trigger::read(fields, moment, sink);
    let keywords = fields.texts("keywords", sink);
    let name = name.unwrap_or_else(|| location.stem().to_owned());
    Skill {
        id: id(&name, fields, location, sink),
        description: description.unwrap_or_default().trim().to_owned(),
        domain: location.domain.map(str::to_owned),
        dialect: Dialect::Workflow,
        trigger: trigger::kind(timing.as_ref(), &keywords),
        timing,
        keywords,
        priority: 0,
        details: details::read(fields, sink),
        required_tools: fields.texts("required_tools", sink),
        body: Body::Steps(Box::new(workflow)),
        policy,
        open: OpenSpec {
            license: fields.text("license", sink),
            metadata: fields
                .mapping("metadata", sink)
                .unwrap_or_default()
                .to_object(),
            ..OpenSpec::default()
        },
        extra: Object::new(),
        name,
    }
}

/// Returns the id: the name, or the file's name if the name is prose.
fn id(name: &str, fields: &Fields<'_>, location: &FileLocation<'_>, sink: &mut Sink) -> SkillId {
    if let Some(action) = reserved_action(name) {
        let message = format!("`{action}` is reserved by `get_skill`");
        sink.report(Rule::ReservedName, fields.span("name"), message)
            .help("choose another action");
    }
    if is_id(name) {
        return SkillId::new(name);
    }
    let message = format!(
        "the name `{name}` cannot be typed as a command; the file's, `{}`, is used",
        location.stem()
    );
    sink.report_as(
        Severity::Warning,
        Rule::InvalidName,
        fields.span("name"),
        message,
    )
    .help("use letters, digits, `_`, `-` and `.`");
    SkillId::new(location.stem())
}

fn workflow(
    fields: &Fields<'_>,
    own: &str,
    policy: &deft_model::Policy,
    sink: &mut Sink,
) -> Workflow {
    let inputs = inputs::read(fields, sink);
    let drafts = steps::read(fields, sink);
    check_recursion(own, &drafts, sink);
    check_any_steps(fields, sink);
    let graph = Graph::build(&drafts, sink);
    let confirmations = confirmations(fields, &drafts, sink);
    scope::check(fields, &inputs, &drafts, &graph, policy, sink);
    advice::give(fields, &drafts, policy, sink);
    let outputs = fields
        .mapping("outputs", sink)
        .unwrap_or_default()
        .to_object();
    Workflow {
        inputs,
        steps: drafts.into_iter().map(|draft| draft.step).collect(),
        outputs,
        confirmations,
    }
}

/// Reports a workflow that runs itself, which would never end.
fn check_recursion(own: &str, drafts: &[Draft<'_>], sink: &mut Sink) {
    for draft in drafts {
        let called = draft.step.kind.called_skill();
        if called.is_some_and(|skill| skill.trim() == own) {
            let message = format!("the step `{}` runs the workflow it is in", draft.step.id);
            sink.report(Rule::DependencyCycle, draft.key_span("skill"), message)
                .help("name another skill, or use `loop` to repeat a step");
        }
    }
}

/// Reports a workflow without steps. Other values in place of steps are reported where they are parsed.
fn check_any_steps(fields: &Fields<'_>, sink: &mut Sink) {
    let absent = match fields.node("steps") {
        Some(node) => node.as_sequence().is_some_and(<[_]>::is_empty),
        None => true,
    };
    if absent {
        let span = fields
            .map
            .entry("steps")
            .map_or(Span::NONE, |entry| entry.key_span);
        sink.report(Rule::MissingSteps, span, "the workflow has no `steps`")
            .help("add at least one step with an `id` and a `tool`");
    }
}

fn confirmations(fields: &Fields<'_>, drafts: &[Draft<'_>], sink: &mut Sink) -> Vec<Confirmation> {
    let read = |map: &Mapping| confirmation(&Fields { map, ..*fields }, drafts, sink);
    mappings(fields, "confirmations", &mut Sink::default())
        .into_iter()
        .filter_map(read)
        .collect()
}

fn confirmation(
    fields: &Fields<'_>,
    drafts: &[Draft<'_>],
    sink: &mut Sink,
) -> Option<Confirmation> {
    fields.check_keys(&[CONFIRMATION], Severity::Error, sink);
    let place = fields
        .map
        .entries
        .first()
        .map_or(Span::NONE, |entry| entry.key_span);
    let step = fields.filled_text("step", sink);
    match &step {
        Some(step) => steps::check_known(step, fields.span("step"), drafts, sink),
        None => {
            sink.report(Rule::UnknownStep, place, "a confirmation names no `step`")
                .help("add `step: ID` with the step to confirm");
        }
    }
    let message = fields.filled_text("message", sink);
    if message.is_none() {
        sink.report(Rule::InvalidValue, place, "a confirmation has no `message`")
            .help("add the question to ask");
    }
    Some(Confirmation {
        step: step?,
        message: message?,
        default: fields.truth("default", sink).unwrap_or_default(),
    })
}
