//! Properties: no input causes a panic, and spans are within the text.

use deft_template::{Condition, EvalError, NameUse, SyntaxError, Template};
use proptest::prelude::*;
use serde_json::json;

use crate::world::World;

/// Tokens of both grammars, so that random texts get past the first token.
const PIECES: [&str; 76] = [
    "{{",
    "}}",
    "{%",
    "%}",
    "{#",
    "#}",
    "{{-",
    "-}}",
    "(",
    ")",
    "[",
    "]",
    "{",
    "}",
    " ",
    "\n",
    "a",
    "b.c",
    "if",
    "else",
    "elif",
    "endif",
    "for",
    "in",
    "endfor",
    "set",
    "endset",
    "with",
    "raw",
    "endraw",
    "not",
    "and",
    "or",
    "is",
    "defined",
    "|",
    "default",
    "lambda",
    ":",
    ":=",
    "=",
    "==",
    "!=",
    "<",
    "<=",
    "+",
    "-",
    "*",
    "**",
    "/",
    "//",
    "%",
    "@",
    "~",
    "^",
    "&",
    "<<",
    ",",
    ".",
    "...",
    "1",
    "0x1f",
    "1.5e3",
    "2j",
    "'s'",
    "\"t\"",
    "f'",
    "f\"{a!r:>{w}}\"",
    "b'x'",
    "r'\\d'",
    "'''",
    "\\",
    "é",
    "✅",
    "None",
    "#",
];

fn grammar_like() -> impl Strategy<Value = String> {
    let piece = prop::sample::select(PIECES.as_slice());
    prop::collection::vec(piece, 0..24).prop_map(|pieces| pieces.concat())
}

fn spaced() -> impl Strategy<Value = String> {
    let piece = prop::sample::select(PIECES.as_slice());
    prop::collection::vec(piece, 0..16).prop_map(|pieces| pieces.join(" "))
}

fn text() -> impl Strategy<Value = String> {
    prop_oneof![any::<String>(), grammar_like(), spaced()]
}

fn check_names(text: &str, names: &[NameUse]) {
    assert!(names.is_sorted_by_key(|name| name.span.start));
    for name in names {
        let shown = text.get(name.span.clone()).unwrap();
        // As in Python, compatibility forms of a letter are normalised to the letter.
        assert!(shown == name.name || !shown.is_ascii(), "{shown}");
        if let Some((_, span)) = &name.attribute {
            assert!(text.get(span.clone()).is_some());
            assert!(span.start >= name.span.end);
        }
    }
}

fn check_error(text: &str, error: &SyntaxError) {
    assert!(text.get(error.span.clone()).is_some(), "{error:?}");
    assert!(!error.message.is_empty());
    assert!(!error.message.ends_with('.') && !error.message.contains("(in "));
    assert!(!error.message.starts_with(|c: char| c.is_ascii_uppercase()));
}

/// Values for the names in `PIECES` and in generated operands.
fn world() -> World {
    World(json!({
        "a": {"k": [1, 2.5, null], "c": "x"},
        "b": {"c": "text, more"},
        "n": 3,
        "s": "é✅ straße",
        "xs": [3, 1, 2],
        "ps": [{"name": "Ann", "age": 1}, {"name": "bob", "age": null}],
    }))
}

fn check_fault(text: &str, error: &EvalError) {
    assert!(text.get(error.span.clone()).is_some(), "{error:?}");
    assert!(
        !error.message.is_empty() && !error.message.ends_with('.'),
        "{error:?}"
    );
}

fn check_template(text: &str) {
    match Template::parse(text) {
        Ok(template) => {
            check_names(text, template.names());
            let outcomes = (template.render(&world()), template.render_text(&world()));
            outcomes
                .0
                .err()
                .iter()
                .for_each(|error| check_fault(text, error));
            outcomes
                .1
                .err()
                .iter()
                .for_each(|error| check_fault(text, error));
        }
        Err(error) => check_error(text, &error),
    }
}

fn check_condition(text: &str) {
    match Condition::parse(text) {
        Ok(condition) => {
            check_names(text, condition.names());
            assert!(text.get(condition.expr().span.clone()).is_some());
            let outcomes = (condition.evaluate(&world()), condition.is_true(&world()));
            outcomes
                .0
                .err()
                .iter()
                .for_each(|error| check_fault(text, error));
            outcomes
                .1
                .err()
                .iter()
                .for_each(|error| check_fault(text, error));
        }
        Err(error) => check_error(text, &error),
    }
}

const OPERANDS: [&str; 30] = [
    "None", "True", "0", "-7", "2.5", "1e300", "10**30", "''", "'ab'", "' a b '", "'%s'", "'{}'",
    "[]", "[1, 'a']", "{}", "{'k': 1}", "{1, 2}", "(1,)", "a", "b.c", "n", "s", "xs", "ps", "a.k",
    "range(3)", "xs[::-1]", "s[2:]", "missing", "str",
];
const OPERATORS: [&str; 24] = [
    "+",
    "-",
    "*",
    "/",
    "//",
    "%",
    "**",
    "<<",
    ">>",
    "&",
    "|",
    "^",
    "<",
    "<=",
    "==",
    "!=",
    "in",
    "not in",
    "is",
    "is not",
    "and",
    "or",
    "if n else",
    ",",
];
#[rustfmt::skip]
const CALLS: [&str; 44] = [
    "len", "str", "int", "float", "bool", "list", "dict", "set", "tuple", "sorted", "reversed", "min",
    "max", "sum", "any", "all", "abs", "round", "enumerate", "zip", "range", "repr", "ord", "chr", "iter",
    "type", "hex", "callable", "frozenset", "ascii", "format", "divmod", "pow", "next", "map", "filter",
    "isinstance", "hasattr", "getattr", "bin", "oct", "hash", "lambda v=1:", "not ",
];
#[rustfmt::skip]
const METHODS: [&str; 40] = [
    "split", "rsplit", "strip", "join", "replace", "find", "index", "count", "startswith", "endswith",
    "upper", "lower", "title", "capitalize", "center", "ljust", "rjust", "zfill", "format", "partition",
    "splitlines", "isdigit", "isalpha", "istitle", "swapcase", "casefold", "removeprefix", "get", "items",
    "keys", "values", "copy", "union", "difference", "issubset", "isdisjoint", "bit_length",
    "is_integer", "fromkeys", "encode",
];
const FILTERS: [&str; 36] = [
    "upper",
    "title",
    "trim",
    "replace",
    "center",
    "indent",
    "truncate",
    "wordcount",
    "urlencode",
    "split",
    "lines",
    "length",
    "list",
    "first",
    "last",
    "join",
    "reverse",
    "items",
    "batch",
    "slice",
    "sort",
    "unique",
    "min",
    "sum",
    "map",
    "select",
    "groupby",
    "dictsort",
    "int",
    "float",
    "round",
    "tojson",
    "abs",
    "default",
    "format",
    "attr",
];

/// Generates expressions that both languages accept, and that are usually meaningful.
fn operand() -> impl Strategy<Value = String> {
    let leaf = prop::sample::select(OPERANDS.as_slice()).prop_map(str::to_owned);
    leaf.prop_recursive(4, 24, 3, |inner| {
        let operator = prop::sample::select(OPERATORS.as_slice());
        let call = prop::sample::select(CALLS.as_slice());
        let method = prop::sample::select(METHODS.as_slice());
        let filter = prop::sample::select(FILTERS.as_slice());
        let pair = (inner.clone(), inner.clone());
        prop_oneof![
            (pair.clone(), operator).prop_map(|((x, y), op)| format!("({x} {op} {y})")),
            (pair.clone(), call.clone()).prop_map(|((x, y), f)| format!("{f}({x}, {y})")),
            (inner.clone(), call).prop_map(|(x, f)| format!("{f}({x})")),
            (pair.clone(), method.clone()).prop_map(|((x, y), m)| format!("({x}).{m}({y})")),
            (inner.clone(), method).prop_map(|(x, m)| format!("({x}).{m}()")),
            (pair.clone(), filter.clone()).prop_map(|((x, y), f)| format!("({x} | {f}({y}))")),
            (inner.clone(), filter).prop_map(|(x, f)| format!("({x} | {f})")),
            pair.clone().prop_map(|(x, y)| format!("({x})[{y}]")),
            pair.clone().prop_map(|(x, y)| format!("({x})[{y}:]")),
            pair.clone()
                .prop_map(|(x, y)| format!("[v for v in {x} if {y}]")),
            pair.clone()
                .prop_map(|(x, y)| format!("{{v: {y} for v in {x}}}")),
            pair.clone()
                .prop_map(|(x, y)| format!("'%s|%5.2f|%d' % ({x}, {y}, 1)")),
            pair.prop_map(|(x, y)| format!("[w := {x}, w, {y}]")),
        ]
    })
}

/// Many more cases than the default, because each takes microseconds.
fn config() -> ProptestConfig {
    ProptestConfig {
        cases: 4_000,
        failure_persistence: None,
        ..ProptestConfig::default()
    }
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn templates_never_panic(text in text()) {
        check_template(&text);
        check_template(&format!("{{{{ {text} }}}}"));
        check_template(&format!("{{% if {text} %}}{{% endif %}}"));
    }

    #[test]
    fn conditions_never_panic(text in text()) {
        check_condition(&text);
        check_condition(&format!("{{{{ {text} }}}}"));
        check_condition(&format!("f'{text}'"));
    }

    #[test]
    fn evaluation_never_panics(text in operand()) {
        check_condition(&text);
        check_condition(&format!("f'{{{text}:>5}}'"));
        check_template(&format!("{{{{ {text} }}}}"));
        check_template(&format!("x{{{{ {text} }}}}{{% for i in {text} %}}{{{{ i }}}}{{% endfor %}}"));
    }

    #[test]
    fn names_keep_their_positions(before in "[ \n]{0,3}", name in "n_[a-z_]{1,8}") {
        let condition = Condition::parse(&format!("{before}not {name}.y")).unwrap();
        let [found] = condition.names() else { panic!("one name") };
        prop_assert_eq!(&found.name, &name);
        prop_assert_eq!(found.span.start, before.len() + 4);
    }
}
