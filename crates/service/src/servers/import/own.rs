//! Detects deft itself among the servers of another host.
//!
//! A home with itself as a server would offer its tools to itself.

use std::path::Path;

use serde_json::Value;

/// The arguments with which a host starts deft.
const SERVE: [&str; 2] = ["mcp", "serve"];

/// Whether the entry starts deft, with any home.
pub(super) fn is_deft(entry: &Value) -> bool {
    let command = entry["command"].as_str().unwrap_or_default();
    let program = Path::new(command).file_stem();
    program.is_some_and(|name| name == "deft")
        && arguments(entry).windows(2).any(|two| two == SERVE)
}

/// Whether the entry starts deft with this home. Without `--home`, it starts deft with the default home.
pub(super) fn is_home(entry: &Value, home: &Path) -> bool {
    let arguments = arguments(entry);
    let at = arguments.iter().position(|word| *word == "--home");
    let named = at.and_then(|at| arguments.get(at + 1)).map(Path::new);
    is_deft(entry) && named.is_none_or(|named| named == home)
}

fn arguments(entry: &Value) -> Vec<&str> {
    let arguments = entry["args"].as_array().into_iter().flatten();
    arguments.filter_map(Value::as_str).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn only_deft_with_this_home_is_skipped() {
        let home = Path::new("/h");
        let entry = |args: &[&str]| json!({"command": "/bin/deft", "args": args});
        assert!(is_home(&entry(&["mcp", "serve"]), home));
        assert!(is_home(&entry(&["mcp", "serve", "--home", "/h"]), home));
        assert!(!is_home(&entry(&["mcp", "serve", "--home", "/x"]), home));
        assert!(is_deft(&entry(&["--home", "/x", "mcp", "serve"])));
        assert!(!is_deft(&entry(&["chat"])));
        assert!(!is_deft(&json!({"url": "http://127.0.0.1:9876/mcp"})));
    }
}
