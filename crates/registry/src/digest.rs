//! Content hashes.

use std::io::{self, Read};
use std::path::Path;

use deft_model::{Digest, Revision, SiblingFile};
use sha2::{Digest as _, Sha256};

use crate::file::open_regular;

/// Returns the SHA-256 digest of a file, read in chunks.
pub(crate) fn digest_file(path: &Path) -> io::Result<Digest> {
    let mut file = open_regular(path)?;
    let mut hasher = Sha256::new();
    let mut buffer = vec![0; 64 * 1024];
    loop {
        let read = file.read(&mut buffer)?;
        if read == 0 {
            return Ok(Digest::from_bytes(hasher.finalize().into()));
        }
        hasher.update(&buffer[..read]);
    }
}

/// Returns the revision of a skill: a hash over the name, size and hash of each of its files, so that
/// renaming a file also changes it.
pub(crate) fn revision(name: &str, content: &[u8], siblings: &[SiblingFile]) -> Revision {
    let mut hasher = Sha256::new();
    let mut add = |path: &str, size: u64, digest: Option<Digest>| {
        hasher.update(path.as_bytes());
        hasher.update([0]);
        hasher.update(size.to_le_bytes());
        hasher.update(digest.map(Digest::into_bytes).unwrap_or_default());
    };
    add(name, content.len() as u64, Some(Digest::sha256(content)));
    for sibling in siblings {
        add(&sibling.path, sibling.size_bytes, sibling.sha256);
    }
    Revision::new(Digest::from_bytes(hasher.finalize().into()))
}
