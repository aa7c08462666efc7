//! What both languages report about the names they read.
//!
//! It does not hold bound names (loop variables, comprehension targets, …): those never leave
//! the walk that finds the free ones.

use std::ops::Range;

/// A name the text reads.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NameUse {
    /// The name itself.
    pub name: String,
    /// Where the name stands.
    pub span: Range<usize>,
    /// True when a missing value does no harm here, e.g. under `default(…)` or `is defined`.
    pub guarded: bool,
    /// True when the value becomes part of a text as it is, so that `None` would stand there.
    pub printed: bool,
    /// The first attribute read on it with its span: `inputs.key` and `inputs["key"]` give `key`.
    ///
    /// A method call such as `info.get("x")` reads no attribute.
    pub attribute: Option<(String, Range<usize>)>,
}

/// Puts uses into the order of the text; the walks follow evaluation order instead.
pub(crate) fn in_text_order(mut uses: Vec<NameUse>) -> Vec<NameUse> {
    if !uses.is_sorted_by_key(|name| name.span.start) {
        uses.sort_by_key(|name| name.span.start);
    }
    uses
}
