//! Limit on the number of connections. When all permits are taken, a new connection evicts the one that has
//! been idle longest, so a client that opens connections and sends nothing does not keep others out.

use std::collections::BTreeMap;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use axum::body::{Body, Bytes, HttpBody};
use hyper::body::{Frame, SizeHint};
use parking_lot::Mutex;
use tokio_util::sync::CancellationToken;

/// Permits of all connections.
pub(crate) struct ConnectionPermits {
    most: usize,
    state: Mutex<PermitTable>,
}

#[derive(Default)]
struct PermitTable {
    taken: usize,
    /// Idle connections, longest idle first.
    idle: BTreeMap<u64, CancellationToken>,
    next: u64,
}

impl PermitTable {
    fn add_idle(&mut self, evicted: &CancellationToken) -> u64 {
        self.next += 1;
        self.idle.insert(self.next, evicted.clone());
        self.next
    }
}

/// Permit of one connection, which is idle at first.
pub(crate) struct ConnectionPermit {
    permits: Arc<ConnectionPermits>,
    /// Key in the table of idle connections; `None` while a request is in flight.
    idle: Mutex<Option<u64>>,
    evicted: CancellationToken,
}

impl ConnectionPermits {
    pub(crate) fn new(most: usize) -> Arc<Self> {
        Arc::new(Self {
            most,
            state: Mutex::default(),
        })
    }

    /// Takes a permit. Returns `None` if all connections have requests in flight.
    pub(crate) fn take(self: &Arc<Self>) -> Option<ConnectionPermit> {
        let mut state = self.state.lock();
        if state.taken < self.most {
            state.taken += 1;
        } else {
            let (_, longest) = state.idle.pop_first()?;
            longest.cancel();
        }
        let evicted = CancellationToken::new();
        let idle = state.add_idle(&evicted);
        Some(ConnectionPermit {
            permits: Arc::clone(self),
            idle: Mutex::new(Some(idle)),
            evicted,
        })
    }
}

impl ConnectionPermit {
    /// Waits until this permit is given to another connection.
    pub(crate) async fn wait_until_lost(&self) {
        self.evicted.cancelled().await;
    }

    /// Marks the connection as busy until the returned mark is dropped.
    pub(crate) fn begin(self: &Arc<Self>) -> BusyMark {
        let mut state = self.permits.state.lock();
        if let Some(entry) = self.idle.lock().take() {
            state.idle.remove(&entry);
        }
        BusyMark(Arc::clone(self))
    }
}

impl Drop for ConnectionPermit {
    fn drop(&mut self) {
        let mut state = self.permits.state.lock();
        if let Some(entry) = self.idle.lock().take() {
            state.idle.remove(&entry);
        }
        // The place of an evicted connection belongs to the connection that replaced it.
        if !self.evicted.is_cancelled() {
            state.taken -= 1;
        }
    }
}

/// Marks a connection as busy, until dropped.
pub(crate) struct BusyMark(Arc<ConnectionPermit>);

impl Drop for BusyMark {
    fn drop(&mut self) {
        let mut state = self.0.permits.state.lock();
        if !self.0.evicted.is_cancelled() {
            let entry = state.add_idle(&self.0.evicted);
            *self.0.idle.lock() = Some(entry);
        }
    }
}

/// Body of a response. Its connection counts as busy until the body has been sent.
pub(crate) struct BusyBody {
    body: Body,
    _busy: BusyMark,
}

impl BusyBody {
    pub(crate) fn new(body: Body, busy: BusyMark) -> Self {
        Self { body, _busy: busy }
    }
}

impl HttpBody for BusyBody {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        Pin::new(&mut self.body).poll_frame(context)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_longest_idle_connection_is_closed_first() {
        let permits = ConnectionPermits::new(2);
        let take = || permits.take().map(Arc::new);
        let (first, second) = (take().unwrap(), take().unwrap());
        let busy = first.begin();
        let third = take().unwrap();
        let lost = |permit: &Arc<ConnectionPermit>| permit.evicted.is_cancelled();
        assert_eq!((lost(&first), lost(&second)), (false, true));
        drop(second);
        let other = third.begin();
        assert!(take().is_none(), "all are busy");
        drop(busy);
        let fourth = take().unwrap();
        assert_eq!((lost(&first), lost(&third)), (true, false));
        drop((first, other, third));
        assert_eq!(permits.state.lock().taken, 1);
        drop(fourth);
        let state = permits.state.lock();
        assert_eq!((state.taken, state.idle.len()), (0, 0));
    }
}
