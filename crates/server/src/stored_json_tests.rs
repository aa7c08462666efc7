//! JSON files of this crate that are generated from types by tests.

use std::path::Path;

use serde_json::Value;

/// Compares a file with the generated document. With `UPDATE=1`, rewrites the file.
pub(crate) fn check(path: &str, document: &Value, depth: usize) {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join(path);
    let mut text = String::new();
    write(document, depth, &mut text);
    text.push('\n');
    if std::env::var_os("UPDATE").is_some() {
        std::fs::write(&file, &text).unwrap();
    }
    let known = std::fs::read_to_string(&file).unwrap_or_default();
    let first = known
        .lines()
        .zip(text.lines())
        .find(|(known, now)| known != now);
    assert!(
        known == text,
        "`{path}` is out of date: `UPDATE=1 cargo test -p deft-server` writes it anew; first difference: {first:?}"
    );
}

/// Writes a document with one line per entry of its upper `depth` levels, so the file is short and each
/// change is one line.
fn write(value: &Value, depth: usize, text: &mut String) {
    let Some(fields) = value.as_object().filter(|_| depth > 0) else {
        text.push_str(&value.to_string());
        return;
    };
    text.push_str("{\n");
    for (at, (name, value)) in fields.iter().enumerate() {
        let comma = if at == 0 { "" } else { ",\n" };
        text.push_str(comma);
        text.push_str(&Value::from(name.as_str()).to_string());
        text.push(':');
        write(value, depth - 1, text);
    }
    text.push_str("\n}");
}

#[test]
fn each_top_level_entry_is_on_one_line() {
    let mut text = String::new();
    write(
        &serde_json::json!({"a": {"b": {"c": 1}, "d": []}, "e": 2}),
        2,
        &mut text,
    );
    assert_eq!(
        text,
        "{\n\"a\":{\n\"b\":{\"c\":1},\n\"d\":[]\n},\n\"e\":2\n}"
    );
}
