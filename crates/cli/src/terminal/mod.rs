//! The only module that writes to stdout and stderr.
//!
//! Text is written as [`StyledText`], in which the control characters of values are escaped. `clippy.toml`
//! forbids the handles of the standard library everywhere else. Not here: the texts, and whether to use
//! colours.
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
    /// Standard output, for data.
    Out,
    /// Standard error, for everything else.
    Err,
}

impl Stream {
    pub(crate) fn is_terminal(self) -> bool {
        match self {
            Self::Out => io::stdout().is_terminal(),
            Self::Err => io::stderr().is_terminal(),
        }
    }

    /// Writes text from any source, with control characters escaped.
    pub(crate) fn write(self, text: impl Into<StyledText>) -> io::Result<()> {
        self.write_bytes(text.into().as_str().as_bytes())
    }

    /// Writes a JSON document, with control characters as JSON escapes.
    pub(crate) fn write_json(self, json: &str) -> io::Result<()> {
        self.write_bytes(visible_json(json).as_bytes())
    }

    /// Writes the content of a file byte for byte, but escapes control characters on a terminal.
    pub(crate) fn write_content(self, content: &str) -> io::Result<()> {
        if self.is_terminal() {
            return self.write(content);
        }
        self.write_bytes(content.as_bytes())
    }

    /// Writes `bytes` in one call, so lines of several threads do not mix.
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
