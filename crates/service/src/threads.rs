//! The threads of an open home: its own, or those of the daemon that has it open.

use tokio::runtime::{Handle, Runtime};
use tokio::task::JoinHandle;

/// The threads on which an [`App`](crate::App) works.
pub(crate) enum Threads {
    /// Started for this app, and shut down with it.
    Own(Runtime),
    /// Shared with the process that has the home open.
    Shared(Handle),
}

impl Threads {
    /// Runs `work` to completion on this thread, which may block. The thread does nothing else meanwhile, so
    /// the store may do its I/O on it.
    pub(crate) fn block_on<T>(&self, work: impl Future<Output = T>) -> T {
        deft_store::on_own_thread(|| match self {
            Self::Own(runtime) => runtime.block_on(work),
            Self::Shared(handle) => handle.block_on(work),
        })
    }

    /// Spawns a task.
    pub(crate) fn spawn<T: Send + 'static>(
        &self,
        work: impl Future<Output = T> + Send + 'static,
    ) -> JoinHandle<T> {
        self.handle().spawn(work)
    }

    /// Returns a handle to these threads.
    pub(crate) fn handle(&self) -> &Handle {
        match self {
            Self::Own(runtime) => runtime.handle(),
            Self::Shared(handle) => handle,
        }
    }

    /// Shuts down own threads without waiting for them.
    pub(crate) fn abandon(self) {
        if let Self::Own(runtime) = self {
            runtime.shutdown_background();
        }
    }
}
