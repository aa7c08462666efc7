//! Long lists: rows come from the store a page at a time and leave at once, so that a list of a
//! million rows needs no more memory than one of a thousand.
//!
//! A table shows the latest rows unless it is told otherwise; a JSON document is always whole. Not
//! here: what a row looks like.

use serde_json::Value;

use crate::failure::Done;
use crate::output::{Output, written};
use crate::terminal::Stream;

/// How many rows a table shows unless told otherwise.
const LATEST: u32 = 100;

/// How many rows are read at a time.
const PAGE: u32 = 1000;

/// How much of a document is gathered before it is written.
const CHUNK: usize = 64 * 1024;

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

    /// Says that a table is not the whole list, unless a limit was given.
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
    /// The part that is not written yet.
    pending: String,
    empty: bool,
}

impl ListDocument {
    /// Begins a document whose first field is the list.
    pub(crate) fn begin(name: &str) -> Self {
        let name = Value::from(name);
        Self {
            pending: format!("{{\n  {name}: ["),
            empty: true,
        }
    }

    /// Adds an entry to the list.
    pub(crate) fn add(&mut self, entry: &Value) -> Done<()> {
        let comma = if self.empty { "" } else { "," };
        self.empty = false;
        let text = format!("{entry:#}").replace('\n', "\n    ");
        self.pending.push_str(&format!("{comma}\n    {text}"));
        if self.pending.len() < CHUNK {
            return Ok(());
        }
        self.write()
    }

    /// Ends the list and the document, with the fields that follow the list.
    pub(crate) fn end(mut self, fields: &[(&str, Value)]) -> Done<()> {
        self.pending
            .push_str(if self.empty { "]" } else { "\n  ]" });
        for (name, value) in fields {
            let name = Value::from(*name);
            let value = format!("{value:#}").replace('\n', "\n  ");
            self.pending.push_str(&format!(",\n  {name}: {value}"));
        }
        self.pending.push_str("\n}\n");
        self.write()
    }

    fn write(&mut self) -> Done<()> {
        let text = std::mem::take(&mut self.pending);
        written(Stream::Out.write_json(&text))
    }
}
