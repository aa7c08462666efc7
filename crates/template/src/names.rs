//! Free names, as both languages report them.
//!
//! Bound names (loop variables, comprehension targets, …) are not included; the walks that find free names
//! handle them.

use std::ops::Range;

/// A use of a free name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NameUse {
    /// The name.
    pub name: String,
    /// Its byte range.
    pub span: Range<usize>,
    /// Whether a missing value does no harm here, e.g. under `default(…)` or `is defined`.
    pub guarded: bool,
    /// Whether the value is inserted into text directly, where `None` would be printed.
    pub printed: bool,
    /// The first attribute read from it, with its span: `key` for `inputs.key` and `inputs["key"]`.
    ///
    /// A method call such as `info.get("x")` reads no attribute.
    pub attribute: Option<(String, Range<usize>)>,
}

/// Sorts uses by position in the text; the walks follow evaluation order.
pub(crate) fn in_text_order(mut uses: Vec<NameUse>) -> Vec<NameUse> {
    if !uses.is_sorted_by_key(|name| name.span.start) {
        uses.sort_by_key(|name| name.span.start);
    }
    uses
}
