//! The API over TLS, with certificates that the tests make.

use std::fs;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::sync::Arc;

use deft_testkit::Certificate;
use rustls::pki_types::ServerName;
use rustls::pki_types::pem::PemObject;
use rustls::{ClientConfig, ClientConnection, RootCertStore, StreamOwned};
use serde_json::Value;

use super::client::Reply;
use crate::daemon::{Daemon, PATIENCE, used_home, wait_for};
use crate::support::World;

/// Writes a certificate for `localhost` and its key into the world, as a renewal does; gives the certificate.
fn renew(world: &World, year_of_end: u16) -> String {
    let made = Certificate::new("localhost", year_of_end);
    world
        .write("home/cert.pem", &made.cert)
        .write("home/key.pem", made.key);
    made.cert
}

const ENCRYPTED: [(&str, &str); 2] = [
    ("DEFT__SERVER__TLS_CERT", "cert.pem"),
    ("DEFT__SERVER__TLS_KEY", "key.pem"),
];

fn port(world: &World) -> u16 {
    let state: Value = serde_json::from_str(&world.read("home/server.json")).unwrap();
    let url = state["url"].as_str().unwrap();
    assert!(url.starts_with("https://"), "{url}");
    url.rsplit_once(':').unwrap().1.parse().unwrap()
}

/// A client that trusts one certificate and nothing else.
struct Client {
    stream: StreamOwned<ClientConnection, TcpStream>,
}

impl Client {
    fn connect(port: u16, cert: &str) -> Result<Self, std::io::Error> {
        let mut roots = RootCertStore::empty();
        let cert = rustls::pki_types::CertificateDer::from_pem_slice(cert.as_bytes()).unwrap();
        roots.add(cert).unwrap();
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let config = ClientConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_root_certificates(roots)
            .with_no_client_auth();
        let name = ServerName::try_from("localhost").unwrap();
        let mut connection = ClientConnection::new(Arc::new(config), name).unwrap();
        let mut socket = TcpStream::connect(("127.0.0.1", port))?;
        socket.set_read_timeout(Some(PATIENCE))?;
        while connection.is_handshaking() {
            connection.complete_io(&mut socket)?;
        }
        Ok(Self {
            stream: StreamOwned::new(connection, socket),
        })
    }

    /// Asks on the open connection; the reply has a length.
    fn get(&mut self, world: &World, host: &str, path: &str) -> Reply {
        let token = world.read("home/token");
        let token = token.trim();
        let head =
            format!("GET {path} HTTP/1.1\r\nHost: {host}\r\nAuthorization: Bearer {token}\r\n\r\n");
        self.stream.write_all(head.as_bytes()).unwrap();
        let mut answer = Vec::new();
        let mut byte = [0];
        while !answer.ends_with(b"\r\n\r\n") {
            self.stream.read_exact(&mut byte).unwrap();
            answer.push(byte[0]);
        }
        let length = Reply::parse(&answer)
            .header("content-length")
            .unwrap()
            .parse();
        let mut body = vec![0; length.unwrap()];
        self.stream.read_exact(&mut body).unwrap();
        answer.extend(body);
        Reply::parse(&answer)
    }
}

#[test]
fn the_api_is_encrypted_and_a_new_certificate_counts_at_once() {
    let world = used_home();
    let first = renew(&world, 2090);
    let mut daemon = Daemon::with(&world, &[], &ENCRYPTED);
    daemon.until("the API is at https://127.0.0.1:");
    let port = port(&world);
    let status = world.json(&["status", "--json"]);
    let url = format!("https://127.0.0.1:{port}");
    assert_eq!(status["daemon"]["api"]["url"], url.as_str());
    let host = format!("localhost:{port}");
    let mut client = Client::connect(port, &first).unwrap();
    assert_eq!(client.get(&world, &host, "/api/v1/runs").status, 200);
    assert_eq!(client.get(&world, "evil.example", "/healthz").status, 403);

    // A client that does not encrypt is told so.
    let mut plain = TcpStream::connect(("127.0.0.1", port)).unwrap();
    plain.set_read_timeout(Some(PATIENCE)).unwrap();
    plain.write_all(b"GET / HTTP/1.1\r\n\r\n").unwrap();
    let mut said = String::new();
    drop(plain.read_to_string(&mut said));
    assert!(said.starts_with("HTTP/1.1 400"), "{said}");
    assert!(said.contains("use https"), "{said}");

    // Half a renewal changes nothing; a whole one counts for new connections, and open ones go on.
    fs::remove_file(world.path("home/key.pem")).unwrap();
    assert!(Client::connect(port, &first).is_ok());
    daemon.until("the new certificate is not used");
    let second = renew(&world, 2091);
    wait_for("the new certificate", || {
        Client::connect(port, &second).ok()
    });
    assert!(Client::connect(port, &first).is_err());
    assert_eq!(client.get(&world, &host, "/api/v1/runs").status, 200);
    daemon.stop();
}

/// Other machines are served with a certificate and a token, under the names that the configuration allows.
#[test]
fn other_machines_are_served_with_a_certificate() {
    let world = used_home();
    let cert = renew(&world, 2090);
    let open = [
        ("DEFT__SERVER__LISTEN", "0.0.0.0:0"),
        ("DEFT__SERVER__HOSTS", "[\"deft.example.com\"]"),
    ];
    let daemon = Daemon::with(&world, &[], &[&ENCRYPTED[..], &open].concat());
    let state: Value = serde_json::from_str(&world.read("home/server.json")).unwrap();
    let port = port(&world);
    assert_eq!(
        state["url"],
        format!("https://deft.example.com:{port}").as_str()
    );
    let mut client = Client::connect(port, &cert).unwrap();
    for (host, status) in [
        ("deft.example.com", 200),
        ("localhost", 200),
        ("192.168.1.7", 403),
    ] {
        let host = format!("{host}:{port}");
        assert_eq!(client.get(&world, &host, "/api/v1/runs").status, status);
    }
    daemon.stop();
}

#[test]
fn a_certificate_that_cannot_be_used_is_explained() {
    let world = used_home();
    renew(&world, 2090);
    let check = |variables: &[(&str, &str)]| {
        let mut command = world.command(&["doctor", "--json"]);
        let output = command.envs(variables.iter().copied()).output().unwrap();
        let report: Value = serde_json::from_slice(&output.stdout).unwrap();
        let checks = report["checks"].as_array().unwrap().iter();
        let mut found = checks.filter(|check| check["id"] == "server.certificate");
        found.next().cloned().unwrap_or_default()
    };
    assert_eq!(check(&[]), Value::Null);
    assert_eq!(check(&ENCRYPTED)["status"], "ok");
    let half = check(&ENCRYPTED[..1]);
    assert_eq!(half["status"], "bad", "{half}");
    assert!(half["message"].as_str().unwrap().contains("server.tls_key"));

    let key = world.read("home/key.pem");
    renew(&world, 2020);
    let expired = check(&ENCRYPTED);
    assert_eq!(expired["status"], "note", "{expired}");
    let message = expired["message"].as_str().unwrap();
    assert!(message.contains("expired on 2020-06-01"), "{message}");

    world.write("home/key.pem", key);
    let mut daemon = Daemon::with(&world, &[], &ENCRYPTED);
    daemon.until("the API is not served: the key in");
    daemon.stop();
}
