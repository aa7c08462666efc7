//! Builds the tree from parser events.

use std::collections::HashMap;

use granit_parser::{Event, Options, Parser, ScalarStyle, StructureStyle};

use super::node::{Entry, Kind, Mapping, Node, Scalar, Style};
use crate::span::Span;

/// Maximum number of nodes of a document after aliases are resolved. A workflow has a few hundred; an alias
/// bomb has billions.
const MAX_NODES: usize = 200_000;

/// The error for text that is not YAML, or not YAML that deft accepts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Error {
    pub message: String,
    pub span: Span,
}

/// Parses one document. `offset` is the start of `text` in its file, so that all spans refer to the file.
/// Returns `None` if there are only comments.
pub(crate) fn parse(text: &str, offset: usize) -> Result<Option<Node>, Error> {
    let mut builder = Builder {
        text,
        offset,
        anchors: HashMap::new(),
        nodes: 0,
        last: 0,
        events: Parser::new_from_str_with_options(text, options()),
    };
    builder.document()
}

fn options() -> Options {
    let mut options = Options::default();
    options.set_emit_comments(false);
    options
}

struct Builder<'a, I> {
    text: &'a str,
    offset: usize,
    anchors: HashMap<usize, Node>,
    nodes: usize,
    /// The end of the last event, for errors without a span.
    last: usize,
    events: I,
}

impl<'a, I> Builder<'a, I>
where
    I: Iterator<Item = Result<(Event<'a>, granit_parser::Span), granit_parser::ScanError>>,
{
    #[expect(
        clippy::wildcard_enum_match_arm,
        reason = "the events belong to the YAML parser"
    )]
    fn document(&mut self) -> Result<Option<Node>, Error> {
        let mut root = None;
        loop {
            let (event, span) = self.next()?;
            match event {
                Event::StreamStart | Event::DocumentEnd => {}
                Event::StreamEnd => return Ok(root),
                Event::DocumentStart(..) if root.is_some() => {
                    return Err(error(span, "a second document starts here; one is allowed"));
                }
                Event::DocumentStart(..) => root = self.root()?,
                other => drop(self.node(other, span)?),
            }
        }
    }

    /// Parses the root node; `None` if the document contains only comments.
    fn root(&mut self) -> Result<Option<Node>, Error> {
        let (event, span) = self.next()?;
        let node = self.node(event, span)?;
        let empty =
            matches!(&node.kind, Kind::Scalar(s) if s.text.is_empty() && s.style == Style::Plain);
        Ok((!empty || node.decorated).then_some(node))
    }

    #[expect(
        clippy::wildcard_enum_match_arm,
        reason = "the events belong to the YAML parser"
    )]
    fn node(&mut self, event: Event<'a>, span: Span) -> Result<Node, Error> {
        self.nodes += 1;
        if self.nodes > MAX_NODES {
            return Err(error(
                span,
                format!("more than {MAX_NODES} values in one document"),
            ));
        }
        match event {
            Event::Scalar(text, style, anchor, tag) => {
                // The parser reports a missing value as `~`.
                let is_none = style == ScalarStyle::Plain && span.start() == span.end();
                let scalar = Scalar {
                    text: if is_none {
                        String::new()
                    } else {
                        text.into_owned()
                    },
                    style: style_of(style),
                };
                Ok(self.keep(anchor, tag.is_some(), span, Kind::Scalar(scalar)))
            }
            Event::SequenceStart(style, anchor, tag) => {
                let (items, end) = self.items()?;
                let flow = style == StructureStyle::Flow;
                let span = Span::new(span.start(), end);
                Ok(self.keep(anchor, tag.is_some(), span, Kind::Sequence { items, flow }))
            }
            Event::MappingStart(style, anchor, tag) => {
                let flow = style == StructureStyle::Flow;
                let (entries, end) = self.entries()?;
                let span = Span::new(span.start(), end);
                let mapping = Mapping { entries, flow };
                Ok(self.keep(anchor, tag.is_some(), span, Kind::Mapping(mapping)))
            }
            Event::Alias(id) => self.alias(id, span),
            _ => Err(error(span, "expected a value")),
        }
    }

    fn keep(&mut self, anchor: usize, tagged: bool, span: Span, kind: Kind) -> Node {
        let node = Node {
            span,
            kind,
            decorated: anchor != 0 || tagged,
        };
        if anchor != 0 {
            self.anchors.insert(anchor, node.clone());
        }
        node
    }

    fn alias(&mut self, id: usize, span: Span) -> Result<Node, Error> {
        let Some(target) = self.anchors.get(&id) else {
            return Err(error(span, "the alias refers to a value that contains it"));
        };
        let mut node = target.clone();
        self.nodes += count(&node);
        node.span = span;
        node.decorated = true;
        Ok(node)
    }

    fn items(&mut self) -> Result<(Vec<Node>, usize), Error> {
        let mut items = Vec::new();
        loop {
            let (event, span) = self.next()?;
            if matches!(event, Event::SequenceEnd) {
                return Ok((items, self.end_of(span)));
            }
            items.push(self.node(event, span)?);
        }
    }

    fn entries(&mut self) -> Result<(Vec<Entry>, usize), Error> {
        let mut entries = Vec::new();
        let mut merged = Vec::new();
        loop {
            let (event, span) = self.next()?;
            if matches!(event, Event::MappingEnd) {
                add_merged(&mut entries, merged);
                return Ok((entries, self.end_of(span)));
            }
            let key = self.node(event, span)?;
            let Kind::Scalar(scalar) = key.kind else {
                return Err(error(key.span, "a key must be plain text"));
            };
            let (event, span) = self.next()?;
            let value = self.node(event, span)?;
            if scalar.text == "<<" && scalar.style == Style::Plain {
                merge(&mut merged, &value)?;
                continue;
            }
            entries.push(Entry {
                key: scalar.text,
                key_span: key.span,
                value,
            });
        }
    }

    /// Returns the end of a block collection: the end of its last line, not the start of the next key, where
    /// the parser detects it.
    fn end_of(&self, span: Span) -> usize {
        let end = span.end().saturating_sub(self.offset).min(self.text.len());
        self.offset + self.text[..end].trim_end().len()
    }

    fn next(&mut self) -> Result<(Event<'a>, Span), Error> {
        match self.events.next() {
            Some(Ok((event, span))) => {
                let range = span.byte_range().unwrap_or(self.last..self.last);
                self.last = range.end;
                Ok((event, self.shift(range)))
            }
            Some(Err(problem)) => Err(self.problem(&problem)),
            None => Ok((Event::StreamEnd, self.shift(self.last..self.last))),
        }
    }

    fn shift(&self, range: std::ops::Range<usize>) -> Span {
        Span::new(self.offset + range.start, self.offset + range.end)
    }

    fn problem(&self, problem: &granit_parser::ScanError) -> Error {
        let at = problem.marker().byte_offset().unwrap_or(self.last);
        Error {
            message: problem.info(),
            span: self.shift(at..at),
        }
    }
}

/// Adds the entries of merge keys that are not given explicitly, wherever the merge keys are.
fn add_merged(entries: &mut Vec<Entry>, merged: Vec<Entry>) {
    let written: std::collections::HashSet<String> =
        entries.iter().map(|entry| entry.key.clone()).collect();
    let missing = merged
        .into_iter()
        .filter(|entry| !written.contains(&entry.key));
    entries.extend(missing);
}

/// Collects the entries of a merge key; the first of several sources takes precedence.
fn merge(entries: &mut Vec<Entry>, value: &Node) -> Result<(), Error> {
    let sources: Vec<&Mapping> = match &value.kind {
        Kind::Mapping(mapping) => vec![mapping],
        Kind::Sequence { items, .. } => items.iter().filter_map(Node::as_mapping).collect(),
        Kind::Scalar(_) => return Err(error(value.span, "`<<` takes a mapping")),
    };
    for entry in sources.iter().flat_map(|source| &source.entries) {
        if !entries.iter().any(|known| known.key == entry.key) {
            entries.push(entry.clone());
        }
    }
    Ok(())
}

fn count(node: &Node) -> usize {
    match &node.kind {
        Kind::Scalar(_) => 1,
        Kind::Sequence { items, .. } => 1 + items.iter().map(count).sum::<usize>(),
        Kind::Mapping(mapping) => {
            1 + mapping
                .entries
                .iter()
                .map(|e| count(&e.value))
                .sum::<usize>()
        }
    }
}

fn style_of(style: ScalarStyle) -> Style {
    match style {
        ScalarStyle::Plain => Style::Plain,
        ScalarStyle::SingleQuoted => Style::SingleQuoted,
        ScalarStyle::DoubleQuoted => Style::DoubleQuoted,
        ScalarStyle::Literal => Style::Literal,
        ScalarStyle::Folded => Style::Folded,
    }
}

fn error(span: Span, message: impl Into<String>) -> Error {
    Error {
        message: message.into(),
        span,
    }
}
