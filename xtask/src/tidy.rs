//! Checks file sizes, module docs, licences, and words that do not belong in a repository.

use std::path::{Path, PathBuf};

use crate::support::{files, files_in, read, root};

/// The maximum number of lines of a file that is not in [`LONG`].
const MAX_LINES: usize = 500;

/// Files that may be longer: tables of definitions and lists of cases.
const LONG: &[&str] = &[];

#[test]
fn files_are_short() {
    for path in files("rs") {
        let lines = std::fs::read_to_string(&path).unwrap().lines().count();
        let listed = LONG.iter().any(|name| path.ends_with(name));
        assert!(
            lines <= MAX_LINES || listed,
            "{} has {lines} lines, {MAX_LINES} are allowed",
            path.display()
        );
    }
}

#[test]
fn modules_have_a_description() {
    for path in files("rs") {
        let text = std::fs::read_to_string(&path).unwrap();
        assert!(
            text.starts_with("//!"),
            "{} does not start with a module comment",
            path.display()
        );
    }
}

#[test]
fn manifests_declare_the_licence() {
    assert!(read("Cargo.toml").contains("license = \"Apache-2.0\""));
    for path in files("toml")
        .iter()
        .filter(|path| path.ends_with("Cargo.toml"))
    {
        let text = std::fs::read_to_string(path).unwrap();
        let named =
            text.contains("license.workspace = true") || text.contains("license = \"Apache-2.0\"");
        assert!(named, "{} names no licence", path.display());
    }
    assert!(read("LICENSE").contains("Apache License"));
}

/// Each crate has one test binary, which includes every test file, also those in folders below it.
#[test]
fn no_test_file_is_forgotten() {
    for entry in std::fs::read_dir(root().join("crates")).unwrap().flatten() {
        let folder = entry.path().join("tests/it");
        if !folder.join("main.rs").exists() {
            continue;
        }
        for file in files_in(&folder, "rs") {
            let parents = parents(&folder, &file);
            let is_declared = parents.iter().any(|(parent, line)| {
                std::fs::read_to_string(parent).is_ok_and(|text| text.contains(line))
            });
            let is_included = is_declared || file == folder.join("main.rs");
            assert!(is_included, "{} is in no test", file.display());
        }
    }
}

/// Returns the files that may declare a test file as a module, each with the line that does so.
fn parents(root: &Path, file: &Path) -> Vec<(PathBuf, String)> {
    let stem = |path: &Path| {
        path.file_stem()
            .unwrap_or_default()
            .to_string_lossy()
            .into_owned()
    };
    let folder = file.parent().unwrap_or(root);
    // The root of a folder is declared one level up.
    let (name, folder) = if stem(file) == "mod" {
        (stem(folder), folder.parent().unwrap_or(root))
    } else {
        (stem(file), folder)
    };
    let files = if folder == root {
        vec![root.join("main.rs")]
    } else {
        vec![folder.join("mod.rs"), folder.with_extension("rs")]
    };
    let line = format!("mod {name};");
    files.into_iter().map(|file| (file, line.clone())).collect()
}

#[test]
fn test_files_in_folders_have_a_parent() {
    let root = Path::new("it");
    let shown = |file: &str| {
        let parents = parents(root, &root.join(file)).into_iter();
        let shown = parents.map(|(file, line)| format!("{}: {line}", file.display()));
        shown.collect::<Vec<_>>().join(" or ")
    };
    assert_eq!(shown("a.rs"), "it/main.rs: mod a;");
    assert_eq!(shown("a/mod.rs"), "it/main.rs: mod a;");
    assert_eq!(shown("a/b.rs"), "it/a/mod.rs: mod b; or it/a.rs: mod b;");
}

/// The glossary defines each word once, because each word has one meaning.
#[test]
fn the_glossary_defines_each_word_once() {
    let text = read("ARCHITECTURE.md");
    let section = text.split("\n## Words\n").nth(1).expect("a glossary");
    let section = section.split("\n## ").next().unwrap_or_default();
    let rows = section.lines().filter_map(|line| line.strip_prefix("| "));
    let words: Vec<&str> = rows.filter_map(|row| row.split(" | ").next()).collect();
    let mut sorted = words.clone();
    sorted.sort_unstable();
    let twice: Vec<&&str> = sorted
        .windows(2)
        .filter(|pair| pair[0] == pair[1])
        .map(|pair| &pair[0])
        .collect();
    assert_eq!(twice, Vec::<&&str>::new());
    assert!(words.len() > 50, "the table was not found: {words:?}");
}

#[test]
fn no_to_do_comments_remain() {
    let words = [
        concat!("to", "do!("),
        concat!("un", "implemented!("),
        concat!("#[", "ignore"),
        concat!("FIX", "ME"),
    ];
    for path in files("rs") {
        let text = std::fs::read_to_string(&path).unwrap();
        for word in words {
            assert!(!text.contains(word), "{} contains `{word}`", path.display());
        }
    }
}

#[test]
fn unsafe_code_is_only_in_known_files() {
    let known = [
        "crates/compute/src/worker/sandbox.rs",
        "crates/service/src/daemon/footprint.rs",
    ];
    let word = concat!("un", "safe {");
    let found: Vec<PathBuf> = files("rs")
        .into_iter()
        .filter(|path| std::fs::read_to_string(path).unwrap().contains(word))
        .collect();
    let known = known.map(|path| root().join(path));
    assert_eq!(found, known);
}
