//! Checks that unreadable stored JSON is an error that names its row, and is never replaced by a default
//! (`base/src/stored.rs`).

use crate::source::product_sources;

/// The crates that read rows of the store.
const READERS: &[&str] = &[
    "agents",
    "base",
    "channels",
    "engine",
    "library",
    "outbox",
    "scheduler",
    "service",
];

/// Calls that drop the error of a parser.
const SILENT: &[&str] = &[".ok()", ".unwrap_or", ".is_ok", ".into_iter()", ".map_or"];

/// Files that drop such an error, and why.
const KNOWN: &[(&str, &str)] = &[
    (
        "engine/cache.rs",
        "a cached result that cannot be read is fetched again",
    ),
    (
        "library/aftermath.rs",
        "the text was written in the same request",
    ),
    (
        "library/grants.rs",
        "a grant that cannot be read allows nothing",
    ),
    (
        "library/rights.rs",
        "the caller makes the error, and rights that cannot be read allow nothing",
    ),
    ("library/skills.rs", "the caller makes the error"),
    (
        "service/approvals/mod.rs",
        "an argument of a person, which may be a plain text",
    ),
    (
        "service/commands.rs",
        "the content of a result, which may be a plain text",
    ),
    (
        "service/hosts/json.rs",
        "a key in the file of another program that cannot be read is not the one that is looked for",
    ),
    (
        "service/listener.rs",
        "a note of another version is as good as none",
    ),
    (
        "service/logs.rs",
        "a line that another program wrote into the log, which is shown as it is",
    ),
    (
        "service/router.rs",
        "a catalog of another version is asked for again",
    ),
    (
        "service/telemetry/note.rs",
        "a note of another version is as good as none",
    ),
    (
        "service/tools/call.rs",
        "an argument of a person, which may be a plain text",
    ),
];

#[test]
fn stored_json_is_not_replaced_by_defaults() {
    let mut found: Vec<String> = Vec::new();
    for source in product_sources() {
        if READERS.contains(&source.krate.as_str()) && drops_an_error(&source.code) {
            found.push(format!("{}/{}", source.krate, source.path));
        }
    }
    found.sort();
    let known: Vec<&str> = KNOWN.iter().map(|(path, _)| *path).collect();
    assert_eq!(
        found, known,
        "use `read_stored`, `read_setting`, `run_inputs`, `run_outputs` or `run_failure` of `deft-base`"
    );
}

/// Whether a file parses JSON and ignores a failure.
fn drops_an_error(code: &str) -> bool {
    let code: String = code.split_whitespace().collect();
    ["from_str", "from_value", "from_slice"].iter().any(|name| {
        let name = format!("serde_json::{name}");
        code.match_indices(&name).any(|(at, _)| {
            let after = &code[at + name.len()..];
            let rest = after_arguments(after).unwrap_or_default();
            let before = &code[..at];
            SILENT.iter().any(|call| rest.starts_with(call))
                || (before.ends_with('=') && pattern(before).starts_with("letOk("))
        })
    })
}

/// Returns the code after the arguments of a call.
fn after_arguments(code: &str) -> Option<&str> {
    let mut depth = 0_u32;
    for (at, c) in code.char_indices() {
        match c {
            '(' => depth += 1,
            ')' => {
                depth = depth.checked_sub(1)?;
                if depth == 0 {
                    return Some(&code[at + 1..]);
                }
            }
            _ => {}
        }
    }
    None
}

/// Returns the `let` and the pattern at the end of `code`.
fn pattern(code: &str) -> &str {
    code.rfind("let").map_or("", |at| &code[at..])
}

#[test]
fn dropped_errors_are_found() {
    for code in [
        "let a: A = serde_json::from_str(&row.b).unwrap_or_default();",
        "text.and_then(|text| serde_json::from_str::<Failure>(text).ok())",
        "if let Ok(all) = serde_json::from_str::<Vec<A>>(&kept) { }",
        "let Ok(Event::Entered { path, .. }) = serde_json::from_str(&stored.body) else { continue; };",
        "let b = serde_json::from_slice(c.d())\n    .unwrap_or(Value::Null);",
    ] {
        assert!(drops_an_error(code), "{code}");
    }
    for code in [
        "serde_json::from_str(text).map_err(|error| unreadable(&error))",
        "match serde_json::from_str(text) { Ok(a) => a, Err(error) => return Err(error) }",
        "let a: A = serde_json::from_str(text)?;",
    ] {
        assert!(!drops_an_error(code), "{code}");
    }
}
