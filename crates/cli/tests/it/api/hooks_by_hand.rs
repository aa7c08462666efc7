//! Runs the documented example that sends a delivery with `openssl` and `curl`, exactly as written.

use std::process::Command;

use serde_json::{Value, json};

use super::client::Api;
use crate::daemon::{Daemon, ended, used_home};

const SECRET: &str = "by-hand-0815";

/// Returns the commands of the only console block with a signature.
fn documented() -> String {
    let page = std::fs::read_to_string("../../docs/http.md").unwrap();
    let blocks: Vec<&str> = page
        .split("```console\n")
        .skip(1)
        .filter_map(|rest| rest.split("```").next())
        .filter(|block| block.contains("openssl"))
        .collect();
    assert_eq!(blocks.len(), 1, "{blocks:?}");
    let lines = blocks[0].lines();
    let commands: Vec<&str> = lines.map(|line| line.strip_prefix("$ ").unwrap()).collect();
    commands.join("\n")
}

#[test]
fn the_documented_commands_trigger_a_hook() {
    let world = used_home();
    world
        .write(
            "home/config.toml",
            "[hooks.deploys]\nsecret = \"env:HOOK_SECRET\"\nscheme = \"plain\"\n",
        )
        .write(
            "home/skills/announce.yaml",
            "name: announce\ndescription: Announces\ntrigger_config: {hook: deploys}\ninputs:\n  \
             - {name: service, type: string}\nsteps:\n  - {id: say, tool: log, args: {message: \"{{ inputs.service }}\"}}\n",
        );
    let daemon = Daemon::with(&world, &[], &[("HOOK_SECRET", SECRET)]);
    let api = Api::find(&world);
    let written = documented();
    let commands = written.replace("127.0.0.1:9876", &api.address);
    assert_ne!(commands, written, "the example names the usual address");
    let send = |secret: &str| {
        let output = Command::new("sh")
            .args(["-eu", "-c", &commands])
            .env("SECRET", secret)
            .output()
            .unwrap();
        let printed = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.success(), "{printed}");
        serde_json::from_slice::<Value>(&output.stdout).unwrap()
    };
    assert_eq!(send("another")["code"], "bad_signature");
    let receipt = send(SECRET);
    assert_eq!(receipt["runs"][0]["skill"], "announce", "{receipt:#}");
    let run = ended(&world, receipt["runs"][0]["run"].as_str().unwrap());
    assert_eq!(
        (&run["outcome"], &run["inputs"]["service"]),
        (&json!("success"), &json!("shop")),
        "{run:#}"
    );
    daemon.stop();
}
