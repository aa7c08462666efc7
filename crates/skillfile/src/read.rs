//! Reading of typed values from a mapping, with reports about invalid ones.

use std::time::Duration;

use deft_model::{Choice, nearest};
use deft_schedule::{LengthError, parse_length};
use serde_json::Value;

use crate::diagnostic::Sink;
use crate::embedded::{Broken, find_json_error, looks_like_json, parse_embedded};
use crate::fields::Field;
use crate::rules::Rule;
use crate::severity::Severity;
use crate::span::Span;
use crate::yaml::{Entry, Mapping, Node};

/// A mapping with context for reports.
pub(crate) struct Fields<'a> {
    pub map: &'a Mapping,
    /// The whole file, to compute spans inside scalars.
    pub file: &'a str,
    /// The severity of an invalid value.
    pub severity: Severity,
}

impl<'a> Fields<'a> {
    /// Returns the same fields with errors for invalid values. Used where a value must not be ignored: an
    /// invalid limit would be no limit.
    pub(crate) fn strict(&self) -> Self {
        Self {
            severity: Severity::Error,
            ..*self
        }
    }

    /// Returns the value of a key, unless it is absent or empty.
    pub(crate) fn node(&self, key: &str) -> Option<&'a Node> {
        let node = self.map.get(key)?;
        (!node.is_null()).then_some(node)
    }

    /// Returns the span of a value, for messages.
    pub(crate) fn span(&self, key: &str) -> Span {
        self.map
            .entry(key)
            .map_or(Span::NONE, |entry| entry.value.span)
    }

    /// Returns the span of a text in a list.
    pub(crate) fn item_span(&self, key: &str, text: &str) -> Span {
        let items = self.map.get(key).and_then(Node::as_sequence);
        let same = |item: &&Node| item.as_scalar().is_some_and(|scalar| scalar.text == text);
        let item = items.and_then(|items| items.iter().find(same));
        item.map_or_else(|| self.span(key), |item| item.span)
    }

    /// Returns a text. Numbers and booleans are returned as they are written.
    pub(crate) fn text(&self, key: &str, sink: &mut Sink) -> Option<String> {
        let node = self.node(key)?;
        match node.as_scalar() {
            Some(scalar) => Some(scalar.text.clone()),
            None => self.wrong(key, node, "text", sink),
        }
    }

    /// Returns a required text that is not blank. `message` and `help` are used if it is missing.
    pub(crate) fn required_text(
        &self,
        key: &'static str,
        (rule, message, help): (Rule, &str, &str),
        sink: &mut Sink,
    ) -> Option<String> {
        let entry = self.map.entry(key);
        let read = self.filled_text(key, sink);
        let collection = entry.is_some_and(|entry| entry.value.as_scalar().is_none());
        if read.is_none() && !collection {
            let first = self.map.entries.first();
            let span = entry.or(first).map_or(Span::NONE, |entry| entry.key_span);
            let problem = sink.report(rule, span, message);
            problem.missing = entry.is_none().then_some(key);
            problem.help(help);
        }
        read
    }

    /// Returns a text that is not blank.
    pub(crate) fn filled_text(&self, key: &str, sink: &mut Sink) -> Option<String> {
        let text = self.text(key, sink)?;
        (!text.trim().is_empty()).then_some(text)
    }

    /// Returns a list of strings. A single text is a list of one, or of several if it contains commas; JSON in
    /// a text is parsed (X12).
    pub(crate) fn texts(&self, key: &str, sink: &mut Sink) -> Vec<String> {
        let Some(node) = self.node(key) else {
            return Vec::new();
        };
        let held = parse_embedded(node, self.file);
        match (held.as_ref().unwrap_or(node), node.as_scalar()) {
            (held, _) if held.as_sequence().is_some() => self.items(key, held, sink),
            (_, Some(scalar)) if !looks_like_json(&scalar.text) => {
                let parts = scalar.text.split(',').map(str::trim);
                let parts = parts.filter(|part| !part.is_empty());
                parts.map(str::to_owned).collect()
            }
            _ => self
                .wrong(key, node, "a list of strings", sink)
                .unwrap_or_default(),
        }
    }

    fn items(&self, key: &str, list: &Node, sink: &mut Sink) -> Vec<String> {
        let text = |item: &Node| match item.as_scalar() {
            Some(scalar) => Some(scalar.text.clone()),
            None => self.wrong(key, item, "texts", sink),
        };
        let items = list.as_sequence().unwrap_or_default();
        items.iter().filter_map(text).collect()
    }

    /// Returns a boolean, or a word that means one.
    pub(crate) fn truth(&self, key: &str, sink: &mut Sink) -> Option<bool> {
        let node = self.node(key)?;
        match node
            .as_scalar()
            .map(|scalar| scalar.text.to_ascii_lowercase())
            .as_deref()
        {
            Some("true" | "yes" | "on") => Some(true),
            Some("false" | "no" | "off") => Some(false),
            _ => self.wrong(key, node, "`true` or `false`", sink),
        }
    }

    /// Returns a non-negative integer.
    pub(crate) fn count<N: TryFrom<u64>>(&self, key: &str, sink: &mut Sink) -> Option<N> {
        let node = self.node(key)?;
        let number = node
            .as_scalar()
            .and_then(|s| s.text.trim().parse::<u64>().ok());
        match number.and_then(|number| N::try_from(number).ok()) {
            Some(number) => Some(number),
            None => self.wrong(key, node, whole_number(node, 0), sink),
        }
    }

    /// Returns an integer of at least 1.
    pub(crate) fn positive<N: TryFrom<u64>>(&self, key: &str, sink: &mut Sink) -> Option<N> {
        let node = self.node(key)?;
        let text = node.as_scalar().map(|scalar| scalar.text.trim());
        match text.and_then(|text| text.parse::<u64>().ok()) {
            Some(0) => {
                let message = format!("`{key}` is 0");
                sink.report_as(self.severity, Rule::InvalidValue, node.span, message)
                    .help("it takes at least 1");
                None
            }
            Some(_) => self.count(key, sink),
            None => self.wrong(key, node, whole_number(node, 1), sink),
        }
    }

    /// Returns an integer.
    pub(crate) fn integer(&self, key: &str, sink: &mut Sink) -> Option<i64> {
        let node = self.node(key)?;
        match node.as_scalar().and_then(|s| s.text.trim().parse().ok()) {
            Some(number) => Some(number),
            None => self.wrong(key, node, "a whole number", sink),
        }
    }

    /// Returns a duration: seconds, or text such as `1h30m`.
    pub(crate) fn duration(&self, key: &str, sink: &mut Sink) -> Option<Duration> {
        let node = self.node(key)?;
        let Some(scalar) = node.as_scalar() else {
            return self.wrong(
                key,
                node,
                "a duration, such as `30` (seconds) or `1h30m`",
                sink,
            );
        };
        match parse_length(&scalar.text) {
            Ok(length) => Some(length),
            Err(problem) => {
                self.no_length(key, node, &scalar.text, problem, sink);
                None
            }
        }
    }

    /// Reports a text that is not a duration.
    pub(crate) fn no_length(
        &self,
        key: &str,
        node: &Node,
        text: &str,
        problem: LengthError,
        sink: &mut Sink,
    ) {
        let (message, help) = match problem {
            LengthError::Zero | LengthError::Seconds => (
                format!("`{key}` cannot be `{text}`"),
                Some("a duration is longer than zero, such as `30` or `1h30m`".to_owned()),
            ),
            LengthError::Words(error) => (format!("`{key}`: {}", error.message), error.hint),
        };
        sink.report_as(self.severity, Rule::InvalidValue, node.span, message)
            .maybe_help(help);
    }

    /// Returns a word of a closed set.
    pub(crate) fn choice<C: Choice>(&self, key: &str, sink: &mut Sink) -> Option<C> {
        let node = self.node(key)?;
        let Some(scalar) = node.as_scalar() else {
            return self.wrong(key, node, &words_of::<C>(), sink);
        };
        let choice = C::from_word(&scalar.text);
        if choice.is_none() {
            let message = format!("`{key}` cannot be `{}`", scalar.text);
            let words = C::WORDS.iter().map(|(word, _)| *word);
            let help = match nearest(&scalar.text, words) {
                Some(near) => format!("did you mean `{near}`? it takes {}", words_of::<C>()),
                None => format!("it takes {}", words_of::<C>()),
            };
            sink.report_as(self.severity, Rule::InvalidValue, node.span, message)
                .help(help);
        }
        choice
    }

    /// Returns a mapping, also from JSON in a text.
    pub(crate) fn mapping(&self, key: &str, sink: &mut Sink) -> Option<Mapping> {
        let node = self.node(key)?;
        let held = parse_embedded(node, self.file);
        if let Some(mapping) = held.as_ref().unwrap_or(node).as_mapping() {
            return Some(mapping.clone());
        }
        match find_json_error(node, self.file) {
            Some(broken) => self.not_json(key, broken, sink),
            None => self.wrong(key, node, "a mapping", sink),
        }
    }

    /// Returns any value as JSON.
    pub(crate) fn value(&self, key: &str) -> Option<Value> {
        self.map.get(key).map(Node::to_value)
    }

    /// Returns a mapping as a JSON object, empty if absent.
    pub(crate) fn mapping_value(&self, key: &str) -> Value {
        let object = self
            .node(key)
            .and_then(Node::as_mapping)
            .map(Mapping::to_object);
        Value::Object(object.unwrap_or_default())
    }

    /// Reports a text that should contain JSON and does not.
    pub(crate) fn not_json<T>(&self, key: &str, broken: Broken, sink: &mut Sink) -> Option<T> {
        let message = format!("`{key}` is not JSON: {}", broken.reason);
        sink.report_as(self.severity, Rule::WrongType, broken.span, message)
            .maybe_help(broken.help);
        None
    }

    /// Reports a value of the wrong type.
    pub(crate) fn wrong<T>(
        &self,
        key: &str,
        node: &Node,
        wanted: &str,
        sink: &mut Sink,
    ) -> Option<T> {
        let message = format!("`{key}` takes {wanted}, not {}", show_node(node));
        sink.report_as(self.severity, Rule::WrongType, node.span, message);
        None
    }

    /// Reports keys that are in none of the tables, and duplicate keys. Returns the unknown ones.
    pub(crate) fn check_keys(
        &self,
        tables: &[&[Field]],
        unknown: Severity,
        sink: &mut Sink,
    ) -> Vec<&'a Entry> {
        for entry in self.map.duplicates() {
            let message = format!("`{}` is given twice", entry.key);
            sink.report_as(self.severity, Rule::DuplicateKey, entry.key_span, message)
                .help("keep one of them");
        }
        let known = || {
            tables
                .iter()
                .flat_map(|table| table.iter())
                .map(|field| field.name)
        };
        let strangers = self
            .map
            .entries
            .iter()
            .filter(|e| !known().any(|name| name == e.key));
        strangers
            .inspect(|entry| {
                let message = format!("unknown key `{}`", entry.key);
                sink.report_as(unknown, Rule::UnknownKey, entry.key_span, message)
                    .maybe_help(
                        nearest(&entry.key, known()).map(|n| format!("did you mean `{n}`?")),
                    );
            })
            .collect()
    }
}

/// Returns the expected kind of number, with the minimum if the number is negative.
fn whole_number(node: &Node, least: u8) -> &'static str {
    let number = node.as_scalar().map(|scalar| scalar.text.trim());
    let negative = number.is_some_and(|text| text.parse::<i64>().is_ok_and(|n| n < 0));
    match (negative, least) {
        (false, _) => "a whole number",
        (true, 0) => "a whole number of at least 0",
        (true, _) => "a whole number of at least 1",
    }
}

/// Returns the words of a choice, for messages.
fn words_of<C: Choice>() -> String {
    let words: Vec<String> = C::WORDS
        .iter()
        .map(|(word, _)| format!("`{word}`"))
        .collect();
    match words.split_last() {
        Some((last, rest)) if !rest.is_empty() => format!("{} or {last}", rest.join(", ")),
        _ => words.concat(),
    }
}

/// Returns a value for messages: the value if it is short, otherwise its kind.
fn show_node(node: &Node) -> String {
    let short = |text: &str| {
        let length = text.chars().count();
        (1..=40).contains(&length) && !text.contains(['\n', '`'])
    };
    match node.as_scalar() {
        Some(scalar) if short(&scalar.text) => format!("`{}`", scalar.text),
        _ => node.describe().to_owned(),
    }
}
