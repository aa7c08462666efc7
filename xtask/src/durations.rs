//! Checks that durations are parsed only by `crates/schedule/src/duration.rs`.

use crate::support::{files, root};

/// Code that parses a duration from a text or a number of seconds.
const PARSERS: &[&str] = &[
    "parse::<Span>",
    "parse::<SignedDuration>",
    "parse::<jiff::Span",
    "parse::<jiff::SignedDuration",
    ": Span = ",
    "SpanParser",
    "humantime",
    "try_from_secs_f64",
];

/// The files that contain such code, and why.
const KNOWN: &[(&str, &str)] = &[
    ("crates/http/src/retry_after.rs", "HTTP headers"),
    ("crates/llm/src/gemini/response.rs", "a field of a provider"),
    (
        "crates/records/src/normalise/timing.rs",
        "a count times the unit in its name, such as `in_days`",
    ),
    ("crates/schedule/src/duration.rs", "the parser"),
    (
        "crates/tools/src/builtin/shell.rs",
        "an argument in seconds, checked by its schema",
    ),
    (
        "crates/tools/src/options/seconds.rs",
        "seconds that the configuration has read",
    ),
];

#[test]
fn one_parser_reads_durations() {
    let root = root();
    let mut found = Vec::new();
    for path in files("rs") {
        let name = path.strip_prefix(&root).unwrap_or(&path);
        let name = name.to_string_lossy().into_owned();
        let text = std::fs::read_to_string(&path).unwrap();
        let is_source = name.starts_with("crates/") && name.contains("/src/");
        if is_source && PARSERS.iter().any(|parser| text.contains(parser)) {
            found.push(name);
        }
    }
    let known: Vec<&str> = KNOWN.iter().map(|(path, _)| *path).collect();
    assert_eq!(
        found, known,
        "use `parse_duration`, `parse_length` or `from_seconds` of `deft-schedule`"
    );
}
