//! Malicious clients: during each attack other clients are served, and the daemon keeps running.

use std::collections::VecDeque;
use std::io::{ErrorKind, Read, Write};
use std::net::{Shutdown, TcpStream};
use std::time::Duration;

use super::client::{Api, Reply};
use super::rate::{FLOOD, is_slowed_down};
use crate::daemon::{Daemon, WAIT_TIMEOUT, used_home, wait_for};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

/// Gives clients one second for the head of a request, and one for the body.
const SHORT: (&str, &str) = ("DEFT__SERVER__REQUEST_TIMEOUT", "1");

/// Asserts that another client is served.
pub(super) fn assert_served(api: &Api) {
    assert_eq!(api.get("/healthz").status, 200);
    assert_eq!(api.get("/api/v1/runs").status, 200);
}

/// Sends single bytes slowly until the server closes the connection, and returns its output.
fn trickle(stream: &mut TcpStream, api: &Api) -> Vec<u8> {
    stream
        .set_read_timeout(Some(Duration::from_millis(50)))
        .unwrap();
    let mut text = Vec::new();
    let mut bytes = [0; 4096];
    let begun = std::time::Instant::now();
    loop {
        assert!(begun.elapsed() < WAIT_TIMEOUT, "it is never cut off");
        // The server may close at any moment.
        drop(stream.write(b"x"));
        match stream.read(&mut bytes) {
            Ok(0) => return text,
            Ok(read) => text.extend(&bytes[..read]),
            Err(problem)
                if matches!(problem.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut) =>
            {
                assert_eq!(api.get("/healthz").status, 200);
            }
            // The server closed the connection while bytes were in flight.
            Err(_) => return text,
        }
    }
}

#[test]
fn slow_clients_are_disconnected() {
    let world = used_home();
    let daemon = Daemon::with(&world, &[], &[SHORT]);
    let api = Api::find(&world);
    // A head that never ends, byte by byte.
    let mut head = api.connect();
    let begin = format!("GET /healthz HTTP/1.1\r\nHost: {}\r\nX-Slow: ", api.address);
    head.write_all(begin.as_bytes()).unwrap();
    let response = trickle(&mut head, &api);
    assert!(!response.starts_with(b"HTTP/1.1 200"));
    // A body that never ends.
    let mut body = api.connect();
    let begin = format!(
        "POST /api/v1/runs HTTP/1.1\r\nHost: {}\r\nAuthorization: Bearer {}\r\n\
         Content-Type: application/json\r\nContent-Length: 100000\r\n\r\n",
        api.address, api.token
    );
    body.write_all(begin.as_bytes()).unwrap();
    let reply = Reply::parse(&trickle(&mut body, &api));
    assert_eq!(reply.status, 408);
    assert_eq!(reply.json()["code"], "slow_body");
    let mut mcp = api.connect();
    mcp.write_all(begin.replace("/api/v1/runs", "/mcp").as_bytes())
        .unwrap();
    assert_eq!(Reply::parse(&trickle(&mut mcp, &api)).status, 408);
    // A connection without a request, and one left open after a response.
    let mut silent = api.connect();
    assert_eq!(silent.read(&mut [0; 64]).unwrap_or(0), 0);
    let mut idle = api.connect();
    idle.write_all(format!("GET /healthz HTTP/1.1\r\nHost: {}\r\n\r\n", api.address).as_bytes())
        .unwrap();
    let mut all = Vec::new();
    idle.read_to_end(&mut all).unwrap();
    assert_eq!(Reply::parse(&all).status, 200);
    assert_served(&api);
    daemon.stop();
}

#[test]
fn half_open_and_reset_sockets_do_no_harm() {
    let world = used_home();
    let daemon = Daemon::with(&world, &[], &[SHORT]);
    let api = Api::find(&world);
    for round in 0..200 {
        let mut stream = api.connect();
        match round % 4 {
            0 => stream.shutdown(Shutdown::Write).unwrap(),
            1 => stream.shutdown(Shutdown::Read).unwrap(),
            2 => stream
                .write_all(b"POST /api/v1/runs HTTP/1.1\r\nCont")
                .unwrap(),
            // Closing with unread bytes resets the connection.
            _ => {
                let ask = format!(
                    "GET /api/openapi.json HTTP/1.1\r\nHost: {}\r\n\r\n",
                    api.address
                );
                drop(stream.write_all(ask.repeat(20).as_bytes()));
            }
        }
        if round % 20 == 0 {
            assert_served(&api);
        }
    }
    assert_served(&api);
    daemon.stop();
}

/// Files that the test has open beside its connections.
const OTHER_FILES: u64 = 100;

/// How many of so many connections this process may have open at once.
fn allowed_at_once(wanted: usize) -> usize {
    let limit = getrlimit(Resource::Nofile);
    let all = Rlimit {
        current: limit.maximum,
        maximum: limit.maximum,
    };
    // If the limit cannot be raised, the test opens fewer connections at once.
    setrlimit(Resource::Nofile, all).unwrap_or_default();
    let allowed = getrlimit(Resource::Nofile).current.unwrap_or(u64::MAX);
    let allowed = usize::try_from(allowed.saturating_sub(OTHER_FILES)).unwrap_or(usize::MAX);
    allowed.min(wanted)
}

/// 10,000 connections that send nothing: the idle ones make room, so that other clients are answered all the time. All
/// of them are open at once where the limit of open files allows it.
#[test]
fn ten_thousand_connections_do_not_block_other_clients() {
    const ALL: usize = 10_000;
    let at_once = allowed_at_once(ALL);
    assert!(
        at_once >= 900,
        "only {at_once} connections at once: raise the hard limit of open files (`ulimit -Hn`)"
    );
    let world = used_home();
    let daemon = Daemon::start(&world);
    let api = Api::find(&world);
    let mut open = VecDeque::new();
    let mut most_open = 0;
    for count in 1..=ALL {
        if open.len() == at_once {
            open.pop_front();
        }
        open.push_back(TcpStream::connect(&api.address).unwrap());
        most_open = most_open.max(open.len());
        if count % 250 == 0 {
            assert_served(&api);
        }
    }
    assert_eq!(most_open, at_once, "of {ALL}");
    assert_served(&api);
    drop(open);
    daemon.stop();
}

#[test]
fn reaching_the_connection_limit_returns_an_explanation() {
    let world = used_home();
    let daemon = Daemon::with(&world, &[], &[("DEFT__SERVER__MAX_CONNECTIONS", "3")]);
    let api = Api::find(&world);
    let follow = || {
        let mut stream = api.connect();
        let head = format!(
            "GET /api/v1/events HTTP/1.1\r\nHost: {}\r\nAuthorization: Bearer {}\r\n\r\n",
            api.address, api.token
        );
        stream.write_all(head.as_bytes()).unwrap();
        let mut first = [0; 12];
        stream.read_exact(&mut first).unwrap();
        assert_eq!(&first, b"HTTP/1.1 200");
        stream
    };
    let feeds: Vec<TcpStream> = (0..3).map(|_| follow()).collect();
    let refused = api.get("/healthz");
    assert_eq!(refused.status, 503);
    assert_eq!(refused.header("retry-after"), Some("1"));
    let problem = refused.json();
    assert_eq!(problem["code"], "too_many_connections");
    assert!(
        problem["detail"]
            .as_str()
            .unwrap()
            .contains("all 3 connections")
    );
    drop(feeds);
    // An idle connection is closed in favour of a new one.
    let idle: Vec<TcpStream> = (0..3).map(|_| api.connect()).collect();
    wait_for("a place", || {
        (api.get("/healthz").status == 200).then_some(())
    });
    drop(idle);
    daemon.stop();
}

#[test]
fn only_wrong_tokens_are_slowed_down() {
    let world = used_home();
    let daemon = Daemon::start(&world);
    let api = Api::find(&world);
    let stranger = Api {
        address: api.address.clone(),
        token: "deft_0000".to_owned(),
    };
    let replies = std::thread::scope(|scope| {
        let flood = scope.spawn(|| stranger.flood("GET", "/api/v1/runs", FLOOD));
        while !flood.is_finished() {
            assert_served(&api);
        }
        flood.join().unwrap()
    });
    assert_served(&api);
    assert_eq!(replies[0].status, 401);
    let slowed = replies.iter().filter(|reply| is_slowed_down(reply, 100));
    let slowed = slowed.count();
    let refused = replies.iter().filter(|reply| reply.status == 401).count();
    assert_eq!(slowed + refused, FLOOD);
    assert!(slowed > 0, "{refused} of {FLOOD} were not slowed down");
    for token in ["", " ", "\u{7f}", &"x".repeat(20_000), "a b c", "%00"] {
        let odd = Api {
            address: api.address.clone(),
            token: token.to_owned(),
        };
        let status = odd.get("/api/v1/runs").status;
        assert!(
            [400, 401, 429, 431].contains(&status),
            "{token:?}: {status}"
        );
    }
    assert_served(&api);
    daemon.stop();
}
