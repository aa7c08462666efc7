//! All messages of agents to models and people.

use std::fmt::Write;

use deft_model::{
    CallArgs, Failure, FailureClass, ModelReply, Object, StopReason, call_words, nearest_name,
};

use super::breaker::EndedCall;
use super::state::{ModelCall, Target};
use crate::prompt::neutralise;
use crate::setup::{Mode, Setup};

/// Reminds a model whose reply was empty.
pub(super) const EMPTY_REPLY_NOTE: &str = "Your last reply was empty. Summarise the result of the task in a \
     few sentences, or finish the remaining work.";

/// Follows a text that the model could not finish.
pub(super) const CUT_OFF: &str = "[cut off: the model reached its limit of tokens]";

/// Tells a model in tool mode that commands it wrote were not run.
pub(super) fn not_run(setup: &Setup) -> String {
    let mut offers = setup.tools.iter().map(|offer| offer.tool.as_str());
    let how = if offers.any(|tool| tool == "use_skill") {
        "call `use_skill` with `skill` and `arguments`, or the tool that does it"
    } else {
        "call the tool that does it"
    };
    format!(
        "Your reply has a ```cmd block. Nothing in it was run: here you act by calling tools.\nhint: {how}; \
         if it was only an example, answer again"
    )
}

/// Number of names in a list before the rest is only counted.
const MAX_NAMES: usize = 50;

/// Maximum number of characters of a text that is quoted.
const MAX_SHOWN_CHARS: usize = 200;

/// Returns the part of a text that fits into a sentence.
pub(super) fn clip(text: &str) -> String {
    deft_model::clip(text, MAX_SHOWN_CHARS)
}

fn list<'a>(names: impl ExactSizeIterator<Item = &'a str>) -> String {
    let more = names.len().saturating_sub(MAX_NAMES);
    let names: Vec<String> = names.take(MAX_NAMES).map(|it| format!("`{it}`")).collect();
    let mut text = names.join(", ");
    if more > 0 {
        let _ = write!(text, " and {more} more");
    }
    text
}

fn offered_names(setup: &Setup) -> impl ExactSizeIterator<Item = &str> {
    setup.tools.iter().map(|offer| offer.spec.name.as_str())
}

pub(super) fn not_offered(setup: &Setup, name: &str) -> String {
    let called = |offer: &&crate::Offer| offer.tool == name;
    let known = setup.tools.iter().find(called);
    let known = known.map(|offer| offer.spec.name.as_str());
    // A tool on the shelf that was called and is still there no longer exists, so it is not suggested.
    let shelf = setup.shelf.iter().map(|shelved| shelved.name.as_str());
    let shelf = shelf.filter(|shelved| *shelved != name);
    let near = known.or_else(|| nearest_name(name, offered_names(setup).chain(shelf)));
    let near = near.map_or_else(String::new, |near| format!("; did you mean `{near}`?"));
    let name = clip(name);
    match offered_names(setup).len() {
        0 => format!("`{name}` is not one of your tools\nhint: you have no tools; answer in text"),
        _ => format!(
            "`{name}` is not one of your tools{near}\nhint: you can call {}",
            list(offered_names(setup))
        ),
    }
}

/// Describes a tool that was called before it was offered. In command mode this is the only description the
/// model gets; in tool mode the next request has it.
pub(super) fn describe_offer(offer: &crate::Offer, mode: Mode) -> String {
    let spec = &offer.spec;
    match mode {
        Mode::Tools => format!(
            "`{}` was not offered before; it is available now\nhint: read its description and call \
             it again",
            spec.name
        ),
        Mode::Cmd => format!(
            "`{}` was not shown before\n{}\nflags, as a JSON Schema: {}\nhint: write the command again",
            spec.name, spec.description, spec.schema
        ),
    }
}

pub(super) fn no_tools(name: &str) -> String {
    format!(
        "`{}` cannot be called, because you have no tools\nhint: write commands into a ```cmd block",
        clip(name)
    )
}

pub(super) fn skills(names: &[&str]) -> String {
    match names {
        [] => "You have no commands.".to_owned(),
        names => format!(
            "Commands that you can use: {}\nUse `NAME --help` for one of them.",
            list(names.iter().copied())
        ),
    }
}

pub(super) fn not_allowed(name: &str, names: &[&str]) -> String {
    let near = nearest_name(name, names.iter().copied());
    let near = near.map_or_else(String::new, |near| format!("; did you mean `{near}`?"));
    let name = clip(name);
    match names {
        [] => format!(
            "`{name}` is not one of your commands\nhint: you have no commands; answer in \
             text"
        ),
        names => format!(
            "`{name}` is not one of your commands{near}\nhint: you can use {}",
            list(names.iter().copied())
        ),
    }
}

pub(super) fn cut_off_call(name: &str) -> String {
    format!(
        "the call of `{name}` was cut off, because your reply reached its limit of tokens; it was \
         not made\nhint: call it again with shorter arguments"
    )
}

/// Explains why arguments are not a JSON object, with the beginning of the text.
pub(super) fn unreadable(name: &str, raw: &str) -> String {
    let problem = match serde_json::from_str::<serde_json::Value>(raw) {
        Err(error) => error.to_string(),
        Ok(_) => "it is not an object".to_owned(),
    };
    format!(
        "the arguments of `{name}` are not a JSON object: {problem}\nhint: you wrote {}",
        clip(raw)
    )
}

pub(super) fn question(tool: &str, args: &Object) -> String {
    format!("Call {}?", call_words(tool, Some(args), MAX_SHOWN_CHARS))
}

pub(super) fn decline_text(tool: &str, by: &str) -> String {
    format!(
        "{by} declined this call of `{tool}`\nhint: continue without it, or explain why it is \
         needed"
    )
}

pub(super) fn too_deep(most: u32) -> String {
    match most {
        0 => "you cannot dispatch agents\nhint: do it yourself".to_owned(),
        most => format!(
            "agents may be dispatched {most} levels deep, and you are at the last level\nhint: do \
             it yourself"
        ),
    }
}

pub(super) fn too_many(most: u32) -> String {
    let most = match most {
        1 => "one agent".to_owned(),
        most => format!("{most} agents"),
    };
    format!(
        "at most {most} can be dispatched at a time\nhint: dispatch the others after these have returned"
    )
}

/// Returns the reminder of calls that must be made, by the names the model knows.
pub(super) fn must_call(setup: &Setup, missing: &[&str]) -> String {
    format!(
        "Not finished. {}. Do that now, or explain why you cannot.",
        still_to_call(setup, missing)
    )
}

fn still_to_call(setup: &Setup, missing: &[&str]) -> String {
    let name = |tool: &&str| {
        let offer = setup.tools.iter().find(|offer| offer.tool == *tool);
        let known = offer.filter(|_| setup.mode == Mode::Tools);
        known
            .map_or(*tool, |offer| offer.spec.name.as_str())
            .to_owned()
    };
    let names: Vec<String> = missing.iter().map(name).collect();
    format!(
        "Required successful calls before you answer: {}",
        list(names.iter().map(String::as_str))
    )
}

pub(super) fn no_answer(reply: &ModelReply) -> Failure {
    match reply.stop {
        StopReason::Length => Failure::new(
            FailureClass::Limit,
            "the model reached its limit of tokens before it wrote anything",
        )
        .hint("raise `max_tokens` of the model"),
        StopReason::Done | StopReason::Calls | StopReason::Refused | StopReason::Other(_) => {
            Failure::new(FailureClass::Other, "the model gave an empty answer")
        }
    }
}

/// Tells a model why its answer was rejected.
pub(super) fn rejection_text(setup: &Setup, failure: &Failure, missing: &[&str]) -> String {
    let (why, _) = neutralise(&failure.message);
    let calls = match missing {
        [] => String::new(),
        missing => format!("{}. ", still_to_call(setup, missing)),
    };
    format!(
        "Your answer was rejected: {why}. {calls}Fix this and send the complete answer again. \
         Successful calls are not repeated."
    )
}

/// Returns the failure for a reply whose calls are not made, because the run would exceed its limit.
pub(super) fn too_many_calls(before: usize, asked: usize, most: usize) -> Failure {
    let message = match before {
        0 => format!("the model asked for {asked} calls, and a run may make {most}; none was made"),
        before => format!(
            "after {before} calls the model asked for {asked} more; a run may make {most}, so these \
             were not made"
        ),
    };
    Failure::new(FailureClass::Limit, message)
        .hint("raise `max_calls` in `[agent]` if the task needs more calls")
}

pub(super) fn out_of_steps(steps: usize, rejected: Option<&Failure>) -> Failure {
    let steps = match steps {
        1 => "1 step".to_owned(),
        steps => format!("{steps} steps"),
    };
    Failure::new(
        FailureClass::Limit,
        match rejected {
            None => format!("the agent was stopped after {steps} without an answer"),
            Some(failure) => format!(
                "the agent was stopped after {steps} without an accepted answer: {}",
                failure.message
            ),
        },
    )
    .hint("raise `max_steps`, or give it less to do")
}

/// Returns the failure of a call that was cut off.
pub(super) fn cut_off(tool: &str) -> Failure {
    let message = format!("the call of `{tool}` was interrupted and may have taken effect");
    Failure::new(FailureClass::Interrupted, message)
        .hint("check whether it took effect; `deft runs resume` retries it")
        .in_doubt()
}

/// Formats a call for a message.
pub(super) fn call(made: &EndedCall<'_>) -> String {
    let (name, args) = match (made.target, made.want) {
        (Some(Target::Tool { tool, args, .. }), _) => (tool.as_str(), json(args)),
        (Some(Target::Dispatch(dispatch)), _) => (dispatch.agent_id.as_str(), String::new()),
        (None, ModelCall::Command(written)) => (written.line.as_str(), String::new()),
        (None, ModelCall::Call(call) | ModelCall::Stray(call)) => match &call.args {
            CallArgs::Object(args) => (call.name.as_str(), json(args)),
            CallArgs::Invalid(raw) => (call.name.as_str(), raw.clone()),
        },
    };
    clip(format!("{name} {args}").trim_end())
}

fn json(args: &Object) -> String {
    serde_json::to_string(args).unwrap_or_default()
}
