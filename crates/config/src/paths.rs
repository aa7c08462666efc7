//! Paths as people write them in the configuration.

use std::path::{Path, PathBuf};

use crate::env;

/// The path behind `~/…`, or one that is seen from the home of deft.
pub fn resolve(home: &Path, path: &str) -> PathBuf {
    expand(path).unwrap_or_else(|| home.join(path))
}

/// The path behind `~/…`.
pub(crate) fn expand(path: &str) -> Option<PathBuf> {
    let rest = path.strip_prefix("~/")?;
    env::user_home().map(|home| home.join(rest))
}
