//! The system prompt of an agent, put together from what is known (S0.18, S0.19, S2.32, S2.49).
//!
//! What is the same from call to call comes first, so that a provider can keep it: the agent's own
//! words and the rules, then the lists, then what belongs to this one message. Every section has a
//! cap, and what is cut is said in the prompt itself.
//!
//! Not here: where skills, tools and facts come from, which playbooks match ([`classify`]), the
//! form of an entry (its crate knows that), clocks.
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
pub use sent_out::{DispatchInput, line, sent_out};
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
    /// How the model says what it wants done.
    pub mode: Mode,
    /// The domains, by name.
    pub domains: &'a [PromptEntry],
    /// Usage lines of the most common commands.
    pub commands: &'a [PromptEntry],
    /// The tools it is offered. They stand in the prompt only where they are called by commands.
    pub tools: &'a [ToolSpec],
    /// Names of tools that it is offered once it looks them up.
    pub others: &'a [String],
    /// Entries of `<available_skills>`, by name.
    pub skills: &'a [PromptEntry],
    /// More of these, of what is run and not loaded.
    pub workflows: &'a [PromptEntry],
    /// Those of the tools for skills and for finding tools that it can in no way get at: the prompt does
    /// not name them.
    pub lacks: &'a [&'a str],
    /// Those skills that the `skill` tool lists with their descriptions, if there is one. They are
    /// only named then: nothing is said twice.
    pub loadable: Option<&'a [String]>,
    /// Names of skills and commands that were used lately, the last one first.
    pub recent: &'a [String],
    /// What is asked now, for choosing what is close to it.
    pub message: &'a str,
    /// The playbooks that match, the most important first.
    pub playbooks: &'a [PlaybookText<'a>],
    /// Names of playbooks that match too but are not used.
    pub also_matched: &'a [String],
    /// What is known of the person.
    pub user: &'a str,
    /// Facts from memory, the most useful first.
    pub facts: &'a [String],
    /// What the work is part of: to a person who waits, what else is running; otherwise what fired,
    /// when and with what.
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
    /// The skill.
    pub id: &'a str,
    /// Why it is here, as [`Match::reason`](crate::Match::reason) says it.
    pub why: &'a str,
    /// Its text.
    pub text: &'a str,
}

/// A section of a prompt.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Section {
    /// The agent's own prompt.
    Own,
    /// How to act.
    Rules,
    /// What is never an instruction.
    Untrusted,
    /// The overview of domains.
    Domains,
    /// The quick reference.
    QuickReference,
    /// Tools that are called by commands.
    Tools,
    /// Tools that are offered once they are looked up.
    Others,
    /// The list of skills.
    Skills,
    /// Playbooks.
    Playbooks,
    /// Skills that are close to the message.
    Near,
    /// What is known of the person.
    User,
    /// Facts from memory.
    Memory,
    /// What the work is part of.
    Task,
    /// The time, and who is there.
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

/// What did not fit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Omission {
    /// Where.
    pub section: Section,
    /// The entries that are missing, by name, the next best first; empty for a text.
    pub entries: Vec<String>,
    /// How many characters are missing.
    pub chars: usize,
}

/// A prompt.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Prompt {
    /// Its parts, stable ones first, to be joined by an empty line.
    pub parts: Vec<PromptPart>,
    /// How long each section is, in characters, in the order of the text.
    pub sections: Vec<(Section, usize)>,
    /// What was cut.
    pub cut: Vec<Omission>,
}

impl Prompt {
    /// The whole text.
    pub fn text(&self) -> String {
        let texts: Vec<&str> = self.parts.iter().map(|part| part.text.as_str()).collect();
        texts.join("\n\n")
    }
}

/// Puts a prompt together. The same input gives the same text.
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
    writer.add(Section::Untrusted, &rules::untrusted());
    writer.end_part(true);
    sections::domains(&mut writer, input, caps);
    sections::tools(&mut writer, input, caps);
    sections::others(&mut writer, input, caps);
    let left_out = sections::skills(&mut writer, input, caps);
    writer.end_part(true);
    sections::playbooks(&mut writer, input, caps);
    sections::near(&mut writer, &left_out, input, caps);
    let about = "What is known of the user:\n";
    sections::text(&mut writer, Section::User, about, input.user, caps.user);
    sections::memory(&mut writer, input.facts, caps);
    sections::task(&mut writer, input, caps);
    sections::now(&mut writer, input.now, input.attended);
    writer.end_part(false);
    writer.assembled
}

/// How to act by commands, with examples among those that there are: one that only reads, because
/// others may have to be delegated.
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
    /// A section; a blank one is left out.
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
