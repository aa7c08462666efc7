//! Programs of others that judge deft as an MCP server: the Inspector, the conformance suite, the official SDKs.
//!
//! `crates/server/tests/referees/install.sh` installs them. If one is missing, tests fail; nothing is skipped.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

/// Where the referees are installed.
fn folder() -> PathBuf {
    let cache = std::env::var_os("XDG_CACHE_HOME").map(PathBuf::from);
    let cache = cache.unwrap_or_else(|| {
        let home = std::env::var_os("HOME").expect("HOME is set");
        PathBuf::from(home).join(".cache")
    });
    cache.join("deft/referees")
}

/// A file of the referees, which must be there.
pub fn referee(path: &str) -> PathBuf {
    let file = folder().join(path);
    assert!(
        file.exists(),
        "{} is missing; run `crates/server/tests/referees/install.sh`",
        file.display()
    );
    file
}

/// A referee written in JavaScript, by the path of its package.
pub fn node_referee(package: &str) -> Command {
    let mut command = Command::new(referee("bin/node"));
    command.arg(referee(&format!("node_modules/{package}")));
    command
}

/// Where a script of `crates/server/tests/referees` is.
pub fn referee_script_path(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../server/tests/referees")
        .join(name)
}

/// A script of `crates/server/tests/referees` that drives deft with one of the official SDKs.
pub fn referee_script(name: &str) -> Command {
    let script = referee_script_path(name);
    if script.extension().is_some_and(|ending| ending == "py") {
        let mut command = Command::new(referee("python/bin/python"));
        command.arg("-B").arg(script);
        return command;
    }
    let mut command = Command::new(referee("bin/node"));
    // Packages are looked for beside a script, and they are in the cache.
    command
        .arg("--import")
        .arg(script.with_file_name("packages.mjs"))
        .arg(&script)
        .env("DEFT_REFEREES", folder());
    command
}

/// The checks of a scenario that the conformance suite has written into a folder.
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
