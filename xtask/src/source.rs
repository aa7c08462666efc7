//! The Rust sources of the workspace, prepared for checks that count and compare names.
//!
//! A full parser would be a large dependency for a few questions about names. This scanner blanks comments
//! and the contents of literals, so words in prose are not mistaken for code, and removes modules that only
//! tests compile.

use std::collections::BTreeSet;
use std::path::PathBuf;

use crate::support::{files, root};

/// One file below `crates/*/src`.
pub(crate) struct Source {
    /// The name of the folder below `crates`.
    pub(crate) krate: String,
    /// The path below `src`, such as `drive/mod.rs`.
    pub(crate) path: String,
    /// The text without test modules. It has the lines outside them.
    pub(crate) text: String,
    /// The text with comments and the contents of literals blanked.
    pub(crate) code: String,
}

impl Source {
    /// Returns the folder or file directly in `src` that this file belongs to, or `None` for the root of the
    /// crate.
    pub(crate) fn top_module(&self) -> Option<&str> {
        let first = self.path.split('/').next().unwrap_or_default();
        let name = first.strip_suffix(".rs").unwrap_or(first);
        (!["lib", "main", "bin"].contains(&name)).then_some(name)
    }

    /// Returns the number of modules between the root of the crate and the items of this file.
    pub(crate) fn depth(&self) -> usize {
        let parts = self.path.split('/').count();
        let is_folder_root = self.path.ends_with("/mod.rs");
        parts - usize::from(is_folder_root)
    }
}

/// Returns all product sources, without files and modules that only tests compile.
pub(crate) fn product_sources() -> Vec<Source> {
    let all = source_files();
    let tests: BTreeSet<PathBuf> = all
        .iter()
        .flat_map(|(path, code, _)| test_files(path, code))
        .collect();
    let is_test = |path: &PathBuf| {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let below = tests
            .iter()
            .any(|test| path == test || path.starts_with(test));
        below
            || name == "tests.rs"
            || name.ends_with("_tests.rs")
            || path.components().any(|part| part.as_os_str() == "tests")
    };
    let kept = all.into_iter().filter(|(path, _, _)| !is_test(path));
    kept.map(|(path, code, text)| {
        let shown = path.to_string_lossy().into_owned();
        let (krate, below) = shown.split_once("/src/").unwrap_or_default();
        let (text, code) = without_test_modules(&text, &code);
        Source {
            krate: krate.to_owned(),
            path: below.to_owned(),
            text,
            code,
        }
    })
    .collect()
}

/// Returns the path below `crates`, the blanked code and the text of each source file.
fn source_files() -> Vec<(PathBuf, String, String)> {
    let crates = root().join("crates");
    let inside = files("rs").into_iter().filter_map(|path| {
        let below = path.strip_prefix(&crates).ok()?.to_owned();
        let is_source = below
            .components()
            .nth(1)
            .is_some_and(|part| part.as_os_str() == "src");
        is_source.then(|| {
            let text = std::fs::read_to_string(&path).unwrap();
            (below, blank(&text), text)
        })
    });
    inside.collect()
}

/// Returns the files of modules declared as `#[cfg(test)] mod name;`.
fn test_files(path: &std::path::Path, code: &str) -> Vec<PathBuf> {
    let stem = path.file_stem().unwrap_or_default();
    let folder = path.parent().unwrap_or(path);
    let is_root = ["mod", "lib", "main"].iter().any(|name| stem == *name);
    let folder = if is_root {
        folder.to_owned()
    } else {
        folder.join(stem)
    };
    let modules = test_modules(code)
        .into_iter()
        .filter(|module| module.body.is_none());
    modules
        .flat_map(|module| {
            [
                folder.join(format!("{}.rs", module.name)),
                folder.join(module.name),
            ]
        })
        .collect()
}

/// A module under `#[cfg(test)]` or `#[cfg(all(test, …))]`.
struct TestModule {
    name: String,
    /// The byte offset at which the attribute begins.
    start: usize,
    /// The byte offset at which the body ends, or `None` for a module in its own file.
    body: Option<usize>,
}

fn test_modules(code: &str) -> Vec<TestModule> {
    let mut found = Vec::new();
    for mark in ["#[cfg(test)]", "#[cfg(all(test"] {
        for (start, _) in code.match_indices(mark) {
            let Some(head) = after_attributes(code, start) else {
                continue;
            };
            let words = ["mod ", "pub mod ", "pub(crate) mod "];
            let Some(rest) = words
                .iter()
                .find_map(|word| code[head..].strip_prefix(word))
            else {
                continue;
            };
            let name: String = rest
                .chars()
                .take_while(|c| c.is_alphanumeric() || *c == '_')
                .collect();
            let after = code.len() - rest.len() + name.len();
            let is_file = code[after..].trim_start().starts_with(';');
            let body = if is_file {
                None
            } else {
                Some(end_of_braces(code, after))
            };
            found.push(TestModule { name, start, body });
        }
    }
    found
}

/// Returns the first position after the attributes that begin at `start`.
fn after_attributes(code: &str, start: usize) -> Option<usize> {
    let mut at = start;
    while code[at..].starts_with("#[") {
        at += code[at..].find("]\n").or_else(|| code[at..].find("] "))? + 1;
        at += code[at..].len() - code[at..].trim_start().len();
    }
    Some(at)
}

/// Returns the end of the first block in braces at or after `from`.
pub(crate) fn end_of_braces(code: &str, from: usize) -> usize {
    let mut depth = 0_usize;
    for (at, byte) in code.bytes().enumerate().skip(from) {
        match byte {
            b'{' => depth += 1,
            b'}' if depth == 1 => return at + 1,
            b'}' => depth = depth.saturating_sub(1),
            _ => {}
        }
    }
    code.len()
}

fn without_test_modules(text: &str, code: &str) -> (String, String) {
    let mut modules: Vec<(usize, usize)> = test_modules(code)
        .into_iter()
        .filter_map(|module| Some((module.start, module.body?)))
        .collect();
    modules.sort_unstable();
    let (mut text, mut code) = (text.to_owned(), code.to_owned());
    for (start, end) in modules.into_iter().rev() {
        text.replace_range(start..end, "");
        code.replace_range(start..end, "");
    }
    (text, code)
}

/// Replaces comments and the contents of literals by spaces. All other bytes keep their positions.
pub(crate) fn blank(text: &str) -> String {
    let bytes = text.as_bytes();
    let mut out = bytes.to_vec();
    let mut at = 0;
    while at < bytes.len() {
        let end = end_of_prose(bytes, at);
        for byte in &mut out[at..end] {
            if *byte != b'\n' {
                *byte = b' ';
            }
        }
        at = end.max(at + 1);
    }
    String::from_utf8(out).expect("whole comments and literals are blanked")
}

/// Returns the byte offset and the content of each string literal. Lines that a backslash continues are joined.
pub(crate) fn literals(text: &str) -> Vec<(usize, String)> {
    let bytes = text.as_bytes();
    let mut found = Vec::new();
    let mut at = 0;
    while at < bytes.len() {
        let end = end_of_prose(bytes, at);
        if end > at && matches!(bytes[at], b'"' | b'r') {
            let mut lines = text[at..end].split("\\\n");
            let mut content = lines.next().unwrap_or_default().to_owned();
            content.extend(lines.map(str::trim_start));
            found.push((at, content));
        }
        at = end.max(at + 1);
    }
    found
}

/// Returns the end of the comment or literal that begins at `at`, or `at` if none begins there.
fn end_of_prose(bytes: &[u8], at: usize) -> usize {
    let rest = &bytes[at..];
    let before = at.checked_sub(1).map(|before| bytes[before]);
    let in_word = before.is_some_and(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
    match rest {
        [b'/', b'/', ..] => {
            at + rest
                .iter()
                .position(|byte| *byte == b'\n')
                .unwrap_or(rest.len())
        }
        [b'/', b'*', ..] => at + end_of_block(rest),
        [b'"', ..] => at + end_of_string(rest),
        [b'r', b'"' | b'#', ..] if !in_word || before == Some(b'b') => at + end_of_raw(rest),
        [b'\'', b'\\', ..] => {
            at + 2
                + rest[3..]
                    .iter()
                    .position(|byte| *byte == b'\'')
                    .map_or(1, |end| end + 2)
        }
        [b'\'', ..] => at + end_of_char(rest),
        _ => at,
    }
}

fn end_of_block(rest: &[u8]) -> usize {
    let mut depth = 0;
    let mut at = 0;
    while at + 1 < rest.len() {
        match &rest[at..at + 2] {
            b"/*" => (depth, at) = (depth + 1, at + 2),
            b"*/" => (depth, at) = (depth - 1, at + 2),
            _ => at += 1,
        }
        if depth == 0 {
            return at;
        }
    }
    rest.len()
}

fn end_of_string(rest: &[u8]) -> usize {
    let mut at = 1;
    while at < rest.len() && rest[at] != b'"' {
        at += if rest[at] == b'\\' { 2 } else { 1 };
    }
    (at + 1).min(rest.len())
}

/// Returns the length of a raw string, or 0 for anything else, such as the raw identifier `r#type`.
fn end_of_raw(rest: &[u8]) -> usize {
    let hashes = rest[1..].iter().take_while(|byte| **byte == b'#').count();
    if rest.get(1 + hashes) != Some(&b'"') {
        return 0;
    }
    let close = [b"\"".to_vec(), vec![b'#'; hashes]].concat();
    let body = &rest[2 + hashes..];
    let end = body.windows(close.len()).position(|found| found == close);
    end.map_or(rest.len(), |end| 2 + hashes + end + close.len())
}

/// Returns the length of a character literal, or 0 for a lifetime, which has no closing quote after its first
/// character.
fn end_of_char(rest: &[u8]) -> usize {
    let text = String::from_utf8_lossy(&rest[1..rest.len().min(8)]);
    let Some(first) = text.chars().next() else {
        return 0;
    };
    let close = 1 + first.len_utf8();
    if rest.get(close) == Some(&b'\'') {
        close + 1
    } else {
        0
    }
}

/// Returns the identifiers in blanked code.
pub(crate) fn words(code: &str) -> impl Iterator<Item = &str> {
    code.split(|c: char| !c.is_alphanumeric() && c != '_')
        .filter(|word| !word.is_empty())
}

#[test]
fn prose_and_test_modules_are_left_out() {
    let text = "use a; // b\nlet c = \"d\\\"e\"; /* f /* g */ h */ let i = 'j'; fn k<'l>() { r#\"m\"#; '\\''; }\n\
                #[cfg(test)]\nmod n { fn o() { { } } }\nfn p() {}\n";
    let (_, code) = without_test_modules(text, &blank(text));
    let found: Vec<&str> = words(&code).collect();
    assert_eq!(
        found,
        [
            "use", "a", "let", "c", "let", "i", "fn", "k", "l", "fn", "p"
        ]
    );
}
