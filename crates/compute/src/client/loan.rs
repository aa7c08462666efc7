//! Lending of a worker: a long-running process passes its control socket to other processes of the same
//! user, so that a command next to a daemon need not load its own interpreter.
//!
//! Only the same user can connect to the lender's socket. It reports which program the worker runs; a
//! borrower with another program starts its own worker, because their protocols may differ. A borrower
//! requests children from the worker directly, like the lender. Not here: the handling of a worker that has
//! ended.

use std::fs::Permissions;
use std::io::{IoSlice, IoSliceMut};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::time::Duration;

use rustix::net::{
    RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendAncillaryBuffer,
    SendAncillaryMessage, SendFlags, recvmsg, sendmsg,
};
use tokio::net::UnixListener;

use super::Compute;

/// How long to wait for an answer; starting a separate worker is not much slower.
const ANSWER: Duration = Duration::from_millis(100);

/// Maximum length of a program's name, in bytes.
const NAME: usize = 128;

/// Returns a name for a program that identifies its file, so that two builds differ.
pub(super) fn name_of(program: &Path) -> Option<String> {
    let file = std::fs::metadata(program).ok()?;
    let (device, inode) = (file.dev(), file.ino());
    let (seconds, nanos) = (file.mtime(), file.mtime_nsec());
    Some(format!("{device}.{inode}.{seconds}.{nanos}"))
}

/// Returns the control socket of the worker lent at `place`, if it runs the same program.
pub(super) fn borrow(place: &Path, program: &Path) -> Option<OwnedFd> {
    let stream = UnixStream::connect(place).ok()?;
    stream.set_read_timeout(Some(ANSWER)).ok()?;
    let mut bytes = [0; NAME];
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
    let mut beside = RecvAncillaryBuffer::new(&mut space);
    let mut room = [IoSliceMut::new(&mut bytes)];
    let received = recvmsg(&stream, &mut room, &mut beside, RecvFlags::CMSG_CLOEXEC).ok()?;
    let mut lent = None;
    for message in beside.drain() {
        if let RecvAncillaryMessage::ScmRights(mut sent) = message {
            lent = sent.next();
        }
    }
    let is_ours = bytes.get(..received.bytes)? == name_of(program)?.as_bytes();
    lent.filter(|_| is_ours)
}

/// Lends the worker to clients of a socket at `place` until the future is dropped. The first request starts
/// the worker if necessary.
pub(super) async fn lend(compute: &Compute, place: &Path) -> std::io::Result<()> {
    // Read now, because the file may be replaced while this process runs.
    let Some(name) = name_of(&compute.options().program) else {
        return Ok(());
    };
    // The socket may be left over from a process that has ended; the caller holds the lock of the home.
    drop(std::fs::remove_file(place));
    let listener = UnixListener::bind(place)?;
    std::fs::set_permissions(place, Permissions::from_mode(0o600))?;
    let own = rustix::process::geteuid().as_raw();
    loop {
        let (stream, _) = listener.accept().await?;
        if stream.peer_cred().is_ok_and(|peer| peer.uid() == own) {
            // A client without an answer starts its own worker.
            drop(compute.with_control(|control| hand_over(&stream, &name, control)));
        }
    }
}

fn hand_over(stream: &impl AsFd, name: &str, control: &OwnedFd) -> rustix::io::Result<()> {
    let descriptors = [control.as_fd()];
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
    let mut beside = SendAncillaryBuffer::new(&mut space);
    beside.push(SendAncillaryMessage::ScmRights(&descriptors));
    let flags = SendFlags::DONTWAIT | SendFlags::NOSIGNAL;
    sendmsg(stream, &[IoSlice::new(name.as_bytes())], &mut beside, flags)?;
    Ok(())
}
