//! Tests for the conventions of this repository, and generators for documents.
//!
//! `cargo test -p xtask` checks both; `UPDATE=1 cargo test -p xtask` regenerates the documents.

#[cfg(test)]
mod coverage;
#[cfg(test)]
mod cycles;
#[cfg(test)]
mod dependencies;
#[cfg(test)]
mod documents;
#[cfg(test)]
mod doors;
#[cfg(test)]
mod dropped_errors;
#[cfg(test)]
mod durations;
#[cfg(test)]
mod errors;
#[cfg(test)]
mod front_ends;
#[cfg(test)]
mod layering;
#[cfg(test)]
mod locks;
#[cfg(test)]
mod matches;
#[cfg(test)]
mod messages;
#[cfg(test)]
mod paths;
#[cfg(test)]
mod plain_words;
#[cfg(test)]
mod public_items;
#[cfg(test)]
mod sizes;
#[cfg(test)]
mod source;
#[cfg(test)]
mod step_kinds;
#[cfg(test)]
mod stored;
#[cfg(test)]
mod tidy;
#[cfg(test)]
mod toolchain;
#[cfg(test)]
mod traits;
#[cfg(test)]
mod written_once;

#[cfg(test)]
mod support {
    use std::path::{Path, PathBuf};

    /// Returns the root of the workspace.
    pub(crate) fn root() -> PathBuf {
        Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
    }

    /// Reads a file of the workspace.
    pub(crate) fn read(path: &str) -> String {
        std::fs::read_to_string(root().join(path))
            .unwrap_or_else(|problem| panic!("{path}: {problem}"))
    }

    /// Returns all files of the workspace with this extension, sorted by path.
    pub(crate) fn files(extension: &str) -> Vec<PathBuf> {
        let folders = ["crates", "xtask", "fuzz", "tests"].into_iter();
        let mut found: Vec<PathBuf> = folders
            .flat_map(|folder| files_in(&root().join(folder), extension))
            .collect();
        found.sort();
        found
    }

    /// Returns all files below a folder with this extension, unsorted.
    pub(crate) fn files_in(folder: &Path, extension: &str) -> Vec<PathBuf> {
        let mut found = Vec::new();
        collect(folder, extension, &mut found);
        found
    }

    /// Runs `cargo metadata` and parses its output.
    pub(crate) fn metadata(arguments: &[&str]) -> serde_json::Value {
        let output = std::process::Command::new(env!("CARGO"))
            .args(["metadata", "--format-version", "1"])
            .args(arguments)
            .current_dir(root())
            .output()
            .expect("cargo runs");
        let problem = String::from_utf8_lossy(&output.stderr);
        serde_json::from_slice(&output.stdout)
            .unwrap_or_else(|_| panic!("`cargo metadata {}`: {problem}", arguments.join(" ")))
    }

    fn collect(folder: &Path, extension: &str, found: &mut Vec<PathBuf>) {
        for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
            let path = entry.path();
            let name = entry.file_name();
            if path.is_dir() && name != "target" && name != "cases" {
                collect(&path, extension, found);
            } else if path.extension().is_some_and(|found| found == extension) {
                found.push(path);
            }
        }
    }
}
