//! A child of the worker: serves one session after the fork.
//!
//! It closes inherited descriptors, enters the sandbox, reports that it is ready, and answers requests until
//! its data socket closes. It never returns to the zygote's loop.

use std::os::fd::{AsFd as _, BorrowedFd, OwnedFd};

use rustix::io::{Errno, read, write};

use super::engine::Engine;
use super::sandbox::{self, Guard};
use crate::wire::{Fault, PREFIX, Reply, Request, Spawn, frame};

/// Serves requests until the client closes the data socket, then exits.
pub(super) fn live(
    engine: &Engine,
    guard: &Guard,
    spawn: &Spawn,
    data: OwnedFd,
    words: OwnedFd,
) -> ! {
    let status = match sandbox::keep_only(data, words).and_then(|()| guard.close(spawn)) {
        Ok(isolation) => serve(engine, &Reply::Ready(isolation)),
        Err(error) => {
            let text = format!("the child cannot enable the sandbox: {error}");
            let _ = write(rustix::stdio::stderr(), text.as_bytes());
            3
        }
    };
    sandbox::exit(status)
}

/// Answers requests and returns the exit status.
fn serve(engine: &Engine, ready: &Reply) -> i32 {
    // `keep_only` has moved the data socket to standard input.
    let data = rustix::stdio::stdin();
    let mut reply = frame(ready).ok();
    while let Some(bytes) = reply {
        if send(data.as_fd(), &bytes).is_err() {
            return 0;
        }
        let Ok(request) = receive(data.as_fd()) else {
            return 0;
        };
        reply = answer(engine, &request);
    }
    4
}

fn answer(engine: &Engine, request: &[u8]) -> Option<Vec<u8>> {
    let refused = |why: String| frame(&Reply::Failed(Fault::Refused { why })).ok();
    match serde_json::from_slice(request) {
        Ok(Request::Check { code, kind }) => frame(&engine.check(&code, kind)).ok(),
        Ok(Request::Run(run)) => {
            sandbox::allow_cpu(run.cpu_seconds);
            match engine.run(&run) {
                Ok(bytes) => Some(bytes),
                Err(fault) => frame(&Reply::Failed(fault)).ok(),
            }
        }
        Err(error) => refused(format!("the request cannot be read: {error}")),
    }
}

fn receive(data: BorrowedFd<'_>) -> rustix::io::Result<Vec<u8>> {
    let mut prefix = [0; PREFIX];
    fill(data, &mut prefix)?;
    let mut body = vec![0; u32::from_le_bytes(prefix) as usize];
    fill(data, &mut body)?;
    Ok(body)
}

fn fill(data: BorrowedFd<'_>, mut rest: &mut [u8]) -> rustix::io::Result<()> {
    while !rest.is_empty() {
        match read(data, &mut *rest) {
            Ok(0) => return Err(Errno::PIPE),
            Ok(length) => rest = rest.get_mut(length..).unwrap_or_default(),
            Err(Errno::INTR) => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

fn send(data: BorrowedFd<'_>, mut rest: &[u8]) -> rustix::io::Result<()> {
    while !rest.is_empty() {
        match write(data, rest) {
            Ok(length) => rest = rest.get(length..).unwrap_or_default(),
            Err(Errno::INTR) => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}
