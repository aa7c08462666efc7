//! The zygote: a single thread that forks, watches, kills and reaps children.
//!
//! It polls three kinds of events: requests on the control socket, closed lifelines, and ended children. Of
//! a child's output it reads only the stderr of one that has ended.

use std::io::IoSliceMut;
use std::mem::MaybeUninit;
use std::os::fd::{AsFd as _, BorrowedFd, OwnedFd};

use rustix::event::{PollFd, PollFlags, poll};
use rustix::io::{Errno, read, write};
use rustix::net::{RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, recvmsg};
use rustix::process::{
    Pid, PidfdFlags, Signal, WaitOptions, WaitStatus, kill_process, pidfd_open, waitpid,
};

use super::engine::Engine;
use super::{child, sandbox};
use crate::wire::{ChildExit, SPAWN_BYTES, Spawn};

/// Maximum size of a child's stderr that is reported, in bytes.
const WORDS: usize = 1024;

/// A child and the descriptors that the zygote has of it.
struct Child {
    pid: Pid,
    /// Readable when the child has ended.
    ended: OwnedFd,
    lifeline: OwnedFd,
    /// The stderr of the child.
    words: OwnedFd,
}

/// Loads the interpreter and serves until the control socket closes.
pub(super) fn serve() -> Result<(), String> {
    sandbox::strip()?;
    sandbox::widen_heap();
    let engine = Engine::load()?;
    let mut zygote = Zygote {
        guard: sandbox::Guard::prepare(),
        engine,
    };
    let mut children = Vec::new();
    loop {
        match zygote.wait(&mut children) {
            Ok(true) => {}
            // In addition, the kernel kills children when this process ends.
            Ok(false) => {
                children.iter().for_each(Child::kill);
                return Ok(());
            }
            Err(error) => return Err(error.to_string()),
        }
    }
}

struct Zygote {
    engine: Engine,
    guard: sandbox::Guard,
}

impl Zygote {
    /// Waits for an event and handles it; returns `false` when the client has closed the control socket.
    fn wait(&mut self, children: &mut Vec<Child>) -> rustix::io::Result<bool> {
        let (control, events) = ready(children)?;
        // In reverse order, so that `swap_remove` does not move children still to be handled.
        for (index, (hung_up, ended)) in events.into_iter().enumerate().rev() {
            if ended {
                children.swap_remove(index).reap_child();
            } else if hung_up && let Some(child) = children.get(index) {
                child.kill();
            }
        }
        if control {
            return self.accept(children);
        }
        Ok(true)
    }

    /// Reads one request and forks for it.
    fn accept(&mut self, children: &mut Vec<Child>) -> rustix::io::Result<bool> {
        let mut bytes = [0; SPAWN_BYTES];
        let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(2))];
        let mut beside = RecvAncillaryBuffer::new(&mut space);
        let received = recvmsg(
            rustix::stdio::stdin(),
            &mut [IoSliceMut::new(&mut bytes)],
            &mut beside,
            RecvFlags::CMSG_CLOEXEC,
        )?;
        let mut descriptors = Vec::new();
        for message in beside.drain() {
            if let RecvAncillaryMessage::ScmRights(sent) = message {
                descriptors.extend(sent);
            }
        }
        if received.bytes == 0 {
            return Ok(false);
        }
        let spawn = serde_json::from_slice(bytes.get(..received.bytes).unwrap_or_default());
        let Ok(spawn) = spawn else {
            return Ok(true);
        };
        self.load(&spawn);
        // A request without descriptors only loads modules.
        if let Ok([data, lifeline]) = <[OwnedFd; 2]>::try_from(descriptors) {
            // If the fork fails both ends close here, which the client treats as an ended worker.
            children.extend(self.fork(&spawn, data, lifeline).ok());
        }
        Ok(true)
    }

    fn load(&mut self, spawn: &Spawn) {
        // If loading fails, the job that needs the module reports it.
        drop(self.engine.add(&spawn.modules));
        self.guard.measure();
    }

    fn fork(&self, spawn: &Spawn, data: OwnedFd, lifeline: OwnedFd) -> rustix::io::Result<Child> {
        let (words, their_words) = rustix::pipe::pipe_with(rustix::pipe::PipeFlags::CLOEXEC)?;
        match sandbox::fork()? {
            None => child::live(&self.engine, &self.guard, spawn, data, their_words),
            Some(pid) => Ok(Child {
                pid,
                ended: pidfd_open(pid, PidfdFlags::empty())?,
                lifeline,
                words,
            }),
        }
    }
}

/// Returns whether the control socket is readable, and for each child whether its lifeline closed and
/// whether it ended.
fn ready(children: &[Child]) -> rustix::io::Result<(bool, Vec<(bool, bool)>)> {
    let mut watched = vec![PollFd::from_borrowed_fd(
        rustix::stdio::stdin(),
        PollFlags::IN,
    )];
    for child in children {
        watched.push(PollFd::new(&child.lifeline, PollFlags::IN));
        watched.push(PollFd::new(&child.ended, PollFlags::IN));
    }
    match poll(&mut watched, None) {
        Ok(_) | Err(Errno::INTR) => {}
        Err(error) => return Err(error),
    }
    let mut happened = watched.iter().map(|fd| !fd.revents().is_empty());
    let control = happened.next().unwrap_or(false);
    let mut events = Vec::with_capacity(children.len());
    while let (Some(hung_up), Some(ended)) = (happened.next(), happened.next()) {
        events.push((hung_up, ended));
    }
    Ok((control, events))
}

impl Child {
    fn kill(&self) {
        // It may have ended, but it is a zombie until reaped, so its pid is not reused.
        let _ = kill_process(self.pid, Signal::KILL);
    }

    /// Reaps the child and reports to the client how it ended.
    fn reap_child(self) {
        let mut ended = ChildExit::default();
        if let Ok(Some((_, status))) = waitpid(Some(self.pid), WaitOptions::empty()) {
            describe(status, &mut ended);
        }
        ended.words = last_words(self.words.as_fd());
        if let Ok(report) = serde_json::to_vec(&ended) {
            // The client may have closed the lifeline; then it does not need the report.
            let _ = write(&self.lifeline, &report);
        }
    }
}

fn describe(status: WaitStatus, ended: &mut ChildExit) {
    ended.signal = status.terminating_signal();
    ended.status = status.exit_status();
}

/// Reads the remaining stderr; the child has ended, so the read does not block.
fn last_words(pipe: BorrowedFd<'_>) -> String {
    let mut bytes = [0; WORDS];
    let length = read(pipe, &mut bytes).unwrap_or(0);
    String::from_utf8_lossy(bytes.get(..length).unwrap_or_default()).into_owned()
}
