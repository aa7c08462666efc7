//! Properties: whatever the input, no panic, and spans lie in the text.

use deft_template::{Condition, NameUse, SyntaxError, Template};
use proptest::prelude::*;

/// Pieces that both grammars care about, so that random texts get past the first token.
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
        assert_eq!(text.get(name.span.clone()), Some(name.name.as_str()));
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

fn check_template(text: &str) {
    match Template::parse(text) {
        Ok(template) => check_names(text, template.names()),
        Err(error) => check_error(text, &error),
    }
}

fn check_condition(text: &str) {
    match Condition::parse(text) {
        Ok(condition) => {
            check_names(text, condition.names());
            assert!(text.get(condition.expr().span.clone()).is_some());
        }
        Err(error) => check_error(text, &error),
    }
}

/// Many more rounds than the default, as one round takes microseconds.
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
    fn names_keep_their_places(before in "[ \n]{0,3}", name in "n_[a-z_]{1,8}") {
        let condition = Condition::parse(&format!("{before}not {name}.y")).unwrap();
        let [found] = condition.names() else { panic!("one name") };
        prop_assert_eq!(&found.name, &name);
        prop_assert_eq!(found.span.start, before.len() + 4);
    }
}
