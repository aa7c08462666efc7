//! Turns a line into a command with a skill and flags, or into a question about skills (S2.41).
//!
//! Not here: the list of skills. The caller looks the name up and returns the flags of its page, or an
//! error if the skill is unknown. Only the shape of the flags is validated.

use deft_model::{Flag, Object};

use crate::flags::{is_end, is_help, parse_flags};
use crate::problem::{Problem, ProblemKind};
use crate::split::{Line, Word};

/// A parsed command, not yet checked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Command {
    /// The skill's name.
    pub skill_name: String,
    /// The flags given: strings, lists of strings, or true. Empty if help is asked for.
    pub flags: Object,
    /// The command as it was written.
    pub raw: String,
    /// The words after the name, without their quotes.
    pub rest_tokens: Vec<String>,
    /// Whether the command only asks for the page; it must not run.
    pub help: bool,
}

/// What a line asks for: a page or list of skills, or to run a skill.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Route {
    /// `get_skill` with its topic; an empty topic asks for all domains.
    GetSkill {
        /// A domain, a skill, a domain followed by `.all`, or a tag after `tag:`.
        topic: String,
    },
    /// A command that runs a skill or asks for its page.
    Command(Command),
}

/// Parses a line. `table` is called with the name of a skill that is to run, and returns the flags of
/// its page, or [`Problem::unknown_skill`].
pub fn route(
    line: &Line,
    table: impl FnOnce(&str) -> Result<Vec<Flag>, Problem>,
) -> Result<Route, Vec<Problem>> {
    let Some((first, rest)) = line.words.split_first() else {
        return Err(vec![ProblemKind::Empty.into()]);
    };
    if let Some(topic) = get_skill(first, rest) {
        return topic
            .map(|topic| Route::GetSkill { topic })
            .map_err(|problem| vec![problem]);
    }
    if first.text.trim().is_empty() || first.text.starts_with('-') {
        let word = first.text.clone();
        let problem = Problem::new_at(ProblemKind::NoSkill { word }, first.span.clone());
        return Err(vec![problem]);
    }
    let mut command = Command {
        skill_name: first.text.clone(),
        flags: Object::new(),
        raw: line.raw.clone(),
        rest_tokens: rest.iter().map(|word| word.text.clone()).collect(),
        help: asks_for_help(rest),
    };
    if !command.help {
        let table = table(&command.skill_name).map_err(|mut problem| {
            problem.span.get_or_insert_with(|| first.span.clone());
            vec![problem]
        })?;
        command.flags = parse_flags(rest, &table)?;
    }
    Ok(Route::Command(command))
}

/// Whether `--help` occurs before `--`: a caller that asks for the page does not want to run the skill
/// (S2.71).
fn asks_for_help(rest: &[Word]) -> bool {
    rest.iter().take_while(|word| !is_end(word)).any(is_help)
}

/// Returns the topic of `get_skill`, `get_skill: X`, `get_skill:X`, `get_skill X` or `get_skill --tag
/// X`.
fn get_skill(first: &Word, rest: &[Word]) -> Option<Result<String, Problem>> {
    let behind = first.text.strip_prefix("get_skill")?;
    let behind = match behind.strip_prefix(':') {
        Some(topic) => topic,
        None if behind.is_empty() => "",
        None => return None,
    };
    if behind.is_empty()
        && let [flag, tag] = rest
        && !flag.literal
        && flag.text == "--tag"
    {
        return Some(Ok(format!("tag:{}", tag.text.trim())));
    }
    let words = rest.iter().filter(|word| !is_help(word));
    let mut topics = words.map(|word| (word.text.as_str(), Some(word)));
    let attached = (!behind.is_empty()).then_some((behind, None));
    let topic = attached.or_else(|| topics.next());
    Some(match topics.next() {
        Some((word, Some(place))) => {
            let word = word.to_owned();
            let kind = ProblemKind::ExtraTopic { word };
            Err(Problem::new_at(kind, place.span.clone()))
        }
        _ => Ok(topic.map_or("", |(topic, _)| topic).trim().to_owned()),
    })
}
