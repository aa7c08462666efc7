//! The tokens that HTTP requests carry. The first one is made when a daemon first starts and is in `token` of the
//! home, for its owner alone.
//!
//! Not here: reading a token from a request.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use deft_config::write_private;
use deft_registry::read_text;
use deft_wire::{Done, Failure};

/// The largest file with a token.
const MAX_BYTES: u64 = 4096;

/// The fewest characters of a token.
const SHORTEST: usize = 32;

/// Where the token of the owner is.
pub fn token_file(home: &Path) -> PathBuf {
    home.join("token")
}

/// The token of the owner, made if need be.
pub fn owner_token(home: &Path) -> Done<String> {
    let path = token_file(home);
    match read_text(&path, MAX_BYTES) {
        Ok(text) => check(&path, text.trim()),
        Err(problem) if problem.kind() == ErrorKind::NotFound => {
            let token = new_token();
            write_private(&path, &format!("{token}\n"))?;
            Ok(token)
        }
        Err(problem) => Err(Failure::file(&path, "read", &problem)),
    }
}

fn check(path: &Path, token: &str) -> Done<String> {
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    if token.len() < SHORTEST || !token.chars().all(plain) {
        let message = format!("`{}` has no usable token", path.display());
        let hint = format!(
            "delete the file; the next start of deft makes a token. Letters, digits, `-`, `_` and `.` are usable, \
             {SHORTEST} of them at least"
        );
        return Err(Failure::input("bad_token_file", message).hint(hint));
    }
    if deft_config::is_open_to_others(path) {
        deft_config::make_private(path)
            .map_err(|problem| Failure::file(path, "protect", &problem))?;
    }
    Ok(token.to_owned())
}

/// A token with 244 random bits.
fn new_token() -> String {
    let part = || uuid::Uuid::new_v4().simple().to_string();
    format!("deft_{}{}", part(), part())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_is_made_once_and_belongs_to_its_owner() {
        let home = tempfile::tempdir().unwrap();
        let first = owner_token(home.path()).unwrap();
        assert_eq!(owner_token(home.path()).unwrap(), first);
        assert!(!deft_config::is_open_to_others(&token_file(home.path())));
        assert!(first.len() >= SHORTEST);
    }

    #[test]
    fn a_file_that_is_no_token_is_refused() {
        let home = tempfile::tempdir().unwrap();
        std::fs::write(token_file(home.path()), "short\n").unwrap();
        assert_eq!(owner_token(home.path()).unwrap_err().code, "bad_token_file");
    }
}
