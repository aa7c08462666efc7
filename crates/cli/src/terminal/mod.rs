//! The only door to stdout and stderr.
//!
//! Text goes through as [`StyledText`], which has made everything visible that would command a terminal.
//! `clippy.toml` forbids the handles of the standard library everywhere else. Not here: what is said,
//! and whether colours are wanted.
#![expect(
    clippy::disallowed_methods,
    reason = "this module is the one that may write to stdout and stderr"
)]

pub(crate) mod pager;
mod styled;

use std::io::{self, IsTerminal, Write};

use deft_wire::model::visible_json;

pub(crate) use styled::StyledText;

/// A standard stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stream {
    /// For data.
    Out,
    /// For everything else.
    Err,
}

impl Stream {
    pub(crate) fn is_terminal(self) -> bool {
        match self {
            Self::Out => io::stdout().is_terminal(),
            Self::Err => io::stderr().is_terminal(),
        }
    }

    /// Writes text from anywhere, in a visible form.
    pub(crate) fn write(self, text: impl Into<StyledText>) -> io::Result<()> {
        self.write_bytes(text.into().as_str().as_bytes())
    }

    /// Writes a JSON document as JSON that shows everything.
    pub(crate) fn write_json(self, json: &str) -> io::Result<()> {
        self.write_bytes(visible_json(json).as_bytes())
    }

    /// Writes the content of a file, for a program that wants every byte of it. A terminal gets it in
    /// a visible form.
    pub(crate) fn write_content(self, content: &str) -> io::Result<()> {
        if self.is_terminal() {
            return self.write(content);
        }
        self.write_bytes(content.as_bytes())
    }

    /// In one call, so that lines of several threads do not mix.
    fn write_bytes(self, bytes: &[u8]) -> io::Result<()> {
        if let Some(taken) = pager::take(self, bytes) {
            return taken;
        }
        match self {
            Self::Out => write_to(&mut io::stdout().lock(), bytes),
            Self::Err => write_to(&mut io::stderr().lock(), bytes),
        }
    }
}

fn write_to(stream: &mut dyn Write, bytes: &[u8]) -> io::Result<()> {
    stream.write_all(bytes)?;
    stream.flush()
}
