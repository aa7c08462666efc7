//! The problems of a command: a stable code, exact data, a sentence and a hint.
//!
//! The first five codes come from the seeds (S2.44). Not here: how problems are printed, and line and
//! column numbers, which the caller computes from a span.

use std::fmt;
use std::ops::Range;

use deft_model::{Choice, ProblemCode};

/// One problem in a command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// The kind of problem, with its data.
    pub kind: ProblemKind,
    /// The byte range in the text that was split; `None` for problems found after the flags became
    /// values.
    pub span: Option<Range<usize>>,
}

/// A kind of problem, with its data.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ProblemKind {
    /// Required flags are missing.
    MissingFlags {
        /// All missing flags, in the order of the page.
        flags: Vec<String>,
    },
    /// A value is not in a closed set.
    InvalidValue {
        /// The flag.
        flag: String,
        /// The value given.
        value: String,
        /// The allowed values.
        allowed: Vec<String>,
    },
    /// Values of a list are not in a closed set.
    InvalidValues {
        /// The flag.
        flag: String,
        /// The values that are not allowed.
        values: Vec<String>,
        /// The allowed values.
        allowed: Vec<String>,
    },
    /// A value cannot be parsed as the type that the flag takes.
    InvalidType {
        /// The flag.
        flag: String,
        /// The value given.
        value: String,
        /// The expected type, such as `integer` or `date (YYYY-MM-DD)`.
        expected: String,
    },
    /// No skill has this name.
    UnknownSkill {
        /// The name as written.
        name: String,
        /// The most similar name of a skill.
        near: Option<String>,
    },
    /// A flag that needs a value has none.
    MissingValue {
        /// The flag.
        flag: String,
    },
    /// A flag that takes one value has several.
    TooManyValues {
        /// The flag.
        flag: String,
        /// The values given.
        values: Vec<String>,
    },
    /// The page does not describe this flag.
    UnknownFlag {
        /// The name as written, without dashes.
        flag: String,
        /// The flags that the page describes.
        known: Vec<String>,
    },
    /// A word belongs to no flag.
    StrayPositional {
        /// The word.
        word: String,
        /// Why no flag takes it.
        stray: StrayReason,
    },
    /// A flag with one dash: there are no short flags.
    ShortFlag {
        /// The word as written.
        word: String,
        /// The flag that begins with these letters, if exactly one does.
        near: Option<String>,
    },
    /// Two dashes without a valid name after them.
    InvalidFlag {
        /// The word as written.
        word: String,
    },
    /// A quote is not closed.
    UnclosedQuote {
        /// `"` or `'`.
        quote: char,
        /// The first characters after the quote.
        before: String,
    },
    /// A backslash at the end of the text.
    UnfinishedEscape,
    /// A typographic quote, as word processors write it.
    CurlyQuote {
        /// The quote.
        quote: char,
    },
    /// Syntax that only a shell understands (S2.51).
    ShellSyntax {
        /// The operator.
        operator: &'static str,
    },
    /// A `cmd` block is not closed: the reply was cut off.
    UnclosedBlock,
    /// The command is empty.
    Empty,
    /// The command does not begin with the name of a skill.
    NoSkill {
        /// The first word.
        word: String,
    },
    /// `get_skill` was called with more than one topic.
    ExtraTopic {
        /// The first extra word.
        word: String,
    },
    /// This version of deft does not have the handler, so the command cannot run.
    MissingHandler {
        /// The skill.
        skill: String,
        /// Its handler.
        handler: String,
    },
    /// A JSON call that is not `{skill, flags}`.
    InvalidCall {
        /// The reason.
        reason: &'static str,
    },
}

/// Why no flag takes a word.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StrayReason {
    /// No flag precedes it; the value is a flag that could.
    First(Option<String>),
    /// The preceding flag takes no value.
    TakesNone(String),
    /// The preceding flag takes one value and already has it.
    TakesOne(String),
    /// The preceding flag already has its value after `=`.
    Assigned(String),
    /// The word comes after `--`.
    Ended,
}

impl From<ProblemKind> for Problem {
    fn from(kind: ProblemKind) -> Self {
        Self { kind, span: None }
    }
}

impl Problem {
    /// Returns the problem of an unknown skill; `near` is the most similar name.
    pub fn unknown_skill(name: impl Into<String>, near: Option<String>) -> Self {
        let name = name.into();
        ProblemKind::UnknownSkill { name, near }.into()
    }

    pub(crate) fn new_at(kind: ProblemKind, span: Range<usize>) -> Self {
        Self {
            kind,
            span: Some(span),
        }
    }

    /// Returns the code as a word for programs; it never changes.
    pub fn code(&self) -> &'static str {
        self.problem_code().word()
    }

    /// Returns the code as an enum.
    pub fn problem_code(&self) -> ProblemCode {
        self.kind.code()
    }

    /// Returns a hint for fixing the problem; `None` if the message suffices.
    pub fn hint(&self) -> Option<String> {
        self.kind.hint()
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.kind.fmt(f)
    }
}

impl std::error::Error for Problem {}

impl ProblemKind {
    fn code(&self) -> ProblemCode {
        match self {
            Self::MissingFlags { .. } => ProblemCode::MissingFlags,
            Self::InvalidValue { .. } => ProblemCode::InvalidValue,
            Self::InvalidValues { .. } => ProblemCode::InvalidValues,
            Self::InvalidType { .. } => ProblemCode::InvalidType,
            Self::UnknownSkill { .. } => ProblemCode::UnknownSkill,
            Self::MissingValue { .. } => ProblemCode::MissingValue,
            Self::TooManyValues { .. } => ProblemCode::TooManyValues,
            Self::UnknownFlag { .. } => ProblemCode::UnknownFlag,
            Self::StrayPositional { .. } => ProblemCode::StrayPositional,
            Self::ShortFlag { .. } => ProblemCode::ShortFlag,
            Self::InvalidFlag { .. } => ProblemCode::InvalidFlag,
            Self::UnclosedQuote { .. } => ProblemCode::UnclosedQuote,
            Self::UnfinishedEscape => ProblemCode::UnfinishedEscape,
            Self::CurlyQuote { .. } => ProblemCode::CurlyQuote,
            Self::ShellSyntax { .. } => ProblemCode::ShellSyntax,
            Self::UnclosedBlock => ProblemCode::UnclosedBlock,
            Self::Empty => ProblemCode::Empty,
            Self::NoSkill { .. } => ProblemCode::NoSkill,
            Self::ExtraTopic { .. } => ProblemCode::ExtraTopic,
            Self::InvalidCall { .. } => ProblemCode::InvalidCall,
            Self::MissingHandler { .. } => ProblemCode::MissingHandler,
        }
    }
}
