//! Dry runs show what would happen, and start nothing.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use deft_model::{FailureClass, Heal};
use deft_store_testkit::Memory;
use deft_tools::ServerOptions;
use serde_json::json;

use crate::world::{Folder, World, load};

/// The handler of the page is a tool of a server that leaves a trace when it is started.
#[tokio::test]
async fn a_dry_run_of_a_command_starts_no_server() {
    let home = tempfile::tempdir().unwrap();
    let page = "---\nname: notes.add\ndescription: Adds a note\nhandler: tool:add_note\n---\n\n# notes.add\n\n## Flags\n\n| Flag | Required | Description |\n| --- | --- | --- |\n| `--count` | no | How many |\n";
    let snapshot = load(&home, &[("notes/add.md", page)]);
    let trace = home.path().join("started");
    let server = ServerOptions {
        command: Some("touch".to_owned()),
        args: vec![trace.display().to_string()],
        ..ServerOptions::default()
    };
    let tools = deft_tools::Options {
        servers: BTreeMap::from([("notes".to_owned(), server)]),
        ..deft_tools::Options::default()
    };
    let folder = Folder(Arc::new(Mutex::new(snapshot)));
    let world = World::with_servers(home, folder, Arc::new(Memory::new()), tools, |options| {
        options.heals = vec![Heal {
            when: vec![FailureClass::Network],
            tool: "vpn_connect".to_owned(),
            args: json!({}),
        }];
    });
    let given = json!({ "count": "3" }).as_object().cloned().unwrap();
    let shown = world.engine.dry_run("notes.add", &given).await.unwrap();
    let step = &shown.steps[0];
    assert_eq!(
        (step.name.as_deref(), &step.args),
        (Some("add_note"), &Some(json!({ "count": "3" })))
    );
    assert_eq!(step.heals[0].tool, "vpn_connect");
    assert!(!trace.exists(), "the server was started");
}
