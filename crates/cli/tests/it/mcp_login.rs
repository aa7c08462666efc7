//! `deft mcp login` and `logout`: sign-ins to servers that require OAuth.

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, Command, Output, Stdio};

use deft_testkit::{Gate, GuardedServer};
use serde_json::json;

use crate::daemon::wait_for;
use crate::secrets::KEYRING;
use crate::setup::{bin, program};
use crate::support::World;

fn world(server: &GuardedServer) -> World {
    let world = World::new();
    let config = format!("[mcp_servers.docs]\nurl = \"{}\"\n", server.url);
    world.write("home/config.toml", config);
    world
}

/// A running `deft mcp login` that waits for the browser, and the URL it printed.
struct Login {
    child: Child,
    errors: BufReader<std::process::ChildStderr>,
    url: String,
}

impl Login {
    fn start(mut command: Command) -> Self {
        let pipes = command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = pipes.stderr(Stdio::piped()).spawn().unwrap();
        let mut errors = BufReader::new(child.stderr.take().unwrap());
        let mut url = String::new();
        while !url.trim().starts_with("http") {
            url.clear();
            assert_ne!(errors.read_line(&mut url).unwrap(), 0, "it ended early");
        }
        let url = url.trim().to_owned();
        Self { child, errors, url }
    }

    /// Waits for the exit. Returns the exit code, stdout and the rest of stderr.
    fn end(mut self) -> (i32, String, String) {
        drop(self.child.stdin.take());
        let (mut out, mut errors) = (String::new(), String::new());
        let stdout = self.child.stdout.as_mut().unwrap();
        stdout.read_to_string(&mut out).unwrap();
        self.errors.read_to_string(&mut errors).unwrap();
        (self.child.wait().unwrap().code().unwrap(), out, errors)
    }
}

/// Requests a URL like a browser, and returns the head of the response.
fn browse(url: &str) -> String {
    let (host, path) = url
        .strip_prefix("http://")
        .unwrap()
        .split_once('/')
        .unwrap();
    let mut stream = TcpStream::connect(host).unwrap();
    let request = format!("GET /{path} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n");
    stream.write_all(request.as_bytes()).unwrap();
    let mut reader = BufReader::new(stream);
    let mut head = String::new();
    loop {
        let before = head.len();
        reader.read_line(&mut head).unwrap();
        if head[before..].trim().is_empty() {
            return head;
        }
    }
}

/// Consents at the authorization server, and returns the URL it redirects to.
fn agree(url: &str) -> String {
    let head = browse(url);
    let place = head
        .lines()
        .find_map(|line| line.strip_prefix("Location: "));
    place.unwrap().to_owned()
}

#[test]
fn a_browser_redirect_completes_the_login() {
    let server = GuardedServer::start();
    let world = world(&server);
    // A desktop whose browser only records the URL to open.
    program(&world, "xdg-open", "echo \"$1\" > \"$HOME/opened\"");
    fs::create_dir_all(world.path("user")).unwrap();
    let mut command = world.command(&["mcp", "login", "docs"]);
    command.env("PATH", bin(&world)).env("DISPLAY", ":0");
    let login = Login::start(command);
    let target = agree(&login.url);
    assert!(target.starts_with("http://127.0.0.1:"), "{target}");
    assert!(browse(&target.replace("state=", "state=x")).starts_with("HTTP/1.1 404"));
    assert!(browse(&target).starts_with("HTTP/1.1 200"));
    let url = login.url.clone();
    let (code, out, errors) = login.end();
    assert!(code == 0 && errors.ends_with("1 tool\n"), "{errors}");
    assert!(out.starts_with("docs: signed in until "), "{out}");
    assert_eq!(world.read("user/opened").trim(), url);
    let called = world.json(&["tools", "call", "docs.whoami", "--json"]);
    assert_eq!(called["value"], json!("you sent Bearer ***"), "{called:#}");
}

#[test]
fn a_pasted_address_completes_the_login_and_logout_removes_it() {
    let server = GuardedServer::start();
    let world = world(&server);
    let refused = world.run(&["mcp", "probe", "docs"]);
    assert!(refused.contains("requires a sign-in"), "{refused}");
    assert!(
        refused.contains("sign in with: deft mcp login docs"),
        "{refused}"
    );
    let list = world.run(&["mcp", "list"]);
    assert!(list.contains("deft mcp login docs"), "{list}");

    let args = [
        "mcp",
        "login",
        "docs",
        "--no-browser",
        "--scope",
        "files:write",
        "--json",
    ];
    let mut login = Login::start(world.command(&args));
    let target = agree(&login.url);
    let input = login.child.stdin.as_mut().unwrap();
    input.write_all(format!("{target}\n").as_bytes()).unwrap();
    let (code, out, _) = login.end();
    assert_eq!(code, 0, "{out}");
    let document: serde_json::Value = serde_json::from_str(&out).unwrap();
    let sign_in = &document["sign_in"];
    assert_eq!(
        (&sign_in["state"], &sign_in["renewable"]),
        (&json!("valid"), &json!(true))
    );
    assert_eq!(sign_in["scopes"], json!(["tools:read", "files:write"]));
    assert_eq!(document["tools"], 1);

    let list = world.json(&["mcp", "list", "--json"]);
    assert_eq!(list["servers"][0]["sign_in"]["state"], "valid", "{list:#}");
    assert!(world.run(&["mcp", "list"]).contains("signed in until"));
    assert!(world.run(&["mcp", "probe"]).contains("signed in until"));
    assert!(
        world
            .run(&["doctor"])
            .contains("`docs` answers: 1 tool, signed in until")
    );

    assert_eq!(
        world.run(&["mcp", "logout", "docs"]),
        "exit 0\n--- stdout\nsigned out of docs\n--- stderr\n"
    );
    let again = world.json(&["mcp", "logout", "docs", "--json"]);
    assert_eq!(
        again,
        json!({"ok": true, "server": "docs", "removed": false})
    );
    let refused = world.json(&["tools", "call", "docs.whoami", "--json"]);
    assert_eq!(refused["error"]["class"], "auth", "{refused:#}");
}

#[test]
fn failed_sign_ins_are_explained() {
    let server = GuardedServer::start();
    let world = world(&server);
    let args = [
        "mcp",
        "login",
        "docs",
        "--no-browser",
        "--no-input",
        "--timeout",
        "1s",
    ];
    let late = world.run(&args);
    assert!(
        late.starts_with("exit 4") && late.contains("timed out waiting for the browser"),
        "{late}"
    );
    let unknown = world.json(&["mcp", "login", "dosc", "--json"]);
    assert_eq!(unknown["error"]["code"], "no_such_server");
    let mut login = Login::start(world.command(&["mcp", "login", "docs", "--no-browser"]));
    let input = login.child.stdin.as_mut().unwrap();
    input
        .write_all(b"http://127.0.0.1/callback?code=c&state=other\n")
        .unwrap();
    let (code, _, errors) = login.end();
    assert!(code == 1 && errors.contains("another sign-in"), "{errors}");

    world.write(
        "home/config.toml",
        "[mcp_servers.files]\ncommand = \"true\"\n",
    );
    let program = world.run(&["mcp", "login", "files"]);
    assert!(
        program.starts_with("exit 2") && program.contains("it runs as a program"),
        "{program}"
    );
}

/// Returns every file below a folder, as text.
fn files(folder: &std::path::Path) -> Vec<(String, String)> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).unwrap().flatten() {
        let path = entry.path();
        if path.is_dir() {
            found.extend(files(&path));
        } else if let Ok(bytes) = fs::read(&path) {
            let text = String::from_utf8_lossy(&bytes).into_owned();
            found.push((path.display().to_string(), text));
        }
    }
    found
}

#[test]
fn tokens_are_in_no_output_and_no_readable_file() {
    let server = GuardedServer::start();
    let world = world(&server);
    let login = Login::start(world.command(&["mcp", "login", "docs", "--no-browser"]));
    browse(&agree(&login.url));
    let (code, out, errors) = login.end();
    assert_eq!(code, 0, "{errors}");
    // Renewed tokens must not be visible either.
    server.end_access();
    let mut said = vec![out, errors];
    for args in [
        &["tools", "call", "docs.whoami", "--json"][..],
        &["tools", "call", "docs.whoami"],
        &["mcp", "list", "--json"],
        &["mcp", "probe", "--json"],
        &["config", "show"],
        &["doctor", "--json"],
        &["secrets", "list", "--json"],
        &["logs"],
    ] {
        said.push(world.run(args));
    }
    for text in &said {
        assert!(!text.contains("canary"), "{text}");
    }
    assert_eq!(server.tokens().len(), 2);
    for (path, text) in files(&world.path("home")) {
        assert!(!text.contains("canary"), "{path}");
    }
}

#[test]
fn tokens_are_stored_in_an_available_keyring() {
    let server = GuardedServer::start();
    let world = world(&server);
    program(&world, "secret-tool", KEYRING);
    let command = |args: &[&str]| {
        let mut command = world.command(args);
        command.env("PATH", bin(&world));
        command
    };
    let login = Login::start(command(&["mcp", "login", "docs", "--no-browser"]));
    browse(&agree(&login.url));
    let (code, _, errors) = login.end();
    assert_eq!(code, 0, "{errors}");
    let kept = world.read("ring.sign-in-docs");
    assert!(server.tokens().iter().all(|token| kept.contains(token)));
    assert!(!world.read("home/sign-ins/docs.json").contains("sealed"));
    let called = command(&["tools", "call", "docs.whoami"]).output().unwrap();
    assert_eq!(called.stdout, b"you sent Bearer ***\n");
    let out = command(&["mcp", "logout", "docs"]).output().unwrap();
    assert!(out.status.success());
    assert_eq!(world.read("ring.sign-in-docs"), "");
}

/// A refresh token works only once: if two processes used the same one, the sign-in would be lost.
#[test]
fn an_expired_token_is_renewed_once_across_processes() {
    for is_end_known in [true, false] {
        let server = GuardedServer::start();
        let world = world(&server);
        if is_end_known {
            server.set_lifetime(1);
        }
        let login = Login::start(world.command(&["mcp", "login", "docs", "--no-browser"]));
        browse(&agree(&login.url));
        let (code, _, errors) = login.end();
        assert_eq!(code, 0, "{errors}");
        server.set_lifetime(3600);
        server.end_access();
        let before = (server.granted_tokens(), server.requests_to("/token").len());
        let gate = Gate::default();
        server.hold(&gate);
        let call = || {
            let mut command = world.command(&["tools", "call", "docs.whoami", "--json"]);
            command.stdout(Stdio::piped()).stderr(Stdio::piped());
            command.spawn().unwrap()
        };
        let calls: Vec<Child> = (0..4).map(|_| call()).collect();
        // One process renews while the others arrive.
        wait_for("a renewal", || (server.held_requests() > 0).then_some(()));
        if !is_end_known {
            wait_for("all", || {
                (server.requests_to("/mcp").len() >= 4).then_some(())
            });
        }
        gate.open();
        let calls: Vec<Output> = calls
            .into_iter()
            .map(|child| child.wait_with_output().unwrap())
            .collect();
        for call in calls {
            let called: serde_json::Value = serde_json::from_slice(&call.stdout).unwrap();
            assert_eq!(called["value"], "you sent Bearer ***", "{called:#}");
        }
        let after = (server.granted_tokens(), server.requests_to("/token").len());
        assert_eq!(after, (before.0 + 1, before.1 + 1), "{is_end_known}");
    }
}
