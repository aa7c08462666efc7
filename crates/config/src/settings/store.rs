//! The path of the database. Not here: opening it.

use std::path::{Path, PathBuf};

use crate::paths;

/// The file of the database.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StorePath {
    /// The path.
    pub path: PathBuf,
}

/// Why a database address is invalid.
#[derive(Debug)]
pub(super) struct AddressError {
    /// A sentence without its beginning, "`store.url` ".
    pub message: String,
    pub hint: String,
}

/// Returns the path in a database address.
pub(super) fn parse(url: &str) -> Result<&str, AddressError> {
    if url.starts_with("postgres://") || url.starts_with("postgresql://") {
        return Err(AddressError {
            message: "names a PostgreSQL database, which is not supported".to_owned(),
            hint: "leave it out to use `data/deft.db` in the home".to_owned(),
        });
    }
    let path = url
        .strip_prefix("sqlite://")
        .or_else(|| url.strip_prefix("sqlite:"));
    path.filter(|path| !path.is_empty())
        .ok_or_else(|| AddressError {
            message: "takes an address such as `sqlite://data/deft.db`".to_owned(),
            hint: "write `sqlite://` and the path of the file".to_owned(),
        })
}

impl StorePath {
    /// Resolves an address against the home; the default is `data/deft.db`.
    pub(super) fn new(url: Option<&str>, home: &Path) -> Self {
        let given = url.and_then(|url| parse(url).ok());
        Self {
            path: paths::resolve(home, given.unwrap_or("data/deft.db")),
        }
    }
}
