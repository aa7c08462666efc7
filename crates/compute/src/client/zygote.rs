//! The worker process as its client sees it: started, asked for children, stopped.
//!
//! It is a program with an empty environment in a process group of its own, so that a key press in a
//! terminal does not reach it. Its standard input is the control socket; when that closes, it ends.

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

/// How long to wait when the control socket takes no more.
pub(super) const QUEUE_WAIT: Duration = Duration::from_millis(2);

/// How long a worker that was told to stop may take.
const STOP: Duration = Duration::from_secs(2);

/// How much of the last words of a worker is repeated.
const WORDS: u64 = 2000;

/// Counts the workers of this process.
static STARTED: AtomicU64 = AtomicU64::new(0);

/// A started worker.
#[derive(Debug)]
pub(super) struct Zygote {
    /// Tells it from those before and after it.
    pub(super) id: u64,
    /// None when it was lent: its owner ends it.
    child: Option<Child>,
    pub(super) control: OwnedFd,
}

impl Zygote {
    /// Starts the program.
    pub(super) fn start(options: &Options) -> Result<Zygote, Error> {
        let (ours, theirs) = socketpair(
            AddressFamily::UNIX,
            // Keeps the two descriptors together with the message they belong to.
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

    /// A worker of another process.
    pub(super) fn lent(control: OwnedFd) -> Zygote {
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
            // Should it be gone, asking it for a child fails.
            None => true,
        }
    }

    /// Asks for modules that a child will want; without descriptors none is forked. What does not
    /// arrive is asked for again with the child.
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

    /// Asks for a child; `None` when the queue is full.
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

    /// Closes the control socket and waits for the end.
    pub(super) async fn stop(self) {
        let Zygote { child, control, .. } = self;
        drop(control);
        let Some(mut child) = child else {
            return;
        };
        if tokio::time::timeout(STOP, child.wait()).await.is_err() {
            // It is killed when it is dropped, too; here it is also waited for.
            drop(child.kill().await);
        }
    }
}

/// The error that tells of a worker's end.
pub(super) async fn obituary(zygote: Option<Zygote>, what: &str) -> Error {
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
        // Whatever came before an error or the time-out is told.
        drop(tokio::time::timeout(STOP, stderr.read_to_end(&mut words)).await);
    }
    let words = String::from_utf8_lossy(&words);
    match words.trim() {
        "" => Error::unavailable(format!("{what}{status}")),
        words => Error::unavailable(format!("{what}{status}: {words}")),
    }
}
