//! The prompt of a dispatched agent (S2.60).

use deft_model::PromptEntry;

use super::sections::{self, List};
use super::untrusted::{FrameKind, frame};
use super::{Caps, Prompt, Section, Writer, fit, rules};
use crate::Mode;

/// The parts of the prompt of a dispatched agent. Its mission is the task and not part of the prompt.
#[derive(Clone, Copy, Debug)]
pub struct DispatchInput<'a> {
    /// Its own prompt, if it is a defined agent.
    pub own: &'a str,
    /// How the model makes calls.
    pub mode: Mode,
    /// The skills and tools it may use: name and description.
    pub skills: &'a [PromptEntry],
    /// The context that the dispatching agent gave.
    pub context: &'a str,
    /// The time and its zone, in words.
    pub now: &'a str,
}

/// Assembles the prompt of a dispatched agent.
pub fn assemble_dispatched(input: &DispatchInput<'_>, caps: &Caps) -> Prompt {
    let mut writer = Writer::default();
    let own = match input.own.trim() {
        "" => rules::SENT_OUT,
        own => own,
    };
    sections::text(&mut writer, Section::Own, "", own, caps.own);
    let acting = match input.mode {
        Mode::Cmd => rules::SENT_OUT_COMMANDS,
        Mode::Tools => rules::SENT_OUT_TOOLS,
    };
    writer.add(Section::Rules, acting);
    writer.add(Section::Untrusted, &rules::untrusted_rule());
    let list = List {
        section: Section::Skills,
        head: "Available skills:\n",
        tail: match input.mode {
            Mode::Cmd => "\nUse: get_skill: <domain>.<command> for skill details\n",
            Mode::Tools => "",
        },
        what: ("skill", "skills"),
        find: "use `get_skill` to find them",
    };
    list.write(&mut writer, input.skills, &[], caps.skills);
    writer.end_part(true);
    if !input.context.trim().is_empty() {
        let (context, missing) = fit::body(input.context.trim(), caps.task);
        if missing > 0 {
            writer.cut(Section::Task, Vec::new(), missing);
        }
        // The dispatching agent may have copied it from outside.
        let framed = frame(
            FrameKind::Document,
            "the agent that dispatched you",
            &context,
        );
        writer.add(Section::Task, &format!("Context:\n{framed}"));
    }
    sections::now(&mut writer, input.now, false);
    writer.end_part(false);
    writer.assembled
}

/// Returns the line of a skill or tool in the list of a dispatched agent.
pub fn line(name: &str, about: &str) -> PromptEntry {
    let about = about.split_whitespace().collect::<Vec<_>>().join(" ");
    PromptEntry {
        name: name.into(),
        text: format!("  {name:14} {about}\n").into(),
        about: about.into(),
        priority: 0,
    }
}
