//! The messages and hints of problems.
//!
//! Messages are lower case, put values in backticks and stay on one line for any value. Not here: codes
//! and data, which programs read instead.

use std::fmt;

use deft_model::{clip, nearest};

use crate::problem::{ProblemKind, StrayReason};

impl ProblemKind {
    pub(crate) fn hint(&self) -> Option<String> {
        Some(match self {
            Self::MissingFlags { .. } => "`--help` shows what each flag takes".to_owned(),
            Self::InvalidValue { value, allowed, .. } => one_of(value, allowed),
            Self::InvalidValues { allowed, .. } => format!("any of {}", list_words(allowed)),
            Self::InvalidType { flag, expected, .. } => return form(flag, expected),
            Self::UnknownSkill { near, .. } => did_you_mean(near.as_deref(), "")
                .unwrap_or_else(|| "`get_skill` lists all skills".to_owned()),
            Self::MissingValue { flag } => format!("write `--{flag} VALUE`"),
            Self::TooManyValues { .. } => {
                "give it once; put a value with spaces in quotes: `\"two words\"`".to_owned()
            }
            Self::UnknownFlag { flag, known } => {
                let near = nearest(flag, known.iter().map(String::as_str));
                did_you_mean(near, "--")
                    .unwrap_or_else(|| format!("known flags: {}", list(known, "--", "and")))
            }
            Self::StrayPositional { word, stray } => stray.hint(word),
            Self::ShortFlag { near, .. } => match near {
                Some(near) => format!("flags are written in full: `--{near}`"),
                None => "flags are written in full, `--name`; put a value in quotes".to_owned(),
            },
            Self::InvalidFlag { .. } => {
                "a flag is `--` and letters, digits, `-` or `_`; put a value in quotes".to_owned()
            }
            Self::UnclosedQuote { quote, .. } => unclosed_quote(*quote),
            Self::UnfinishedEscape => "write `\\\\` for a backslash".to_owned(),
            Self::CurlyQuote { .. } => "write `\"` or `'`".to_owned(),
            Self::ShellSyntax { .. } => {
                "write separate commands, one per line; put text in quotes".to_owned()
            }
            Self::UnclosedBlock => "close it with a fence; nothing in it was run".to_owned(),
            Self::Empty => "`get_skill` lists all skills".to_owned(),
            Self::NoSkill { .. } => "write `domain.action --flag value`".to_owned(),
            Self::ExtraTopic { .. } => "name one domain or skill at a time".to_owned(),
            Self::MissingHandler { .. } => {
                "a page can name a tool instead: `handler: tool:NAME`".to_owned()
            }
            Self::InvalidCall { .. } => {
                r#"write `{"skill": "domain.action", "flags": {}}`"#.to_owned()
            }
        })
    }
}

impl fmt::Display for ProblemKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::MissingFlags { flags } => {
                let verb = if flags.len() == 1 { "is" } else { "are" };
                write!(f, "{} {verb} missing", list(flags, "--", "and"))
            }
            Self::InvalidValue { flag, value, .. } => {
                write!(f, "`--{flag}` cannot be `{}`", shorten_value(value))
            }
            Self::InvalidValues { flag, values, .. } => {
                write!(f, "`--{flag}` cannot be {}", list(values, "", "or"))
            }
            Self::InvalidType {
                flag,
                value,
                expected,
            } => {
                let expected = with_article(expected);
                write!(
                    f,
                    "`--{flag}` must be {expected}, not `{}`",
                    shorten_value(value)
                )
            }
            Self::UnknownSkill { name, .. } => write!(f, "unknown skill `{}`", shorten_value(name)),
            Self::MissingValue { flag } => write!(f, "`--{flag}` has no value"),
            Self::TooManyValues { flag, values } => {
                write!(f, "`--{flag}` takes one value, not {}", values.len())
            }
            Self::UnknownFlag { flag, .. } => write!(f, "unknown flag `--{}`", shorten_value(flag)),
            Self::StrayPositional { word, .. } => {
                write!(f, "`{}` belongs to no flag", shorten_value(word))
            }
            Self::ShortFlag { word, .. } | Self::InvalidFlag { word } => {
                write!(f, "`{}` is not a flag", shorten_value(word))
            }
            Self::UnclosedQuote { quote, before } if before.is_empty() => {
                write!(f, "the `{quote}` at the end is not closed")
            }
            Self::UnclosedQuote { quote, before } => {
                write!(f, "the `{quote}` before `{before}` is not closed")
            }
            Self::UnfinishedEscape => f.write_str("nothing follows the `\\` at the end"),
            Self::CurlyQuote { quote } => write!(f, "`{quote}` is not a quote character"),
            Self::ShellSyntax { operator: "`" } => {
                f.write_str("a backtick is not supported: commands do not run in a shell")
            }
            Self::ShellSyntax { operator } => {
                write!(
                    f,
                    "`{operator}` is not supported: commands do not run in a shell"
                )
            }
            Self::UnclosedBlock => f.write_str("the `cmd` block is not closed"),
            Self::Empty => f.write_str("the command is empty"),
            Self::NoSkill { word } if word.is_empty() => {
                f.write_str("the command begins with an empty word")
            }
            Self::NoSkill { word } => {
                let word = shorten_value(word);
                write!(
                    f,
                    "the command begins with `{word}`, not with the name of a skill"
                )
            }
            Self::ExtraTopic { word } => {
                let word = shorten_value(word);
                write!(f, "`{word}` is one word too many for `get_skill`")
            }
            Self::MissingHandler { skill, handler } => write!(
                f,
                "`{}` cannot be run: the handler `{}` is not available in this version",
                shorten_value(skill),
                shorten_value(handler)
            ),
            Self::InvalidCall { reason } => f.write_str(reason),
        }
    }
}

impl StrayReason {
    fn hint(&self, word: &str) -> String {
        match self {
            Self::First(flag) => {
                let flag = flag.as_deref().unwrap_or("flag");
                format!(
                    "write the flag before its value: `--{flag} {}`",
                    shorten_value(word)
                )
            }
            Self::TakesNone(flag) => format!("`--{flag}` takes no value"),
            Self::TakesOne(flag) => {
                format!("`--{flag}` takes one value; put a value with spaces in quotes")
            }
            Self::Assigned(flag) => {
                format!("`--{flag}=` takes one value; repeat the flag, or use quotes")
            }
            Self::Ended => {
                "words after `--` belong to no flag; use `--flag=value` for a value that begins \
                 with dashes"
                    .to_owned()
            }
        }
    }
}

fn one_of(value: &str, allowed: &[String]) -> String {
    // Short words and numbers are rarely typos of each other, so no suggestion.
    let is_word = value.chars().count() > 2 && value.parse::<f64>().is_err();
    let near = nearest(value, allowed.iter().map(String::as_str)).filter(|_| is_word);
    did_you_mean(near, "").unwrap_or_else(|| format!("one of {}", list_words(allowed)))
}

fn did_you_mean(near: Option<&str>, dashes: &str) -> Option<String> {
    near.map(|near| format!("did you mean `{dashes}{near}`?"))
}

fn unclosed_quote(quote: char) -> String {
    if quote == '\'' {
        "close it; put text with an apostrophe in double quotes".to_owned()
    } else {
        "close it, or write `\\\"` for a quote that is meant literally".to_owned()
    }
}

/// Returns a hint how to write a value of this type, where the type's name does not tell.
fn form(flag: &str, expected: &str) -> Option<String> {
    match expected {
        "boolean" => Some("write `true` or `false`".to_owned()),
        "object" => Some(format!("write JSON: `--{flag} '{{\"key\": \"value\"}}'`")),
        _ => None,
    }
}

fn with_article(noun: &str) -> String {
    let article = if noun.starts_with(['a', 'e', 'i', 'o', 'u']) {
        "an"
    } else {
        "a"
    };
    format!("{article} {noun}")
}

/// The maximum number of names that a message lists.
const MAX_NAMES: usize = 20;

/// Formats words as `a`, `b` and `c`.
fn list(words: &[String], dashes: &str, and: &str) -> String {
    let shown = mark_words(words, dashes);
    match shown.split_last() {
        Some((last, rest)) if !rest.is_empty() => format!("{} {and} {last}", rest.join(", ")),
        _ => shown.concat(),
    }
}

/// Formats words as `a`, `b`, `c`.
fn list_words(words: &[String]) -> String {
    mark_words(words, "").join(", ")
}

fn mark_words(words: &[String], dashes: &str) -> Vec<String> {
    let shown = words.iter().take(MAX_NAMES);
    let mut shown: Vec<String> = shown
        .map(|word| format!("`{dashes}{}`", self::shorten_value(word)))
        .collect();
    if words.len() > MAX_NAMES {
        shown.push(format!("{} more", words.len() - MAX_NAMES));
    }
    shown
}

/// Shortens a value for messages: one line, at most 60 characters.
pub(crate) fn shorten_value(value: &str) -> String {
    clip(value, 60).chars().map(plain).collect()
}

fn plain(c: char) -> char {
    if c.is_control() { ' ' } else { c }
}
