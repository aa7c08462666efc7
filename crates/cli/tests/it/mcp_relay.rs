//! Tools, prompts and resources of a server behind deft, called by clients of deft.

use std::fs;

use serde_json::{Value, json};

use crate::daemon::wait_for;
use crate::mcp_client::{LEGACY, McpClient};
use crate::mcp_relay_support::{HttpUpstream, http_world, stdio_world};

const PLAIN: &str = "reexport = \"plain\"";
const IMAGE: &str = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg==";

/// The eras of the server behind deft.
const ERAS: [&[&str]; 2] = [&["legacy"], &[]];

fn names(list: &Value, kind: &str) -> Vec<String> {
    let items = list[kind].as_array().unwrap().iter();
    items
        .map(|item| item["name"].as_str().unwrap().to_owned())
        .collect()
}

fn text(result: &Value) -> &str {
    result["content"][0]["text"].as_str().unwrap_or_default()
}

#[test]
fn nothing_is_relayed_unless_configured() {
    let world = stdio_world(&[], "");
    for mut client in McpClient::both(&world) {
        let tools = names(&client.request("tools/list", json!({})), "tools");
        assert!(
            !tools.iter().any(|name| name.contains("test_")),
            "{tools:?}"
        );
        let error = client.refused("tools/call", json!({"name": "test_simple_text"}));
        assert_eq!(error["code"], -32602, "{error:#}");
    }
}

#[test]
fn names_are_prefixed_if_configured() {
    let world = stdio_world(&[], "reexport = \"prefixed\"");
    for mut client in McpClient::both(&world) {
        let tools = names(&client.request("tools/list", json!({})), "tools");
        assert!(
            tools.contains(&"up_test_simple_text".to_owned()),
            "{tools:?}"
        );
        let called = client.call("up_test_simple_text", json!({}));
        assert!(text(&called).contains("simple text"), "{called:#}");
        let prompts = names(&client.request("prompts/list", json!({})), "prompts");
        assert!(
            prompts.contains(&"up_test_simple_prompt".to_owned()),
            "{prompts:?}"
        );
        let prompt = client.request("prompts/get", json!({"name": "up_test_simple_prompt"}));
        assert!(
            prompt["messages"][0]["content"]["text"].is_string(),
            "{prompt:#}"
        );
    }
}

#[test]
fn relayed_content_is_unchanged() {
    for era in ERAS {
        let world = stdio_world(era, PLAIN);
        for mut client in McpClient::both(&world) {
            let image = client.call("test_image_content", json!({}));
            assert_eq!(image["content"][0]["data"], IMAGE, "{image:#}");
            assert_eq!(image["content"][0]["mimeType"], "image/png");
            let audio = client.call("test_audio_content", json!({}));
            let audio = &audio["content"][0];
            assert_eq!(
                (&audio["type"], &audio["mimeType"]),
                (&json!("audio"), &json!("audio/wav")),
                "{audio:#}"
            );
            assert!(!audio["data"].as_str().unwrap().is_empty());
            let embedded = client.call("test_embedded_resource", json!({}));
            let embedded = &embedded["content"][0];
            assert_eq!(embedded["type"], "resource", "{embedded:#}");
            assert_eq!(embedded["resource"]["uri"], "test://embedded-resource");
            assert!(embedded["resource"]["text"].is_string(), "{embedded:#}");
            let structured = client.value("test_structured", json!({}));
            let expected = json!({ "answer": 42, "nested": { "list": [1, 2.5, null] } });
            assert_eq!(structured, expected);
            let failed = client.call("test_error_handling", json!({}));
            assert_eq!(failed["isError"], true, "{failed:#}");
            let read = client.request("resources/read", json!({"uri": "test://static-binary"}));
            assert_eq!(read["contents"][0]["blob"], IMAGE, "{read:#}");
        }
    }
}

#[test]
fn progress_and_log_messages_arrive_in_order() {
    for era in ERAS {
        let world = stdio_world(era, PLAIN);
        let mut client = McpClient::legacy(&world, LEGACY, &json!({}));
        client.request("logging/setLevel", json!({"level": "info"}));
        for (tool, kind) in [
            ("test_tool_with_progress", "notifications/progress"),
            ("test_tool_with_logging", "notifications/message"),
        ] {
            let params = json!({"name": tool, "arguments": {}, "_meta": {"progressToken": "mine"}});
            let id = client.send("tools/call", params);
            let told: Vec<Value> = (0..3).map(|_| client.notification(kind)).collect();
            client.response(id);
            if kind == "notifications/progress" {
                let done: Vec<_> = told
                    .iter()
                    .map(|it| it["params"]["progress"].as_f64())
                    .collect();
                assert_eq!(done, [Some(0.0), Some(50.0), Some(100.0)]);
                assert_eq!(told[0]["params"]["progressToken"], "mine");
            } else {
                assert_eq!(told[2]["params"]["data"], "Tool execution completed");
            }
        }
        // Log messages below the requested level are not passed on.
        client.request("logging/setLevel", json!({"level": "error"}));
        client.call("test_tool_with_logging", json!({}));
        client.notify("notifications/roots/list_changed", json!({}));
        let pong = client.request("ping", json!({}));
        assert_eq!(pong, json!({}));
        assert_eq!(client.count("notifications/message"), 0);
    }
}

#[test]
fn a_cancelled_call_is_cancelled_at_the_server() {
    for era in ERAS {
        let world = stdio_world(era, PLAIN);
        for mut client in McpClient::both(&world) {
            let note = world.path("note");
            drop(fs::remove_file(&note));
            let arguments = json!({"note": note});
            let id = client.send(
                "tools/call",
                json!({"name": "test_wait", "arguments": arguments}),
            );
            let says = |text: &str| {
                let content = fs::read_to_string(&note).unwrap_or_default();
                (content == text).then_some(())
            };
            wait_for("the call", || says("waiting"));
            client.notify("notifications/cancelled", json!({"requestId": id}));
            wait_for("the end of the call", || says("cancelled"));
        }
    }
}

/// Each client gets only its own question, and answers with its name.
#[test]
fn concurrent_clients_get_only_their_own_questions() {
    for era in ERAS {
        let world = stdio_world(era, PLAIN);
        let capabilities = json!({"elicitation": {}});
        let mut clients =
            ["ann", "bob"].map(|name| (name, McpClient::legacy(&world, LEGACY, &capabilities)));
        let calls = clients.each_mut().map(|(name, client)| {
            let arguments = json!({"message": format!("for {name}")});
            client.send(
                "tools/call",
                json!({"name": "test_elicitation", "arguments": arguments}),
            )
        });
        for (name, client) in &mut clients {
            let asked = client.notification("elicitation/create");
            assert_eq!(
                asked["params"]["message"],
                format!("for {name}"),
                "{asked:#}"
            );
            let content = json!({"username": name, "email": "x@y"});
            client.respond(&asked, json!({"action": "accept", "content": content}));
        }
        for ((name, client), id) in clients.iter_mut().zip(calls) {
            let result = client.response(id)["result"].take();
            assert!(
                text(&result).contains(&format!("\"username\":\"{name}\"")),
                "{result:#}"
            );
        }
    }
}

/// A client of the newer era calls again with its answer; the server behind deft may be of either era.
#[test]
fn a_client_without_a_session_gets_questions_as_results() {
    for era in ERAS {
        let world = stdio_world(era, PLAIN);
        let capabilities = json!({"elicitation": {"form": {}}, "sampling": {}, "roots": {}});
        let mut client = McpClient::modern(&world, &capabilities);
        let mut call = json!({"name": "test_elicitation", "arguments": {"message": "Who?"}});
        let asked = client.request("tools/call", call.clone());
        assert_eq!(asked["resultType"], "input_required", "{asked:#}");
        let (key, request) = asked["inputRequests"]
            .as_object()
            .unwrap()
            .iter()
            .next()
            .unwrap();
        assert_eq!(request["method"], "elicitation/create", "{asked:#}");
        assert_eq!(request["params"]["message"], "Who?");
        let content = json!({"username": "ann", "email": "x@y"});
        call["inputResponses"] = json!({ key: {"action": "accept", "content": content} });
        if let Some(state) = asked["requestState"].as_str() {
            call["requestState"] = json!(format!("{state}x"));
            let error = client.refused("tools/call", call.clone());
            assert_eq!(error["code"], -32602, "{error:#}");
            call["requestState"] = json!(state);
        }
        let done = client.request("tools/call", call);
        assert!(text(&done).contains("\"username\":\"ann\""), "{done:#}");
        assert_eq!(done["resultType"], "complete", "{done:#}");
    }
}

#[test]
fn a_state_is_valid_only_for_its_request() {
    let world = stdio_world(&[], PLAIN);
    let mut client = McpClient::modern(&world, &json!({"elicitation": {"form": {}}}));
    let mut call = json!({"name": "test_input_required_result_multi_round", "arguments": {}});
    let asked = client.request("tools/call", call.clone());
    let other = json!({
        "name": "test_input_required_result_request_state",
        "arguments": {},
        "requestState": asked["requestState"],
    });
    let error = client.refused("tools/call", other);
    assert_eq!(error["code"], -32602, "{error:#}");
    call["requestState"] = asked["requestState"].clone();
    let again = client.request("tools/call", call);
    assert_eq!(
        again["inputRequests"]["step2"]["method"],
        "elicitation/create"
    );
}

#[test]
fn a_client_is_asked_for_a_model_and_for_folders() {
    for era in ERAS {
        let world = stdio_world(era, PLAIN);
        let capabilities = json!({"sampling": {}, "roots": {}});
        let mut client = McpClient::legacy(&world, LEGACY, &capabilities);
        let call = json!({"name": "test_sampling", "arguments": {"prompt": "Hi"}});
        let id = client.send("tools/call", call);
        let asked = client.notification("sampling/createMessage");
        let answer = json!({
            "role": "assistant",
            "content": {"type": "text", "text": "hello"},
            "model": "m",
        });
        client.respond(&asked, answer);
        let result = client.response(id)["result"].take();
        assert_eq!(text(&result), "LLM response: hello", "{result:#}");
        let id = client.send("tools/call", json!({"name": "test_roots", "arguments": {}}));
        let asked = client.notification("roots/list");
        client.respond(&asked, json!({"roots": [{"uri": "file:///work"}]}));
        let result = client.response(id)["result"].take();
        assert!(text(&result).contains("file:///work"), "{result:#}");
    }
}

#[test]
fn a_hidden_tool_stays_hidden_and_arguments_are_checked() {
    let world = stdio_world(
        &[],
        "reexport = \"plain\"\nexclude_tools = [\"test_image*\"]",
    );
    for mut client in McpClient::both(&world) {
        let tools = names(&client.request("tools/list", json!({})), "tools");
        assert!(
            !tools.contains(&"test_image_content".to_owned()),
            "{tools:?}"
        );
        let error = client.refused("tools/call", json!({"name": "test_image_content"}));
        assert_eq!(error["code"], -32602, "{error:#}");
        let failed = client.call("test_elicitation", json!({"message": [1]}));
        assert_eq!(failed["isError"], true, "{failed:#}");
        assert_eq!(
            failed["_meta"]["deft/error"]["class"], "invalid",
            "{failed:#}"
        );
    }
}

#[test]
fn a_name_clash_of_relayed_tools_is_reported() {
    let world = stdio_world(&[], PLAIN);
    let skill = "name: test_simple_text\ndescription: Mine\nexpose: true\nsteps:\n  - {id: note, tool: log, args: {message: hi}}\noutputs: {said: mine}\n";
    world.write("home/skills/test_simple_text.yaml", skill);
    let mut client = McpClient::legacy(&world, LEGACY, &json!({}));
    let mine = client.value("test_simple_text", json!({}));
    assert_eq!(mine["outputs"]["said"], "mine", "{mine:#}");
    let doctor = world.json(&["doctor", "--json"]);
    let told = doctor.to_string();
    assert!(told.contains("servers.reexport"), "{doctor:#}");
    assert!(
        told.contains("`test_simple_text` of `up` is not offered"),
        "{doctor:#}"
    );
}

#[test]
fn arguments_are_completed_and_resources_subscribed() {
    for era in ERAS {
        let world = stdio_world(era, PLAIN);
        let mut client = McpClient::legacy(&world, LEGACY, &json!({}));
        let params = json!({
            "ref": {"type": "ref/prompt", "name": "test_prompt_with_arguments"},
            "argument": {"name": "arg1", "value": "par"},
        });
        let completed = client.request("completion/complete", params);
        assert_eq!(
            completed["completion"]["values"][0], "paris",
            "{completed:#}"
        );
        let templates = client.request("resources/templates/list", json!({}));
        let template = &templates["resourceTemplates"][0]["uriTemplate"];
        assert_eq!(template, "test://template/{id}/data", "{templates:#}");
        let read = client.request("resources/read", json!({"uri": "test://template/7/data"}));
        assert!(
            read["contents"][0]["text"]
                .as_str()
                .unwrap()
                .contains("ID: 7"),
            "{read:#}"
        );
        client.request(
            "resources/subscribe",
            json!({"uri": "test://watched-resource"}),
        );
        client.request(
            "resources/unsubscribe",
            json!({"uri": "test://watched-resource"}),
        );
    }
}

#[test]
fn changes_of_lists_and_resources_are_announced() {
    for words in [&["http", "legacy"][..], &["http"]] {
        let upstream = HttpUpstream::start(words);
        let world = http_world(&upstream, PLAIN);
        let mut client = McpClient::legacy(&world, LEGACY, &json!({}));
        let watched = json!({"uri": "test://watched-resource"});
        client.request("resources/subscribe", watched.clone());
        client.call("test_touch", watched.clone());
        let notification = client.notification("notifications/resources/updated");
        assert_eq!(
            notification["params"]["uri"], "test://watched-resource",
            "{words:?}"
        );
        for (tool, kind) in [
            (
                "test_trigger_tool_change",
                "notifications/tools/list_changed",
            ),
            (
                "test_trigger_prompt_change",
                "notifications/prompts/list_changed",
            ),
        ] {
            client.call(tool, json!({}));
            client.notification(kind);
        }
    }
}
