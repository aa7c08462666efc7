//! The messages between the engine and a model since an agent began.
//!
//! Every call of a reply has a result here, even if it was not made, because providers refuse a conversation
//! without one. Not here: earlier messages (the history).

use deft_model::{Message, ModelReply};

use super::shown::{not_made, show_result};
use super::state::{Agent, Call, CallEnd, ModelCall, Target, Turn};
use super::words::clip;
use crate::prompt::neutralise;
use crate::setup::Mode;

/// Begins the result of a command in the words of a user.
pub(super) const COMMAND_LABEL: &str = "command: ";

/// Returns the task, replies, results and reminders.
pub(super) fn messages(agent: &Agent) -> Vec<Message> {
    list_messages(agent, &agent.turns)
}

/// Like [`messages`], but without a last turn that could still change.
pub(super) fn list_final_messages(agent: &Agent) -> Vec<Message> {
    list_messages(agent, final_turns(agent))
}

/// Returns the successful calls of a last turn that could still change.
pub(super) fn done_since(agent: &Agent) -> Vec<String> {
    let open = agent.turns.get(final_turns(agent).len());
    let calls = open.map_or(&[][..], |turn| &turn.calls);
    let done = calls.iter().enumerate().filter_map(|(index, call)| {
        let done = matches!(call.end(), Some(CallEnd::Value(_)));
        open?.want(index, agent.setup.mode).filter(|_| done)
    });
    done.map(|want| clip(want.name())).collect()
}

/// Returns the turns that can no longer change. Only the last one can: it is asked again if it has no reply,
/// and calls that were not made or are in doubt are made.
fn final_turns(agent: &Agent) -> &[Turn] {
    match agent.turns.split_last() {
        Some((last, before)) if !last.is_final() => before,
        _ => &agent.turns,
    }
}

fn list_messages(agent: &Agent, turns: &[Turn]) -> Vec<Message> {
    let mut messages = vec![Message::User {
        text: agent.setup.task.clone(),
    }];
    for turn in turns {
        if let Some(reply) = turn.reply() {
            messages.extend(assistant(agent.setup.mode, reply));
            results(agent, turn, &mut messages);
        }
        let reminder = turn.reminder.iter();
        messages.extend(reminder.map(|reminder| Message::User {
            text: reminder.text.clone(),
        }));
    }
    messages
}

/// Returns the message of the model, or `None` if it is empty, because providers refuse empty messages. In
/// command mode, tool calls are answered like commands, so they are not repeated as calls.
fn assistant(mode: Mode, reply: &ModelReply) -> Option<Message> {
    let mut message = Message::from(reply);
    let Message::Assistant {
        text,
        calls,
        opaque,
    } = &mut message
    else {
        return None;
    };
    if mode == Mode::Cmd && !calls.is_empty() {
        calls.clear();
        *opaque = None;
    }
    let blank = text.trim().is_empty() && calls.is_empty();
    (!blank).then_some(message)
}

fn results(agent: &Agent, turn: &Turn, messages: &mut Vec<Message>) {
    let mode = agent.setup.mode;
    let most = agent.setup.limits.max_shown;
    let mut commands = Vec::new();
    for (index, call) in turn.calls.iter().enumerate() {
        let Some(want) = turn.want(index, mode) else {
            continue;
        };
        let (text, failed) = match call.end() {
            Some(end) => show_result(label(want, call), call, end, most),
            None if agent.finished.is_some() => (not_made(label(want, call)), true),
            None => continue,
        };
        match want {
            ModelCall::Call(call) => messages.push(Message::Tool {
                id: call.id.clone(),
                name: call.name.clone(),
                text,
                failed,
            }),
            ModelCall::Command(_) | ModelCall::Stray(_) => {
                let (line, _) = neutralise(&clip(&want.name().replace('\n', " ")));
                commands.push(format!("{COMMAND_LABEL}{line}\n{text}"));
            }
        }
    }
    if !commands.is_empty() {
        let text = commands.join("\n\n");
        messages.push(Message::User { text });
    }
}

/// Returns the name for the frame of a result: the tool as the model knows it, or the skill.
fn label<'a>(want: ModelCall<'a>, call: &'a Call) -> &'a str {
    match (want, &call.target) {
        (ModelCall::Call(call) | ModelCall::Stray(call), _) => &call.name,
        (ModelCall::Command(_), Some(Target::Tool { skill, tool, .. })) => {
            skill.as_ref().unwrap_or(tool)
        }
        (ModelCall::Command(_), _) => want.first_word(),
    }
}
