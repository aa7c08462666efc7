//! Checks that crates depend on each other exactly as the table in ARCHITECTURE.md allows.

use std::collections::{BTreeMap, BTreeSet};

use crate::support::{metadata, read};

type Arrows = BTreeMap<String, BTreeSet<String>>;

/// Returns the allowed dependencies, from the table `| crate | what it is | may depend on |`.
fn allowed_dependencies() -> Arrows {
    let text = read("ARCHITECTURE.md");
    let section = text
        .split("\n## Crates\n")
        .nth(1)
        .expect("a section `Crates`");
    let section = section.split("\n#").next().unwrap_or_default();
    let rows = section.lines().filter(|line| line.starts_with("| `"));
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

/// Returns the dependencies in the manifests, except dev-dependencies.
fn actual() -> Arrows {
    let metadata = metadata(&["--no-deps", "--offline"]);
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
fn dependencies_follow_the_table() {
    assert_eq!(
        actual(),
        allowed_dependencies(),
        "left: the manifests, right: the table in ARCHITECTURE.md"
    );
}

/// Crates that only tests and benches use. Shipped code must not depend on them.
const DEV_ONLY: &[&str] = &["store-testkit", "testkit", "xtask"];

#[test]
fn shipped_crates_do_not_depend_on_test_code() {
    let arrows = actual();
    for name in DEV_ONLY {
        assert!(arrows.contains_key(*name), "there is no crate `{name}`");
    }
    let shipped = arrows
        .iter()
        .filter(|(name, _)| !DEV_ONLY.contains(&name.as_str()));
    for (name, targets) in shipped {
        let found: Vec<&String> = targets
            .iter()
            .filter(|target| DEV_ONLY.contains(&target.as_str()))
            .collect();
        assert!(found.is_empty(), "`{name}` ships {found:?}");
    }
}

#[test]
fn dependencies_have_no_cycles() {
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

/// Compute blocks have no access to files. Cargo unifies features, so a feature that any crate enables would
/// be enabled for all.
#[test]
fn the_interpreter_is_built_without_the_host() {
    let metadata = metadata(&[
        "--offline",
        "--locked",
        "--all-features",
        "--filter-platform",
        "x86_64-unknown-linux-gnu",
    ]);
    let features = |name: &str| -> Vec<String> {
        let id = format!("#{name}@");
        let nodes = metadata["resolve"]["nodes"].as_array().expect("nodes");
        let node = nodes
            .iter()
            .find(|node| node["id"].as_str().is_some_and(|node| node.contains(&id)))
            .expect("a crate of the interpreter");
        serde_json::from_value(node["features"].clone()).expect("features")
    };
    let machine = [
        "ast",
        "codegen",
        "compiler",
        "encodings",
        "freeze-stdlib",
        "gc",
        "importlib",
        "parser",
        "ruff_python_ast",
        "ruff_text_size",
        "rustpython-codegen",
        "rustpython-compiler",
    ];
    for name in ["rustpython-vm", "rustpython-stdlib", "rustpython-host_env"] {
        let others: Vec<String> = features(name)
            .into_iter()
            .filter(|feature| !machine.contains(&feature.as_str()))
            .collect();
        assert_eq!(others, Vec::<String>::new(), "{name}");
    }
}
