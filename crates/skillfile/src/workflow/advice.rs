//! The five rules of good practice (S3.26), as hints.

use deft_model::{Action, OnError, Policy, Step};

use super::steps::Draft;
use crate::diagnostic::Sink;
use crate::read::Fields;
use crate::rules::Rule;
use crate::span::Span;
use crate::yaml::{Kind, Node, Scalar};

/// Words in tool names that take something away.
const DESTRUCTIVE: &[&str] = &[
    "delete",
    "destroy",
    "drop",
    "kill",
    "purge",
    "remove",
    "revoke",
    "terminate",
    "truncate",
    "wipe",
];

/// Tools of deft itself: nothing outside can fail in them.
const OWN_TOOLS: &[&str] = &["log", "notify", "time.now"];

/// Gives advice; nothing of it keeps a skill from loading.
pub(crate) fn give(fields: &Fields<'_>, drafts: &[Draft<'_>], policy: &Policy, sink: &mut Sink) {
    advise_heal(drafts, policy, sink);
    for (at, draft) in drafts.iter().enumerate() {
        advise_step_id(draft, sink);
        advise_on_error(drafts, at, fields, sink);
        advise_confirm(draft, fields, sink);
    }
    advise_log(fields, drafts, sink);
}

/// One hint for all steps, as the answer is usually one `heal` for the skill.
fn advise_heal(drafts: &[Draft<'_>], policy: &Policy, sink: &mut Sink) {
    let bare = |at: usize, draft: &Draft<'_>| {
        is_outside(&draft.step)
            && draft.step.heal.is_empty()
            && !is_looked_at(drafts, at, "condition")
    };
    let steps = drafts
        .iter()
        .enumerate()
        .filter(|(at, draft)| bare(*at, draft));
    let bare: Vec<&Draft<'_>> = steps.map(|(_, draft)| draft).collect();
    let Some(first) = bare.first().filter(|_| policy.heal.is_empty()) else {
        return;
    };
    let names: Vec<String> = bare
        .iter()
        .map(|draft| format!("`{}`", draft.step.id))
        .collect();
    let message = format!("nothing mends a failure of {}", names.join(", "));
    sink.report(Rule::AdviseHeal, first.id_span, message)
        .help("add `heal: [{when: network, tool: …}]` to the step or to the skill");
}

fn is_outside(step: &Step) -> bool {
    matches!(&step.action, Action::Tool { tool, .. }
        if !OWN_TOOLS.contains(&tool.as_str()) && !tool.starts_with("file."))
}

fn advise_step_id(draft: &Draft<'_>, sink: &mut Sink) {
    let id = draft.step.id.as_str();
    let stem = id
        .trim_end_matches(|c: char| c.is_ascii_digit())
        .trim_end_matches('_');
    let bland = matches!(
        stem,
        "" | "step" | "task" | "do" | "run" | "foo" | "bar" | "tmp"
    );
    let lettered = id
        .strip_prefix("step_")
        .is_some_and(|rest| rest.chars().count() == 1);
    if bland || lettered || id.chars().count() == 1 {
        sink.report(
            Rule::AdviseStepId,
            draft.id_span,
            format!("the id `{id}` does not say what the step does"),
        )
        .help("a verb and a noun help in logs, such as `get_issue`");
    }
}

fn advise_on_error(drafts: &[Draft<'_>], at: usize, fields: &Fields<'_>, sink: &mut Sink) {
    let draft = &drafts[at];
    let returned = fields
        .node("outputs")
        .is_some_and(|outputs| mentions(outputs, draft));
    let seen = returned
        || ["condition", "compute", "args", "loop"]
            .iter()
            .any(|key| is_looked_at(drafts, at, key));
    if draft.step.on_error == OnError::Continue && !seen {
        let message = format!(
            "a failure of `{}` is passed over and nobody looks at it",
            draft.step.id
        );
        sink.report(Rule::AdviseOnError, draft.key_span("on_error"), message)
            .help("use its value in a later condition or in `outputs`, or let the run fail");
    }
}

fn advise_confirm(draft: &Draft<'_>, fields: &Fields<'_>, sink: &mut Sink) {
    let Action::Tool { tool, .. } = &draft.step.action else {
        return;
    };
    let words = tool.split(|c: char| !c.is_alphanumeric());
    let Some(word) = words
        .into_iter()
        .find(|word| DESTRUCTIVE.contains(&word.to_lowercase().as_str()))
    else {
        return;
    };
    let asked = fields
        .node("confirmations")
        .and_then(Node::as_sequence)
        .unwrap_or_default();
    if !asked
        .iter()
        .filter_map(confirmed_step)
        .any(|step| step.text == draft.step.id)
    {
        let message = format!("`{tool}` may {word} something, and nobody is asked");
        sink.report(Rule::AdviseConfirm, draft.key_span("tool"), message)
            .help(format!(
                "add `confirmations: [{{step: {}, message: …}}]`",
                draft.step.id
            ));
    }
}

/// The step that a confirmation stands before.
fn confirmed_step(node: &Node) -> Option<&Scalar> {
    node.as_mapping()?.get("step")?.as_scalar()
}

fn advise_log(fields: &Fields<'_>, drafts: &[Draft<'_>], sink: &mut Sink) {
    let logs = |draft: &Draft<'_>| match &draft.step.action {
        Action::Tool { tool, .. } => ["log", "memory", "notify", "send"]
            .iter()
            .any(|word| tool.contains(word)),
        Action::Compute { .. } | Action::Agent { .. } | Action::Skill { .. } => false,
    };
    if fields.node("outputs").is_none() && !drafts.iter().any(logs) {
        let span = fields
            .map
            .entry("steps")
            .map_or(Span::NONE, |entry| entry.key_span);
        sink.report(Rule::AdviseLog, span, "nothing says what came of a run")
            .help("return it in `outputs`, or log it in a last step");
    }
}

/// Whether a later step's `key` mentions the value of the step at `at`.
fn is_looked_at(drafts: &[Draft<'_>], at: usize, key: &str) -> bool {
    let later = drafts.iter().skip(at + 1);
    later
        .filter_map(|draft| draft.map.get(key))
        .any(|node| mentions(node, &drafts[at]))
}

fn mentions(node: &Node, draft: &Draft<'_>) -> bool {
    match &node.kind {
        Kind::Scalar(scalar) => draft.names().any(|name| has_word(&scalar.text, name)),
        Kind::Sequence { items, .. } => items.iter().any(|item| mentions(item, draft)),
        Kind::Mapping(mapping) => mapping
            .entries
            .iter()
            .any(|entry| mentions(&entry.value, draft)),
    }
}

fn has_word(text: &str, word: &str) -> bool {
    let boundary = |c: char| !(c.is_alphanumeric() || c == '_');
    text.match_indices(word).any(|(at, _)| {
        let before = text[..at].chars().next_back().is_none_or(boundary);
        before && text[at + word.len()..].chars().next().is_none_or(boundary)
    })
}
