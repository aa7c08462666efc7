//! Loss of the store: its file was deleted or replaced, so this process must not use it any more.
//!
//! Another process may already use the new file, so every further slot and call could be a duplicate. Not
//! here: detecting the loss, which the store does.

use std::sync::OnceLock;

use deft_base::Error;
use tokio_util::sync::CancellationToken;

/// Whether the store is lost, and why.
#[derive(Default)]
pub(crate) struct StoreLoss {
    reason: OnceLock<deft_store::Error>,
    noted: CancellationToken,
}

impl StoreLoss {
    /// Waits until the store is lost, and returns the reason.
    pub(crate) async fn wait(&self) -> Error {
        loop {
            self.noted.cancelled().await;
            if let Some(reason) = self.reason.get() {
                return Error::Store(reason.clone());
            }
        }
    }

    /// Records `error` if it means that the store is lost.
    pub(crate) fn note(&self, error: &Error) {
        if let Error::Store(reason @ deft_store::Error::FileChanged { .. }) = error {
            self.reason.get_or_init(|| reason.clone());
            self.noted.cancel();
        }
    }
}
