//! A worker that is lent: a process that stays hands its control socket to others of the same user, so
//! that a command beside a daemon need not load an interpreter of its own.
//!
//! The socket of the lender can be used by its user alone, and says which program its worker is; another
//! program starts its own worker, since the two may not speak the same way. Who borrows asks the worker
//! itself for children, as the lender does. Not here: what happens when a worker is gone.

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

/// How long to wait for an answer; a worker of one's own is not much slower.
const ANSWER: Duration = Duration::from_millis(100);

/// The longest name of a program.
const NAME: usize = 128;

/// Names a program by its file: two builds are two.
pub(super) fn name_of(program: &Path) -> Option<String> {
    let file = std::fs::metadata(program).ok()?;
    let (device, inode) = (file.dev(), file.ino());
    let (seconds, nanos) = (file.mtime(), file.mtime_nsec());
    Some(format!("{device}.{inode}.{seconds}.{nanos}"))
}

/// The control socket of the worker that is lent at this place, if it is the given program.
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

/// Lends the worker to clients of this socket, until it is dropped. The worker is started by the
/// first who asks, unless it is there.
pub(super) async fn lend(compute: &Compute, place: &Path) -> std::io::Result<()> {
    // As it is now: the file may be replaced while this process runs.
    let Some(name) = name_of(&compute.options().program) else {
        return Ok(());
    };
    // One that was left by a process that is gone; the lock of the home says that it is.
    drop(std::fs::remove_file(place));
    let listener = UnixListener::bind(place)?;
    std::fs::set_permissions(place, Permissions::from_mode(0o600))?;
    let own = rustix::process::geteuid().as_raw();
    loop {
        let (stream, _) = listener.accept().await?;
        if stream.peer_cred().is_ok_and(|peer| peer.uid() == own) {
            // Who gets no answer starts a worker of their own.
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
