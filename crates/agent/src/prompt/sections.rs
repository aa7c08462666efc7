//! The sections of a prompt, each within its cap.

use std::collections::HashSet;
use std::sync::Arc;

use deft_model::PromptEntry;

use super::fit::{self, Selection};
use super::untrusted::{FrameKind, frame};
use super::{Caps, PromptInput, Section, Writer, usage};
use crate::Mode;

/// Writes a text below its heading.
pub(super) fn text(writer: &mut Writer, section: Section, heading: &str, text: &str, cap: usize) {
    if text.trim().is_empty() {
        return;
    }
    let (fitted, missing) = fit::body(text.trim(), cap);
    if missing > 0 {
        writer.cut(section, Vec::new(), missing);
    }
    writer.add(section, &format!("{heading}{fitted}"));
}

/// Writes the overview of domains and the quick reference (S2.32).
pub(super) fn domains(writer: &mut Writer, input: &PromptInput<'_>, caps: &Caps) {
    let how = match input.mode {
        Mode::Cmd => {
            "\nUse: get_skill: <domain> for domain details\n\
             Use: get_skill: <domain>.<command> for specific skill details\n\
             Use: get_skill: <domain>.all to load all skills in a domain\n"
        }
        Mode::Tools if !is_reachable(input, "get_skill") => "",
        Mode::Tools => {
            "\nCall `get_skill` with a domain for its skills, with `domain.command` for the page of a skill, with `domain.all` for every page of a domain. `use_skill` runs one.\n"
        }
    };
    let list = List {
        section: Section::Domains,
        head: "Available skill domains:\n\n",
        tail: how,
        what: ("domain", "domains"),
        find: "`get_skill` lists them all",
    };
    list.write(writer, input.domains, input.recent, caps.domains);
    let list = List {
        section: Section::QuickReference,
        head: "Quick reference (common skills):\n",
        tail: "",
        what: ("command", "commands"),
        find: "`get_skill` shows them by domain",
    };
    list.write(writer, input.commands, input.recent, caps.quick_reference);
}

/// Writes the tools, in command mode.
pub(super) fn tools(writer: &mut Writer, input: &PromptInput<'_>, caps: &Caps) {
    if input.mode != Mode::Cmd {
        return;
    }
    let entries: Vec<PromptEntry> = input.tools.iter().map(usage::entry).collect();
    let list = List {
        section: Section::Tools,
        head: "Tools, called as commands:\n",
        tail: "",
        what: ("tool", "tools"),
        find: "`get_tool_catalog` lists them where it is offered",
    };
    list.write(writer, &entries, input.recent, caps.tools);
}

/// Writes the names of tools on the shelf. Tools that were offered meanwhile stay in the list, so that a
/// provider can cache it.
pub(super) fn others(writer: &mut Writer, input: &PromptInput<'_>, caps: &Caps) {
    let entry = |name: &String| PromptEntry {
        name: name.as_str().into(),
        about: "".into(),
        text: format!("{name} ").into(),
        priority: 0,
    };
    let entries: Vec<PromptEntry> = input.others.iter().map(entry).collect();
    let list = List {
        section: Section::Others,
        head: match input.mode {
            Mode::Tools if !is_reachable(input, "get_tool_catalog") => {
                "Further tools, offered once you call them by name: "
            }
            Mode::Tools => {
                "Further tools, offered once you search for their names with `get_tool_catalog`: "
            }
            Mode::Cmd => "Further tools, called as commands; NAME --help shows the flags: ",
        },
        tail: "",
        what: ("tool", "tools"),
        find: "`get_tool_catalog` lists them",
    };
    list.write(writer, &entries, input.recent, caps.others);
}

/// Writes `<available_skills>` and returns the skills that are not listed.
pub(super) fn skills<'a>(
    writer: &mut Writer,
    input: &PromptInput<'a>,
    caps: &Caps,
) -> Vec<&'a PromptEntry> {
    let head = match input.mode {
        Mode::Tools if is_reachable(input, "skill") => {
            "Skills with instructions for specific tasks. Load one with the `skill` tool when it applies:\n<available_skills>\n"
        }
        Mode::Tools if is_reachable(input, "get_skill") => {
            "Skills with instructions for specific tasks. Read one with `get_skill` when it applies:\n<available_skills>\n"
        }
        Mode::Tools => return Vec::new(),
        Mode::Cmd => {
            "Skills with instructions for specific tasks. Read one with get_skill: NAME when it applies:\n<available_skills>\n"
        }
    };
    let list = List {
        section: Section::Skills,
        head,
        tail: "</available_skills>\n",
        what: ("skill", "skills"),
        find: "use `get_skill` to find them",
    };
    let all = input.skills.iter().chain(input.workflows);
    let Some(loadable) = input.loadable else {
        let entries: Vec<PromptEntry> = all.clone().cloned().collect();
        let unnamed = names(&list.write(writer, &entries, input.recent, caps.skills));
        return all.filter(|entry| unnamed.contains(&entry.name)).collect();
    };
    let list = List {
        head: "Skills. The `skill` tool describes them and loads one:\n<available_skills>\n",
        ..list
    };
    let loadable: HashSet<&str> = loadable.iter().map(String::as_str).collect();
    let (named, left_out): (Vec<_>, Vec<_>) =
        (input.skills.iter()).partition(|entry| loadable.contains(&*entry.name));
    let mut entries: Vec<PromptEntry> = named.iter().map(|entry| short(entry)).collect();
    entries.extend_from_slice(input.workflows);
    let unnamed = list.write_of(writer, &entries, left_out.len(), input.recent, caps.skills);
    let mut unnamed = names(&unnamed);
    unnamed.extend(left_out.iter().map(|entry| Arc::clone(&entry.name)));
    all.filter(|entry| unnamed.contains(&entry.name)).collect()
}

fn names(entries: &[&PromptEntry]) -> HashSet<Arc<str>> {
    entries
        .iter()
        .map(|entry| Arc::clone(&entry.name))
        .collect()
}

/// Returns an entry without its description, which the model reads elsewhere.
fn short(entry: &PromptEntry) -> PromptEntry {
    PromptEntry {
        text: format!("<skill name=\"{}\"/>\n", entry.name).into(),
        ..entry.clone()
    }
}

/// Writes skills that are not in the list but share words with the message.
pub(super) fn near(
    writer: &mut Writer,
    left_out: &[&PromptEntry],
    input: &PromptInput<'_>,
    caps: &Caps,
) {
    const HEAD: &str = "Of the skills that are not listed above, these are close to the message:\n";
    let mut out = String::from(HEAD);
    let mut room = caps.near.saturating_sub(HEAD.chars().count());
    for entry in fit::nearest(left_out, input.message) {
        let about = entry.about.split_whitespace().collect::<Vec<_>>().join(" ");
        let line = format!("  {}: {about}\n", entry.name);
        let Some(rest) = room.checked_sub(line.chars().count()) else {
            break;
        };
        room = rest;
        out.push_str(&line);
    }
    if out.len() > HEAD.len() {
        writer.add(Section::Near, &out);
    }
}

/// Writes the playbooks in full, each with the reason why it matched (S0.19). The first may take all the
/// room; one with too little room left is only named.
pub(super) fn playbooks(writer: &mut Writer, input: &PromptInput<'_>, caps: &Caps) {
    const LEAST: usize = 400;
    if input.playbooks.is_empty() {
        return;
    }
    let mut out =
        String::from("Playbooks for this message. Follow the one that fits what is asked:");
    let mut room = caps.playbooks;
    let mut unshown: Vec<&str> = Vec::new();
    let mut missing = 0;
    for (place, playbook) in input.playbooks.iter().enumerate() {
        let length = playbook.text.trim().chars().count();
        if place > 0 && room < length.min(LEAST) {
            unshown.push(playbook.id);
            missing += length;
            continue;
        }
        let (text, cut) = fit::body(playbook.text.trim(), room);
        room = room.saturating_sub(text.chars().count());
        missing += cut;
        let (id, why) = (playbook.id, playbook.why);
        out.push_str(&format!(
            "\n\n<playbook name=\"{id}\">\nHere because the message {why}.\n\n{text}\n</playbook>"
        ));
    }
    let entries: Vec<String> = unshown.iter().map(|&id| id.to_owned()).collect();
    unshown.extend(input.also_matched.iter().map(String::as_str));
    if !unshown.is_empty() {
        let names = unshown.join(", ");
        out.push_str(&format!(
            "\n\n… these match too and are not shown: {names}; read one with `get_skill` if it fits better"
        ));
    }
    if missing > 0 {
        writer.cut(Section::Playbooks, entries, missing);
    }
    writer.add(Section::Playbooks, &out);
}

/// Writes facts from memory, framed because their text may come from outside.
pub(super) fn memory(writer: &mut Writer, facts: &[String], caps: &Caps) {
    let line = |fact: &String| {
        let words = fact.split_whitespace().collect::<Vec<_>>().join(" ");
        format!("- {words}\n")
    };
    let mut lines: Vec<String> = facts
        .iter()
        .filter(|fact| !fact.trim().is_empty())
        .map(line)
        .collect();
    if lines.is_empty() {
        return;
    }
    let mut room = caps.memory;
    let fitting = lines.iter().take_while(|line| {
        let rest = room.checked_sub(line.chars().count());
        room = rest.unwrap_or_default();
        rest.is_some()
    });
    let kept = fitting.count();
    let left: Vec<String> = lines.split_off(kept);
    let mut out = String::from("Facts from memory:\n");
    out.push_str(&frame(FrameKind::Memory, "memory", &lines.concat()));
    if !left.is_empty() {
        let chars = left.iter().map(|line| line.chars().count()).sum();
        out.push_str(&format!("\n… {}", more(left.len(), "fact", "facts")));
        writer.cut(Section::Memory, Vec::new(), chars);
    }
    writer.add(Section::Memory, &out);
}

/// Writes the context of the work, framed because inputs and questions may come from outside.
pub(super) fn task(writer: &mut Writer, input: &PromptInput<'_>, caps: &Caps) {
    let task = input.task.trim();
    if task.is_empty() {
        return;
    }
    let (fitted, missing) = fit::body(task, caps.task);
    if missing > 0 {
        writer.cut(Section::Task, Vec::new(), missing);
    }
    let (head, name) = if input.attended {
        ("Other unfinished runs:", "runs")
    } else {
        ("What fired:", "fire")
    };
    let framed = frame(FrameKind::Document, name, &fitted);
    writer.add(Section::Task, &format!("{head}\n{framed}"));
}

/// Writes the time, and whether a person is present.
pub(super) fn now(writer: &mut Writer, now: &str, attended: bool) {
    let presence = super::rules::presence(attended);
    let text = match now.trim() {
        "" => presence.to_owned(),
        now => format!("It is now {now}.\n{presence}"),
    };
    writer.add(Section::Now, &text);
}

/// Whether a model can use a tool. Commands are always available.
fn is_reachable(input: &PromptInput<'_>, tool: &str) -> bool {
    input.mode == Mode::Cmd || !input.lacks.contains(&tool)
}

/// A list that loses whole entries if it is too long, and notes how many.
pub(super) struct List<'a> {
    pub section: Section,
    pub head: &'a str,
    pub tail: &'a str,
    pub what: (&'a str, &'a str),
    pub find: &'a str,
}

impl List<'_> {
    /// Writes the entries that fit and returns the others, the best first. An empty list is not written.
    pub(super) fn write<'e>(
        &self,
        writer: &mut Writer,
        entries: &'e [PromptEntry],
        recent: &[String],
        cap: usize,
    ) -> Vec<&'e PromptEntry> {
        self.write_of(writer, entries, 0, recent, cap)
    }

    /// Like [`write`](Self::write), for a list with `more` entries that are not given.
    fn write_of<'e>(
        &self,
        writer: &mut Writer,
        entries: &'e [PromptEntry],
        more: usize,
        recent: &[String],
        cap: usize,
    ) -> Vec<&'e PromptEntry> {
        if entries.is_empty() {
            return Vec::new();
        }
        let frame = self.head.chars().count() + self.tail.chars().count();
        let room = cap.saturating_sub(frame + self.note(entries.len() + more).chars().count());
        let Selection { kept, left_out } = fit::choose(entries, recent, room);
        let mut out = String::from(self.head);
        kept.iter().for_each(|entry| out.push_str(&entry.text));
        out.push_str(self.tail);
        if left_out.len() + more > 0 {
            out.push_str(&self.note(left_out.len() + more));
        }
        if !left_out.is_empty() {
            let names = left_out.iter().map(|entry| entry.name.to_string());
            let chars = left_out.iter().map(|entry| entry.text.chars().count());
            writer.cut(self.section, names.collect(), chars.sum());
        }
        writer.add(self.section, &out);
        left_out
    }

    fn note(&self, count: usize) -> String {
        let (one, many) = self.what;
        format!("… {}; {}\n", more(count, one, many), self.find)
    }
}

fn more(count: usize, one: &str, many: &str) -> String {
    match count {
        1 => format!("1 more {one}"),
        count => format!("{count} more {many}"),
    }
}
