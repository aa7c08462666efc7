//! Finds public items that no other file names: dead code, or items that need not be public.
//!
//! rustc warns only about unused private items. This check compares names, so an item with a common name is
//! never found; re-exports do not count as a use. A type may also be public because an item of its own file
//! exposes it.

use std::collections::{BTreeMap, BTreeSet};

use crate::source::{Source, blank, product_sources, words};
use crate::support::{files, root};

/// Exceptions: the crate, the item, and why it or the check is wrong. An unnecessary entry fails.
const KNOWN: &[(&str, &str, &str)] = &[];

/// The crate, the item that only tests use, and why it is there.
const FOR_TESTS: &[(&str, &str, &str)] = &[
    (
        "compute",
        "worker_id",
        "tests look for the worker in the table of processes",
    ),
    (
        "engine",
        "answer_text",
        "tests of bots compare what they send",
    ),
    (
        "llm",
        "with_providers",
        "tests bring providers of their own",
    ),
];

const KINDS: [&str; 8] = [
    "fn", "struct", "enum", "const", "trait", "static", "type", "union",
];

/// Returns the names of `pub` items in blanked code that another file must name.
fn public_items(code: &str) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    for line in code.lines() {
        let Some(rest) = line.trim_start().strip_prefix("pub ") else {
            continue;
        };
        let mut parts = words(rest)
            .skip_while(|word| ["async", "unsafe"].contains(word))
            .peekable();
        let Some(kind) = parts.next().filter(|word| KINDS.contains(word)) else {
            continue;
        };
        let next = parts.next();
        let name = if kind == "const" && next == Some("fn") {
            parts.next()
        } else {
            next
        };
        let is_type = ["struct", "enum", "trait", "type"].contains(&kind);
        found.extend(
            name.filter(|name| !is_type || !is_handed_out(code, name))
                .map(str::to_owned),
        );
    }
    found
}

/// Whether the file of a type names it outside its definition and its `impl` blocks.
fn is_handed_out(code: &str, name: &str) -> bool {
    let is_definition = |line: &str| {
        let line = line.trim_start();
        line.starts_with("impl")
            || line.starts_with("pub ")
                && KINDS[1..]
                    .iter()
                    .any(|kind| line.contains(&format!("{kind} {name}")))
    };
    code.lines()
        .any(|line| !is_definition(line) && words(line).any(|word| word == name))
}

/// Returns the identifiers that a file uses, without re-exports but including functions that attributes name
/// in strings.
fn used_names(text: &str, code: &str) -> BTreeSet<String> {
    let mut kept = String::new();
    let mut rest = code;
    while let Some(at) = rest.find("pub use ") {
        let end = rest[at..].find(';').map_or(rest.len(), |end| at + end);
        kept.push_str(&rest[..at]);
        rest = &rest[end..];
    }
    kept.push_str(rest);
    let mut found: BTreeSet<String> = words(&kept).map(str::to_owned).collect();
    for line in text
        .lines()
        .filter(|line| line.contains("#[serde(") || line.contains("#[arg("))
    {
        found.extend(words(line).map(str::to_owned));
    }
    found
}

/// Returns all other Rust files: tests, benches, examples, fuzz targets and `xtask`.
fn other_files(product: &BTreeSet<String>) -> Vec<(String, BTreeSet<String>)> {
    let root = root();
    let all = files("rs").into_iter().map(|path| {
        let shown = path
            .strip_prefix(&root)
            .unwrap_or(&path)
            .to_string_lossy()
            .into_owned();
        (shown, path)
    });
    let others = all.filter(|(shown, _)| !product.contains(shown));
    others
        .map(|(shown, path)| {
            let text = std::fs::read_to_string(path).unwrap();
            let names = used_names(&text, &blank(&text));
            (shown, names)
        })
        .collect()
}

fn display_path(source: &Source) -> String {
    format!("crates/{}/src/{}", source.krate, source.path)
}

/// The files that name each item, by item.
fn users(sources: &[Source]) -> BTreeMap<String, BTreeSet<String>> {
    let product: BTreeSet<String> = sources.iter().map(display_path).collect();
    let uses = sources
        .iter()
        .map(|source| (display_path(source), used_names(&source.text, &source.code)));
    let mut found: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for (file, names) in uses.chain(other_files(&product)) {
        for name in names {
            found.entry(name).or_default().insert(file.clone());
        }
    }
    found
}

/// The crate, the file and the name of each public item, but those of crates for tests.
fn items(sources: &[Source]) -> Vec<(&str, String, String)> {
    let sources = sources
        .iter()
        .filter(|source| !source.krate.ends_with("testkit"));
    let items = |source: &'_ Source| {
        let names = public_items(&source.code).into_iter();
        let file = display_path(source);
        names.map(move |name| (file.clone(), name))
    };
    sources
        .flat_map(|source| items(source).map(|(file, name)| (source.krate.as_str(), file, name)))
        .collect()
}

/// Names of items, each with its crate.
type ItemNames = BTreeSet<(String, String)>;

/// The items whose users, apart from their own file, `counts` accepts none of.
fn check(
    counts: impl Fn(&str) -> bool,
    exceptions: &[&[(&str, &str, &str)]],
) -> (ItemNames, ItemNames, String) {
    let sources = product_sources();
    let users = users(&sources);
    let mut unused = BTreeSet::new();
    let mut places = String::new();
    for (krate, file, name) in items(&sources) {
        let is_used = users
            .get(&name)
            .is_some_and(|files| files.iter().any(|user| *user != file && counts(user)));
        if !is_used {
            places.push_str(&format!("\n{file}: {name}"));
            unused.insert((krate.to_owned(), name));
        }
    }
    let known = exceptions.iter().copied().flatten();
    let known = known.map(|(krate, name, _)| ((*krate).to_owned(), (*name).to_owned()));
    (unused, known.collect(), places)
}

#[test]
fn public_items_are_used() {
    let (unused, known, places) = check(|_| true, &[KNOWN]);
    assert_eq!(
        unused, known,
        "left: public items that no other file names, right: `KNOWN`{places}"
    );
}

/// Tests, benches and examples of a crate are no reason for an item; `xtask` is, which makes documents.
#[test]
fn public_items_are_used_by_the_product() {
    let is_product = |file: &str| file.starts_with("xtask/") || file.contains("/src/");
    let is_test = |file: &str| {
        file.contains("testkit/")
            || file.contains("/tests/")
            || file.ends_with("/tests.rs")
            || file.ends_with("_tests.rs")
    };
    let counts = |file: &str| is_product(file) && !is_test(file);
    let (unused, known, places) = check(counts, &[KNOWN, FOR_TESTS]);
    assert_eq!(
        unused, known,
        "left: public items that only tests name, right: `KNOWN` and `FOR_TESTS`{places}"
    );
}

#[test]
fn public_items_are_found() {
    let code = "pub fn a() -> I {}\npub(crate) fn b() {}\n    pub const fn c() {}\npub const D: u8 = 1;\n\
        pub async fn e() {}\npub use f::g;\npub struct I;\nimpl I {}\npub enum J {}\nimpl J {}";
    let found: Vec<String> = public_items(code).into_iter().collect();
    assert_eq!(found, ["D", "J", "a", "c", "e"]);
    let used: Vec<String> = used_names("", &format!("{code} h")).into_iter().collect();
    assert!(!used.contains(&"g".to_owned()) && used.contains(&"h".to_owned()));
}
