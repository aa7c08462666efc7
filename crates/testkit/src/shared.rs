//! The folder `../shared` beside a checkout: public skills and design documents that must not be copied into
//! the repository. Few tests read it, and a plain clone does not have it.
//!
//! Without the folder such a test passes and is recorded as skipped: `make test` prints the list. Not here:
//! files inside the repository.

use std::env::var_os;
use std::fs::OpenOptions;
use std::io::Write;
use std::path::{Path, PathBuf};

/// The environment variable with another folder. A path that does not exist hides the folder from the tests.
const FOLDER: &str = "DEFT_SHARED";

/// The environment variable with the file for the names of skipped tests. Without it they are printed to
/// stderr.
const SKIPPED: &str = "DEFT_SKIPPED";

/// Returns the path of a file or folder in `../shared`.
///
/// If it is missing, records the running test as skipped and returns `None`; the caller should return.
pub fn find_shared(part: &str) -> Option<PathBuf> {
    let path = shared_path(part);
    if path.exists() {
        return Some(path);
    }
    note_skipped(part, var_os(SKIPPED).map(PathBuf::from).as_deref());
    None
}

/// Returns the path of a file or folder in `../shared`, whether it exists or not. For tests that do not
/// record that they are skipped because another test does.
pub fn shared_path(part: &str) -> PathBuf {
    let beside = || Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared");
    let folder = var_os(FOLDER).map_or_else(beside, PathBuf::from);
    folder.join(part)
}

/// Records a skipped test. The line is written at once, because tests run in many processes concurrently.
fn note_skipped(part: &str, list: Option<&Path>) {
    let thread = std::thread::current();
    let test = thread.name().unwrap_or("a test without a name");
    let line = format!("{test} (../shared/{part})\n");
    let Some(list) = list else {
        // The test harness shows stderr with `--nocapture`.
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
