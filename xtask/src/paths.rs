//! Checks that the paths named by ARCHITECTURE.md and CONTRIBUTING.md exist.

use std::collections::BTreeSet;
use std::path::Path;

use crate::support::{read, root};

const DOCUMENTS: [&str; 2] = ["ARCHITECTURE.md", "CONTRIBUTING.md"];

/// Suffixes that mark a word in backticks as a path. A bare `name/` in backticks is a folder.
const ENDINGS: [&str; 8] = [".rs", ".py", ".md", ".toml", ".sh", ".txt", ".json", "/"];

/// Words that look like paths but are not paths of this repository, and what they are.
const OTHERS: &[(&str, &str)] = &[("config.toml", "the configuration in a home")];

/// Returns the words in backticks of a document, each with the crate that its paragraph describes.
fn candidates(text: &str) -> Vec<(Option<String>, String)> {
    let mut found = Vec::new();
    for paragraph in text.split("\n\n") {
        let mut krate = None;
        for (at, word) in paragraph.split('`').enumerate() {
            let is_quoted = at % 2 == 1;
            let opens = paragraph.contains(&format!("**`{word}`**"));
            if is_quoted && opens {
                krate = Some(word.to_owned());
            } else if is_quoted && is_path(word) {
                found.push((krate.clone(), word.to_owned()));
            }
        }
    }
    found
}

fn is_path(word: &str) -> bool {
    let is_plain = word
        .chars()
        .all(|c| c.is_alphanumeric() || "._-/*".contains(c));
    let has_folder = word.contains('/') && !word.starts_with('/');
    is_plain
        && !word.starts_with("..")
        && (ENDINGS.iter().any(|ending| word.ends_with(ending)) || has_folder)
}

/// Whether a path exists: relative to the root or to `crates`, anywhere in the crate of the paragraph, or
/// beside the previous path.
fn exists(krate: Option<&str>, before: Option<&str>, path: &str) -> bool {
    let root = root();
    let crates = root.join("crates");
    let sibling = before.and_then(|before| Path::new(before).parent());
    let folders = [root.clone(), crates.clone()].into_iter();
    let mut folders = folders.chain(sibling.map(|folder| crates.join(folder)));
    folders.any(|folder| matches(&folder, path))
        || krate.is_some_and(|krate| matches(&crates.join(krate), &format!("**/{path}")))
}

/// Whether `path` exists below `folder`. `*` matches any part of a name, `**` any folders.
fn matches(folder: &Path, path: &str) -> bool {
    let path = path.trim_end_matches('/');
    let (first, rest) = path.split_once('/').unwrap_or((path, ""));
    if !first.contains('*') {
        let next = folder.join(first);
        return if rest.is_empty() {
            next.exists()
        } else {
            matches(&next, rest)
        };
    }
    if first == "**" && !rest.is_empty() && matches(folder, rest) {
        return true;
    }
    let (start, end) = first.split_once('*').unwrap_or((first, ""));
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    entries.into_iter().any(|entry| {
        let name = entry.file_name().to_string_lossy().into_owned();
        match first {
            "**" if rest.is_empty() => true,
            "**" => entry.path().is_dir() && matches(&entry.path(), path),
            _ if !name.starts_with(start) || !name.ends_with(end) => false,
            _ => rest.is_empty() || matches(&entry.path(), rest),
        }
    })
}

#[test]
fn named_paths_exist() {
    let mut missing = Vec::new();
    let mut used: BTreeSet<&str> = BTreeSet::new();
    for document in DOCUMENTS {
        let mut before: Option<String> = None;
        for (krate, path) in candidates(&read(document)) {
            if let Some((word, _)) = OTHERS.iter().find(|(word, _)| *word == path) {
                used.insert(word);
            } else if !exists(krate.as_deref(), before.as_deref(), &path) {
                missing.push(format!(
                    "{document}: `{path}` ({})",
                    krate.as_deref().unwrap_or("no crate")
                ));
            }
            if path.contains('/') {
                before = Some(path);
            }
        }
    }
    assert!(
        missing.is_empty(),
        "paths that do not exist:\n{}",
        missing.join("\n")
    );
    let listed: BTreeSet<&str> = OTHERS.iter().map(|(word, _)| *word).collect();
    assert_eq!(
        used, listed,
        "left: words that the documents still use, right: `OTHERS`"
    );
}

/// Returns the targets of links to files of this repository, with the fragment after `#`.
fn links(text: &str) -> Vec<(&str, Option<&str>)> {
    let targets = text
        .split("](")
        .skip(1)
        .filter_map(|rest| rest.split(')').next());
    let inside = targets.filter(|target| !target.contains("://") && !target.contains(' '));
    inside
        .map(|target| {
            target
                .split_once('#')
                .map_or((target, None), |(path, part)| (path, Some(part)))
        })
        .collect()
}

/// Returns the anchors of the headings of a page, as GitHub generates them.
fn anchors(text: &str) -> BTreeSet<String> {
    let headings = text.lines().filter(|line| line.starts_with('#'));
    let name = |heading: &str| {
        let text = heading.trim_start_matches('#').trim().to_lowercase();
        let kept = text
            .chars()
            .filter(|c| c.is_alphanumeric() || " -_".contains(*c));
        kept.map(|c| if c == ' ' { '-' } else { c }).collect()
    };
    headings.map(name).collect()
}

#[test]
fn links_resolve() {
    let root = root();
    let mut pages: Vec<std::path::PathBuf> = crate::support::files_in(&root.join("docs"), "md");
    pages.extend(
        [
            "README.md",
            "ARCHITECTURE.md",
            "CONTRIBUTING.md",
            "SECURITY.md",
        ]
        .map(|name| root.join(name)),
    );
    let mut broken = Vec::new();
    for page in pages {
        let text = std::fs::read_to_string(&page).unwrap();
        for (path, part) in links(&text) {
            let target = if path.is_empty() {
                page.clone()
            } else {
                page.parent().unwrap().join(path)
            };
            let fits = match part {
                Some(part) => {
                    std::fs::read_to_string(&target).is_ok_and(|text| anchors(&text).contains(part))
                }
                None => target.exists(),
            };
            if !fits {
                broken.push(format!(
                    "{}: {path}#{}",
                    page.display(),
                    part.unwrap_or_default()
                ));
            }
        }
    }
    assert!(
        broken.is_empty(),
        "links that lead nowhere:\n{}",
        broken.join("\n")
    );
}
