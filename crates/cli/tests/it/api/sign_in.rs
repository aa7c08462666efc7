//! `deft open`: how a browser gets a token, and the page that it opens.

use std::io::{BufRead, BufReader, Write};
use std::os::unix::fs::PermissionsExt;
use std::process::Stdio;

use deft_testkit::referee_script;
use serde_json::{Value, json};

use super::client::{Api, Reply};
use super::tokens::with_token;
use crate::daemon::{Daemon, used_home, wait_for};
use crate::setup::{bin, program};
use crate::support::{WORKFLOW, World};

/// The address that `deft open` prints, and the code in it.
fn address(world: &World) -> (String, String) {
    let opened = world.json(&["open", "--no-browser", "--json"]);
    assert_eq!(opened["opened"], false, "{opened:#}");
    let url = opened["url"].as_str().unwrap().to_owned();
    let code = url.split_once("/#code=").unwrap().1.to_owned();
    (url, code)
}

fn redeem(api: &Api, code: &str) -> Reply {
    with_token(api, code.to_owned()).send("POST", "/sign-in", &[], b"")
}

#[test]
fn a_code_signs_in_one_browser_once() {
    let world = used_home();
    let daemon = Daemon::start(&world);
    let api = Api::find(&world);
    let (_, code) = address(&world);
    let signed_in = redeem(&api, &code);
    assert_eq!(signed_in.status, 200, "{signed_in:?}");
    let signed_in = signed_in.json();
    assert_eq!(
        (&signed_in["name"], &signed_in["scope"]),
        (&json!("browser-1"), &json!("admin"))
    );
    let again = redeem(&api, &code);
    assert_eq!(
        (again.status, &again.json()["code"]),
        (401, &json!("unauthorized"))
    );
    assert_eq!(redeem(&api, "").status, 401);
    let token = signed_in["token"].as_str().unwrap().to_owned();
    let browser = with_token(&api, token.clone());
    assert_eq!(browser.get("/api/v1/status").status, 200);

    let listed = world.json(&["tokens", "list", "--json"]);
    assert_eq!(listed["tokens"][0]["expires_at"], signed_in["expires_at"]);
    assert_eq!(world.code(&["tokens", "revoke", "browser-1"]), 0);
    assert_eq!(browser.get("/api/v1/status").status, 401);

    let output = daemon.stop();
    let entries = world.audited_requests().into_iter();
    let entries: Vec<_> = entries
        .map(|it| (it["who"].clone(), it["status"].clone()))
        .collect();
    let refused = (json!("anyone"), json!(401));
    assert_eq!(
        entries,
        [(json!("browser-1"), json!(200)), refused.clone(), refused]
    );
    for text in [
        output,
        world.read("home/logs/audit.jsonl"),
        world.read("home/tokens.json"),
    ] {
        assert!(!text.contains(&code) && !text.contains(&token), "{text}");
    }
}

#[test]
fn a_browser_is_started_only_for_a_running_daemon() {
    let world = used_home();
    let failed = world.json(&["open", "--json"]);
    assert_eq!(failed["error"]["code"], "not_up", "{failed:#}");
    program(&world, "xdg-open", "echo \"$1\" > \"$HOME/opened\"");
    std::fs::create_dir_all(world.path("user")).unwrap();
    let daemon = Daemon::start(&world);
    let api = Api::find(&world);
    let mut command = world.command(&["open"]);
    command.env("PATH", bin(&world)).env("DISPLAY", ":0");
    let output = command.output().unwrap();
    assert_eq!(
        String::from_utf8(output.stderr).unwrap(),
        "opened deft in your browser\n"
    );
    assert_eq!(output.stdout, b"");
    let opened = wait_for("the browser", || {
        let text = std::fs::read_to_string(world.path("user/opened")).ok()?;
        text.ends_with('\n').then_some(text)
    });
    // Other users can read the arguments of programs: they have a path and no code.
    let file = world.path("home/data/open.html");
    assert_eq!(opened.trim(), file.to_str().unwrap());
    let mode = std::fs::metadata(&file).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    let redirect = world.read("home/data/open.html");
    let (_, address) = redirect.split_once("url=").unwrap();
    let (page, code) = address
        .split_once('"')
        .unwrap()
        .0
        .split_once("/#code=")
        .unwrap();
    assert_eq!(page, format!("http://{}", api.address));
    assert_eq!(redeem(&api, code).status, 200);
    daemon.stop();
}

/// A name of a tunnel or proxy must not get a code: the server behind it could read the code.
#[test]
fn a_code_is_sent_to_this_machine_only() {
    let world = used_home();
    world.write("home/config.toml", "[server]\nhosts = [\"deft.example\"]\n");
    let daemon = Daemon::start(&world);
    let (url, code) = address(&world);
    let state: Value = serde_json::from_str(&world.read("home/server.json")).unwrap();
    let port = state["url"].as_str().unwrap().rsplit_once(':').unwrap().1;
    assert_eq!(url, format!("http://127.0.0.1:{port}/#code={code}"));
    daemon.stop();
}

/// Requests without a token cannot keep connections busy with bodies that arrive slowly.
#[test]
fn a_sign_in_does_not_wait_for_its_body() {
    let world = used_home();
    world.write("home/config.toml", "[server]\nmax_connections = 3\n");
    let daemon = Daemon::start(&world);
    let api = Api::find(&world);
    let head = format!(
        "POST /sign-in HTTP/1.1\r\nHost: {}\r\nAuthorization: Bearer x\r\nContent-Length: 100\r\n\r\n",
        api.address
    );
    let mut slow: Vec<_> = (0..3).map(|_| api.connect()).collect();
    for stream in &mut slow {
        stream.write_all(head.as_bytes()).unwrap();
        assert_eq!(Reply::read(stream).status, 401);
    }
    assert_eq!(api.get("/healthz").status, 200);
    daemon.stop();
}

/// Only the page's own script may run in it, and no other page may show it in a frame.
#[test]
fn the_page_needs_no_token_and_loads_no_external_content() {
    let world = used_home();
    let daemon = Daemon::start(&world);
    let api = with_token(&Api::find(&world), "none".to_owned());
    let page = api.get("/");
    let header = |name: &str| {
        let found = page
            .headers
            .iter()
            .find(|(key, _)| key.eq_ignore_ascii_case(name));
        found.map(|(_, value)| value.clone()).unwrap()
    };
    assert_eq!(page.status, 200);
    assert!(header("content-type").starts_with("text/html"));
    let policy = header("content-security-policy");
    for part in [
        "default-src 'none'",
        "script-src 'self'",
        "frame-ancestors 'none'",
    ] {
        assert!(policy.contains(part), "{policy}");
    }
    assert_eq!(header("referrer-policy"), "no-referrer");
    let text = String::from_utf8(page.body.clone()).unwrap();
    for path in ["/page.js", "/page.css"] {
        assert!(text.contains(path), "{text}");
        assert_eq!(api.get(path).status, 200, "{path}");
    }
    assert!(
        !text.contains("://") && !text.contains("<style") && !text.contains(" style="),
        "{text}"
    );
    let foreign = b"GET / HTTP/1.1\r\nHost: evil.example\r\nConnection: close\r\n\r\n";
    assert_eq!(api.raw(foreign).status, 403);
    daemon.stop();
}

/// jsdom runs the page as a browser does.
#[test]
fn the_page_signs_a_browser_in_and_out() {
    let world = used_home();
    world.write("home/skills/report.yaml", WORKFLOW);
    let daemon = Daemon::start(&world);
    let api = Api::find(&world);
    let (first, code) = address(&world);
    let (second, _) = address(&world);
    let plain = format!("http://{}/", api.address);
    let wrong = format!("{plain}#code=x");
    let output = referee_script("page.mjs")
        .args([&plain, &wrong, &first, &plain, &second, &first])
        .output()
        .unwrap();
    let errors = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.success() && errors.is_empty(), "{errors}");
    let lines = String::from_utf8(output.stdout).unwrap();
    let pages: Vec<Value> = lines
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let [
        before,
        refused,
        signed_in,
        returned,
        again,
        used_code,
        after,
    ] = pages.as_slice()
    else {
        panic!("{lines}");
    };
    let help = "Run `deft open` on the machine that deft runs on to sign this browser in.";
    assert_eq!(
        (&before["message"], &before["form"]),
        (&json!(help), &json!(true))
    );
    let reason = "the sign-in code is unknown, used or expired; run `deft open` again";
    assert_eq!(refused["message"], format!("Not signed in: {reason}."));
    for (page, name) in [
        (signed_in, "browser-1"),
        (returned, "browser-1"),
        (again, "browser-2"),
        (used_code, "browser-2"),
    ] {
        assert_eq!(page["message"], format!("Signed in as {name}."), "{page:#}");
        assert_eq!(page["state"]["Skills"], "1, 1 with a schedule", "{page:#}");
        assert_eq!(
            page["address"], plain,
            "the code stays in no history: {page:#}"
        );
        assert!(!page["stored"].as_str().unwrap().contains(&code));
        assert_eq!(page["reconnect"], false);
    }
    assert_eq!(
        (&after["message"], &after["state"], &after["stored"]),
        (&json!("Signed out."), &Value::Null, &Value::Null)
    );
    let listed = world.json(&["tokens", "list", "--json"]);
    assert_eq!(
        listed["tokens"],
        json!([]),
        "each further code replaces the token"
    );
    daemon.stop();
}

/// When deft has stopped, another program could listen on its port. The page sends it no token by itself.
#[test]
fn the_page_stops_asking_when_deft_does_not_answer() {
    let world = used_home();
    let daemon = Daemon::start(&world);
    let (url, _) = address(&world);
    let mut script = referee_script("page.mjs")
        .args(["--watch", &url])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut input = script.stdin.take().unwrap();
    let mut pages = BufReader::new(script.stdout.take().unwrap()).lines();
    let mut next = || -> Value { serde_json::from_str(&pages.next().unwrap().unwrap()).unwrap() };
    let signed_in = next();
    assert_eq!(signed_in["message"], "Signed in as browser-1.");
    daemon.stop();
    input.write_all(b"\n").unwrap();
    let stopped = next();
    assert_eq!(
        (
            &stopped["message"],
            &stopped["reconnect"],
            &stopped["state"]
        ),
        (&json!("deft does not answer."), &json!(true), &Value::Null)
    );
    input.write_all(b"\n").unwrap();
    let later = next();
    assert_eq!(later["requests"], stopped["requests"]);
    assert_eq!(
        later["stored"], signed_in["stored"],
        "it is still signed in"
    );
    drop(input);
    assert!(script.wait().unwrap().success());
}
