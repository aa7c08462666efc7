//! `deft secrets`: values are read from a prompt or a pipe, and never printed.

use std::io::Write;
use std::os::unix::fs::PermissionsExt;
use std::process::Stdio;

use serde_json::{Value, json};

use crate::chat_support::{CommandResult, piped};
use crate::setup::{bin, program};
use crate::support::World;
use crate::terminal::Terminal;

const VALUE: &str = "s3cret-value";

fn set(world: &World, args: &[&str]) -> CommandResult {
    piped(world, &[&["secrets", "set"], args].concat(), VALUE)
}

#[test]
fn a_host_without_a_keyring_gets_a_private_file() {
    let world = World::new();
    let stored = set(&world, &["MAIL", "--json"]);
    assert_eq!(stored.code, 0, "{stored:?}");
    let document = stored.json();
    assert_eq!(
        (
            &document["reference"],
            &document["source"],
            &document["changed"]
        ),
        (&json!("file:secrets/MAIL"), &json!("file"), &json!(true))
    );
    assert_eq!(world.read("home/secrets/MAIL"), format!("{VALUE}\n"));
    for (path, mode) in [
        ("secrets", 0o700),
        ("secrets/MAIL", 0o600),
        ("config.toml", 0o600),
    ] {
        let found = world.path("home").join(path).metadata().unwrap();
        assert_eq!(found.permissions().mode() & 0o777, mode, "{path}");
    }
    assert_eq!(
        world.read("home/config.toml"),
        "[secrets]\nMAIL = \"file:secrets/MAIL\"\n"
    );
    let output = set(&world, &["MAIL"]);
    assert_eq!(output.stdout, "stored `MAIL` as `file:secrets/MAIL`\n");
    assert!(
        output.stderr.contains("`secret-tool` is not in `PATH`"),
        "{output:?}"
    );
}

#[test]
fn lists_and_tests_name_secrets_and_never_show_them() {
    let world = World::new();
    world.write(
        "home/config.toml",
        "[llm.big]\nprovider = \"openai\"\nmodel = \"m\"\napi_key = \"env:BIG_KEY\"\n",
    );
    set(&world, &["MAIL"]);
    insta::assert_snapshot!(world.run(&["secrets", "list"]));
    insta::assert_snapshot!(world.run(&["secrets", "test"]));
    assert_eq!(world.code(&["secrets", "test"]), 1);
    assert_eq!(world.code(&["secrets", "test", "MAIL"]), 0);
    insta::assert_snapshot!(world.run(&["secrets", "test", "MIAL"]));
    let document = world.json(&["secrets", "list", "--json"]);
    assert!(!document.to_string().contains(VALUE));
    assert_eq!(document["secrets"][1]["used_by"], json!(["secrets.MAIL"]));
    assert_eq!(document["secrets"][0]["ok"], false);
}

#[test]
fn a_removed_secret_is_deleted_and_its_users_are_named() {
    let world = World::new();
    set(&world, &["KEY"]);
    let reference = "file:secrets/KEY";
    for (key, value) in [
        ("provider", "openai"),
        ("model", "m"),
        ("api_key", reference),
    ] {
        let key = format!("llm.big.{key}");
        assert_eq!(world.code(&["config", "set", &key, value]), 0);
    }
    let output = world.run(&["secrets", "rm", "KEY"]);
    assert!(output.contains("removed `KEY`"), "{output}");
    assert!(
        output.contains("`llm.big.api_key` still names it"),
        "{output}"
    );
    assert!(!world.path("home/secrets/KEY").exists());
    let output = world.run(&["secrets", "rm", "NEVER"]);
    assert!(output.contains("unknown secret `NEVER`"), "{output}");
}

#[test]
fn invalid_secrets_are_refused() {
    let world = World::new();
    let empty = piped(&world, &["secrets", "set", "MAIL", "--json"], "\n");
    assert_eq!(empty.json()["error"]["code"], "empty_secret");
    let named = set(&world, &["../MAIL", "--json"]);
    assert_eq!(named.json()["error"]["code"], "invalid_name");
    assert!(!world.path("home").exists());
}

#[test]
fn the_prompt_hides_typed_characters() {
    let world = World::new();
    let mut terminal = Terminal::sized(&world, &["secrets", "set", "MAIL"], 80);
    terminal.until("(not shown)").keys(&format!("{VALUE}\r"));
    terminal.until("stored `MAIL`");
    assert!(!terminal.raw.contains(VALUE), "{}", terminal.screen());
    let (code, screen) = terminal.end();
    assert_eq!(code, 0, "{screen}");
    assert_eq!(world.read("home/secrets/MAIL"), format!("{VALUE}\n"));
}

/// An invalid name is refused before the value is asked for.
#[test]
fn a_bad_name_is_refused_before_the_question() {
    let world = World::new();
    let terminal = Terminal::sized(&world, &["secrets", "set", "bad name"], 80);
    let (code, screen) = terminal.end();
    assert_eq!(code, 2, "{screen}");
    let message = "error: `bad name` cannot be the name of a secret";
    assert!(screen.starts_with(message), "{screen}");
}

/// A fake keyring that stores entries in files in the current folder, without calling other programs.
pub(crate) const KEYRING: &str = r#"
for name; do :; done
file="ring.$name"
case "$1" in
store) IFS= read -r value; printf '%s' "$value" > "$file" ;;
lookup) [ -s "$file" ] || exit 1; IFS= read -r value < "$file"; printf '%s' "$value" ;;
clear) : > "$file" ;;
esac
"#;

#[test]
fn an_available_keyring_is_used() {
    let world = World::new();
    program(&world, "secret-tool", KEYRING);
    let path = bin(&world);
    let run = |args: &[&str], stdin: &str| -> Value {
        let mut command = world.command(&[args, &["--json"]].concat());
        command
            .env("PATH", &path)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped());
        let mut child = command.spawn().unwrap();
        drop(child.stdin.take().unwrap().write_all(stdin.as_bytes()));
        let output = child.wait_with_output().unwrap();
        serde_json::from_slice(&output.stdout).unwrap()
    };
    let stored = run(&["secrets", "set", "MAIL"], VALUE);
    assert_eq!(stored["reference"], "keyring:MAIL", "{stored:#}");
    assert_eq!(world.read("ring.MAIL"), VALUE);
    assert!(!world.path("home/secrets").exists());
    let tested = run(&["secrets", "test", "MAIL"], "");
    assert_eq!(tested["ok"], true, "{tested:#}");
    let file = run(&["secrets", "set", "OTHER", "--file"], VALUE);
    assert_eq!(file["reference"], "file:secrets/OTHER");
    let removed = run(&["secrets", "rm", "MAIL"], "");
    assert_eq!(removed["ok"], true, "{removed:#}");
    assert_eq!(world.read("ring.MAIL"), "");
    // A broken keyring is not an error.
    program(
        &world,
        "secret-tool",
        "echo 'cannot reach the bus' >&2; exit 1",
    );
    let stored = run(&["secrets", "set", "MAIL"], VALUE);
    assert_eq!(stored["source"], "file");
    let why = stored["warnings"][0].as_str().unwrap();
    assert_eq!(why, "the keyring refused: cannot reach the bus");
}
