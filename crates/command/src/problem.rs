//! What can be wrong with a command: a stable code, exact data, a sentence and a remedy.
//!
//! The first five codes are those of the seeds (S2.44). Not here: how problems are printed, and
//! lines and columns, which whoever has the text computes from a span.

use std::fmt;
use std::ops::Range;

use deft_model::{Choice, ProblemCode};

/// One thing that is wrong with a command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// What is wrong.
    pub kind: ProblemKind,
    /// Where, as a byte range of the text that was split; unknown once flags are values.
    pub span: Option<Range<usize>>,
}

/// What is wrong, with its data.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ProblemKind {
    /// Flags that must be given are not.
    MissingFlags {
        /// All of them, in the order of the page.
        flags: Vec<String>,
    },
    /// A value outside a closed set.
    InvalidValue {
        /// The flag.
        flag: String,
        /// What was given.
        value: String,
        /// What can be given.
        allowed: Vec<String>,
    },
    /// Values outside a closed set, in a list.
    InvalidValues {
        /// The flag.
        flag: String,
        /// Those that do not fit.
        values: Vec<String>,
        /// What can be given.
        allowed: Vec<String>,
    },
    /// A value that cannot be read as what the flag takes.
    InvalidType {
        /// The flag.
        flag: String,
        /// What was given.
        value: String,
        /// What it should be, as in `integer` or `date (YYYY-MM-DD)`.
        expected: String,
    },
    /// No skill has this name.
    UnknownSkill {
        /// What was written.
        name: String,
        /// What was probably meant.
        near: Option<String>,
    },
    /// A flag that takes a value was given without one.
    MissingValue {
        /// The flag.
        flag: String,
    },
    /// A flag that takes one value was given several.
    TooManyValues {
        /// The flag.
        flag: String,
        /// What was given.
        values: Vec<String>,
    },
    /// The page does not describe this flag.
    UnknownFlag {
        /// What was written, without dashes.
        flag: String,
        /// The flags that there are.
        known: Vec<String>,
    },
    /// A word that belongs to no flag.
    StrayPositional {
        /// The word.
        word: String,
        /// Why no flag takes it.
        stray: StrayReason,
    },
    /// One dash: the seeds have no short flags.
    ShortFlag {
        /// What was written.
        word: String,
        /// The only flag that begins with this letter.
        near: Option<String>,
    },
    /// Two dashes and no name behind them.
    InvalidFlag {
        /// What was written.
        word: String,
    },
    /// A quote that is never closed.
    UnclosedQuote {
        /// `"` or `'`.
        quote: char,
        /// The beginning of what stands behind it.
        before: String,
    },
    /// A backslash with nothing behind it.
    UnfinishedEscape,
    /// A quote that a word processor made.
    CurlyQuote {
        /// The quote.
        quote: char,
    },
    /// Something that only a shell understands (S2.51).
    ShellSyntax {
        /// The operator.
        operator: &'static str,
    },
    /// A `cmd` block that is never closed: the reply was cut off.
    UnclosedBlock,
    /// There is no command.
    Empty,
    /// The command does not begin with the name of a skill.
    NoSkill {
        /// What it begins with.
        word: String,
    },
    /// `get_skill` was asked for several things.
    ExtraTopic {
        /// The first word too many.
        word: String,
    },
    /// deft has no such handler in this version, so the command cannot be run.
    MissingHandler {
        /// The skill.
        skill: String,
        /// Its handler.
        handler: String,
    },
    /// A call in JSON that is not `{skill, flags}`.
    InvalidCall {
        /// What is wrong with it.
        reason: &'static str,
    },
}

/// Why no flag takes a word.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StrayReason {
    /// No flag stands before it; one that could.
    First(Option<String>),
    /// The flag before it takes no value.
    TakesNone(String),
    /// The flag before it takes one value, and has it.
    TakesOne(String),
    /// The flag before it has its value behind `=`.
    Assigned(String),
    /// It stands behind `--`.
    Ended,
}

impl From<ProblemKind> for Problem {
    fn from(kind: ProblemKind) -> Self {
        Self { kind, span: None }
    }
}

impl Problem {
    /// No skill has this name; the caller may know what was meant.
    pub fn unknown_skill(name: impl Into<String>, near: Option<String>) -> Self {
        let name = name.into();
        ProblemKind::UnknownSkill { name, near }.into()
    }

    pub(crate) fn at(kind: ProblemKind, span: Range<usize>) -> Self {
        Self {
            kind,
            span: Some(span),
        }
    }

    /// A word for programs, which never changes.
    pub fn code(&self) -> &'static str {
        self.problem_code().word()
    }

    /// The same, to decide on.
    pub fn problem_code(&self) -> ProblemCode {
        self.kind.code()
    }

    /// What to do about it.
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
