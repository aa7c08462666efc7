//! Rules of the house as tests, and the documents that are generated.
//!
//! `cargo test -p xtask` checks them; `UPDATE=1 cargo test -p xtask` writes the
//! generated parts of documents anew.

#[cfg(test)]
mod coverage;
#[cfg(test)]
mod documents;
#[cfg(test)]
mod doors;
#[cfg(test)]
mod layering;
#[cfg(test)]
mod locks;
#[cfg(test)]
mod matches;
#[cfg(test)]
mod tidy;
#[cfg(test)]
mod traits;

#[cfg(test)]
mod support {
    use std::path::{Path, PathBuf};

    /// The root of the workspace.
    pub(crate) fn root() -> PathBuf {
        Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
    }

    /// A file of the workspace.
    pub(crate) fn read(path: &str) -> String {
        std::fs::read_to_string(root().join(path))
            .unwrap_or_else(|problem| panic!("{path}: {problem}"))
    }

    /// All files of the workspace with this extension, by path.
    pub(crate) fn files(extension: &str) -> Vec<PathBuf> {
        let mut found = Vec::new();
        for folder in ["crates", "xtask", "fuzz", "tests"] {
            collect(&root().join(folder), extension, &mut found);
        }
        found.sort();
        found
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
