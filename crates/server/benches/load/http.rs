//! Repeats one request on several connections.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::connection::Connection;
use crate::figures;

pub(crate) struct Load {
    pub(crate) address: String,
    pub(crate) request: Vec<u8>,
    pub(crate) count: usize,
    pub(crate) connections: usize,
    /// Requests per second; 0 for as many as the server answers.
    pub(crate) rate: u32,
}

impl Load {
    pub(crate) async fn run(self) -> Value {
        let load = Arc::new(self);
        let left = Arc::new(AtomicUsize::new(load.count));
        let begun = Instant::now();
        let workers: Vec<_> = (0..load.connections)
            .map(|_| tokio::spawn(worker(Arc::clone(&load), Arc::clone(&left), begun)))
            .collect();
        let mut times = Vec::with_capacity(load.count);
        for worker in workers {
            times.extend(worker.await.unwrap());
        }
        figures::summary(times, begun.elapsed())
    }

    /// Returns when the request with this number is due.
    fn due(&self, number: usize, begun: Instant) -> Instant {
        let interval = Duration::from_secs(1).checked_div(self.rate);
        begun + interval.unwrap_or_default() * u32::try_from(number).unwrap()
    }
}

async fn worker(load: Arc<Load>, left: Arc<AtomicUsize>, begun: Instant) -> Vec<Duration> {
    let mut connection = Connection::open(&load.address).await;
    let mut times = Vec::new();
    loop {
        let taken = left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |n| n.checked_sub(1));
        let Ok(taken) = taken else {
            return times;
        };
        if load.rate > 0 {
            tokio::time::sleep_until(load.due(load.count - taken, begun).into()).await;
        }
        let sent = Instant::now();
        let reply = connection.exchange(&load.request).await;
        times.push(sent.elapsed());
        let body = String::from_utf8_lossy(&reply.body);
        assert!(reply.status < 300, "{} {body}", reply.status);
    }
}
