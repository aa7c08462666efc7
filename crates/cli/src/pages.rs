//! Long lists: rows come from the store a page at a time and leave at once, so that a list of a
//! million rows needs no more memory than one of a thousand.
//!
//! A table shows the latest rows unless it is told otherwise; a JSON document is always whole. Not
//! here: what a row looks like.

use std::io::{self, BufWriter, IsTerminal, Stdout, Write};

use serde_json::Value;

use crate::failure::Done;
use crate::output::{Output, harmless, written};

/// How many rows a table shows unless told otherwise.
const LATEST: u32 = 100;

/// How many rows are read at a time.
const PAGE: u32 = 1000;

/// How much of a long list is wanted.
#[derive(Clone, Copy, Debug, clap::Args)]
pub(crate) struct Extent {
    /// Maximum number of results
    #[arg(long, value_name = "N", conflicts_with = "all")]
    limit: Option<u32>,
    /// Show all of them; a table shows the latest 100 otherwise
    #[arg(long)]
    all: bool,
}

impl Extent {
    /// How many rows to show at most.
    fn most(self, output: &Output) -> Option<u32> {
        let whole = self.all || output.json;
        self.limit.or((!whole).then_some(LATEST))
    }

    /// Reads page after page and shows each. `read` gives at most so many rows that follow those it
    /// gave before. Returns how many rows there were.
    pub(crate) fn show<T>(
        self,
        output: &Output,
        mut read: impl FnMut(u32) -> Done<Vec<T>>,
        mut show: impl FnMut(Vec<T>) -> Done<()>,
    ) -> Done<u64> {
        let mut left = self.most(output).unwrap_or(u32::MAX);
        let mut shown = 0;
        while left > 0 {
            let wanted = left.min(PAGE);
            let rows = read(wanted)?;
            let found = u32::try_from(rows.len()).unwrap_or(u32::MAX);
            if found > 0 {
                show(rows)?;
            }
            shown += u64::from(found);
            left -= found.min(left);
            if found < wanted {
                break;
            }
        }
        Ok(shown)
    }

    /// Says that a table is not the whole list, if that was nobody's wish.
    pub(crate) fn say_rest(
        self,
        output: &Output,
        shown: u64,
        count: impl FnOnce() -> Done<u64>,
    ) -> Done<()> {
        if self.limit.is_some() || self.all || shown < u64::from(LATEST) {
            return Ok(());
        }
        let all = count()?;
        if all > shown {
            output.note(&format!(
                "showing the latest {shown} of {all}; --all for all"
            ));
        }
        Ok(())
    }
}

/// A JSON document with one long list, written as its entries come. It looks as if it had been
/// printed in one piece.
pub(crate) struct ListDocument {
    out: BufWriter<Stdout>,
    empty: bool,
    terminal: bool,
}

impl ListDocument {
    /// Begins a document whose first field is the list.
    pub(crate) fn begin(name: &str) -> Done<Self> {
        let stdout = io::stdout();
        let mut document = Self {
            terminal: stdout.is_terminal(),
            out: BufWriter::new(stdout),
            empty: true,
        };
        let name = Value::from(name);
        document.write(&format!("{{\n  {name}: ["))?;
        Ok(document)
    }

    /// Adds an entry to the list.
    pub(crate) fn add(&mut self, entry: &Value) -> Done<()> {
        let comma = if self.empty { "" } else { "," };
        self.empty = false;
        let text = format!("{entry:#}").replace('\n', "\n    ");
        self.write(&format!("{comma}\n    {text}"))
    }

    /// Ends the list and the document, with the fields that follow the list.
    pub(crate) fn end(mut self, fields: &[(&str, Value)]) -> Done<()> {
        self.write(if self.empty { "]" } else { "\n  ]" })?;
        for (name, value) in fields {
            let name = Value::from(*name);
            let value = format!("{value:#}").replace('\n', "\n  ");
            self.write(&format!(",\n  {name}: {value}"))?;
        }
        self.write("\n}\n")?;
        written(self.out.flush())
    }

    fn write(&mut self, text: &str) -> Done<()> {
        written(if self.terminal {
            self.out.write_all(harmless(text).as_bytes())
        } else {
            self.out.write_all(text.as_bytes())
        })
    }
}
