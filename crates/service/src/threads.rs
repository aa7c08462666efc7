//! The threads of an open home: its own, or those of the daemon that has it open.

use tokio::runtime::{Handle, Runtime};
use tokio::task::JoinHandle;

/// Where the work of an [`App`](crate::App) runs.
pub(crate) enum Threads {
    /// Started for it, and ended with it.
    Own(Runtime),
    /// Those of the process that has the home open.
    Shared(Handle),
}

impl Threads {
    /// Waits for something on this thread, which may be blocked. It waits for nothing else, so that the store may be
    /// read and written on it.
    pub(crate) fn block_on<T>(&self, work: impl Future<Output = T>) -> T {
        deft_store::on_own_thread(|| match self {
            Self::Own(runtime) => runtime.block_on(work),
            Self::Shared(handle) => handle.block_on(work),
        })
    }

    /// Starts something that goes on by itself.
    pub(crate) fn spawn<T: Send + 'static>(
        &self,
        work: impl Future<Output = T> + Send + 'static,
    ) -> JoinHandle<T> {
        self.handle().spawn(work)
    }

    /// The way to these threads.
    pub(crate) fn handle(&self) -> &Handle {
        match self {
            Self::Own(runtime) => runtime.handle(),
            Self::Shared(handle) => handle,
        }
    }

    /// Ends threads of its own without waiting for them.
    pub(crate) fn abandon(self) {
        if let Self::Own(runtime) = self {
            runtime.shutdown_background();
        }
    }
}
