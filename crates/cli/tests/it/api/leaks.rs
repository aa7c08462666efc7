//! No interface shows a secret. Canaries are placed wherever deft stores secrets, then all output and all
//! files are searched for them. The paths come from the OpenAPI document, so new ones are covered
//! automatically.

use std::fs;
use std::io::{Read, Write};
use std::path::Path;

use deft_testkit::Script;
use serde_json::{Value, json};

use super::ASKING;
use super::client::Api;
use super::leaks_mcp;
use super::socket::Socket;
use crate::daemon::{Daemon, used_home};
use crate::support::{World, server};
use crate::telemetry::referee::OtlpReceiver;

/// Values that must never be shown. Each is the content of a file referenced by the configuration.
const CANARIES: [(&str, &str); 8] = [
    ("model", "canary-model-key-1a2b3c"),
    ("named", "canary-named-secret-4d5e6f"),
    ("server", "canary-server-token-7a8b9c"),
    ("oauth", "canary-oauth-header-0d1e2f"),
    ("hook", "canary-hook-secret-3a4b5c"),
    ("bot", "123456:canary-bot-token-6d7e8f"),
    ("unused", "canary-unused-9a0b1c"),
    ("receiver", "canary-receiver-key-2d3e4f"),
];

const CONFIG: &str = "
[secrets]
NAMED = \"file:canaries/named\"
UNUSED = \"file:canaries/unused\"
[llm.main]
provider = \"openai\"
model = \"m\"
base_url = \"http://127.0.0.1:9\"
api_key = \"file:canaries/model\"
[mcp_servers.web]
url = \"http://127.0.0.1:9/mcp\"
headers = {Authorization = \"Bearer file:canaries/oauth\"}
startup_timeout = \"1s\"
[hooks.deploys]
secret = \"file:canaries/hook\"
[telegram]
token = \"file:canaries/bot\"
base_url = \"http://127.0.0.1:9\"
[server]
request_timeout = \"10s\"
";

/// Passes a secret to a tool that repeats it, calls a tool that prints its own, and fails with both.
const LEAKING: &str = "\
name: leaking
description: Hands a secret on
secrets: [NAMED]
expose: true
steps:
  - {id: echo, tool: echo, args: {text: \"Bearer {{ secrets.NAMED }}\"}}
  - {id: told, tool: tell, args: {}}
  - {id: fail, tool: fail, args: {text: \"{{ secrets.NAMED }} {{ echo }}\"}}
";

/// A skill of the open format, so that lists and reads of files have something to show.
const FOLDER: &str = "\
---
name: knowing
description: Says where a secret is
---
Read the secret NAMED in `canaries/named`.
";

/// Creates a world whose daemon exports traces with content to a receiver.
fn world(receiver: &str) -> World {
    let world = used_home();
    for (name, value) in CANARIES {
        world.write(&format!("home/canaries/{name}"), format!("{value}\n"));
    }
    let text = json!({"type": "object", "properties": {"text": {"type": "string"}}});
    let script = Script::new()
        .tool("echo", json!({"description": "Repeats.", "schema": text}))
        .tool("tell", json!({"description": "Tells.", "env": "TOKEN"}))
        .tool(
            "fail",
            json!({"description": "Fails.", "schema": text, "error": "no access with ${text} and ENV(TOKEN)"}),
        );
    let demo = server(&world, &script);
    let telemetry = format!(
        "[telemetry]\nendpoint = {}\nheaders = {{Api-Key = \"file:canaries/receiver\"}}\ncontent = true\n",
        json!(receiver)
    );
    let config = format!("{demo}env = {{TOKEN = \"file:canaries/server\"}}\n{CONFIG}{telemetry}");
    world
        .write("home/config.toml", config)
        .write("home/skills/leaking.yaml", LEAKING)
        .write("home/skills/asking.yaml", ASKING)
        .write("home/skills/knowing/SKILL.md", FOLDER);
    world
}

/// All collected output, with its source.
#[derive(Default)]
pub(super) struct Spoken(Vec<(String, Vec<u8>)>);

impl Spoken {
    pub(super) fn add(&mut self, place: impl Into<String>, text: impl AsRef<[u8]>) {
        self.0.push((place.into(), text.as_ref().to_vec()));
    }

    /// Asserts that no canary occurs in the output.
    fn check(&self, tokens: &[&str]) {
        let canaries = CANARIES.iter().map(|(_, value)| *value);
        for canary in canaries.chain(tokens.iter().copied()) {
            for (place, text) in &self.0 {
                let found = text
                    .windows(canary.len())
                    .position(|part| part == canary.as_bytes());
                if let Some(at) = found {
                    let around = &text[at.saturating_sub(200)..(at + 100).min(text.len())];
                    panic!(
                        "{place} shows `{canary}`: {}",
                        String::from_utf8_lossy(around)
                    );
                }
            }
        }
    }
}

/// Fills the placeholders of a path with names and ids of this world.
fn filled(path: &str, operation: &Value, run: &str) -> String {
    let group = path.trim_start_matches("/api/v1/").split('/').next();
    let name = match group {
        Some("runs" | "jobs") => run,
        Some("skills" | "schedule") => "leaking",
        Some("tools") => "echo",
        _ => "last",
    };
    let parts = path.split('/').map(|part| match part.strip_prefix('{') {
        Some(_) => name,
        None => part,
    });
    let path: Vec<&str> = parts.collect();
    let parameters = operation["parameters"].as_array().unwrap();
    let queries = parameters.iter().filter(|one| one["in"] == "query");
    let queries: Vec<String> = queries
        .filter(|one| one["required"] == true)
        .map(|one| match one["name"].as_str().unwrap() {
            "when" => "when=every%202%20hours".to_owned(),
            other => format!("{other}=1"),
        })
        .collect();
    format!("{}?{}", path.join("/"), queries.join("&"))
}

fn ask_everything(api: &Api, run: &str, spoken: &mut Spoken) {
    let document = api.get("/api/openapi.json");
    spoken.add("the document", &document.body);
    let mut asked = 0;
    for (path, methods) in document.json()["paths"].as_object().unwrap() {
        let Some(get) = methods.get("get").filter(|_| path != "/api/v1/events") else {
            continue;
        };
        let path = filled(path, get, run);
        let reply = api.get(&path);
        assert!(
            reply.status < 500,
            "{path}: {}",
            String::from_utf8_lossy(&reply.body)
        );
        spoken.add(format!("GET {path}"), &reply.body);
        spoken.add(
            format!("the head of GET {path}"),
            format!("{:?}", reply.headers),
        );
        asked += 1;
    }
    assert!(asked > 25, "{asked}");
    let metrics = String::from_utf8(api.get("/metrics").body).unwrap();
    let failed = "status=\"error\"";
    assert!(
        metrics.contains("skill=\"leaking\"") && metrics.contains(failed),
        "{metrics}"
    );
    spoken.add("metrics", metrics);
}

fn follow_everything(api: &Api, spoken: &mut Spoken) {
    let mut socket = Socket::open(api, &format!("/ws?after=0&token={}", api.token));
    let seen = socket.until("skill_failed");
    spoken.add("the WebSocket", Value::from(seen).to_string());
    let mut stream = api.connect();
    let head = format!(
        "GET /api/v1/events?after=0 HTTP/1.1\r\nHost: {}\r\nAuthorization: Bearer {}\r\n\r\n",
        api.address, api.token
    );
    stream.write_all(head.as_bytes()).unwrap();
    let mut text = Vec::new();
    let mut bytes = [0; 4096];
    while !text.windows(12).any(|part| part == b"skill_failed") {
        let read = stream.read(&mut bytes).unwrap();
        assert!(read > 0, "the stream ended");
        text.extend(&bytes[..read]);
    }
    spoken.add("server-sent events", text);
}

fn use_the_command_line(world: &World, run: &str, spoken: &mut Spoken) {
    for line in [
        "status",
        "doctor",
        "runs list",
        "runs show RUN",
        "runs logs RUN",
        "runs export RUN",
        "skills list",
        "skills show leaking",
        "skills doctor",
        "schedule list",
        "tools list",
        "tools show echo",
        "tools catalog",
        "tools call tell",
        "tools call fail text=x",
        "mcp list",
        "mcp probe",
        "config show",
        "config get llm.main.api_key",
        "config validate",
        "secrets list",
        "secrets test",
        "tokens list",
        "hooks list",
        "notices list",
        "approvals list",
        "jobs list",
        "budget show",
        "logs",
        "schema config",
        "run leaking",
        "run leaking --dry-run",
    ] {
        let line = line.replace("RUN", run);
        let args: Vec<&str> = line.split(' ').collect();
        let output = world.output(&[args, vec!["--json"]].concat());
        spoken.add(format!("deft {line} --json"), output.stdout);
        spoken.add(format!("deft {line} --json (stderr)"), output.stderr);
    }
    for line in [
        "status",
        "doctor",
        "runs show RUN",
        "runs logs RUN",
        "run leaking",
        "config show",
        "secrets list",
        "logs",
    ] {
        let line = line.replace("RUN", run);
        let args: Vec<&str> = line.split(' ').collect();
        let output = world.output(&args);
        spoken.add(format!("deft {line}"), output.stdout);
        spoken.add(format!("deft {line} (stderr)"), output.stderr);
    }
}

/// Adds every file of the home except those that hold the secrets.
fn read_files(folder: &Path, spoken: &mut Spoken) {
    for entry in fs::read_dir(folder).unwrap().flatten() {
        let (path, name) = (entry.path(), entry.file_name());
        if name == "canaries" || name == "token" {
            continue;
        }
        if path.is_dir() {
            read_files(&path, spoken);
        } else if let Ok(content) = fs::read(&path) {
            spoken.add(path.display().to_string(), content);
        }
    }
}

/// Makes a token with an `Idempotency-Key`. Its reply shows the token, and neither a repeated request nor a file does.
fn make_token_twice(api: &Api, spoken: &mut Spoken) -> String {
    let headers = [
        ("Content-Type", "application/json"),
        ("Idempotency-Key", "laptop-1"),
    ];
    let send = || {
        let body = json!({"name": "laptop", "scope": "read"}).to_string();
        api.send("POST", "/api/v1/tokens", &headers, body.as_bytes())
    };
    let first = send();
    assert_eq!(first.status, 200);
    let again = send();
    assert_eq!(again.status, 409);
    assert_eq!(again.json()["code"], "sent_once");
    spoken.add("a repeated token", again.body);
    first.json()["token"].as_str().unwrap().to_owned()
}

/// Returns what the receiver got, except the header that holds its key. The traces have the arguments of calls.
fn exports(receiver: &OtlpReceiver) -> String {
    let mut requests = receiver.waiting();
    for request in &mut requests {
        let key = request.as_object_mut().and_then(|it| it.remove("key"));
        assert_eq!(key, Some(json!("canary-receiver-key-2d3e4f")));
    }
    let exported = Value::from(requests).to_string();
    assert!(exported.contains("[secret NAMED]"), "{exported}");
    exported
}

#[test]
fn no_interface_shows_a_secret() {
    let receiver = OtlpReceiver::start(0);
    let world = world(&receiver.url);
    let daemon = Daemon::start(&world);
    let api = Api::find(&world);
    let added = world.json(&["tokens", "add", "phone", "--scope", "run", "--json"]);
    let phone = added["token"].as_str().unwrap().to_owned();
    let mut spoken = Spoken::default();
    let json = [("Content-Type", "application/json")];
    let start = |skill: &str| {
        let body = json!({"skill": skill}).to_string();
        api.send("POST", "/api/v1/runs?wait=20", &json, body.as_bytes())
    };
    let started = start("leaking");
    let run = started.json()["run"].clone();
    assert_eq!(run["outcome"], "error", "{run:#}");
    let told = run.to_string();
    assert!(
        told.contains("[secret NAMED]"),
        "the canary never flew: {told}"
    );
    spoken.add("POST /api/v1/runs", &started.body);
    spoken.add("a question", &start("asking").body);
    let run = run["id"].as_str().unwrap();
    ask_everything(&api, run, &mut spoken);
    follow_everything(&api, &mut spoken);
    // Errors for a wrong token, and for a token in the URL.
    let stranger = Api {
        address: api.address.clone(),
        token: "deft_canary-wrong-token-2d3e4f".to_owned(),
    };
    spoken.add("401", stranger.get("/api/v1/runs").body);
    let call = json!({"arguments": {"text": "x"}}).to_string();
    for tool in ["tell", "fail"] {
        let path = format!("/api/v1/tools/{tool}/call");
        spoken.add(&path, api.send("POST", &path, &json, call.as_bytes()).body);
    }
    let signed = [
        ("webhook-id", "1"),
        ("webhook-timestamp", "1"),
        ("webhook-signature", "v1,AAAA"),
    ];
    for headers in [&json[..], &signed] {
        let hook = api.send("POST", "/hooks/deploys", headers, b"{}");
        assert_eq!(hook.status, 401);
        spoken.add("a hook", hook.body);
    }
    let laptop = make_token_twice(&api, &mut spoken);
    leaks_mcp::talk_over_stdio(&world, &mut spoken);
    leaks_mcp::talk_over_http(&api, &mut spoken);
    use_the_command_line(&world, run, &mut spoken);
    spoken.add("server.json", world.read("home/server.json"));
    spoken.add("the daemon", daemon.stop());
    spoken.add("OTLP", exports(&receiver));
    read_files(&world.path("home"), &mut spoken);
    spoken.check(&[&api.token, &phone, &laptop, &stranger.token]);
}
