//! The folder of a home on disk: how it is made, and where its configuration is.

use std::fs;
use std::path::{Path, PathBuf};

use deft_wire::{Done, Failure};

/// The configuration of a home.
pub fn config_file(home: &Path) -> PathBuf {
    home.join("config.toml")
}

/// A home, made if need be; only its owner may look inside.
pub fn ensure_home(home: &Path) -> Done<()> {
    if home.is_dir() {
        return Ok(());
    }
    create_folder(home)?;
    restrict(home).map_err(|problem| Failure::file(home, "protect", &problem))
}

/// Makes a folder and those above it.
pub fn create_folder(path: &Path) -> Done<()> {
    fs::create_dir_all(path).map_err(|problem| Failure::file(path, "create", &problem))
}

#[cfg(unix)]
fn restrict(path: &Path) -> std::io::Result<()> {
    use std::os::unix::fs::PermissionsExt;
    fs::set_permissions(path, fs::Permissions::from_mode(0o700))
}

#[cfg(not(unix))]
fn restrict(_: &Path) -> std::io::Result<()> {
    Ok(())
}
