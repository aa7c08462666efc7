//! A store that this process must not use any more: its file was deleted or replaced.
//!
//! Another process may already use the file that is there now, so every slot and call from here on
//! could be a second one. Not here: how the loss is noticed, which is the store's part.

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
    /// Waits until the store is lost.
    pub(crate) async fn wait(&self) -> Error {
        loop {
            self.noted.cancelled().await;
            if let Some(reason) = self.reason.get() {
                return Error::Store(reason.clone());
            }
        }
    }

    /// Notes an error that means that the store is lost.
    pub(crate) fn note(&self, error: &Error) {
        if let Error::Store(reason @ deft_store::Error::FileChanged { .. }) = error {
            self.reason.get_or_init(|| reason.clone());
            self.noted.cancel();
        }
    }
}
