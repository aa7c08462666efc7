//! Connection to one child of the worker: its data socket, its lifeline, and one message at a time.
//!
//! Dropping a connection closes the lifeline, which makes the worker kill the child, whatever it is doing.
//! Its place is free once it has ended. Not here: how to react to a child that has ended.

use std::collections::BTreeSet;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream as StdStream;
use std::time::Duration;

use serde::de::DeserializeOwned;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::UnixStream;
use tokio::runtime::Handle;
use tokio::sync::OwnedSemaphorePermit;

use crate::job::Isolation;
use crate::wire::{ChildExit, PREFIX, PRINTED_BYTES, Reply};

/// How long to wait for the worker's report of a child's end.
const EXIT_REPORT_TIMEOUT: Duration = Duration::from_secs(2);

/// Maximum size of a reply besides the value: printed text, whose bytes may take six bytes each, and an
/// error.
const MAX_REPLY_OVERHEAD: usize = 6 * PRINTED_BYTES + (64 << 10);

/// Names of modules that are loaded or requested.
pub(crate) type Modules = BTreeSet<String>;

/// A connection to a child of the worker.
#[derive(Debug)]
pub(crate) struct Connection {
    /// The modules that were requested with it.
    pub(super) modules: Modules,
    /// The id of its worker.
    pub(super) worker: u64,
    data: UnixStream,
    /// `Some` until the connection is dropped.
    lifeline: Option<UnixStream>,
    /// The permit for the place that the child occupies.
    pub(super) place: Option<OwnedSemaphorePermit>,
}

/// Why no reply was received.
#[derive(Debug)]
pub(super) enum ReceiveError {
    /// The child has ended; contains the worker's report.
    Child(ChildExit),
    /// The worker has ended.
    Worker,
    /// The message is not a valid reply.
    Nonsense(String),
}

impl Connection {
    /// Creates a connection and the two socket ends for the worker.
    pub(super) fn pair(
        worker: u64,
        modules: &Modules,
    ) -> std::io::Result<(Connection, OwnedFd, OwnedFd)> {
        let (data, their_data) = StdStream::pair()?;
        let (lifeline, their_lifeline) = StdStream::pair()?;
        data.set_nonblocking(true)?;
        lifeline.set_nonblocking(true)?;
        let connection = Connection {
            modules: modules.clone(),
            worker,
            data: UnixStream::from_std(data)?,
            lifeline: Some(UnixStream::from_std(lifeline)?),
            place: None,
        };
        Ok((connection, their_data.into(), their_lifeline.into()))
    }

    /// Waits until the child is ready for requests.
    pub(super) async fn ready(&mut self) -> Result<Isolation, ReceiveError> {
        match self.receive(MAX_REPLY_OVERHEAD).await? {
            Reply::Ready(isolation) => Ok(isolation),
            Reply::Compiled | Reply::Done { .. } | Reply::Failed(_) => Err(ReceiveError::Nonsense(
                "a reply before it was ready".to_owned(),
            )),
        }
    }

    /// Sends a framed request and waits for the reply.
    pub(super) async fn exchange(
        &mut self,
        request: &[u8],
        output: usize,
    ) -> Result<Reply, ReceiveError> {
        if self.data.write_all(request).await.is_err() {
            return Err(self.end().await);
        }
        self.receive(output.saturating_add(MAX_REPLY_OVERHEAD))
            .await
    }

    async fn receive<T: DeserializeOwned>(&mut self, limit: usize) -> Result<T, ReceiveError> {
        let mut prefix = [0; PREFIX];
        if self.data.read_exact(&mut prefix).await.is_err() {
            return Err(self.end().await);
        }
        let length = u32::from_le_bytes(prefix) as usize;
        if length > limit {
            return Err(ReceiveError::Nonsense(format!("a reply of {length} bytes")));
        }
        let mut body = vec![0; length];
        if self.data.read_exact(&mut body).await.is_err() {
            return Err(self.end().await);
        }
        serde_json::from_slice(&body).map_err(|error| ReceiveError::Nonsense(error.to_string()))
    }

    /// Returns the worker's report after the child closed its data socket.
    async fn end(&mut self) -> ReceiveError {
        let Some(lifeline) = &mut self.lifeline else {
            return ReceiveError::Worker;
        };
        let mut words = Vec::new();
        let read = lifeline.read_to_end(&mut words);
        match tokio::time::timeout(EXIT_REPORT_TIMEOUT, read).await {
            Ok(_) => {
                serde_json::from_slice(&words).map_or(ReceiveError::Worker, ReceiveError::Child)
            }
            Err(_) => ReceiveError::Child(ChildExit::default()),
        }
    }
}

impl Drop for Connection {
    /// Frees the place after the worker has reaped the child, which uses memory until then.
    fn drop(&mut self) {
        if let (Some(lifeline), Some(place), Ok(runtime)) = (
            self.lifeline.take(),
            self.place.take(),
            Handle::try_current(),
        ) {
            runtime.spawn(async move {
                retire(lifeline).await;
                drop(place);
            });
        }
    }
}

/// Makes the worker kill a child, and waits until it has.
async fn retire(mut lifeline: UnixStream) {
    // If the worker has ended, so have its children.
    if lifeline.shutdown().await.is_ok() {
        let mut words = Vec::new();
        let read = lifeline.read_to_end(&mut words);
        drop(tokio::time::timeout(EXIT_REPORT_TIMEOUT, read).await);
    }
}
