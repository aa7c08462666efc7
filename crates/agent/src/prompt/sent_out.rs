//! The prompt of an agent that another one sends out (S2.60).

use deft_model::PromptEntry;

use super::sections::{self, List};
use super::untrusted::{FrameKind, frame};
use super::{Caps, Prompt, Section, Writer, fit, rules};
use crate::Mode;

/// What an agent that is sent out is told. Its mission is the task and no part of the prompt.
#[derive(Clone, Copy, Debug)]
pub struct DispatchInput<'a> {
    /// Its own prompt, where it is an agent that is defined.
    pub own: &'a str,
    /// How the model says what it wants done.
    pub mode: Mode,
    /// The skills and tools it may use: name and description.
    pub skills: &'a [PromptEntry],
    /// What the one that sent it wants it to know.
    pub context: &'a str,
    /// The time and its zone, in words.
    pub now: &'a str,
}

/// Puts the prompt of an agent that is sent out together.
pub fn sent_out(input: &DispatchInput<'_>, caps: &Caps) -> Prompt {
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
    writer.add(Section::Untrusted, &rules::untrusted());
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
        // The sender may have copied it from anywhere.
        let framed = frame(FrameKind::Document, "the agent that sent you", &context);
        writer.add(Section::Task, &format!("What you should know:\n{framed}"));
    }
    sections::now(&mut writer, input.now, false);
    writer.end_part(false);
    writer.assembled
}

/// The line of a skill or tool in the list of an agent that is sent out.
pub fn line(name: &str, about: &str) -> PromptEntry {
    let about = about.split_whitespace().collect::<Vec<_>>().join(" ");
    PromptEntry {
        name: name.into(),
        text: format!("  {name:14} {about}\n").into(),
        about: about.into(),
        priority: 0,
    }
}
