//! The system prompt of an agent, assembled from its parts (S0.18, S0.19, S2.32, S2.49).
//!
//! Text that is the same from call to call comes first, so that a provider can cache it: the agent's own
//! prompt and the rules, then the lists, then what belongs to this one message. Every section has a cap, and
//! the prompt notes what was cut.
//!
//! Not here: where skills, tools and facts come from, which playbooks match ([`classify`]), the format of an
//! entry (its crate defines it), clocks.
//!
//! [`classify`]: crate::Classifier

mod caps;
mod fit;
mod rules;
mod sections;
mod sent_out;
mod specs;
mod untrusted;
mod usage;

pub use caps::Caps;
pub use fit::closest;
pub use sent_out::{DispatchInput, assemble_dispatched, line};
pub use specs::{dispatch_agent, get_skill, is_read_only, use_skill};
pub use untrusted::{FrameKind, RESULT_TAG, TAG, frame, frame_value, neutralise};

use std::fmt;

use deft_model::{PromptEntry, PromptPart, ToolSpec};

use crate::Mode;

/// Everything that goes into a prompt.
#[derive(Clone, Copy, Debug)]
pub struct PromptInput<'a> {
    /// The agent's own prompt.
    pub own: &'a str,
    /// How the model makes calls.
    pub mode: Mode,
    /// The domains, by name.
    pub domains: &'a [PromptEntry],
    /// Usage lines of the most common commands.
    pub commands: &'a [PromptEntry],
    /// The tools that it is offered. The prompt lists them only in command mode.
    pub tools: &'a [ToolSpec],
    /// Names of tools on the shelf.
    pub others: &'a [String],
    /// Entries of `<available_skills>`, by name.
    pub skills: &'a [PromptEntry],
    /// Further such entries, for skills that are run and not loaded.
    pub workflows: &'a [PromptEntry],
    /// Tools for skills and for finding tools that the agent cannot use at all, so the prompt does not name
    /// them.
    pub lacks: &'a [&'a str],
    /// Skills whose descriptions are in the `skill` tool, if that is offered. The prompt only names these
    /// skills, so that nothing is repeated.
    pub loadable: Option<&'a [String]>,
    /// Names of recently used skills and commands, the latest first.
    pub recent: &'a [String],
    /// The current message, used to choose skills that are close to it.
    pub message: &'a str,
    /// The playbooks that match, the most important first.
    pub playbooks: &'a [PlaybookText<'a>],
    /// Names of playbooks that match too but are not used.
    pub also_matched: &'a [String],
    /// Information about the user.
    pub user: &'a str,
    /// Facts from memory, the most useful first.
    pub facts: &'a [String],
    /// The context of the work: in a chat, the other running tasks; otherwise what fired the run, when and
    /// with which inputs.
    pub task: &'a str,
    /// The time and its zone, in words.
    pub now: &'a str,
    /// Whether a person waits for the answer.
    pub attended: bool,
}

impl Default for PromptInput<'_> {
    fn default() -> Self {
        Self {
            own: "",
            mode: Mode::Tools,
            domains: &[],
            commands: &[],
            tools: &[],
            lacks: &[],
            others: &[],
            skills: &[],
            workflows: &[],
            loadable: None,
            recent: &[],
            message: "",
            playbooks: &[],
            also_matched: &[],
            user: "",
            facts: &[],
            task: "",
            now: "",
            attended: true,
        }
    }
}

/// A playbook with its text.
#[derive(Clone, Copy, Debug)]
pub struct PlaybookText<'a> {
    /// Id of the skill.
    pub id: &'a str,
    /// Why it matched, from [`Match::reason`](crate::Match::reason).
    pub why: &'a str,
    /// Its text.
    pub text: &'a str,
}

/// A section of a prompt.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Section {
    /// The agent's own prompt.
    Own,
    /// The rules for making calls.
    Rules,
    /// The explanation of untrusted text.
    Untrusted,
    /// The overview of domains.
    Domains,
    /// The quick reference.
    QuickReference,
    /// Tools, in command mode.
    Tools,
    /// Tools on the shelf.
    Others,
    /// The list of skills.
    Skills,
    /// Playbooks.
    Playbooks,
    /// Skills that share words with the message.
    Near,
    /// Information about the user.
    User,
    /// Facts from memory.
    Memory,
    /// The context of the work.
    Task,
    /// The time, and whether a person is present.
    Now,
}

impl fmt::Display for Section {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Own => "agent",
            Self::Rules => "rules",
            Self::Untrusted => "untrusted text",
            Self::Domains => "domains",
            Self::QuickReference => "quick reference",
            Self::Tools => "tools",
            Self::Others => "other tools",
            Self::Skills => "skills",
            Self::Playbooks => "playbooks",
            Self::Near => "close skills",
            Self::User => "user",
            Self::Memory => "memory",
            Self::Task => "task",
            Self::Now => "now",
        })
    }
}

/// A part of a section that did not fit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Omission {
    /// The section.
    pub section: Section,
    /// Names of the missing entries, the next best first; empty for a text.
    pub entries: Vec<String>,
    /// Number of missing characters.
    pub chars: usize,
}

/// An assembled prompt.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Prompt {
    /// Its parts, stable ones first, to be joined by an empty line.
    pub parts: Vec<PromptPart>,
    /// Length of each section in characters, in the order of the text.
    pub sections: Vec<(Section, usize)>,
    /// What was cut.
    pub cut: Vec<Omission>,
}

impl Prompt {
    /// Returns the whole text.
    pub fn text(&self) -> String {
        let texts: Vec<&str> = self.parts.iter().map(|part| part.text.as_str()).collect();
        texts.join("\n\n")
    }
}

/// Assembles a prompt. The same input gives the same text.
pub fn assemble(input: &PromptInput<'_>, caps: &Caps) -> Prompt {
    let mut writer = Writer::default();
    let rules = match input.mode {
        Mode::Tools => rules::TOOLS.to_owned(),
        Mode::Cmd => command_rules(input),
    };
    sections::text(&mut writer, Section::Own, "", input.own, caps.own);
    let delegates = input.tools.iter().any(|tool| tool.name == specs::DISPATCH);
    match (delegates, input.domains.is_empty()) {
        (true, false) => writer.add(Section::Rules, &format!("{rules}\n{}", rules::DELEGATE)),
        _ => writer.add(Section::Rules, &rules),
    }
    writer.add(Section::Untrusted, &rules::untrusted_rule());
    writer.end_part(true);
    sections::domains(&mut writer, input, caps);
    sections::tools(&mut writer, input, caps);
    sections::others(&mut writer, input, caps);
    let left_out = sections::skills(&mut writer, input, caps);
    writer.end_part(true);
    sections::playbooks(&mut writer, input, caps);
    sections::near(&mut writer, &left_out, input, caps);
    let about = "About the user:\n";
    sections::text(&mut writer, Section::User, about, input.user, caps.user);
    sections::memory(&mut writer, input.facts, caps);
    sections::task(&mut writer, input, caps);
    sections::now(&mut writer, input.now, input.attended);
    writer.end_part(false);
    writer.assembled
}

/// Returns the rules for command mode. The examples use existing commands, preferably one that only reads,
/// because others may have to be delegated.
fn command_rules(input: &PromptInput<'_>) -> String {
    let reads = |entry: &&PromptEntry| deft_command::reads_only(&entry.name);
    let command = input.commands.iter().find(reads);
    let command = command.or(input.commands.first());
    let tool = || input.tools.first().map(usage::tool_example);
    let example = match command {
        Some(entry) => usage::example(entry.text.trim()),
        None => tool().unwrap_or_else(|| "domain.action --flag \"a value\"".to_owned()),
    };
    let name = command.map(|entry| &*entry.name);
    let of_command = name.and_then(|name| name.split('.').next());
    let listed = |name: &&str| input.domains.iter().any(|domain| *domain.name == **name);
    let first = input.domains.first().map(|domain| &*domain.name);
    let domain = of_command.filter(listed).or(first);
    rules::commands(&example, name, domain)
}

/// Collects sections into parts.
#[derive(Default)]
struct Writer {
    assembled: Prompt,
    part: String,
}

impl Writer {
    /// Adds a section; a blank one is left out.
    fn add(&mut self, section: Section, text: &str) {
        let text = text.trim_end();
        if text.is_empty() {
            return;
        }
        if !self.part.is_empty() {
            self.part.push_str("\n\n");
        }
        self.part.push_str(text);
        let sections = &mut self.assembled.sections;
        sections.push((section, text.chars().count()));
    }

    fn cut(&mut self, section: Section, entries: Vec<String>, chars: usize) {
        self.assembled.cut.push(Omission {
            section,
            entries,
            chars,
        });
    }

    fn end_part(&mut self, stable: bool) {
        if !self.part.is_empty() {
            let text = std::mem::take(&mut self.part);
            self.assembled.parts.push(PromptPart { text, stable });
        }
    }
}
