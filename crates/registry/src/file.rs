//! Reads files that may be anything.

use std::fs::{self, Metadata};
use std::io::{self, Read};
use std::path::Path;

/// The content of a regular file that is not too large. Pipes and devices are
/// refused before they are opened: opening one could wait for ever.
pub fn read_regular(path: &Path, max_bytes: u64) -> io::Result<Vec<u8>> {
    read_known(path, &path.metadata()?, max_bytes)
}

/// The same where the metadata is at hand.
pub(crate) fn read_known(path: &Path, metadata: &Metadata, max_bytes: u64) -> io::Result<Vec<u8>> {
    if !metadata.is_file() {
        return Err(io::Error::new(
            io::ErrorKind::InvalidInput,
            "it is not a regular file",
        ));
    }
    if metadata.len() > max_bytes {
        let message = format!("it has {} bytes, {max_bytes} are allowed", metadata.len());
        return Err(io::Error::new(io::ErrorKind::FileTooLarge, message));
    }
    // The file may have grown since it was looked at.
    let mut bytes = Vec::with_capacity(usize::try_from(metadata.len()).unwrap_or_default());
    fs::File::open(path)?
        .take(max_bytes)
        .read_to_end(&mut bytes)?;
    Ok(bytes)
}
