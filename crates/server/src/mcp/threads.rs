//! Limits on the threads that requests of MCP clients hold.
//!
//! All requests of a daemon take their threads from one pool. Without limits, one client that starts many
//! long runs would leave none for the requests of others.

use std::sync::Arc;

use rmcp::ErrorData;
use rmcp::model::ErrorCode;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::task::JoinError;

use crate::blocking::block_with_permit;

/// Maximum number of runs and calls of tools that clients wait for at once. Each may take hours.
const MAX_CALLS: usize = 256;

/// Maximum number of short requests that are answered at once. Further ones wait for their turn.
const MAX_REQUESTS: usize = 32;

/// Code of a refusal, from the range that JSON-RPC leaves to servers.
const BUSY: ErrorCode = ErrorCode(-32000);

/// Permits to hold a thread.
pub(super) struct Threads {
    calls: Arc<Semaphore>,
    requests: Arc<Semaphore>,
}

impl Default for Threads {
    fn default() -> Self {
        Self::with_limits(MAX_CALLS, MAX_REQUESTS)
    }
}

impl Threads {
    fn with_limits(calls: usize, requests: usize) -> Self {
        Self {
            calls: Arc::new(Semaphore::new(calls)),
            requests: Arc::new(Semaphore::new(requests)),
        }
    }

    /// Takes a permit for work that may take long; fails if there is none.
    pub(super) fn call(&self) -> Result<OwnedSemaphorePermit, ErrorData> {
        let permit = Arc::clone(&self.calls).try_acquire_owned();
        permit.map_err(|_| {
            let message = "too many runs and calls are in progress; wait until one has ended, or \
                           start work with `queue_task`, which does not wait for it";
            ErrorData::new(BUSY, message, None)
        })
    }

    /// Runs the blocking `work` of a short request, after waiting for a permit.
    pub(super) async fn block<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T, JoinError> {
        block_with_permit(&self.requests, work).await
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn long_calls_leave_threads_for_short_requests() {
        let threads = Threads::with_limits(2, 1);
        let held = [threads.call().unwrap(), threads.call().unwrap()];
        assert_eq!(threads.call().unwrap_err().code, BUSY);
        assert_eq!(threads.block(|| 1).await.unwrap(), 1);
        drop(held);
        assert!(threads.call().is_ok());
    }
}
