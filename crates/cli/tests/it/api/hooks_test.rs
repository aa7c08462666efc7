//! `deft hooks test` sends a delivery like a real sender; `deft doctor` finds hooks that cannot work.

use std::process::Output;

use serde_json::{Value, json};

use crate::daemon::{Daemon, ended, used_home};
use crate::support::World;

const SECRET: (&str, &str) = ("HOOK_SECRET", "canary-trial-1234");

const SCHEMES: [&str; 4] = ["standard", "github", "stripe", "plain"];

fn world() -> World {
    let world = used_home();
    let mut config = String::new();
    for scheme in SCHEMES {
        config.push_str(&format!(
            "[hooks.{scheme}]\nsecret = \"env:HOOK_SECRET\"\nscheme = \"{scheme}\"\nevents = [\"deployed\"]\n"
        ));
        world.write(
            &format!("home/skills/on-{scheme}.yaml"),
            format!(
                "name: on-{scheme}\ndescription: Takes deliveries\ntrigger_config: {{hook: {scheme}}}\ninputs:\n  \
                 - {{name: event, type: string}}\n  - {{name: payload, type: object}}\nsteps:\n  \
                 - {{id: say, tool: log, args: {{message: taken}}}}\n"
            ),
        );
    }
    world.write("home/config.toml", config);
    world
}

fn deft(world: &World, args: &[&str]) -> Output {
    let mut command = world.command(args);
    command.env(SECRET.0, SECRET.1).output().unwrap()
}

fn document(output: &Output) -> Value {
    serde_json::from_slice(&output.stdout).unwrap_or_else(|problem| panic!("{problem}: {output:?}"))
}

#[test]
fn a_test_delivery_works_for_every_signature_scheme() {
    let world = world();
    let daemon = Daemon::with(&world, &[], &[SECRET]);
    for scheme in SCHEMES {
        let skill = format!("on-{scheme}");
        let mut seen = Vec::new();
        // Two tests in a row are two deliveries.
        for _ in 0..2 {
            let sent = deft(&world, &["hooks", "test", scheme, "--json"]);
            let receipt = document(&sent);
            assert_eq!(sent.status.code(), Some(0), "{receipt:#}");
            assert_eq!(
                (
                    &receipt["hook"],
                    &receipt["repeated"],
                    &receipt["runs"][0]["skill"]
                ),
                (&json!(scheme), &json!(false), &json!(skill))
            );
            let run = ended(&world, receipt["runs"][0]["run"].as_str().unwrap());
            assert_eq!(
                (&run["outcome"], &run["inputs"]["event"]),
                (&json!("success"), &json!("deployed")),
                "{run:#}"
            );
            seen.push(run["id"].clone());
        }
        assert_ne!(seen[0], seen[1]);
    }
    let shown = deft(&world, &["hooks", "test", "plain"]);
    let text = String::from_utf8(shown.stdout).unwrap();
    assert!(
        text.starts_with("run_") && text.ends_with(" on-plain\n"),
        "{text}"
    );
    daemon.stop();
}

#[test]
fn a_custom_payload_is_sent_unchanged() {
    let world = world();
    world
        .write("body.json", "{\"type\": \"deployed\", \"shop\": 7}")
        .write("other.json", "{\"type\": \"deleted\"}")
        .write("broken.json", "{");
    let daemon = Daemon::with(&world, &[], &[SECRET]);
    let send = |file: &str| {
        deft(
            &world,
            &["hooks", "test", "plain", "--payload", file, "--json"],
        )
    };
    let first = document(&send("body.json"));
    let run = ended(&world, first["runs"][0]["run"].as_str().unwrap());
    assert_eq!(run["inputs"]["payload"]["shop"], 7, "{run:#}");
    // A delivery with the same body is a repeated delivery.
    let again = document(&send("body.json"));
    assert_eq!(
        (&again["repeated"], &again["runs"]),
        (&json!(true), &first["runs"])
    );
    let ignored = send("other.json");
    assert_eq!(ignored.status.code(), Some(1));
    assert!(document(&ignored)["ignored"].is_string());
    let refused = document(&send("broken.json"));
    assert_eq!(refused["error"]["code"], "hook_refused", "{refused:#}");
    // A secret that differs from the daemon's.
    let wrong = world
        .command(&["hooks", "test", "plain", "--json"])
        .env(SECRET.0, "another")
        .output()
        .unwrap();
    let wrong = document(&wrong);
    assert_eq!(wrong["error"]["code"], "hook_refused", "{wrong:#}");
    let why = wrong["error"]["message"].as_str().unwrap();
    assert!(why.contains("the signature is wrong"), "{why}");
    daemon.stop();
}

#[test]
fn missing_hook_settings_are_named() {
    let world = world();
    let code = |args: &[&str]| document(&deft(&world, args))["error"]["code"].clone();
    assert_eq!(code(&["hooks", "test", "plain", "--json"]), "not_up");
    assert_eq!(code(&["hooks", "test", "none", "--json"]), "unknown_hook");
    let without = world.json(&["hooks", "test", "plain", "--json"]);
    assert_eq!(without["error"]["code"], "hook_secret", "{without:#}");
}

#[test]
fn doctor_finds_hooks_that_cannot_work() {
    let world = world();
    let checks = |output: &Output| {
        let all = document(output)["checks"].as_array().unwrap().clone();
        let own = all.into_iter().filter(|one| {
            let id = one["id"].as_str().unwrap();
            id.starts_with("hooks.")
        });
        own.map(|one| {
            (
                one["id"].clone(),
                one["subject"].clone(),
                one["status"].clone(),
            )
        })
        .collect::<Vec<_>>()
    };
    let is = |id: &str, subject: &str, status: &str| (json!(id), json!(subject), json!(status));
    let well: Vec<_> = ["github", "plain", "standard", "stripe"]
        .map(|hook| is("hooks.secret", hook, "ok"))
        .into();
    let mut found = checks(&deft(&world, &["doctor", "--json"]));
    found.sort_by_key(|one| one.1.to_string());
    assert_eq!(found, well);

    world
        .write(
            "home/config.toml",
            "[hooks.alone]\nsecret = \"env:HOOK_SECRET\"\n[hooks.plain]\nsecret = \"env:NOT_SET\"\n",
        )
        .write("home/skills/on-standard.yaml", "name: on-standard\ndescription: d\nsteps: []\n");
    std::fs::remove_file(world.path("home/skills/on-github.yaml")).unwrap();
    let mut found = checks(&deft(&world, &["doctor", "--json"]));
    found.sort_by_key(|one| (one.1.to_string(), one.0.to_string()));
    assert_eq!(
        found,
        [
            is("hooks.secret", "alone", "ok"),
            is("hooks.skills", "alone", "note"),
            is("hooks.skills", "on-stripe", "bad"),
            is("hooks.secret", "plain", "bad"),
        ]
    );
}
