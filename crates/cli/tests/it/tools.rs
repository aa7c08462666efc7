//! `deft tools`.

use serde_json::json;

use crate::mcp::with_server;
use crate::support::World;

/// Reading commands start no server and create no files.
#[test]
fn read_commands_start_no_server() {
    let world = with_server();
    let text = world.run(&["tools", "list", "--server", "demo"]);
    insta::assert_snapshot!(text);
    let document = world.json(&["tools", "list", "--json"]);
    assert_eq!(document["not_asked"], json!(["demo"]));
    assert!(
        !world.path("server/demo.log").exists(),
        "the server was started"
    );
    assert!(!world.path("home/data").exists(), "a store was made");
    insta::assert_snapshot!(world.run(&["tools", "show", "echo"]));
    insta::assert_snapshot!(world.run(&["tools", "list", "--server", "dmeo"]));
}

#[test]
fn tool_listings_are_stored() {
    let world = with_server();
    insta::assert_snapshot!(world.run(&["tools", "list", "--refresh", "--server", "demo"]));
    insta::assert_snapshot!(world.run(&["tools", "list", "again"]));
    insta::assert_snapshot!(world.run(&["tools", "show", "echo"]));
    let document = world.json(&["tools", "show", "demo.echo", "--json"]);
    assert_eq!(document["tool"]["name"], "echo");
    assert_eq!(
        document["tool"]["input_schema"]["required"],
        json!(["text"])
    );
    let document = world.json(&["tools", "list", "--limit", "1", "--json"]);
    assert_eq!(document["tools"].as_array().unwrap().len(), 1);
    assert_eq!(world.code(&["mcp", "remove", "demo"]), 0);
    assert_eq!(world.code(&["tools", "show", "echo"]), 2);
}

/// S0.56: the catalog has the format defined by the seeds.
#[test]
fn the_catalog_has_the_shape_of_the_seeds() {
    let world = with_server();
    assert_eq!(world.code(&["mcp", "probe"]), 0);
    let catalog = world.json(&["tools", "catalog"]);
    assert_eq!(catalog["success"], true);
    assert_eq!(
        catalog["data"]["catalog"]["demo"][0],
        json!({"name": "echo", "description": "Say it again."})
    );
    let summary = catalog["data"]["summary"].as_str().unwrap();
    assert!(summary.ends_with("across 2 MCP servers"), "{summary}");
}

#[test]
fn call_prints_the_value() {
    let world = with_server();
    insta::assert_snapshot!(world.run(&["tools", "call", "echo", "text=12", "count=3"]));
    let document = world.json(&[
        "tools",
        "call",
        "demo.echo",
        "--args",
        "{\"text\": \"x\"}",
        "--json",
    ]);
    assert_eq!(document["ok"], true, "{document:#}");
    assert_eq!(document["tool"], "demo.echo");
    assert_eq!(document["server"], "demo");
    assert_eq!(document["value"], "said x");
    assert!(document["duration_ms"].is_u64());
    assert_eq!(
        world.json(&["mcp", "list", "--json"])["servers"][0]["tools"],
        2
    );
}

#[test]
fn a_failed_call_prints_the_reason() {
    let world = with_server();
    insta::assert_snapshot!(world.run(&["tools", "call", "fail"]));
    insta::assert_snapshot!(world.run(&["tools", "call", "fail", "--json"]));
    insta::assert_snapshot!(world.run(&["tools", "call", "ehco", "text=x"]));
    insta::assert_snapshot!(world.run(&["tools", "call", "echo", "count=many", "text=x"]));
    insta::assert_snapshot!(world.run(&["tools", "call", "echo", "text"]));
    insta::assert_snapshot!(world.run(&["tools", "call", "echo", "--args", "[1]"]));
}

#[test]
fn built_in_tools_work_without_a_configuration() {
    let world = World::new();
    let document = world.json(&["tools", "list", "--json"]);
    let tools = document["tools"].as_array().unwrap();
    assert!(tools.iter().any(|tool| tool["name"] == "get_tool_catalog"));
    let catalog = world.json(&["tools", "call", "get_tool_catalog", "--json"]);
    assert_eq!(catalog["value"]["success"], true, "{catalog:#}");
}
