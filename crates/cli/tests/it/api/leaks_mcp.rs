//! Collects deft's output over MCP for the search for secrets: over stdio, and over HTTP in both eras.

use serde_json::{Value, json};

use super::client::Api;
use super::leaks::Spoken;
use super::mcp_http::McpHttp;
use crate::mcp_client::{LEGACY, McpClient};
use crate::support::World;

/// The maximum number of list entries that are read individually.
const MAX_ENTRIES: usize = 50;

pub(super) fn talk_over_stdio(world: &World, spoken: &mut Spoken) {
    let mut client = McpClient::legacy(world, LEGACY, &json!({}));
    talk("stdio", spoken, |method, params| {
        let asked = client.send(method, params);
        client.response(asked)
    });
    client.close();
}

pub(super) fn talk_over_http(api: &Api, spoken: &mut Spoken) {
    for (era, mut client) in [
        ("/mcp with a session", McpHttp::legacy(api)),
        ("/mcp without a session", McpHttp::modern(api)),
    ] {
        talk(era, spoken, |method, params| client.ask(method, params));
    }
}

/// Lists everything, reads everything, and runs the skill that passes secrets on.
fn talk(way: &str, spoken: &mut Spoken, mut ask: impl FnMut(&str, Value) -> Value) {
    let mut say = |place: String, method: &str, params: Value| {
        let answer = ask(method, params);
        spoken.add(format!("{way}: {place}"), answer.to_string());
        answer
    };
    for (list, key, read, name) in [
        ("resources/list", "resources", "resources/read", "uri"),
        ("prompts/list", "prompts", "prompts/get", "name"),
        ("skills/list", "skills", "skills/get", "uri"),
    ] {
        let listed = say(list.to_owned(), list, json!({}));
        let all = listed["result"][key].as_array();
        let all = all.unwrap_or_else(|| panic!("{way}, {list}: {listed:#}"));
        assert!(!all.is_empty(), "{way}, {list}: nothing to read");
        for one in all.iter().take(MAX_ENTRIES) {
            let place = format!("{read} {}", one[name]);
            let shown = say(place, read, json!({name: one[name]}));
            assert!(shown["error"].is_null(), "{way}, {read}: {shown:#}");
        }
    }
    let tools = say("tools/list".to_owned(), "tools/list", json!({}));
    assert!(tools.to_string().contains("\"leaking\""), "{tools:#}");
    let mut told = Vec::new();
    for (tool, arguments) in [
        ("skill_run", json!({"skill": "leaking"})),
        ("skill", json!({"skill_name": "knowing"})),
        ("get_skill", json!({"name": "leaking"})),
        ("run_list", json!({})),
        ("run_show", json!({"id": "last"})),
        ("get_tool_catalog", json!({})),
        ("leaking", json!({})),
    ] {
        let place = format!("tools/call {tool}");
        let params = json!({"name": tool, "arguments": arguments});
        told.push(say(place, "tools/call", params).to_string());
    }
    let flew = told.iter().any(|one| one.contains("[secret NAMED]"));
    assert!(flew, "{way}: the canary never flew: {told:#?}");
}
