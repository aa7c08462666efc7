//! Signals between a connection and its users, besides messages.

use deft_model::clip;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Weak};
use std::time::Duration;

use parking_lot::Mutex;
use tokio::sync::{Notify, mpsc};
use tokio_util::sync::CancellationToken;

use super::noise::informative;
use crate::process::Owner;
use crate::relay::News;

/// The maximum number of bytes kept of a server's stderr output.
const MAX_KEPT_BYTES: usize = 8 * 1024;

/// State shared by a connection's transport and its users.
#[derive(Debug, Default)]
pub(super) struct Watch {
    /// Cancelled when the connection is lost; nothing more will be read.
    pub(super) lost: CancellationToken,
    /// The server announced a change of its tools.
    pub(super) relist: Notify,
    /// The stream of unsolicited messages has ended.
    pub(super) stream_lost: Notify,
    /// The server has dropped the session and opened a new one, which has no subscriptions yet.
    pub(super) session_renewed: Notify,
    /// Other changes that the server announced.
    pub(super) news: NewsQueue,
    /// Why the connection ended, if known.
    ending: Mutex<Option<String>>,
    /// The end of the process's stderr output.
    stderr: Mutex<String>,
    /// The processes behind the connection, if the server is a child process.
    owner: Mutex<Weak<Owner>>,
    /// Whether a change of resources may be a change of skills.
    resources: AtomicBool,
    /// Keeps a timer of the runtime active while calls are made.
    pub(super) pulse: Pulse,
}

impl Watch {
    /// Sets the processes that the connection belongs to.
    pub(super) fn set_owner(&self, owner: &Arc<Owner>) {
        *self.owner.lock() = Arc::downgrade(owner);
    }

    /// Kills the processes behind the connection, if any.
    pub(super) fn kill(&self) {
        let owner = self.owner.lock().upgrade();
        if let Some(owner) = owner {
            owner.kill();
        }
    }

    /// From now on, lists again when resources change: skills are resources.
    pub(super) fn follow_resources(&self) {
        self.resources.store(true, Ordering::Relaxed);
    }

    /// Handles an announced change of resources.
    pub(super) fn resources_changed(&self) {
        if self.resources.load(Ordering::Relaxed) {
            self.relist.notify_one();
        }
    }

    /// Records why the connection ends; the first reason is kept.
    pub(super) fn end(&self, reason: impl Into<String>) {
        self.ending.lock().get_or_insert(reason.into());
    }

    /// Returns why the connection ended.
    pub(super) fn end_reason(&self) -> String {
        let ending = self.ending.lock().clone();
        ending.unwrap_or_else(|| "the connection was closed".to_owned())
    }

    pub(super) fn add_stderr(&self, line: &str) {
        let mut stderr = self.stderr.lock();
        stderr.push_str(line.trim_end());
        stderr.push('\n');
        let excess = stderr.len().saturating_sub(MAX_KEPT_BYTES);
        let cut = (excess..=stderr.len()).find(|at| stderr.is_char_boundary(*at));
        stderr.drain(..cut.unwrap_or(0));
    }

    /// Returns the last lines of stderr, for a message.
    pub(super) fn last_words(&self) -> Option<String> {
        let stderr = self.stderr.lock();
        let lines: Vec<&str> = stderr.lines().filter_map(informative).collect();
        let last = lines[lines.len().saturating_sub(3)..].join(" | ");
        (!last.is_empty()).then(|| clip(&last, 600))
    }
}

/// The maximum number of queued changes.
const MAX_NEWS: usize = 256;

/// A queue of changes that a server announces to clients.
#[derive(Debug)]
pub(super) struct NewsQueue {
    sender: mpsc::Sender<News>,
    receiver: tokio::sync::Mutex<mpsc::Receiver<News>>,
}

impl Default for NewsQueue {
    fn default() -> Self {
        let (sender, receiver) = mpsc::channel(MAX_NEWS);
        let receiver = tokio::sync::Mutex::new(receiver);
        Self { sender, receiver }
    }
}

impl NewsQueue {
    /// Adds a change; drops it if the queue is full.
    pub(super) fn add(&self, news: News) {
        drop(self.sender.try_send(news));
    }

    /// Waits for the next change. Only one task may wait.
    pub(super) async fn next(&self) -> News {
        let mut receiver = self.receiver.lock().await;
        match receiver.recv().await {
            Some(news) => news,
            // The sender lives as long as `self`.
            None => std::future::pending().await,
        }
    }
}

/// A slow timer that runs while calls come in.
///
/// Every call has a deadline, which is a timer. If that is the only timer, the runtime has to wake its
/// clock for it, which costs more than the rest of a call through the router. With the pulse, an
/// earlier timer always exists.
#[derive(Debug, Default)]
pub(super) struct Pulse {
    beating: AtomicBool,
    used: AtomicBool,
    stirred: Notify,
}

impl Pulse {
    const LOOP_INTERVAL: Duration = Duration::from_secs(1);

    /// Signals a call.
    pub(super) fn stir(&self) {
        self.used.store(true, Ordering::Relaxed);
        if !self.beating.load(Ordering::Relaxed) {
            self.stirred.notify_one();
        }
    }

    /// Runs the timer until dropped.
    pub(super) async fn run(&self) {
        loop {
            self.stirred.notified().await;
            self.beating.store(true, Ordering::Relaxed);
            while self.used.swap(false, Ordering::Relaxed) {
                tokio::time::sleep(Self::LOOP_INTERVAL).await;
            }
            self.beating.store(false, Ordering::Relaxed);
        }
    }
}

/// Set right before a request is passed to the operating system: an earlier failure cannot have had an
/// effect.
#[derive(Clone, Debug, Default)]
pub(super) struct SentFlag(Arc<AtomicBool>);

impl SentFlag {
    pub(super) fn set(&self) {
        self.0.store(true, Ordering::SeqCst);
    }

    pub(super) fn is_set(&self) -> bool {
        self.0.load(Ordering::SeqCst)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_end_of_the_error_output_is_kept() {
        let watch = Watch::default();
        assert_eq!(watch.last_words(), None);
        for n in 0..2000 {
            watch.add_stderr(&format!("zeile ä {n}"));
        }
        assert!(watch.stderr.lock().len() <= MAX_KEPT_BYTES);
        assert_eq!(
            watch.last_words().unwrap(),
            "zeile ä 1997 | zeile ä 1998 | zeile ä 1999"
        );
    }
}
