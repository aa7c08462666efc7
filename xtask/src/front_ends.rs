//! Checks that a front end depends only on the service, the wire types and the configuration, and that the
//! API of the service is typed.

use std::collections::BTreeSet;

use crate::source::product_sources;
use crate::support::metadata;

/// The crates of front ends.
const FRONT_ENDS: &[&str] = &["deft", "deft-server"];

/// The crates that a front end may depend on. The binary also starts the server.
const ALLOWED: &[&str] = &["deft-config", "deft-server", "deft-service", "deft-wire"];

/// Public functions, fields and variants of the service with a JSON value because it is user data: inputs, outputs,
/// arguments and results.
const USER_DATA: &[(&str, &str)] = &[
    ("jobs.rs", "queue"),
    ("offers/mod.rs", "request"),
    ("offers/package.rs", "frontmatter"),
    ("runs/progress.rs", "Called"),
    ("runs/start.rs", "inputs"),
    ("runs/start.rs", "read_input"),
    ("runs/start.rs", "dry_run"),
    ("skills/finding.rs", "properties"),
    ("talk/mod.rs", "ToolBegun"),
    ("tools/call.rs", "arguments"),
    ("tools/call.rs", "read_value"),
];

#[test]
fn front_ends_depend_only_on_the_service() {
    let metadata = metadata(&["--no-deps", "--offline"]);
    for package in metadata["packages"].as_array().expect("packages") {
        let name = package["name"].as_str().expect("a name");
        if !FRONT_ENDS.contains(&name) {
            continue;
        }
        let dependencies = package["dependencies"].as_array().expect("dependencies");
        let ours: BTreeSet<&str> = dependencies
            .iter()
            .filter(|one| one["kind"].is_null() && !one["path"].is_null())
            .filter_map(|one| one["name"].as_str())
            .filter(|one| !ALLOWED.contains(one))
            .collect();
        assert_eq!(ours, BTreeSet::new(), "{name}");
    }
}

/// Returns the signatures of public functions, the types of public fields, the methods of public traits and the
/// variants of public enums in the service.
fn signatures() -> Vec<(String, String)> {
    let mut found = Vec::new();
    for source in product_sources() {
        if source.krate != "service" {
            continue;
        }
        for (at, _) in source.code.match_indices("pub ") {
            let rest = &source.code[at + "pub ".len()..];
            let end = rest.find([';', '{', '}']).unwrap_or(rest.len());
            let item = &rest[..end];
            // A field ends with its line.
            let is_field = item.lines().next().is_some_and(|line| {
                let first = line.split_whitespace().next().unwrap_or_default();
                first.ends_with(':')
            });
            let item = if is_field {
                item.lines().next().unwrap_or_default()
            } else {
                item
            };
            found.push((source.path.clone(), item.to_owned()));
            if item.starts_with("trait ") || item.starts_with("enum ") {
                let parts = parts(body(rest)).into_iter();
                found.extend(parts.map(|part| (source.path.clone(), part.to_owned())));
            }
        }
    }
    found
}

/// Returns the text between the braces of an item.
fn body(item: &str) -> &str {
    let Some(start) = item.find('{') else {
        return "";
    };
    let mut depth = 0;
    for (at, c) in item.char_indices() {
        match c {
            '{' => depth += 1,
            '}' if depth == 1 => return &item[start + 1..at],
            '}' => depth -= 1,
            _ => {}
        }
    }
    ""
}

/// Returns the methods or variants in the body of a trait or enum.
fn parts(body: &str) -> Vec<&str> {
    let (mut parts, mut depth, mut start) = (Vec::new(), 0_i32, 0);
    for (at, c) in body.char_indices() {
        match c {
            '(' | '{' | '[' => depth += 1,
            ')' | '}' | ']' => depth -= 1,
            ';' | ',' if depth == 0 => {
                parts.push(body[start..at].trim());
                start = at + 1;
            }
            _ => {}
        }
    }
    parts.push(body[start..].trim());
    parts
}

#[test]
fn traits_and_enums_have_parts() {
    let item = "trait A { fn b(&self, c: Value) -> Done<D>;\n fn e(&self); } fn f();";
    assert_eq!(
        parts(body(item)),
        ["fn b(&self, c: Value) -> Done<D>", "fn e(&self)", ""]
    );
    assert_eq!(
        parts(body("enum A { B, C(Value, D) }")),
        ["B", "C(Value, D)"]
    );
}

#[test]
fn the_service_is_typed() {
    let is_word = |text: &str, word: &str| {
        text.split(|c: char| !c.is_alphanumeric() && c != '_')
            .any(|part| part == word)
    };
    let untyped: Vec<(String, String)> = signatures()
        .into_iter()
        .filter(|(_, item)| is_word(item, "Value") || is_word(item, "Object"))
        .filter(|(_, item)| !item.starts_with("use "))
        .map(|(path, item)| {
            let name = item.split(['(', '<', ':', '{']).next().unwrap_or_default();
            let name = name.split_whitespace().last().unwrap_or_default();
            (path, name.to_owned())
        })
        .collect();
    let known: Vec<(String, String)> = USER_DATA
        .iter()
        .map(|(path, name)| ((*path).to_owned(), (*name).to_owned()))
        .collect();
    assert_eq!(untyped, known);
}
