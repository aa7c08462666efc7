//! The top-level modules of a crate do not depend on each other in a circle: neither its folders nor its files.
//!
//! Dependencies are the paths in the code: `crate::x`, `super::x` from the right depth, and names that the
//! root of the crate re-exports from `x`. Method calls are not followed.

use std::collections::{BTreeMap, BTreeSet};

use crate::source::{Source, product_sources};

type Edges = BTreeMap<String, BTreeSet<String>>;

/// Returns the dependencies between the modules of one crate.
fn edges(sources: &[Source]) -> Edges {
    let modules: BTreeSet<&str> = sources.iter().filter_map(Source::top_module).collect();
    let roots = sources
        .iter()
        .filter(|source| ["lib.rs", "main.rs"].contains(&source.path.as_str()));
    let exported: BTreeMap<String, String> = roots
        .flat_map(|root| imports(&root.code))
        .filter_map(|path| export(&path, &modules))
        .collect();
    let mut edges = Edges::new();
    for source in sources {
        let Some(from) = source.top_module() else {
            continue;
        };
        let targets = edges.entry(from.to_owned()).or_default();
        for first in names_in_root(source) {
            let target = modules.get(first.as_str()).map(|name| (*name).to_owned());
            targets.extend(
                target
                    .or_else(|| exported.get(&first).cloned())
                    .filter(|target| target != from),
            );
        }
    }
    edges
}

/// Splits a re-export `module::…::Name` into the name and its module.
fn export(path: &[String], modules: &BTreeSet<&str>) -> Option<(String, String)> {
    let path = path.strip_prefix(&["crate".to_owned()]).unwrap_or(path);
    let (first, name) = (path.first()?, path.last()?);
    (path.len() > 1 && modules.contains(first.as_str())).then(|| (name.clone(), first.clone()))
}

/// Returns the names in the root of the crate that a file uses directly.
fn names_in_root(source: &Source) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    let above: Vec<String> = vec!["super".to_owned(); source.depth()];
    for path in imports(&source.code) {
        let rest = path
            .strip_prefix(&["crate".to_owned()])
            .or_else(|| path.strip_prefix(above.as_slice()));
        found.extend(rest.and_then(|rest| rest.first()).cloned());
    }
    let up = "super::".repeat(source.depth());
    for start in ["crate::", up.as_str()] {
        for (at, _) in source.code.match_indices(start) {
            let is_whole =
                !source.code[..at].ends_with(|c: char| c.is_alphanumeric() || c == '_' || c == ':');
            let name: String = source.code[at + start.len()..]
                .chars()
                .take_while(|c| c.is_alphanumeric() || *c == '_')
                .collect();
            found.extend((is_whole && !name.is_empty()).then_some(name));
        }
    }
    found
}

/// Returns all paths of `use` declarations, with groups expanded. The name of `a as b` is `b`.
fn imports(code: &str) -> Vec<Vec<String>> {
    let mut found = Vec::new();
    for (at, _) in code.match_indices("use ") {
        let starts = code[..at]
            .chars()
            .next_back()
            .is_none_or(char::is_whitespace);
        let Some(end) = code[at..].find(';').filter(|_| starts) else {
            continue;
        };
        let tree: String = code[at + 4..at + end]
            .split_whitespace()
            .collect::<Vec<_>>()
            .join(" ");
        expand(&tree, &[], &mut found);
    }
    found
}

fn expand(tree: &str, before: &[String], found: &mut Vec<Vec<String>>) {
    let tree = tree.trim();
    if let Some((head, group)) = tree.split_once('{') {
        let mut path = before.to_vec();
        path.extend(
            head.split("::")
                .map(str::trim)
                .filter(|part| !part.is_empty())
                .map(str::to_owned),
        );
        let group = group.trim_end().strip_suffix('}').unwrap_or(group);
        for part in split_top(group) {
            expand(part, &path, found);
        }
    } else if !tree.is_empty() {
        let (path, name) = tree
            .split_once(" as ")
            .map_or((tree, None), |(path, name)| (path, Some(name)));
        let mut whole = before.to_vec();
        whole.extend(path.split("::").map(|part| part.trim().to_owned()));
        if let (Some(name), Some(last)) = (name, whole.last_mut()) {
            *last = name.trim().to_owned();
        }
        found.push(whole);
    }
}

/// Splits a group at its top-level commas.
fn split_top(group: &str) -> Vec<&str> {
    let (mut depth, mut start, mut parts) = (0, 0, Vec::new());
    for (at, c) in group.char_indices() {
        match c {
            '{' => depth += 1,
            '}' => depth -= 1,
            ',' if depth == 0 => {
                parts.push(&group[start..at]);
                start = at + 1;
            }
            _ => {}
        }
    }
    parts.push(&group[start..]);
    parts
}

fn reachable(edges: &Edges, from: &str) -> BTreeSet<String> {
    let mut seen = BTreeSet::new();
    let mut open: Vec<&String> = edges.get(from).into_iter().flatten().collect();
    while let Some(next) = open.pop() {
        if seen.insert(next.clone()) {
            open.extend(edges.get(next).into_iter().flatten());
        }
    }
    seen
}

/// Returns the modules that can reach themselves, each with the other such modules that it uses.
fn in_circles(edges: &Edges) -> BTreeMap<String, BTreeSet<String>> {
    let all: BTreeMap<&String, BTreeSet<String>> = edges
        .keys()
        .map(|name| (name, reachable(edges, name)))
        .collect();
    let circle = edges.keys().filter(|name| all[*name].contains(*name));
    let uses = |name: &String| {
        let targets = edges[name].iter();
        targets
            .filter(|target| all.get(target).is_some_and(|reach| reach.contains(name)))
            .cloned()
            .collect()
    };
    circle.map(|name| (name.clone(), uses(name))).collect()
}

/// Returns the edges between modules that are folders.
fn between_folders(edges: &Edges, sources: &[Source]) -> Edges {
    let folders: BTreeSet<&str> = sources
        .iter()
        .filter(|source| source.path.contains('/'))
        .filter_map(Source::top_module)
        .collect();
    let is_folder = |name: &String| folders.contains(name.as_str());
    edges
        .iter()
        .filter(|(from, _)| is_folder(from))
        .map(|(from, targets)| {
            let targets = targets.iter().filter(|target| is_folder(target));
            (from.clone(), targets.cloned().collect())
        })
        .collect()
}

fn sources_by_crate() -> BTreeMap<String, Vec<Source>> {
    let mut crates: BTreeMap<String, Vec<Source>> = BTreeMap::new();
    for source in product_sources() {
        crates.entry(source.krate.clone()).or_default().push(source);
    }
    crates
}

/// Reports the dependencies in a cycle, one line per module.
fn report(krate: &str, circle: BTreeMap<String, BTreeSet<String>>) -> String {
    let lines = circle.into_iter().map(|(module, uses)| {
        let uses: Vec<String> = uses.into_iter().collect();
        format!("  {module} uses {}\n", uses.join(", "))
    });
    format!("\n{krate}:\n{}", lines.collect::<String>())
}

#[test]
fn modules_have_no_cycles() {
    let mut reports = String::new();
    for (name, sources) in &sources_by_crate() {
        let circle = in_circles(&edges(sources));
        if !circle.is_empty() {
            reports.push_str(&report(name, circle));
        }
    }
    assert_eq!(reports, "", "modules that use each other in a circle");
}

/// Folders could become crates.
#[test]
fn folders_have_no_cycles() {
    let mut reports = String::new();
    for (name, sources) in &sources_by_crate() {
        let circle = in_circles(&between_folders(&edges(sources), sources));
        if !circle.is_empty() {
            reports.push_str(&report(name, circle));
        }
    }
    assert_eq!(reports, "", "folders that use each other in a circle");
}

#[test]
fn a_cycle_of_folders_is_found() {
    let source = |path: &str, code: &str| Source {
        krate: "a".to_owned(),
        path: path.to_owned(),
        text: code.to_owned(),
        code: code.to_owned(),
    };
    let sources = [
        source("one/mod.rs", "use crate::two::X;"),
        source("two.rs", "mod below;"),
        source("two/below.rs", "use crate::{file, one::Y};"),
        source("file.rs", "use crate::one::Y;"),
    ];
    let found = in_circles(&between_folders(&edges(&sources), &sources));
    let names: Vec<(&str, Vec<&str>)> = found
        .iter()
        .map(|(name, uses)| (name.as_str(), uses.iter().map(String::as_str).collect()))
        .collect();
    assert_eq!(names, [("one", vec!["two"]), ("two", vec!["one"])]);
}

#[test]
fn use_paths_are_expanded() {
    let code = "pub use a::{b, c::{d, e as f}};\nuse crate::g;\nfn h() { use super::i; }";
    let found: Vec<String> = imports(code).iter().map(|path| path.join("::")).collect();
    assert_eq!(
        found,
        ["a::b", "a::c::d", "a::c::f", "crate::g", "super::i"]
    );
}
