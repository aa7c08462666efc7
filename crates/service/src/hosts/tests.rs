//! Edits of realistic files: comments and order stay, a second edit changes nothing, and removal restores the
//! file.

use std::path::Path;

use deft_wire::host::HostClient;
use deft_wire::model::Object;
use serde_json::json;

use super::entry::{DeftEndpoint, entry};
use super::list::{Edit, ServerFile};

fn source(client: HostClient, text: &str) -> ServerFile<'_> {
    ServerFile {
        client,
        path: Path::new("file"),
        text,
    }
}

fn small() -> Object {
    let entry = json!({"command": "/d", "args": ["mcp"]});
    entry.as_object().unwrap().clone()
}

/// Returns the text with the entry. Checks that a second edit changes nothing and that removal restores
/// `text`.
fn put(client: HostClient, text: &str) -> String {
    let edited = put_once(client, text);
    let removed = source(client, &edited).edit("deft", Edit::Remove).unwrap();
    assert_eq!(removed, text, "{edited}");
    edited
}

fn put_once(client: HostClient, text: &str) -> String {
    let entry = small();
    let edited = source(client, text)
        .edit("deft", Edit::Put(&entry))
        .unwrap();
    let again = source(client, &edited)
        .edit("deft", Edit::Put(&entry))
        .unwrap();
    assert_eq!(again, edited);
    edited
}

#[test]
fn json_keeps_comments_order_and_style() {
    let client = HostClient::Cursor;
    assert_eq!(
        put(
            client,
            "{\n  // mine\n  \"mcpServers\": {\n    \"a\": {\"url\": \"x\"} // first\n  },\n  \"z\": 1\n}\n"
        ),
        "{\n  // mine\n  \"mcpServers\": {\n    \"a\": {\"url\": \"x\"}, // first\n    \"deft\": {\n      \"command\": \"/d\",\n      \"args\": [\n        \"mcp\"\n      ]\n    }\n  },\n  \"z\": 1\n}\n"
    );
    // Tabs, and a comma after the last entry.
    assert_eq!(
        put(client, "{\n\t\"mcpServers\": {\n\t\t\"a\": {},\n\t}\n}"),
        "{\n\t\"mcpServers\": {\n\t\t\"a\": {},\n\t\t\"deft\": {\n\t\t\t\"command\": \"/d\",\n\t\t\t\"args\": [\n\t\t\t\t\"mcp\"\n\t\t\t]\n\t\t},\n\t}\n}"
    );
    assert_eq!(
        put(client, "{\"mcpServers\": {\"a\": {}}, \"b\": []}"),
        "{\"mcpServers\": {\"a\": {}, \"deft\": {\"command\":\"/d\",\"args\":[\"mcp\"]}}, \"b\": []}"
    );
    let windows = put(client, "{\r\n  \"mcpServers\": {}\r\n}\r\n");
    assert_eq!(
        windows.matches('\n').count(),
        windows.matches("\r\n").count()
    );
    put(
        client,
        "\u{feff}{\n  \"mcpServers\": {\n    \"a\": {\"b\": \"//,{\\\"\"}\n  }\n}\n",
    );
}

#[test]
fn json_without_a_list_gets_one() {
    let entry = "\"deft\": {\n      \"command\": \"/d\",\n      \"args\": [\n        \"mcp\"\n      ]\n    }";
    let list = |key: &str| format!("{{\n  \"{key}\": {{\n    {entry}\n  }}\n}}\n");
    assert_eq!(put_once(HostClient::ClaudeDesktop, ""), list("mcpServers"));
    assert_eq!(put_once(HostClient::VsCode, "{}\n"), list("servers"));
    let commented = put_once(HostClient::VsCode, "// mine\n");
    assert_eq!(commented, format!("// mine\n{}", list("servers")));
    let other = put_once(
        HostClient::ClaudeCode,
        "{\n  \"theme\": \"dark\" // night\n}\n",
    );
    assert!(
        other.starts_with("{\n  \"theme\": \"dark\", // night\n  \"mcpServers\": {\n    \"deft\""),
        "{other}"
    );
}

#[test]
fn an_older_entry_is_replaced_in_place() {
    let text = "{\n  \"mcpServers\": {\n    \"deft\": {\"command\": \"old\"}, // mine\n    \"b\": {}\n  }\n}\n";
    let edited = put_once(HostClient::Cursor, text);
    assert!(
        edited.contains("\"mcp\"\n      ]\n    }, // mine\n    \"b\": {}"),
        "{edited}"
    );
    let removed = source(HostClient::Cursor, &edited)
        .edit("deft", Edit::Remove)
        .unwrap();
    assert_eq!(
        removed,
        "{\n  \"mcpServers\": { // mine\n    \"b\": {}\n  }\n}\n"
    );
}

#[test]
fn toml_keeps_comments_and_order() {
    let text = "# mine\nmodel = \"x\" # fast\n\n[mcp_servers.a]\ncommand = \"a\"\n\n[tui]\ntheme = \"dark\"\n";
    let edited = put(HostClient::Codex, text);
    let table = "[mcp_servers.deft]\ncommand = \"/d\"\nargs = [\"mcp\"]\n";
    assert!(edited.contains(table), "{edited}");
    assert_eq!(put_once(HostClient::Codex, ""), table);
    put(HostClient::Codex, "mcp_servers = { a = { url = \"x\" } }\n");
}

#[test]
fn yaml_keeps_comments_and_order() {
    let text = "# mine\nGOOSE_MODEL: x\nextensions:\n  developer: # built in\n    type: builtin\n    enabled: true\n\n# below\nGOOSE_MODE: auto\n";
    let edited = put(HostClient::Goose, text);
    let entry = "  deft:\n    command: \"/d\"\n    args:\n    - \"mcp\"\n";
    let expected = text.replace("enabled: true\n", &format!("enabled: true\n{entry}"));
    assert_eq!(edited, expected);
    assert_eq!(
        put_once(HostClient::Goose, ""),
        format!("extensions:\n{entry}")
    );
    assert_eq!(
        put(HostClient::Goose, "extensions: {}\n"),
        format!("extensions:\n{entry}")
    );
    assert_eq!(
        put_once(HostClient::Goose, "a: 1"),
        format!("a: 1\nextensions:\n{entry}")
    );
}

#[test]
fn uneditable_files_are_refused_with_a_snippet() {
    let entry = small();
    let refuse = |client, text| {
        let failure = source(client, text)
            .edit("deft", Edit::Put(&entry))
            .unwrap_err();
        (failure.code, failure.hint.unwrap())
    };
    let (code, hint) = refuse(HostClient::Goose, "extensions: {a: {type: builtin}}\n");
    assert_eq!(code, "cannot_edit");
    assert!(
        hint.contains("extensions:\n  deft:\n    command: \"/d\""),
        "{hint}"
    );
    assert_eq!(
        refuse(HostClient::Cursor, "{\"mcpServers\": []}").0,
        "cannot_edit"
    );
    assert_eq!(
        refuse(HostClient::Codex, "mcp_servers = 1\n").0,
        "cannot_edit"
    );
}

#[test]
fn a_file_with_a_syntax_error_is_refused_with_its_location() {
    let refuse = |client, text| {
        let failure = source(client, text).find("deft").unwrap_err();
        (failure.code, failure.message)
    };
    let (code, message) = refuse(
        HostClient::Cursor,
        "{\n  \"mcpServers\": {\n    \"a\" 1\n  }\n}",
    );
    assert_eq!(code, "not_json");
    assert!(message.contains("line 3 column 9"), "{message}");
    let (code, message) = refuse(HostClient::Codex, "a = 1\nb = \n");
    assert_eq!(code, "not_toml");
    assert!(message.starts_with("file:2:"), "{message}");
    let (code, message) = refuse(HostClient::Goose, "a: 1\nb: [\n");
    assert_eq!(code, "not_yaml");
    assert!(message.starts_with("file:2:4: "), "{message}");
}

#[test]
fn every_client_reads_its_own_entry() {
    let program = DeftEndpoint::Program {
        command: "C:\\Program Files\\deft.exe".to_owned(),
        args: ["mcp", "serve", "--home", "/h ü \"x\""]
            .map(str::to_owned)
            .to_vec(),
    };
    let url = DeftEndpoint::Url("http://127.0.0.1:9876/mcp".to_owned());
    for client in HostClient::ALL {
        for endpoint in [&program, &url] {
            let Some(entry) = entry(client, "deft", endpoint) else {
                continue;
            };
            let text = source(client, "").edit("deft", Edit::Put(&entry)).unwrap();
            let found = source(client, &text).find("deft").unwrap();
            assert_eq!(found, Some(entry.into()), "{client:?}");
        }
    }
}
