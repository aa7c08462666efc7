//! The names of the filters, tests and functions of templates.
//!
//! `render` implements them, and a test checks that both lists agree. Arguments are not checked before
//! rendering.

use std::ops::Range;

use crate::error::SyntaxError;

/// Filters, sorted.
#[rustfmt::skip]
const FILTERS: [&str; 55] = [
    "abs", "attr", "batch", "bool", "capitalize", "center", "chain", "count", "d", "default",
    "dictsort", "e", "escape", "filesizeformat", "first", "float", "forceescape", "format",
    "groupby", "indent", "int", "items", "join", "last", "length", "lines", "list", "lower", "map",
    "max", "min", "pprint", "reject", "rejectattr", "replace", "reverse", "round", "safe", "select",
    "selectattr", "slice", "sort", "split", "string", "striptags", "sum", "title", "tojson", "trim",
    "truncate", "unique", "upper", "urlencode", "wordcount", "zip",
];

/// Filters of Jinja2 that deft does not support, each with an alternative.
const LEFT_OUT: [(&str, &str); 4] = [
    (
        "random",
        "a template gives the same text each time; choose in a `compute` step",
    ),
    ("urlize", "text is not HTML here; write the link yourself"),
    ("wordwrap", "wrap the text in a `compute` step"),
    (
        "xmlattr",
        "text is not HTML here; write the attributes yourself",
    ),
];

/// Tests, sorted. Operators are included for `select("==", 1)` and the like.
#[rustfmt::skip]
const TESTS: [&str; 42] = [
    "!=", "<", "<=", "==", ">", ">=", "boolean", "defined", "divisibleby", "endingwith", "eq",
    "equalto", "escaped", "even", "false", "filter", "float", "ge", "greaterthan", "gt", "in",
    "int", "integer", "iterable", "le", "lessthan", "lower", "lt", "mapping", "ne", "none",
    "number", "odd", "safe", "sameas", "sequence", "startingwith", "string", "test", "true",
    "undefined", "upper",
];

/// Functions, sorted.
const FUNCTIONS: [&str; 3] = ["dict", "namespace", "range"];

/// Names of our filters in other template engines or Python.
const FILTER_ALIASES: [(&str, &str); 12] = [
    ("dictitems", "items"),
    ("downcase", "lower"),
    ("json", "tojson"),
    ("len", "length"),
    ("lowercase", "lower"),
    ("size", "length"),
    ("str", "string"),
    ("strip", "trim"),
    ("to_json", "tojson"),
    ("upcase", "upper"),
    ("uppercase", "upper"),
    ("uniq", "unique"),
];

/// Names of our tests in other template engines or Python.
const TEST_ALIASES: [(&str, &str); 7] = [
    ("bool", "boolean"),
    ("dict", "mapping"),
    ("list", "sequence"),
    ("nil", "none"),
    ("null", "none"),
    ("str", "string"),
    ("None", "none"),
];

/// Whether `name` is a built-in function.
pub(super) fn is_function(name: &str) -> bool {
    FUNCTIONS.binary_search(&name).is_ok()
}

/// Checks the name of a filter that begins at byte `start`.
pub(super) fn check_filter(name: &str, start: usize) -> Result<(), SyntaxError> {
    if let Some((_, instead)) = LEFT_OUT.iter().find(|(left_out, _)| *left_out == name) {
        let message = format!("Jinja's filter `{name}` is not supported");
        return Err(SyntaxError::new(message, start..start + name.len()).with_hint(*instead));
    }
    check("filter", name, start, &FILTERS, &FILTER_ALIASES)
}

/// Checks the name of a test that begins at byte `start`.
pub(super) fn check_test(name: &str, start: usize) -> Result<(), SyntaxError> {
    check("test", name, start, &TESTS, &TEST_ALIASES)
}

fn check(
    what: &str,
    name: &str,
    start: usize,
    known: &[&str],
    aliases: &[(&str, &str)],
) -> Result<(), SyntaxError> {
    if known.binary_search(&name).is_ok() {
        return Ok(());
    }
    let span: Range<usize> = start..start + name.len();
    let error = SyntaxError::new(format!("unknown {what} `{name}`"), span);
    let alias = aliases.iter().find(|(alias, _)| *alias == name);
    let closest = match alias {
        Some((_, ours)) => Some(*ours),
        None => deft_model::nearest(name, known.iter().copied()),
    };
    Err(match closest {
        Some(closest) => error.with_hint(format!("did you mean `{closest}`?")),
        None => error,
    })
}

#[cfg(test)]
mod tests {
    use super::{FILTERS, TESTS};
    use crate::template::render::{filters, tests};
    use deft_values::Value;
    use deft_values::args::Args;
    use deft_values::budget::Budget;

    #[test]
    fn lists_are_sorted() {
        assert!(FILTERS.is_sorted() && TESTS.is_sorted());
    }

    #[test]
    fn every_builtin_is_implemented() {
        let budget = Budget::default();
        for name in FILTERS {
            let outcome = filters::apply(name, Value::str("a"), Args::default(), &budget);
            let message = outcome.map_err(|fault| fault.finish("").message).err();
            assert_ne!(
                message,
                Some(format!("the filter `{name}` is not supported here"))
            );
        }
        for name in TESTS {
            let outcome = tests::apply(name, &Value::str("a"), Args::default(), &budget);
            let message = outcome.map_err(|fault| fault.finish("").message).err();
            assert_ne!(message, Some(format!("unknown test `{name}`")));
        }
    }
}
