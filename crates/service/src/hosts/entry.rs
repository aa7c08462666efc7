//! The entry for deft in the server list of a client.
//!
//! Pure functions between values; no I/O.

use deft_wire::host::HostClient;
use deft_wire::model::Object;
use serde_json::{Value, json};

/// The environment variable that holds the token of a client.
pub(super) const TOKEN: &str = "DEFT_TOKEN";

/// How long goose waits for a call, in seconds.
const GOOSE_TIMEOUT: u32 = 300;

/// How a client reaches deft.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum DeftEndpoint {
    /// The client starts this program with these arguments.
    Program { command: String, args: Vec<String> },
    /// The client calls a running daemon at this URL.
    Url(String),
}

/// Keys that describe how a server is reached. They are not kept from an older entry, which may use the other
/// way.
const REACH_KEYS: [&str; 11] = [
    "type",
    "command",
    "cmd",
    "args",
    "cwd",
    "url",
    "httpUrl",
    "uri",
    "headers",
    "bearer_token_env_var",
    "env_keys",
];

/// Builds the entry. Returns `None` if the client's file does not support this way to reach a server.
pub(super) fn entry(client: HostClient, name: &str, endpoint: &DeftEndpoint) -> Option<Object> {
    let value = match endpoint {
        DeftEndpoint::Program { command, args } => program(client, name, command, args),
        DeftEndpoint::Url(url) => address(client, name, url)?,
    };
    if let Value::Object(entry) = value {
        Some(entry)
    } else {
        None
    }
}

fn program(client: HostClient, name: &str, command: &str, args: &[String]) -> Value {
    match client {
        HostClient::ClaudeDesktop | HostClient::Cursor | HostClient::Codex => {
            json!({"command": command, "args": args})
        }
        HostClient::ClaudeCode | HostClient::VsCode => {
            json!({"type": "stdio", "command": command, "args": args})
        }
        HostClient::Goose => json!({
            "name": name, "type": "stdio", "enabled": true,
            "cmd": command, "args": args, "timeout": GOOSE_TIMEOUT,
        }),
    }
}

/// Builds the entry for a URL. The token is a reference to an environment variable, in the client's syntax.
fn address(client: HostClient, name: &str, url: &str) -> Option<Value> {
    let bearer = |variable: String| json!({"Authorization": format!("Bearer {variable}")});
    Some(match client {
        HostClient::ClaudeDesktop => return None,
        HostClient::ClaudeCode => {
            json!({"type": "http", "url": url, "headers": bearer(format!("${{{TOKEN}}}"))})
        }
        HostClient::Cursor => json!({"url": url, "headers": bearer(format!("${{env:{TOKEN}}}"))}),
        HostClient::VsCode => {
            json!({"type": "http", "url": url, "headers": bearer(format!("${{env:{TOKEN}}}"))})
        }
        HostClient::Codex => json!({"url": url, "bearer_token_env_var": TOKEN}),
        HostClient::Goose => json!({
            "name": name, "type": "streamable_http", "enabled": true, "uri": url,
            "headers": bearer(format!("${{{TOKEN}}}")), "env_keys": [TOKEN], "timeout": GOOSE_TIMEOUT,
        }),
    })
}

/// Returns `entry` with what the person has added to the old entry, such as variables or a disabled tool.
pub(super) fn merge(old: Option<&Value>, entry: Object) -> Object {
    let mut merged = entry;
    for (key, value) in old.and_then(Value::as_object).into_iter().flatten() {
        if !REACH_KEYS.contains(&key.as_str()) {
            // Also `enabled` and `timeout`, which a person may have changed.
            merged.insert(key.clone(), value.clone());
        }
    }
    merged
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn additions_of_the_person_are_kept() {
        let new = entry(
            HostClient::Cursor,
            "deft",
            &DeftEndpoint::Url("http://h/mcp".to_owned()),
        );
        let old = json!({"command": "old", "args": [], "env": {"A": "b"}});
        let merged = merge(Some(&old), new.unwrap());
        assert_eq!(
            Value::Object(merged),
            json!({
                "url": "http://h/mcp",
                "headers": {"Authorization": "Bearer ${env:DEFT_TOKEN}"},
                "env": {"A": "b"},
            })
        );
    }

    #[test]
    fn no_entry_has_a_token() {
        let url = DeftEndpoint::Url("http://127.0.0.1:9876/mcp".to_owned());
        let with_token = |client: &HostClient| {
            let entry = entry(*client, "deft", &url)?;
            Some(Value::Object(entry).to_string().contains(TOKEN))
        };
        let clients: Vec<Option<bool>> = HostClient::ALL.iter().map(with_token).collect();
        let yes = Some(true);
        assert_eq!(clients, [None, yes, yes, yes, yes, yes]);
    }
}
