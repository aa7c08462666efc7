//! Resolves paths as users write them in the configuration.

use std::path::{Path, PathBuf};

use crate::env;

/// Resolves `~/…` against the user's home, and relative paths against the home of deft.
pub fn resolve(home: &Path, path: &str) -> PathBuf {
    expand(path).unwrap_or_else(|| home.join(path))
}

/// Expands `~/…`; `None` for other paths.
pub(crate) fn expand(path: &str) -> Option<PathBuf> {
    let rest = path.strip_prefix("~/")?;
    env::user_home().map(|home| home.join(rest))
}
