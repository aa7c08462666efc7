//! Locates the binary of the test server, or builds it.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;
use std::time::SystemTime;

const NAME: &str = "deft-test-server";

/// Returns the path of `deft-test-server`, built from the current sources.
///
/// A binary next to the running test is used if it is newer than its sources, so tests do not wait for
/// cargo's lock; otherwise cargo builds it.
pub fn server_binary() -> PathBuf {
    static FOUND: OnceLock<PathBuf> = OnceLock::new();
    FOUND.get_or_init(find_or_build).clone()
}

fn find_or_build() -> PathBuf {
    let test = std::env::current_exe().expect("a running program has a path");
    let profile = test
        .ancestors()
        .find(|folder| folder.join(".fingerprint").is_dir() || folder.join("deps").is_dir())
        .expect("tests run in cargo's target folder")
        .to_owned();
    let binary = profile.join(NAME);
    if is_current(&binary) {
        return binary;
    }
    build(&profile);
    assert!(binary.exists(), "cargo built no {}", binary.display());
    binary
}

fn is_current(binary: &Path) -> bool {
    let sources = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let newest = newest(&sources.join("server")).max(change_time(&sources.join("wire.rs")));
    let built = binary.metadata().and_then(|meta| meta.modified());
    built.is_ok_and(|built| built >= newest)
}

fn newest(folder: &Path) -> SystemTime {
    std::fs::read_dir(folder)
        .expect("the sources of the test server are there")
        .flatten()
        .map(|entry| change_time(&entry.path()))
        .max()
        .unwrap_or(SystemTime::UNIX_EPOCH)
}

fn change_time(file: &Path) -> SystemTime {
    let changed = file.metadata().and_then(|meta| meta.modified());
    changed.unwrap_or(SystemTime::UNIX_EPOCH)
}

fn build(profile: &Path) {
    let cargo = std::env::var("CARGO").unwrap_or_else(|_| "cargo".to_owned());
    let mut command = Command::new(cargo);
    command
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .args(["build", "--quiet", "-p", "deft-testkit", "--bin", NAME])
        .arg("--target-dir")
        .arg(
            profile
                .parent()
                .expect("a profile is inside the target folder"),
        );
    if profile.ends_with("release") {
        command.arg("--release");
    }
    let status = command.status().expect("cargo can be run");
    assert!(
        status.success(),
        "`cargo build -p deft-testkit --bin {NAME}` failed"
    );
}
