//! Results and messages that are too large for the journal: they go to files for people, and the step fails
//! with the name of the file.
//!
//! Not here: how long the files are kept (`prune.rs`).

use std::future::ready;
use std::io;
use std::path::PathBuf;

use deft_model::{Digest, Failure, FailureClass};
use deft_workflow::Path;
use futures_util::future::{BoxFuture, FutureExt};
use serde_json::Value;

use super::Performer;

/// Number of bytes that remain of a failure's message when it is too long.
const MAX_MESSAGE_BYTES: usize = 2000;

/// Number of bytes of a step's path in the name of its file.
const MAX_NAME_BYTES: usize = 100;

impl Performer {
    /// Shortens the message of a failure if it is too large for the journal, and writes the full message to a
    /// file. The future is boxed, like that of [`spill`](Self::spill), so that the futures of all calls do not
    /// grow for a rare case.
    pub(crate) fn shorten(&self, path: &Path, failure: Failure) -> BoxFuture<'static, Failure> {
        let (size, limit) = (failure.message.len(), self.engine.options.max_result_bytes);
        if size <= limit.max(MAX_MESSAGE_BYTES) {
            return ready(failure).boxed();
        }
        let whole = Value::from(failure.message.as_str()).to_string();
        let written = self.write_result(path, whole);
        async move {
            let hint = match written.await {
                Ok(file) => format!("the full message is in `{}`", file.display()),
                Err(error) => format!("the rest could not be stored: {error}"),
            };
            let mut message = failure.message;
            message.truncate(message.floor_char_boundary(MAX_MESSAGE_BYTES));
            message.push_str(&format!(
                " … (the message has {size} bytes, more than {limit})"
            ));
            Failure {
                message,
                hint: Some(hint),
                ..failure
            }
        }
        .boxed()
    }

    /// Writes a result that is too large for the journal to a file, and returns the failure about it.
    pub(crate) fn spill(&self, path: &Path, value: &Value) -> BoxFuture<'static, Failure> {
        let text = value.to_string();
        let limit = self.engine.options.max_result_bytes;
        let size = text.len();
        let message = format!("the result of `{path}` has {size} bytes, more than {limit}");
        let written = self.write_result(path, text);
        async move {
            let hint = match written.await {
                Ok(file) => format!(
                    "the full result is in `{}`; make the tool return less",
                    file.display()
                ),
                Err(error) => format!("the full result could not be stored either: {error}"),
            };
            Failure::new(FailureClass::Limit, message).hint(hint)
        }
        .boxed()
    }

    /// Writes a text to the file of a step, without blocking a thread of the runtime: it may be large and the
    /// disk slow.
    fn write_result(
        &self,
        path: &Path,
        text: String,
    ) -> impl Future<Output = io::Result<PathBuf>> + use<> {
        let folder = self.engine.options.spill.join(self.run.as_str());
        let file = folder.join(format!("{}.json", file_name(path.as_str())));
        async move {
            let written = tokio::task::spawn_blocking(move || {
                std::fs::create_dir_all(&folder)?;
                std::fs::write(&file, text)?;
                Ok(file)
            });
            written.await.unwrap_or_else(|error| Err(error.into()))
        }
    }
}

/// Returns the name of a file for a step. It is readable and, where file names distinguish case, different for
/// each step: a path that it cannot show as it is ends with a digest.
fn file_name(path: &str) -> String {
    let is_safe = |c: char| c.is_alphanumeric() || c == '_' || c == '-';
    if path.len() <= MAX_NAME_BYTES && path.chars().all(is_safe) {
        return path.to_owned();
    }
    let readable: String = path
        .chars()
        .map(|c| if is_safe(c) { c } else { '-' })
        .collect();
    let readable = &readable[..readable.floor_char_boundary(MAX_NAME_BYTES)];
    let digest = Digest::sha256(path.as_bytes()).to_string();
    format!("{readable}.{}", &digest[..8])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_path_has_a_file_of_its_own() {
        assert_eq!(file_name("first"), "first");
        assert_eq!(file_name("prüfe_a-b"), "prüfe_a-b");
        assert_eq!(file_name("a-b"), "a-b");
        assert_eq!(file_name("a/b"), "a-b.c14cddc0");
        assert_eq!(file_name("a#b"), "a-b.8187fc8f");
        let [one, other] = ["x", "y"].map(|end| file_name(&("ä".repeat(50) + end)));
        assert_ne!(one, other);
        for name in [one, other] {
            assert_eq!(name[..101], "ä".repeat(50) + ".");
            assert_eq!(name.len(), 109);
        }
    }
}
