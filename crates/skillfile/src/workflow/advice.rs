//! The five rules of good practice (S3.26), as hints.

use std::collections::HashSet;

use deft_model::{OnError, Policy, Step};

use super::mentions::Mentions;
use super::steps::Draft;
use crate::diagnostic::Sink;
use crate::read::Fields;
use crate::rules::Rule;
use crate::span::Span;
use crate::yaml::Node;

/// Words in tool names that indicate a destructive action.
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

/// Built-in tools that access nothing outside deft and its machine, so that their steps need no `heal` rule.
/// The file is generated from the tool definitions (`tools/tests/it/docs.rs`).
const LOCAL_TOOLS: &str = include_str!("local_tools.txt");

/// Maximum number of steps named in a message.
const MAX_NAMED: usize = 8;

/// Reports advice, which never keeps a skill from loading.
pub(crate) fn give(fields: &Fields<'_>, drafts: &[Draft<'_>], policy: &Policy, sink: &mut Sink) {
    if drafts.is_empty() {
        return;
    }
    let mentions = Mentions::gather(drafts, fields.node("outputs"));
    let confirmed = confirmed_steps(fields);
    advise_heal(drafts, &mentions, policy, sink);
    for (at, draft) in drafts.iter().enumerate() {
        advise_step_id(draft, sink);
        advise_on_error(draft, at, &mentions, sink);
        advise_confirm(draft, &confirmed, sink);
    }
    advise_log(fields, drafts, sink);
}

/// Reports one hint for all steps, because the solution is usually one `heal` rule for the skill.
fn advise_heal(drafts: &[Draft<'_>], mentions: &Mentions<'_>, policy: &Policy, sink: &mut Sink) {
    let bare = |at: usize, draft: &Draft<'_>| {
        is_outside(&draft.step)
            && draft.step.heal.is_empty()
            && !mentions.is_read_later(draft, at, "condition")
            && !mentions.is_heal_block_step(draft, at)
    };
    let steps = drafts
        .iter()
        .enumerate()
        .filter(|(at, draft)| bare(*at, draft));
    let bare: Vec<&Draft<'_>> = steps.map(|(_, draft)| draft).collect();
    let Some(first) = bare.first().filter(|_| policy.heal.is_empty()) else {
        return;
    };
    let names = bare.iter().map(|draft| format!("`{}`", draft.step.id));
    let mut listed: Vec<String> = names.take(MAX_NAMED).collect();
    if bare.len() > MAX_NAMED {
        listed.push(format!("and {} more", bare.len() - MAX_NAMED));
    }
    let message = format!("no `heal` rule for {}", listed.join(", "));
    sink.report(Rule::AdviseHeal, first.id_span, message)
        .help("add `heal: [{when: network, tool: …}]` to the step or to the skill");
}

fn is_outside(step: &Step) -> bool {
    let called = step.kind.tool_call();
    called.is_some_and(|(tool, _)| LOCAL_TOOLS.lines().all(|local| local != tool))
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

fn advise_on_error(draft: &Draft<'_>, at: usize, mentions: &Mentions<'_>, sink: &mut Sink) {
    let tolerated = draft.step.on_error == OnError::Continue;
    if tolerated && !mentions.is_seen(draft, at) && !mentions.is_heal_block_step(draft, at) {
        let message = format!(
            "a failure of `{}` is ignored and no later step looks at it",
            draft.step.id
        );
        sink.report(Rule::AdviseOnError, draft.key_span("on_error"), message)
            .help("use its value in a later condition or in `outputs`, or let the run fail");
    }
}

fn advise_confirm(draft: &Draft<'_>, confirmed: &HashSet<&str>, sink: &mut Sink) {
    let Some((tool, _)) = draft.step.kind.tool_call() else {
        return;
    };
    let mut words = tool.split(|c: char| !c.is_alphanumeric());
    let destructive = |word: &&str| DESTRUCTIVE.contains(&word.to_lowercase().as_str());
    let Some(word) = words.find(destructive) else {
        return;
    };
    if !confirmed.contains(draft.step.id.as_str()) {
        let message = format!("`{tool}` may {word} something without a confirmation");
        sink.report(
            Rule::AdviseConfirm,
            draft.key_span(draft.step.kind.key()),
            message,
        )
        .help(format!(
            "add `confirmations: [{{step: {}, message: …}}]`",
            draft.step.id
        ));
    }
}

/// Returns the steps that have a confirmation.
fn confirmed_steps<'a>(fields: &Fields<'a>) -> HashSet<&'a str> {
    let asked = fields.node("confirmations").and_then(Node::as_sequence);
    let step = |node: &'a Node| Some(node.as_mapping()?.get("step")?.as_scalar()?.text.as_str());
    asked.unwrap_or_default().iter().filter_map(step).collect()
}

fn advise_log(fields: &Fields<'_>, drafts: &[Draft<'_>], sink: &mut Sink) {
    let logs = |draft: &Draft<'_>| {
        let words = ["log", "memory", "notify", "send"];
        let called = draft.step.kind.tool_call();
        called.is_some_and(|(tool, _)| words.iter().any(|word| tool.contains(word)))
    };
    if fields.node("outputs").is_none() && !drafts.iter().any(logs) {
        let span = fields
            .map
            .entry("steps")
            .map_or(Span::NONE, |entry| entry.key_span);
        sink.report(Rule::AdviseLog, span, "no step logs the result of a run")
            .help("return it in `outputs`, or log it in a last step");
    }
}
