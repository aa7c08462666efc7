//! Third-party programs that check deft as an MCP server: the Inspector, the conformance suite, the official
//! SDKs.
//!
//! `crates/server/tests/referees/install.sh` installs them. If one is missing, tests fail; none are skipped.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

/// Returns the folder in which the referees are installed.
fn folder() -> PathBuf {
    let cache = std::env::var_os("XDG_CACHE_HOME").map(PathBuf::from);
    let cache = cache.unwrap_or_else(|| {
        let home = std::env::var_os("HOME").expect("HOME is set");
        PathBuf::from(home).join(".cache")
    });
    cache.join("deft/referees")
}

/// Returns the path of an installed file. Panics if it is missing.
pub fn referee(path: &str) -> PathBuf {
    let file = folder().join(path);
    assert!(
        file.exists(),
        "{} is missing; run `crates/server/tests/referees/install.sh`",
        file.display()
    );
    file
}

/// Returns the command for a referee written in JavaScript, given the path of its package.
pub fn node_referee(package: &str) -> Command {
    let mut command = Command::new(referee("bin/node"));
    command.arg(referee(&format!("node_modules/{package}")));
    command
}

/// Returns the path of a script in `crates/server/tests/referees`.
pub fn referee_script_path(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../server/tests/referees")
        .join(name)
}

/// Returns the command for a script in `crates/server/tests/referees` that drives deft with an official SDK.
pub fn referee_script(name: &str) -> Command {
    let script = referee_script_path(name);
    if script.extension().is_some_and(|ending| ending == "py") {
        let mut command = Command::new(referee("python/bin/python"));
        command.arg("-B").arg(script);
        return command;
    }
    let mut command = Command::new(referee("bin/node"));
    // Node resolves packages relative to the script, but they are installed in the cache.
    command
        .arg("--import")
        .arg(script.with_file_name("packages.mjs"))
        .arg(&script)
        .env("DEFT_REFEREES", folder());
    command
}

/// Returns the checks of a scenario that the conformance suite wrote below a folder.
pub fn conformance_checks(folder: &Path) -> Option<Value> {
    for entry in fs::read_dir(folder).ok()?.flatten() {
        let path = entry.path();
        if path.is_dir() {
            if let Some(found) = conformance_checks(&path) {
                return Some(found);
            }
        } else if path.file_name().is_some_and(|name| name == "checks.json") {
            return serde_json::from_slice(&fs::read(path).ok()?).ok();
        }
    }
    None
}
