//! The worker process from the client's side: starting it, requesting children, stopping it.
//!
//! It runs with an empty environment and in its own process group, so that a key press in a terminal does
//! not reach it. Its standard input is the control socket; when that closes, it exits.

use std::io::IoSlice;
use std::mem::MaybeUninit;
use std::os::fd::{AsFd as _, OwnedFd};
use std::process::Stdio;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use rustix::io::Errno;
use rustix::net::{
    AddressFamily, SendAncillaryBuffer, SendAncillaryMessage, SendFlags, SocketFlags, SocketType,
    sendmsg, socketpair,
};
use tokio::io::AsyncReadExt as _;
use tokio::process::{Child, Command};

use super::connection::{Connection, Modules};
use crate::error::Error;
use crate::job::Options;
use crate::wire::Spawn;

/// How long to wait when the control socket's queue is full.
pub(super) const QUEUE_WAIT: Duration = Duration::from_millis(2);

/// How long a worker may take to stop.
const STOP: Duration = Duration::from_secs(2);

/// Maximum number of bytes of its stderr that are included in an error.
const WORDS: u64 = 2000;

/// Counts the workers started or borrowed by this process.
static STARTED: AtomicU64 = AtomicU64::new(0);

/// A worker process.
#[derive(Debug)]
pub(super) struct Zygote {
    /// Distinguishes it from earlier and later workers.
    pub(super) id: u64,
    /// `None` if the worker was lent: its owner stops it.
    child: Option<Child>,
    pub(super) control: OwnedFd,
}

impl Zygote {
    /// Starts the program.
    pub(super) fn start(options: &Options) -> Result<Zygote, Error> {
        let (ours, theirs) = socketpair(
            AddressFamily::UNIX,
            // Keeps the two descriptors together with their message.
            SocketType::SEQPACKET,
            SocketFlags::CLOEXEC,
            None,
        )
        .map_err(|error| Error::unavailable(format!("no socket for it: {error}")))?;
        let child = Command::new(&options.program)
            .args(&options.args)
            .env_clear()
            .current_dir("/")
            .process_group(0)
            .stdin(Stdio::from(theirs))
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .kill_on_drop(true)
            .spawn()
            .map_err(|error| {
                Error::unavailable(format!("`{}`: {error}", options.program.display()))
            })?;
        Ok(Zygote {
            id: STARTED.fetch_add(1, Ordering::Relaxed),
            child: Some(child),
            control: ours,
        })
    }

    /// Wraps the control socket of another process's worker.
    pub(super) fn from_lent(control: OwnedFd) -> Zygote {
        Zygote {
            id: STARTED.fetch_add(1, Ordering::Relaxed),
            child: None,
            control,
        }
    }

    pub(super) fn process_id(&self) -> Option<u32> {
        self.child.as_ref().and_then(Child::id)
    }

    pub(super) fn is_alive(&mut self) -> bool {
        match &mut self.child {
            Some(child) => matches!(child.try_wait(), Ok(None)),
            // If it has ended, the next request for a child fails.
            None => true,
        }
    }

    /// Requests modules ahead of a child; without descriptors no child is forked. A lost request does no
    /// harm, because the request for the child repeats it.
    pub(super) fn prepare(&self, modules: &Modules) {
        let message = serde_json::to_vec(&Spawn {
            memory_bytes: 0,
            modules: modules.iter().cloned().collect(),
        });
        if let (Ok(message), false) = (message, modules.is_empty()) {
            let mut beside = SendAncillaryBuffer::new(&mut []);
            let flags = SendFlags::DONTWAIT | SendFlags::NOSIGNAL;
            let _ = sendmsg(&self.control, &[IoSlice::new(&message)], &mut beside, flags);
        }
    }

    /// Requests a child; `None` if the queue is full.
    pub(super) fn spawn(
        &self,
        memory_bytes: u64,
        modules: &Modules,
    ) -> std::io::Result<Option<Connection>> {
        let (connection, data, lifeline) = Connection::pair(self.id, modules)?;
        let message = serde_json::to_vec(&Spawn {
            memory_bytes,
            modules: modules.iter().cloned().collect(),
        })?;
        let descriptors = [data.as_fd(), lifeline.as_fd()];
        let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(2))];
        let mut beside = SendAncillaryBuffer::new(&mut space);
        beside.push(SendAncillaryMessage::ScmRights(&descriptors));
        let flags = SendFlags::DONTWAIT | SendFlags::NOSIGNAL;
        match sendmsg(&self.control, &[IoSlice::new(&message)], &mut beside, flags) {
            Ok(_) => Ok(Some(connection)),
            Err(Errno::AGAIN | Errno::NOBUFS | Errno::TOOMANYREFS) => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    /// Closes the control socket and waits until the worker has ended.
    pub(super) async fn stop(self) {
        let Zygote { child, control, .. } = self;
        drop(control);
        let Some(mut child) = child else {
            return;
        };
        if tokio::time::timeout(STOP, child.wait()).await.is_err() {
            // Dropping it would kill it too, but not wait for it.
            drop(child.kill().await);
        }
    }
}

/// Returns the error for the end of a worker, with its status and stderr.
pub(super) async fn exit_error(zygote: Option<Zygote>, what: &str) -> Error {
    let Some(Zygote {
        child: Some(mut child),
        control,
        ..
    }) = zygote
    else {
        return Error::unavailable(what);
    };
    drop(control);
    let status = match tokio::time::timeout(STOP, child.wait()).await {
        Ok(Ok(status)) => format!(" ({status})"),
        Ok(Err(_)) | Err(_) => String::new(),
    };
    let mut words = Vec::new();
    if let Some(stderr) = child.stderr.take() {
        let mut stderr = stderr.take(WORDS);
        // Text read before an error or the timeout is kept.
        drop(tokio::time::timeout(STOP, stderr.read_to_end(&mut words)).await);
    }
    let words = String::from_utf8_lossy(&words);
    match words.trim() {
        "" => Error::unavailable(format!("{what}{status}")),
        words => Error::unavailable(format!("{what}{status}: {words}")),
    }
}
