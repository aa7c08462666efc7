//! Callers of `shell.run` that try to run a program that is not allowed.

use std::os::unix::fs::PermissionsExt;

use deft_model::FailureClass;
use serde_json::{Value, json};

use crate::support::{World, call};

/// A world in which only `echo` may run, with another `echo` in the allowed folder.
fn with_a_second_echo() -> World {
    let mut world = World::new();
    let open = world.path().join("open");
    std::fs::create_dir(&open).unwrap();
    let other = open.join("echo");
    std::fs::write(&other, "#!/bin/sh\n/bin/echo the wrong program\n").unwrap();
    std::fs::set_permissions(&other, std::fs::Permissions::from_mode(0o755)).unwrap();
    world.options.file.folders = vec![open];
    world.options.shell.enabled = true;
    world.options.shell.allow = vec!["echo".to_owned()];
    world
}

#[tokio::test]
async fn callers_can_run_only_the_allowed_program() {
    let mut world = with_a_second_echo();
    let open = world.path().join("open");
    // As if deft's own `PATH` contained the allowed folder and a relative one.
    for (name, value) in &mut world.environment.inherited {
        if name == "PATH" {
            *value = format!(".:{value}");
        }
    }
    let router = world.router();
    let allowed = json!({"command": ["echo", "hi"], "cwd": open});
    let reply = call(&router, "shell.run", allowed).await.unwrap();
    assert_eq!(reply.value["stdout"], "hi\n");
    let absolute = open.join("echo").to_string_lossy().into_owned();
    for program in [
        "./echo",
        "../open/echo",
        absolute.as_str(),
        "echo ",
        "/bin/sh",
        "",
    ] {
        let command = json!({"command": [program, "hi"], "cwd": open});
        let failure = call(&router, "shell.run", command).await.unwrap_err();
        assert_eq!(failure.class, FailureClass::Invalid, "{program}: {failure}");
        assert!(failure.hint.is_some(), "{program}: {failure}");
    }
}

#[tokio::test]
async fn a_caller_cannot_control_a_program_by_variables() {
    let world = with_a_second_echo();
    let open = world.path().join("open");
    let router = world.router();
    let run = |env: Value| {
        call(
            &router,
            "shell.run",
            json!({"command": ["echo", "hi"], "env": env}),
        )
    };
    for name in [
        "PATH",
        "LD_PRELOAD",
        "BASH_ENV",
        "GIT_SSH_COMMAND",
        "PATH=/x:",
    ] {
        let failure = run(json!({name: open})).await.unwrap_err();
        assert_eq!(failure.class, FailureClass::Invalid, "{name}: {failure}");
        assert!(
            failure.message.contains(&format!("`{name}`")) && failure.hint.is_some(),
            "{failure}"
        );
    }
    assert_eq!(
        run(json!({"GREETING": "x"})).await.unwrap().value["stdout"],
        "hi\n"
    );
}
