//! Encrypts text with a key in a file of the home, so that only this home can read it.
//!
//! This keeps tokens out of backups, synchronised folders and screenshots that contain one of the two files.
//! It does not protect against a program of the same user, which can read the key too.

use std::fs;
use std::io::Write;
use std::path::Path;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use ring::aead::{Aad, CHACHA20_POLY1305, LessSafeKey, NONCE_LEN, Nonce, UnboundKey};
use ring::rand::{SecureRandom, SystemRandom};

const KEY_BYTES: usize = 32;
/// Maximum size of a key file.
const MAX_KEY_BYTES: u64 = 1024;

/// The encryption key of a home.
pub(crate) struct Seal(LessSafeKey);

impl Seal {
    /// Reads the key from `path`, and creates it if the file does not exist.
    pub(crate) fn open(path: &Path) -> Result<Self, String> {
        if !path.exists() {
            create(path)?;
        }
        let text = deft_registry::read_text(path, MAX_KEY_BYTES)
            .map_err(|problem| format!("cannot read `{}`: {problem}", path.display()))?;
        let key = STANDARD.decode(text.trim()).ok();
        let key = key.and_then(|key| UnboundKey::new(&CHACHA20_POLY1305, &key).ok());
        let key = key.ok_or_else(|| format!("`{}` contains no key", path.display()))?;
        Ok(Self(LessSafeKey::new(key)))
    }

    /// Encrypts `text`; decryption needs the same `about`.
    pub(crate) fn seal(&self, text: &str, about: &str) -> Result<String, String> {
        let nonce: [u8; NONCE_LEN] = random()?;
        let mut bytes = text.as_bytes().to_vec();
        self.0
            .seal_in_place_append_tag(
                Nonce::assume_unique_for_key(nonce),
                Aad::from(about.as_bytes()),
                &mut bytes,
            )
            .map_err(|_| "it cannot be encrypted".to_owned())?;
        Ok(STANDARD.encode([&nonce[..], &bytes].concat()))
    }

    /// Decrypts a text encrypted with this key and the same `about`.
    pub(crate) fn unseal(&self, sealed: &str, about: &str) -> Result<String, String> {
        let other = || "it was encrypted with another key, or changed since".to_owned();
        let bytes = STANDARD.decode(sealed).map_err(|_| other())?;
        let (nonce, rest) = bytes.split_at_checked(NONCE_LEN).ok_or_else(other)?;
        let nonce = Nonce::try_assume_unique_for_key(nonce).map_err(|_| other())?;
        let mut rest = rest.to_vec();
        let text = self
            .0
            .open_in_place(nonce, Aad::from(about.as_bytes()), &mut rest)
            .map_err(|_| other())?;
        String::from_utf8(text.to_vec()).map_err(|_| other())
    }
}

fn random<const N: usize>() -> Result<[u8; N], String> {
    let mut bytes = [0; N];
    let filled = SystemRandom::new().fill(&mut bytes);
    filled.map_err(|_| "cannot read random numbers from the system".to_owned())?;
    Ok(bytes)
}

/// Writes a new key file that only its owner can read. Does nothing if another process created it first.
fn create(path: &Path) -> Result<(), String> {
    let key: [u8; KEY_BYTES] = random()?;
    let mut options = fs::OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let written = match options.open(path) {
        Ok(mut file) => file.write_all(format!("{}\n", STANDARD.encode(key)).as_bytes()),
        Err(problem) if problem.kind() == std::io::ErrorKind::AlreadyExists => Ok(()),
        Err(problem) => Err(problem),
    };
    written.map_err(|problem| format!("cannot write `{}`: {problem}", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_same_key_and_the_same_subject_decrypt() {
        let folder = tempfile::tempdir().unwrap();
        let seal = Seal::open(&folder.path().join("key")).unwrap();
        let sealed = seal.seal("token", "web").unwrap();
        assert!(!sealed.contains("token"));
        assert_ne!(sealed, seal.seal("token", "web").unwrap());
        let again = Seal::open(&folder.path().join("key")).unwrap();
        assert_eq!(again.unseal(&sealed, "web").unwrap(), "token");
        let other = Seal::open(&folder.path().join("other")).unwrap();
        assert!(other.unseal(&sealed, "web").is_err());
        assert!(seal.unseal(&sealed, "mail").is_err());
        for broken in ["", "AAAA", "no base64!", &sealed[..sealed.len() - 4]] {
            assert!(seal.unseal(broken, "web").is_err(), "{broken}");
        }
        assert!(!crate::is_open_to_others(&folder.path().join("key")));
    }
}
