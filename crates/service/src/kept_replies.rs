//! Stored replies to requests with an `Idempotency-Key`, in files of the home, so a key stays valid across a
//! restart.
//!
//! A request is recorded before it is carried out. If deft ends before the reply is known, the record stays
//! and the request is not repeated, because its effect is unknown. A request that starts a run needs none of
//! this: its key is stored with the run.

use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use deft_config::write_private;
use deft_registry::read_text;
use deft_wire::{Done, Failure};
use serde::{Deserialize, Serialize};

/// How long a reply is kept.
const REPLY_LIFETIME: Duration = Duration::from_hours(24);

/// Maximum size of a stored reply, in bytes.
pub const MAX_REPLY_BYTES: usize = 256 * 1024;

/// Maximum size of a file, in bytes: a reply with its escapes.
const MAX_BYTES: u64 = 2 * 1024 * 1024;

/// A request with a key, and its reply if it is known.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct KeptReply {
    /// The digest of the body of the request.
    pub body: String,
    /// The reply; `None` while the request is in progress.
    pub reply: Option<StoredReply>,
}

/// A reply as it was sent.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct StoredReply {
    /// The HTTP status.
    pub status: u16,
    /// The body of the reply.
    pub text: String,
    /// Whether it reports a failure.
    pub is_problem: bool,
}

/// The folder with the replies, one file per key.
#[derive(Clone, Debug)]
pub struct ReplyFiles(PathBuf);

impl ReplyFiles {
    /// Opens the replies of `home` and removes expired ones.
    pub fn open(home: &Path) -> Self {
        let files = Self(home.join("data").join("replies"));
        for (key, _) in files.list().iter().filter(|(_, at)| is_expired(*at)) {
            files.remove(key);
        }
        files
    }

    /// Returns all keys with the time of their last change, oldest first.
    pub fn list(&self) -> Vec<(String, SystemTime)> {
        let entries = fs::read_dir(&self.0).into_iter().flatten().flatten();
        let mut all: Vec<(String, SystemTime)> = entries
            .filter_map(|entry| {
                let name = entry.file_name().into_string().ok()?;
                let key = name.strip_suffix(".json")?.to_owned();
                Some((key, entry.metadata().ok()?.modified().ok()?))
            })
            .collect();
        all.sort_by_key(|(_, at)| *at);
        all
    }

    /// Returns the record of `key`, or `None` if it is unknown or expired. Fails if the file is unreadable,
    /// because its request may have taken effect.
    pub fn read(&self, key: &str) -> Done<Option<KeptReply>> {
        let path = self.path(key);
        let modified = fs::metadata(&path).and_then(|data| data.modified());
        if modified.is_ok_and(is_expired) {
            return Ok(None);
        }
        let text = match read_text(&path, MAX_BYTES) {
            Ok(text) => text,
            Err(problem) if problem.kind() == ErrorKind::NotFound => return Ok(None),
            Err(problem) => return Err(Failure::file(&path, "read", &problem)),
        };
        let kept = serde_json::from_str(&text).map_err(|problem| {
            let message =
                format!("the stored reply to this `Idempotency-Key` is damaged: {problem}");
            let hint = "check whether the request took effect; if not, send it with a new key";
            Failure::input("key_unfinished", message).hint(hint)
        })?;
        Ok(Some(kept))
    }

    /// Stores a request, or its reply.
    pub fn write(&self, key: &str, kept: &KeptReply) -> Done<()> {
        let path = self.path(key);
        if !self.0.exists() {
            // A problem with the folder is reported by the write.
            drop(fs::create_dir_all(&self.0));
        }
        write_private(&path, &serde_json::to_string(kept).unwrap_or_default())
    }

    /// Removes the record of `key`.
    pub fn remove(&self, key: &str) {
        // A file that cannot be removed now is removed when it expires.
        drop(fs::remove_file(self.path(key)));
    }

    fn path(&self, key: &str) -> PathBuf {
        self.0.join(format!("{key}.json"))
    }
}

/// Whether a reply stored at `at` has expired.
pub fn is_expired(at: SystemTime) -> bool {
    at.elapsed().is_ok_and(|age| age > REPLY_LIFETIME)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn replies_survive_a_restart_and_expire_after_a_day() {
        let home = tempfile::tempdir().unwrap();
        let files = ReplyFiles::open(home.path());
        let kept = KeptReply {
            body: "00".to_owned(),
            reply: Some(StoredReply {
                status: 200,
                text: "{}".to_owned(),
                is_problem: false,
            }),
        };
        assert_eq!(files.read("a").unwrap(), None);
        files.write("a", &kept).unwrap();
        files.write("b", &kept).unwrap();
        let other = ReplyFiles::open(home.path());
        assert_eq!(other.read("a").unwrap(), Some(kept));
        let file = fs::File::options()
            .write(true)
            .open(files.path("a"))
            .unwrap();
        let now = file.metadata().unwrap().modified().unwrap();
        let old = now - REPLY_LIFETIME - Duration::from_mins(1);
        file.set_modified(old).unwrap();
        assert_eq!(other.read("a").unwrap(), None);
        fs::write(files.path("b"), "{").unwrap();
        assert_eq!(files.read("b").unwrap_err().code, "key_unfinished");
        let keys = |files: &ReplyFiles| files.list().into_iter().map(|(key, _)| key);
        assert_eq!(
            keys(&ReplyFiles::open(home.path())).collect::<Vec<_>>(),
            ["b"]
        );
    }
}
