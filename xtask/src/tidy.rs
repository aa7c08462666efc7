//! Checks file sizes, module docs, licences, and words that do not belong in a repository.

use std::path::PathBuf;

use crate::support::{files, read, root};

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
fn modules_say_what_they_are() {
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
fn manifests_name_the_licence() {
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

/// Each crate has one test binary, which includes every test file.
#[test]
fn no_test_file_is_forgotten() {
    for entry in std::fs::read_dir(root().join("crates")).unwrap().flatten() {
        let folder = entry.path().join("tests/it");
        let Ok(main) = std::fs::read_to_string(folder.join("main.rs")) else {
            continue;
        };
        for file in std::fs::read_dir(&folder).unwrap().flatten() {
            let name = file.file_name().into_string().unwrap();
            let Some(module) = name.strip_suffix(".rs").filter(|module| *module != "main") else {
                continue;
            };
            assert!(
                main.contains(&format!("mod {module};")),
                "{} is in no test",
                file.path().display()
            );
        }
    }
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
fn nothing_is_left_to_do() {
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
fn unsafe_code_is_where_it_is_known() {
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
