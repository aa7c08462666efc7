//! Speaks the protocol of the worker that runs Python, without running any: a condition is true, and the
//! value of a block is its seed, which the test knows.

use std::io::{IoSliceMut, Read, Write};
use std::mem::MaybeUninit;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;

use rustix::net::{RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, recvmsg};
use serde_json::{Value, json};

/// Serves until the control socket closes.
pub(crate) fn serve() {
    let mut sessions = Vec::new();
    while let Some(descriptors) = next() {
        let Ok([data, lifeline]) = <[OwnedFd; 2]>::try_from(descriptors) else {
            return;
        };
        // A failed write means that the caller has exited.
        let session = move || drop((answer(UnixStream::from(data)), lifeline));
        sessions.push(std::thread::spawn(session));
    }
}

/// Returns the two ends of the next session.
fn next() -> Option<Vec<OwnedFd>> {
    let mut bytes = [0; 256];
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(2))];
    let mut beside = RecvAncillaryBuffer::new(&mut space);
    let mut slices = [IoSliceMut::new(&mut bytes)];
    let flags = RecvFlags::CMSG_CLOEXEC;
    let received = recvmsg(std::io::stdin(), &mut slices, &mut beside, flags).ok()?;
    let sent = beside.drain().filter_map(|message| match message {
        RecvAncillaryMessage::ScmRights(sent) => Some(sent),
        _ => None,
    });
    let descriptors: Vec<OwnedFd> = sent.flatten().collect();
    (received.bytes > 0).then_some(descriptors)
}

fn answer(mut data: UnixStream) -> std::io::Result<()> {
    let isolation = json!({ "seccomp": true, "landlock": true, "no_new_privileges": true });
    say(&mut data, &json!({ "ready": isolation }))?;
    loop {
        let mut length = [0; 4];
        data.read_exact(&mut length)?;
        let mut request = vec![0; u32::from_le_bytes(length) as usize];
        data.read_exact(&mut request)?;
        let request: Value = serde_json::from_slice(&request)?;
        let run = &request["run"];
        let value = match run["kind"].as_str() {
            Some("condition") => json!(true),
            _ => run["seed"].clone(),
        };
        say(
            &mut data,
            &json!({ "done": { "value": value, "printed": "" } }),
        )?;
    }
}

fn say(data: &mut UnixStream, message: &Value) -> std::io::Result<()> {
    let text = message.to_string();
    let length = u32::try_from(text.len()).unwrap_or(u32::MAX);
    data.write_all(&length.to_le_bytes())?;
    data.write_all(text.as_bytes())
}
