//! A line becomes a command: which skill, which flags, or a question about skills (S2.41).
//!
//! Not here: which skills there are. The caller looks the name up and hands back the flags of its
//! page, or says that there is none. Nothing is validated beyond the shape of the flags.

use deft_model::{Flag, Object};

use crate::flags::{is_end, is_help, parse_flags};
use crate::problem::{Problem, ProblemKind};
use crate::split::{Line, Word};

/// A command, read but not checked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Command {
    /// The skill.
    pub skill_name: String,
    /// What was given: texts, lists of texts, or true. Empty when help is asked for.
    pub flags: Object,
    /// The command as it was written.
    pub raw: String,
    /// The words behind the name, as they were read.
    pub rest_tokens: Vec<String>,
    /// The page is wanted, and nothing is to be run.
    pub help: bool,
}

/// What a line asks for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Route {
    /// `get_skill`, with what stands behind it, or nothing for all domains.
    GetSkill {
        /// A domain, a skill, a domain with `.all`, or a tag behind `tag:`.
        topic: String,
    },
    /// A skill.
    Command(Command),
}

/// What a line asks for. `table` is called with the name of a skill that is to be run, and gives
/// the flags of its page, or [`Problem::unknown_skill`].
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
        let problem = Problem::at(ProblemKind::NoSkill { word }, first.span.clone());
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

/// `--help` anywhere before `--`: who asks for the page wants nothing to happen (S2.71).
fn asks_for_help(rest: &[Word]) -> bool {
    rest.iter().take_while(|word| !is_end(word)).any(is_help)
}

/// The topic of `get_skill`, `get_skill: X`, `get_skill:X`, `get_skill X` and `get_skill --tag X`.
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
            Err(Problem::at(kind, place.span.clone()))
        }
        _ => Ok(topic.map_or("", |(topic, _)| topic).trim().to_owned()),
    })
}
