//! Checks that every dependency in a manifest is used by the code it is declared for.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use serde_json::Value;

use crate::source::{Source, blank, product_sources, words};
use crate::support::{metadata, read, root};

/// Dependencies that no code names, and why they are declared. An unnecessary entry fails.
const UNNAMED: &[(&str, &str, &str)] = &[];

/// A dependency of a manifest, with the name that code uses.
struct Dependency {
    package: String,
    name: String,
    is_for_tests: bool,
}

fn dependencies(package: &Value, libraries: &BTreeMap<String, String>) -> Vec<Dependency> {
    let all = package["dependencies"].as_array().expect("dependencies");
    let one = |found: &Value| {
        let package = found["name"].as_str().expect("a name").to_owned();
        let library = libraries.get(&package).unwrap_or(&package);
        let name = found["rename"]
            .as_str()
            .unwrap_or(library)
            .replace('-', "_");
        Dependency {
            package,
            name,
            is_for_tests: found["kind"] == "dev",
        }
    };
    all.iter().map(one).collect()
}

/// Returns the library name of each package whose library has another name.
fn libraries() -> BTreeMap<String, String> {
    let metadata = metadata(&[
        "--locked",
        "--offline",
        "--filter-platform",
        "x86_64-unknown-linux-gnu",
    ]);
    let packages = metadata["packages"].as_array().expect("packages");
    let one = |package: &Value| {
        let targets = package["targets"].as_array()?;
        let library = targets.iter().find(|target| target["kind"][0] == "lib")?;
        Some((
            package["name"].as_str()?.to_owned(),
            library["name"].as_str()?.to_owned(),
        ))
    };
    packages.iter().filter_map(one).collect()
}

/// Returns all identifiers in the Rust files of these folders.
fn names_in(folders: &[std::path::PathBuf]) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    for folder in folders {
        for path in crate::support::files_in(folder, "rs") {
            let text = std::fs::read_to_string(path).unwrap();
            found.extend(words(&blank(&text)).map(str::to_owned));
        }
    }
    found
}

/// Returns all identifiers in the product code of a package.
fn product_names(folder: &Path, sources: &[Source]) -> BTreeSet<String> {
    let own = |source: &&Source| folder.ends_with(format!("crates/{}", source.krate));
    let mut found: BTreeSet<String> = BTreeSet::new();
    for source in sources.iter().filter(own) {
        found.extend(words(&source.code).map(str::to_owned));
    }
    found.extend(names_in(&[folder.join("targets")]));
    if let Ok(script) = std::fs::read_to_string(folder.join("build.rs")) {
        found.extend(words(&blank(&script)).map(str::to_owned));
    }
    found
}

/// The manifest of the fuzz targets is outside the workspace.
const MANIFESTS: [&str; 2] = ["Cargo.toml", "fuzz/Cargo.toml"];

#[test]
fn dependencies_are_used() {
    let libraries = libraries();
    let sources = product_sources();
    let mut unused = BTreeSet::new();
    for manifest in MANIFESTS {
        let metadata = metadata(&["--no-deps", "--offline", "--manifest-path", manifest]);
        for package in metadata["packages"].as_array().expect("packages") {
            let name = package["name"].as_str().expect("a name");
            let manifest = Path::new(package["manifest_path"].as_str().expect("a path"));
            let folder = manifest.parent().expect("a folder");
            let product = product_names(folder, &sources);
            let mut all = None;
            for dependency in dependencies(package, &libraries) {
                let needed = &dependency.name;
                let mut in_tests = || {
                    let all = all.get_or_insert_with(|| names_in(&all_folders(package, folder)));
                    all.contains(needed)
                };
                let is_used = product.contains(needed) || dependency.is_for_tests && in_tests();
                if !is_used {
                    unused.insert((name.to_owned(), dependency.package));
                }
            }
        }
    }
    let known: BTreeSet<(String, String)> = UNNAMED
        .iter()
        .map(|(name, dependency, _)| ((*name).to_owned(), (*dependency).to_owned()))
        .collect();
    assert_eq!(
        unused, known,
        "left: dependencies that no code of the package names, right: `UNNAMED`"
    );
}

/// Returns the folders with the code of a package, including tests. A target may be outside the package's
/// folder.
fn all_folders(package: &Value, folder: &Path) -> Vec<std::path::PathBuf> {
    let targets = package["targets"].as_array().expect("targets");
    let mains = targets
        .iter()
        .filter_map(|target| Path::new(target["src_path"].as_str()?).parent());
    let mut folders: Vec<_> = mains.map(Path::to_owned).collect();
    folders.extend(["tests", "benches", "examples"].map(|name| folder.join(name)));
    folders
}

/// Every version in the workspace manifest is used by a package.
#[test]
fn shared_versions_are_used() {
    let text = read("Cargo.toml");
    let section = text
        .split("[workspace.dependencies]\n")
        .nth(1)
        .expect("the shared versions");
    let section = section.split("\n[").next().unwrap_or_default();
    let keys = section.lines().filter_map(|line| line.split_once(" = "));
    let keys = keys
        .map(|(key, _)| key)
        .filter(|key| !key.starts_with(['#', ' ']));
    let manifests: String = crate::support::files("toml")
        .iter()
        .map(|path| std::fs::read_to_string(path).unwrap())
        .collect();
    let uses = |key: &str| {
        [
            format!("\n{key}.workspace"),
            format!("\n{key} = {{ workspace = true"),
        ]
        .iter()
        .any(|line| manifests.contains(line))
    };
    let unused: Vec<&str> = keys.filter(|key| !uses(key)).collect();
    assert_eq!(
        unused,
        Vec::<&str>::new(),
        "remove them from {}",
        root().join("Cargo.toml").display()
    );
}
