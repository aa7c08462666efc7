//! The arrows between crates are those of the table in ARCHITECTURE.md.

use std::collections::{BTreeMap, BTreeSet};
use std::process::Command;

use serde_json::Value;

use crate::support::{read, root};

type Arrows = BTreeMap<String, BTreeSet<String>>;

/// The table: `| crate | what it is | may depend on |`.
fn allowed() -> Arrows {
    let text = read("ARCHITECTURE.md");
    let rows = text.lines().filter(|line| line.starts_with("| `"));
    let word = |cell: &str| cell.trim().trim_matches('`').to_owned();
    let row = |line: &str| {
        let cells: Vec<&str> = line.split('|').collect();
        let targets = cells[3]
            .split(',')
            .map(word)
            .filter(|name| !name.is_empty() && name != "—");
        (word(cells[1]), targets.collect())
    };
    rows.map(row).collect()
}

/// What the manifests say, without dependencies of tests.
fn actual() -> Arrows {
    let output = Command::new(env!("CARGO"))
        .args([
            "metadata",
            "--no-deps",
            "--format-version",
            "1",
            "--offline",
        ])
        .current_dir(root())
        .output()
        .expect("cargo runs");
    let metadata: Value = serde_json::from_slice(&output.stdout).expect("cargo prints JSON");
    let short = |name: &str| match name {
        "deft" => Some("cli".to_owned()),
        "xtask" => Some("xtask".to_owned()),
        other => other.strip_prefix("deft-").map(str::to_owned),
    };
    let mut arrows = Arrows::new();
    for package in metadata["packages"].as_array().expect("packages") {
        let name = short(package["name"].as_str().expect("a name")).expect("a crate of ours");
        let ours = package["dependencies"]
            .as_array()
            .expect("dependencies")
            .iter();
        let ours =
            ours.filter(|dependency| dependency["kind"] != "dev" && !dependency["path"].is_null());
        let targets = ours.filter_map(|dependency| short(dependency["name"].as_str()?));
        arrows.insert(name, targets.collect());
    }
    arrows
}

#[test]
fn arrows_are_those_of_the_table() {
    assert_eq!(
        actual(),
        allowed(),
        "left: the manifests, right: the table in ARCHITECTURE.md"
    );
}

#[test]
fn arrows_make_no_circle() {
    let arrows = actual();
    for name in arrows.keys() {
        assert!(!reaches(&arrows, name, name), "{name} depends on itself");
    }
}

fn reaches<'a>(arrows: &'a Arrows, from: &'a str, to: &str) -> bool {
    arrows
        .get(from)
        .is_some_and(|next| next.iter().any(|n| n == to || reaches(arrows, n, to)))
}
