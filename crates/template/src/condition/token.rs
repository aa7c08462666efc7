//! The tokens of a condition.
//!
//! A token is a kind and a byte range; its text and value are taken from the source when needed.

use std::ops::Range;

/// How a string literal is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct StrStyle {
    pub(super) raw: bool,
    pub(super) bytes: bool,
    pub(super) format: bool,
    /// The length of the prefix.
    pub(super) prefix: usize,
    /// The length of the quotes at either end.
    pub(super) quotes: usize,
}

/// The kind of a token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Tok {
    Name,
    Int,
    Float,
    Imaginary,
    Str(StrStyle),
    And,
    Or,
    Not,
    In,
    Is,
    If,
    Else,
    For,
    Lambda,
    True,
    False,
    None,
    /// A keyword that never stands in an expression we take, such as `class` or `await`.
    Reserved,
    LeftParen,
    RightParen,
    LeftBracket,
    RightBracket,
    LeftBrace,
    RightBrace,
    Comma,
    Colon,
    Dot,
    Ellipsis,
    Assign,
    Walrus,
    Plus,
    Minus,
    Star,
    DoubleStar,
    Slash,
    DoubleSlash,
    Percent,
    At,
    Tilde,
    Pipe,
    Caret,
    Ampersand,
    ShiftLeft,
    ShiftRight,
    Less,
    LessEqual,
    Greater,
    GreaterEqual,
    Equal,
    NotEqual,
    End,
}

impl Tok {
    /// True for tokens that end an operand, so that an operand cannot follow at once.
    pub(super) fn ends_operand(self) -> bool {
        matches!(
            self,
            Tok::Name
                | Tok::Int
                | Tok::Float
                | Tok::Imaginary
                | Tok::Str(_)
                | Tok::True
                | Tok::False
                | Tok::None
                | Tok::Ellipsis
                | Tok::RightParen
                | Tok::RightBracket
                | Tok::RightBrace
        )
    }

    /// True for tokens that begin an operand.
    pub(super) fn starts_operand(self) -> bool {
        matches!(
            self,
            Tok::Name
                | Tok::Int
                | Tok::Float
                | Tok::Imaginary
                | Tok::Str(_)
                | Tok::True
                | Tok::False
                | Tok::None
        )
    }

    /// True for tokens after which the text stops or a bracket closes.
    pub(super) fn stops(self) -> bool {
        matches!(
            self,
            Tok::End | Tok::RightParen | Tok::RightBracket | Tok::RightBrace
        )
    }
}

/// A token and where it stands.
#[derive(Clone, Copy, Debug)]
pub(super) struct Token {
    pub(super) tok: Tok,
    pub(super) start: usize,
    pub(super) end: usize,
}

impl Token {
    pub(super) fn span(self) -> Range<usize> {
        self.start..self.end
    }
}

/// The keyword with this text, or a plain name.
pub(super) fn keyword(text: &str) -> Tok {
    match text {
        "and" => Tok::And,
        "or" => Tok::Or,
        "not" => Tok::Not,
        "in" => Tok::In,
        "is" => Tok::Is,
        "if" => Tok::If,
        "else" => Tok::Else,
        "for" => Tok::For,
        "lambda" => Tok::Lambda,
        "True" => Tok::True,
        "False" => Tok::False,
        "None" => Tok::None,
        "as" | "assert" | "async" | "await" | "break" | "class" | "continue" | "def" | "del"
        | "elif" | "except" | "finally" | "from" | "global" | "import" | "nonlocal" | "pass"
        | "raise" | "return" | "try" | "while" | "with" | "yield" => Tok::Reserved,
        _ => Tok::Name,
    }
}
