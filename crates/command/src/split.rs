//! Splits a text into commands and commands into words, like a shell (S2.38).
//!
//! A command ends with its line, but a quoted value may span lines, so the whole text is scanned.
//! Inside `'…'` no character is special; inside `"…"` a backslash escapes `"`, `\`, `$` and a backtick;
//! outside quotes it escapes any character, and at the end of a line it joins the next line. A line
//! that begins with `#` is a comment; elsewhere `#` is not special.
//!
//! Not here: variables, globs, pipes, redirections, substitutions. In quotes they are plain text;
//! unquoted, they are an error, because the author expects an effect that would not happen (S2.51). Not
//! `shlex`, because it reports neither spans nor which characters were quoted.

use deft_model::clip;
use std::ops::Range;

use crate::problem::{Problem, ProblemKind};
use crate::sentence::shorten_value;

/// One word of a command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Word {
    /// The word without its quotes.
    pub text: String,
    /// The byte range of the word in the text, quotes included.
    pub span: Range<usize>,
    /// Whether the word begins with a quote or an escape, so it is a value even if it looks like a
    /// flag.
    pub literal: bool,
}

/// The words of one command; never empty.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Line {
    /// The words.
    pub words: Vec<Word>,
    /// The command as it was written.
    pub raw: String,
    /// The byte range of the command in the text.
    pub span: Range<usize>,
}

/// Splits a text into its commands, in order. A command that cannot be parsed does not affect the
/// others, except that an unclosed quote ends the parsing.
pub fn split(text: &str) -> Vec<Result<Line, Problem>> {
    let mut scanner = Scanner { text, at: 0 };
    std::iter::from_fn(|| scanner.line()).collect()
}

/// Replaces a quoted or escaped character in [`Draft::bare`], so it cannot be an operator.
const QUOTED: char = '\0';

struct Scanner<'t> {
    text: &'t str,
    at: usize,
}

/// A word being read: its text, and a copy in which quoted characters are [`QUOTED`].
#[derive(Default)]
struct Draft {
    text: String,
    bare: String,
}

impl Scanner<'_> {
    fn line(&mut self) -> Option<Result<Line, Problem>> {
        self.skip_to_command()?;
        let mut words: Vec<Word> = Vec::new();
        let mut problem = None;
        while self.skip_blanks() {
            match self.word() {
                Ok((word, found)) => {
                    words.push(word);
                    problem = problem.or(found);
                }
                Err(unfinished) => {
                    self.at = self.text.len();
                    return Some(Err(unfinished));
                }
            }
        }
        let (first, last) = (words.first()?, words.last()?);
        let span = first.span.start..last.span.end;
        let raw = self.text[span.clone()].to_owned();
        Some(match problem {
            Some(problem) => Err(problem),
            None => Ok(Line { words, raw, span }),
        })
    }

    /// Advances to the first word of the next command; `None` at the end of the text.
    fn skip_to_command(&mut self) -> Option<()> {
        loop {
            match self.peek()? {
                '#' => self.skip_while(|c| c != '\n'),
                '\n' => self.at += 1,
                _ => {
                    let here = self.at;
                    self.skip_blanks();
                    if self.at == here {
                        return Some(());
                    }
                }
            }
        }
    }

    /// Skips blanks and joined lines; returns false at the end of the command.
    fn skip_blanks(&mut self) -> bool {
        loop {
            self.skip_while(|c| c.is_whitespace() && c != '\n');
            match joined_line(self.rest()) {
                Some(length) => self.at += length,
                None => return self.peek().is_some_and(|c| c != '\n'),
            }
        }
    }

    /// Reads a word, and its problem if the following words can still be read.
    fn word(&mut self) -> Result<(Word, Option<Problem>), Problem> {
        let start = self.at;
        let mut draft = Draft::default();
        while let Some(c) = self.peek().filter(|c| !c.is_whitespace()) {
            match c {
                '\'' => self.single(&mut draft)?,
                '"' => self.double(&mut draft)?,
                '\\' => self.escape(&mut draft)?,
                plain => {
                    draft.text.push(plain);
                    draft.bare.push(plain);
                    self.at += plain.len_utf8();
                }
            }
        }
        let span = start..self.at;
        let problem = draft
            .problem()
            .map(|kind| Problem::new_at(kind, span.clone()));
        let literal = draft.bare.is_empty() || draft.bare.starts_with(QUOTED);
        let text = draft.text;
        Ok((
            Word {
                text,
                span,
                literal,
            },
            problem,
        ))
    }

    fn single(&mut self, draft: &mut Draft) -> Result<(), Problem> {
        let inner = &self.text[self.at + 1..];
        let Some(length) = inner.find('\'') else {
            return Err(self.unclosed_quote('\''));
        };
        inner[..length].chars().for_each(|c| draft.push_quoted(c));
        self.at += length + 2;
        Ok(())
    }

    fn double(&mut self, draft: &mut Draft) -> Result<(), Problem> {
        let inner = &self.text[self.at + 1..];
        let mut characters = inner.char_indices();
        while let Some((at, c)) = characters.next() {
            match c {
                '"' => {
                    self.at += at + 2;
                    return Ok(());
                }
                '\\' => match inner[at + 1..].chars().next() {
                    Some(escaped @ ('"' | '\\' | '$' | '`')) => {
                        characters.next();
                        draft.push_quoted(escaped);
                    }
                    _ => draft.push_quoted(c),
                },
                _ => draft.push_quoted(c),
            }
        }
        Err(self.unclosed_quote('"'))
    }

    fn escape(&mut self, draft: &mut Draft) -> Result<(), Problem> {
        if let Some(length) = joined_line(self.rest()) {
            self.at += length;
            return Ok(());
        }
        let Some(escaped) = self.rest().chars().nth(1) else {
            let span = self.at..self.text.len();
            return Err(Problem::new_at(ProblemKind::UnfinishedEscape, span));
        };
        draft.push_quoted(escaped);
        self.at += 1 + escaped.len_utf8();
        Ok(())
    }

    /// The span covers the quote and the rest of its line only; the text may be long.
    fn unclosed_quote(&self, quote: char) -> Problem {
        let rest = self.rest();
        let line = rest.lines().next().unwrap_or(rest);
        let before = line.get(1..).unwrap_or_default().trim();
        let before = shorten_value(&clip(before, 20));
        let kind = ProblemKind::UnclosedQuote { quote, before };
        Problem::new_at(kind, self.at..self.at + line.len().max(1))
    }

    fn rest(&self) -> &str {
        &self.text[self.at..]
    }

    fn peek(&self) -> Option<char> {
        self.rest().chars().next()
    }

    fn skip_while(&mut self, skip: impl Fn(char) -> bool) {
        let rest = self.rest();
        let length = rest.find(|c| !skip(c)).unwrap_or(rest.len());
        self.at += length;
    }
}

/// Returns the length of a backslash followed by a line break.
fn joined_line(rest: &str) -> Option<usize> {
    let rest = rest.strip_prefix('\\')?;
    if rest.starts_with('\n') {
        Some(2)
    } else {
        rest.starts_with("\r\n").then_some(3)
    }
}

impl Draft {
    fn push_quoted(&mut self, c: char) {
        self.text.push(c);
        self.bare.push(QUOTED);
    }

    fn problem(&self) -> Option<ProblemKind> {
        if let Some(operator) = operator(&self.bare) {
            return Some(ProblemKind::ShellSyntax { operator });
        }
        // A quote inside a word may be an apostrophe, so only the start of the word or value counts:
        // `“Q1` or `--subject=“Q1`.
        let value = match self.bare.strip_prefix("--") {
            Some(flag) => flag.split_once('=')?.1,
            None => &self.bare,
        };
        let quote = value.chars().next()?;
        matches!(quote, '“' | '”' | '„' | '‘').then_some(ProblemKind::CurlyQuote { quote })
    }
}

/// Returns the shell operator that a word is, begins with or ends with. Operators inside a word, as in
/// `a|b` and `?x=1&y=2`, are text: models write URLs and patterns without quotes.
fn operator(bare: &str) -> Option<&'static str> {
    const LEADING: [&str; 9] = ["&&", "||", ">>", "<<", "2>", "|", "&", ";", ">"];
    const TRAILING: [&str; 5] = ["&&", "||", "|", "&", ";"];
    const AT_ANY_POSITION: [&str; 2] = ["$(", "`"];
    let found = |operators: &'static [&'static str], test: &dyn Fn(&str) -> bool| {
        operators.iter().copied().find(|operator| test(operator))
    };
    found(&LEADING, &|operator| bare.starts_with(operator))
        .or_else(|| found(&TRAILING, &|operator| bare.ends_with(operator)))
        .or_else(|| found(&AT_ANY_POSITION, &|operator| bare.contains(operator)))
        .or_else(|| (bare == "<").then_some("<"))
}
