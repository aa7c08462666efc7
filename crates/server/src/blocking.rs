//! Blocking work on threads of the runtime, limited by permits.

use std::sync::Arc;

use tokio::sync::Semaphore;
use tokio::task::JoinError;

/// Runs blocking `work` on a thread, after waiting for a permit. The work keeps the permit to its end, even if
/// its client disconnects and the returned future is dropped.
pub(crate) async fn block_with_permit<T: Send + 'static>(
    permits: &Arc<Semaphore>,
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T, JoinError> {
    // The semaphores are never closed.
    let permit = Arc::clone(permits).acquire_owned().await;
    tokio::task::spawn_blocking(move || {
        let _permit = permit;
        work()
    })
    .await
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;
    use std::time::Duration;

    use super::*;

    #[tokio::test]
    async fn work_keeps_its_permit_when_its_client_disconnects() {
        let permits = Arc::new(Semaphore::new(1));
        let (finish, finished) = mpsc::channel::<()>();
        let work = block_with_permit(&permits, move || finished.recv().is_ok());
        let dropped = tokio::time::timeout(Duration::ZERO, work).await;
        assert!(dropped.is_err(), "the work blocks");
        assert_eq!(permits.available_permits(), 0);
        drop(finish);
        let next = block_with_permit(&permits, || "next").await;
        assert_eq!(next.unwrap(), "next");
    }
}
