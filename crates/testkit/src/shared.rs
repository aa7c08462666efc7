//! The folder `../shared` beside a checkout: public skills and design documents that are not ours to
//! copy into the repository. Few tests read it, and a clone that stands alone has none.
//!
//! A test without the folder passes and is counted as skipped: `make test` prints the list. This module
//! does not look for anything inside the repository.

use std::env::var_os;
use std::fs::OpenOptions;
use std::io::Write;
use std::path::{Path, PathBuf};

/// Names another folder; one that does not exist hides the folder from the tests.
const FOLDER: &str = "DEFT_SHARED";

/// The file that collects the names of skipped tests. Without it they go to stderr.
const SKIPPED: &str = "DEFT_SKIPPED";

/// The path of a file or folder in `../shared`.
///
/// When it is missing, the running test is noted as skipped and the caller should return.
pub fn shared(part: &str) -> Option<PathBuf> {
    let path = shared_path(part);
    if path.exists() {
        return Some(path);
    }
    note_skipped(part, var_os(SKIPPED).map(PathBuf::from).as_deref());
    None
}

/// Where a file or folder of `../shared` would be; for tests that leave the report to another one.
pub fn shared_path(part: &str) -> PathBuf {
    let beside = || Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared");
    let folder = var_os(FOLDER).map_or_else(beside, PathBuf::from);
    folder.join(part)
}

/// Adds a line in one write, because tests run in many processes at once.
fn note_skipped(part: &str, list: Option<&Path>) {
    let thread = std::thread::current();
    let test = thread.name().unwrap_or("a test without a name");
    let line = format!("{test} (../shared/{part})\n");
    let Some(list) = list else {
        // The test harness shows it with `--nocapture`.
        drop(write!(std::io::stderr(), "skipped: {line}"));
        return;
    };
    let mut file = OpenOptions::new()
        .create(true)
        .append(true)
        .open(list)
        .unwrap_or_else(|error| panic!("{}: {error}", list.display()));
    file.write_all(line.as_bytes())
        .expect("the list of skipped tests can be written");
}

#[cfg(test)]
mod tests {
    use super::note_skipped;

    #[test]
    fn each_skipped_test_is_one_line() {
        let folder = tempfile::tempdir().unwrap();
        let list = folder.path().join("skipped");
        note_skipped("seeds/a.txt", Some(&list));
        note_skipped("corpus", Some(&list));
        let lines = std::fs::read_to_string(list).unwrap();
        let test = "shared::tests::each_skipped_test_is_one_line";
        assert_eq!(
            lines,
            format!("{test} (../shared/seeds/a.txt)\n{test} (../shared/corpus)\n")
        );
    }
}
