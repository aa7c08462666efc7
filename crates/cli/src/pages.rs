//! Long lists. Rows are read from the store and printed a page at a time, so a list of a million rows needs
//! no more memory than one of a thousand.
//!
//! By default a table shows the latest rows, and a JSON document all of them. Not here: the format of a row.

use serde_json::Value;

use crate::failure::Done;
use crate::output::{Output, check_write};
use crate::terminal::Stream;

/// The number of rows that a table shows by default.
const LATEST: u32 = 100;

/// The number of rows read at a time.
const PAGE: u32 = 1000;

/// The number of bytes of a document to buffer before a write.
const CHUNK: usize = 64 * 1024;

/// How many rows of a long list to show.
#[derive(Clone, Copy, Debug, clap::Args)]
pub(crate) struct Extent {
    /// Maximum number of results
    #[arg(long, value_name = "N", conflicts_with = "all")]
    limit: Option<u32>,
    /// Show all results; a table shows the latest 100 by default
    #[arg(long)]
    all: bool,
}

impl Extent {
    /// Returns the maximum number of rows to show, or `None` for no limit.
    fn most(self, output: &Output) -> Option<u32> {
        let whole = self.all || output.json;
        self.limit.or((!whole).then_some(LATEST))
    }

    /// Reads and shows the list page by page. `read` gets a maximum and returns at most that many rows after
    /// those of its previous call. Returns the total number of rows shown.
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

    /// Notes that a table does not show the whole list, unless a limit was given.
    pub(crate) fn note_omitted_rows(
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

/// A JSON document with one long list, written incrementally. The result is the same as if it had been
/// printed at once.
pub(crate) struct ListDocument {
    /// The text not yet written.
    pending: String,
    empty: bool,
}

impl ListDocument {
    /// Begins a document whose first field is the list `name`.
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

    /// Ends the list and the document; `fields` follow the list.
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
        check_write(Stream::Out.write_json(&text))
    }
}
