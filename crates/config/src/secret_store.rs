//! Stores secrets in the keyring of the host, else in files of the home that only their owner can read. The
//! configuration gets a reference.
//!
//! Not here: reading secrets (`secrets.rs`), and prompting for one.

use std::fs;
use std::path::{Path, PathBuf};

use deft_tools::Secret;
use deft_wire::{Done, Failure};

use crate::folders::{create_private_folder, ensure_home, write_private};
use crate::keyring::Keyring;

/// The folder of the home with one file per secret.
const FOLDER: &str = "secrets";

/// The place where a secret is stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SecretPlace {
    /// The keyring of the host, or a file of the home if the keyring fails.
    KeyringOrFile,
    /// A file of the home.
    File,
}

/// The result of storing a secret.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredSecret {
    /// The reference to write into the configuration.
    pub reference: String,
    /// Why the keyring could not store it, if it was tried.
    pub keyring_problem: Option<String>,
}

/// Stores a secret, replacing any older one of that name.
pub fn store_secret(
    home: &Path,
    name: &str,
    secret: &Secret,
    place: SecretPlace,
) -> Done<StoredSecret> {
    check_secret_name(name)?;
    let keyring_problem = match place {
        SecretPlace::File => None,
        SecretPlace::KeyringOrFile => {
            match Keyring::find(home).and_then(|keyring| keyring.store(name, secret)) {
                Ok(()) => {
                    // With a copy in both places, one of them would become stale.
                    remove_file(home, name)?;
                    return Ok(StoredSecret {
                        reference: format!("keyring:{name}"),
                        keyring_problem: None,
                    });
                }
                Err(reason) => Some(reason),
            }
        }
    };
    ensure_home(home)?;
    create_private_folder(&home.join(FOLDER))?;
    write_private(&file(home, name), &format!("{}\n", secret.expose()))?;
    Ok(StoredSecret {
        reference: format!("file:{FOLDER}/{name}"),
        keyring_problem,
    })
}

/// Removes a secret from the keyring and the files of the home. Returns false if neither had it.
pub fn remove_secret(home: &Path, name: &str) -> Done<bool> {
    check_secret_name(name)?;
    let keyring = Keyring::find(home).ok();
    let in_keyring = keyring.filter(|keyring| keyring.lookup(name).is_ok());
    if let Some(keyring) = &in_keyring {
        keyring.remove(name).map_err(|reason| {
            Failure::input("keyring", format!("cannot remove `{name}`: {reason}"))
                .hint("unlock the keyring and try again")
        })?;
    }
    Ok(remove_file(home, name)? || in_keyring.is_some())
}

/// Returns the names of the secrets that are files of the home, sorted.
pub fn secret_files(home: &Path) -> Vec<String> {
    let entries = fs::read_dir(home.join(FOLDER)).into_iter().flatten();
    let names = entries.filter_map(|entry| entry.ok()?.file_name().into_string().ok());
    let mut names: Vec<String> = names
        .filter(|name| check_secret_name(name).is_ok())
        .collect();
    names.sort();
    names
}

fn file(home: &Path, name: &str) -> PathBuf {
    home.join(FOLDER).join(name)
}

fn remove_file(home: &Path, name: &str) -> Done<bool> {
    let path = file(home, name);
    match fs::remove_file(&path) {
        Ok(()) => Ok(true),
        Err(problem) if problem.kind() == std::io::ErrorKind::NotFound => Ok(false),
        Err(problem) => Err(Failure::file(&path, "remove", &problem)),
    }
}

/// Fails if `name` cannot be the name of a secret. A name becomes part of a path and of commands, so it may
/// only have plain characters.
pub fn check_secret_name(name: &str) -> Done<()> {
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-');
    if !name.is_empty() && name.chars().all(plain) {
        return Ok(());
    }
    let message = format!("`{name}` cannot be the name of a secret");
    Err(Failure::input("invalid_name", message).hint("use letters, digits, `-` and `_`"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::folders::is_open_to_others;

    #[test]
    fn the_secret_file_is_readable_only_by_its_owner() {
        let home = tempfile::tempdir().unwrap();
        let home = home.path().join("home");
        let store = |value: &str| {
            store_secret(&home, "MAIL", &Secret::new(value), SecretPlace::File).unwrap()
        };
        assert_eq!(store("old").reference, "file:secrets/MAIL");
        store("new");
        let path = home.join("secrets/MAIL");
        assert_eq!(fs::read_to_string(&path).unwrap(), "new\n");
        assert!(!is_open_to_others(&path) && !is_open_to_others(&home.join("secrets")));
        assert_eq!(secret_files(&home), ["MAIL"]);
        assert!(remove_file(&home, "MAIL").unwrap());
        assert!(!remove_file(&home, "MAIL").unwrap());
    }

    #[test]
    fn a_name_cannot_leave_its_folder() {
        for name in ["", "../x", "a/b", "a b", ".hidden", "x\n"] {
            assert!(check_secret_name(name).is_err(), "{name}");
        }
    }
}
