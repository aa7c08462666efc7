//! Parses the flags of a command (S2.39, S2.40, under the rules of X21).
//!
//! The forms are `--flag value` and `--flag=value`. Several values make a list, no value makes `true`,
//! and a repeated flag extends its list. A word in quotes is always a value, and so is a negative
//! number. If the page has a table of flags, other flags are an error and a flag takes only as many
//! words as the table allows; without a table, a flag takes every word up to the next flag.
//!
//! Not here: whether values are valid ([`check`](crate::check())), and types: all values are strings.

use deft_model::{Flag, FlagValue, Object};
use serde_json::Value;

use crate::problem::{Problem, ProblemKind, StrayReason};
use crate::split::Word;

/// Parses the flags in the words after the skill's name. An empty `table` allows any flag.
pub fn parse_flags(words: &[Word], table: &[Flag]) -> Result<Object, Vec<Problem>> {
    let mut parser = Parser {
        table,
        flags: Object::new(),
        problems: Vec::new(),
        place: Destination::First,
    };
    for word in words {
        parser.word(word);
    }
    if parser.problems.is_empty() {
        Ok(parser.flags)
    } else {
        Err(parser.problems)
    }
}

/// Returns the flag of `table` with this name, treating `due_before` and `due-before` as equal.
pub(crate) fn find_flag<'t>(table: &'t [Flag], name: &str) -> Option<&'t Flag> {
    let exact = table.iter().find(|flag| flag.name == name);
    exact.or_else(|| table.iter().find(|flag| alike(&flag.name, name)))
}

/// Whether two names are equal, treating hyphens and underscores as the same character.
pub(crate) fn alike(one: &str, other: &str) -> bool {
    let even = |c: char| if c == '-' { '_' } else { c };
    one.chars().map(even).eq(other.chars().map(even))
}

/// Whether `name` is a valid flag name.
pub(crate) fn is_flag_name(name: &str) -> bool {
    name.starts_with(char::is_alphanumeric)
        && name
            .chars()
            .all(|c| c.is_alphanumeric() || matches!(c, '-' | '_'))
}

/// Whether a word asks for help. `--help=true` does too: no page has a flag `help`, so the command must
/// not run, whatever value is assigned.
pub(crate) fn is_help(word: &Word) -> bool {
    let flag = word.text.split('=').next().unwrap_or_default();
    !word.literal && flag.eq_ignore_ascii_case("--help")
}

/// Whether `word` is the `--` that ends the flags.
pub(crate) fn is_end(word: &Word) -> bool {
    !word.literal && word.text == "--"
}

/// The destination of the next value.
enum Destination {
    /// No flag was given yet, so a value is an error.
    First,
    /// A flag that takes any number of values.
    Many(String),
    /// A flag that takes one value.
    One(String),
    /// No flag; a value is an error for this reason.
    Full(StrayReason),
    /// A rejected flag; its values are dropped with it.
    Refused,
}

struct Parser<'t> {
    table: &'t [Flag],
    flags: Object,
    problems: Vec<Problem>,
    place: Destination,
}

impl Parser<'_> {
    fn word(&mut self, word: &Word) {
        let behind_the_end = matches!(self.place, Destination::Full(StrayReason::Ended));
        if behind_the_end || is_value(word) {
            self.value(word);
        } else if is_end(word) {
            self.place = Destination::Full(StrayReason::Ended);
        } else if let Some(flag) = word.text.strip_prefix("--") {
            match flag.split_once('=') {
                Some((name, value)) => self.flag(word, name, Some(value)),
                None => self.flag(word, flag, None),
            }
        } else {
            let near = self.only_flag_with(&word.text);
            let text = word.text.clone();
            self.refuse(word, ProblemKind::ShortFlag { word: text, near });
        }
    }

    fn flag(&mut self, word: &Word, name: &str, value: Option<&str>) {
        if !is_flag_name(name) {
            let word_text = word.text.clone();
            return self.refuse(word, ProblemKind::InvalidFlag { word: word_text });
        }
        let known = find_flag(self.table, name);
        if known.is_none() && !self.table.is_empty() {
            let known = self.table.iter().map(|flag| flag.name.clone()).collect();
            let flag = name.to_owned();
            return self.refuse(word, ProblemKind::UnknownFlag { flag, known });
        }
        let name = match known {
            Some(flag) => flag.name.clone(),
            None => self.as_before(name),
        };
        let takes = known.map_or(&FlagValue::Any, |flag| &flag.value);
        match (takes, value) {
            (FlagValue::Presence, Some(value)) => self.assign_presence(word, name, value),
            (FlagValue::Presence, None) => {
                self.flags.insert(name.clone(), Value::Bool(true));
                self.place = Destination::Full(StrayReason::TakesNone(name));
            }
            (_, Some(value)) => {
                self.add(&name, Some(value));
                self.place = Destination::Full(StrayReason::Assigned(name));
            }
            (FlagValue::OneOf(_), None) => {
                self.add(&name, None);
                self.place = Destination::One(name);
            }
            (FlagValue::Any | FlagValue::Date | FlagValue::SomeOf(_), None) => {
                self.add(&name, None);
                self.place = Destination::Many(name);
            }
        }
    }

    /// Without a table, returns the first spelling used: `--due_before` extends the list of
    /// `--due-before`.
    fn as_before(&self, name: &str) -> String {
        let before = self.flags.keys().find(|before| alike(before, name));
        before.map_or(name, String::as_str).to_owned()
    }

    /// Sets a presence flag to a given value: `--overdue=false` is unambiguous, so it is accepted.
    fn assign_presence(&mut self, word: &Word, name: String, value: &str) {
        let Some(on) = truth(value) else {
            let kind = ProblemKind::InvalidValue {
                flag: name,
                value: value.to_owned(),
                allowed: truths(),
            };
            return self.refuse(word, kind);
        };
        self.flags.insert(name.clone(), Value::Bool(on));
        self.place = Destination::Full(StrayReason::Assigned(name));
    }

    fn value(&mut self, word: &Word) {
        let stray = match &self.place {
            Destination::Many(name) => {
                let name = name.clone();
                return self.add(&name, Some(&word.text));
            }
            Destination::One(name) => {
                let name = name.clone();
                self.add(&name, Some(&word.text));
                self.place = Destination::Full(StrayReason::TakesOne(name));
                return;
            }
            Destination::Refused => return,
            Destination::First => StrayReason::First(self.first_flag()),
            Destination::Full(stray) => stray.clone(),
        };
        let text = word.text.clone();
        let kind = ProblemKind::StrayPositional { word: text, stray };
        self.problems.push(Problem::new_at(kind, word.span.clone()));
    }

    /// Appends `value` to the values of a flag. `None` sets the flag to `true` if it is not set yet.
    fn add(&mut self, name: &str, value: Option<&str>) {
        let slot = self.flags.entry(name).or_insert(Value::Bool(true));
        let Some(value) = value.map(Value::from) else {
            return;
        };
        match slot {
            Value::Array(values) => values.push(value),
            Value::String(first) => *slot = Value::Array(vec![std::mem::take(first).into(), value]),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::Object(_) => *slot = value,
        }
    }

    fn refuse(&mut self, word: &Word, kind: ProblemKind) {
        self.problems.push(Problem::new_at(kind, word.span.clone()));
        self.place = Destination::Refused;
    }

    /// Returns a flag to name in a hint: the first required flag, or else the first that takes values.
    fn first_flag(&self) -> Option<String> {
        let mut valued = self
            .table
            .iter()
            .filter(|flag| flag.value != FlagValue::Presence);
        let required = self.table.iter().find(|flag| flag.required);
        let flag = required.or_else(|| valued.next());
        flag.map(|flag| flag.name.clone())
    }

    fn only_flag_with(&self, short: &str) -> Option<String> {
        let letters = short.trim_start_matches('-');
        let mut with = self
            .table
            .iter()
            .filter(|flag| !letters.is_empty() && flag.name.starts_with(letters));
        let found = with.next()?;
        with.next().is_none().then(|| found.name.clone())
    }
}

fn is_value(word: &Word) -> bool {
    let Some(rest) = word.text.strip_prefix('-') else {
        return true;
    };
    // `-5`, `-.5` and `-7d` are values: there are no short flags.
    let digits = rest.strip_prefix('.').unwrap_or(rest);
    word.literal || rest.is_empty() || digits.starts_with(|c: char| c.is_ascii_digit())
}

/// Parses a word as a boolean: true, yes, on, 1, false, no, off, 0.
pub(crate) fn truth(word: &str) -> Option<bool> {
    match word.to_ascii_lowercase().as_str() {
        "true" | "yes" | "on" | "1" => Some(true),
        "false" | "no" | "off" | "0" => Some(false),
        _ => None,
    }
}

pub(crate) fn truths() -> Vec<String> {
    vec!["true".to_owned(), "false".to_owned()]
}
