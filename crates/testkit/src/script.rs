//! A builder for the script of a test server.

use std::path::{Path, PathBuf};

use serde_json::{Map, Value, json};

/// A script for `deft-test-server`.
///
/// Top-level keys: `era` (`legacy`, `modern`, `both`), `page` (tools per page), `stderr` (printed at the
/// start), `version` and `instructions` (reported by the server), `start` (`delay_ms`, `hang`, `die`,
/// `garbage`, `silent_probe`, `empty_probe`), `announces` (`false`: changes of its tools are not announced),
/// `skills` (a file written by [`RemoteSkills`](crate::RemoteSkills)).
///
/// A tool has `description`, `schema`, `annotations`, `hidden`, and keys that control a call, in this order:
/// `need` (`{flag: KEYS}`: while the flag is not set, these keys are used instead), `delay_ms`, `ask` (a
/// request to the client, whose response becomes the result), `flood` (notifications), `garbage` (lines),
/// `requests` (to the client, without waiting), `stderr_lines`, `run` (a line for `sh`), `garbage_bytes` (one
/// line), `set` (`{flag: value}`, the effect), `freeze` (the whole server), `hang` (this call), `die`
/// (`before` or `after` the effect), `reveal` (hidden tools that appear, announced), `announce` (`resources`:
/// announces that they have changed), `fail` (`{times, error}`), then the response: `error`, `rpc_error`,
/// `http_status`, `huge` (bytes), `raw_line` (a line, with `ID` for the id of the call), `raw` (a result),
/// `content`, `structured`, `env` (a variable), `meta`, `text`, or otherwise `echo` of the arguments.
/// `${name}` in a text is replaced by the argument of that name.
///
/// In everything sent, `"DEEP"` becomes a value nested too deeply, `ENV(NAME)` the value of an environment
/// variable, and `BADBYTE` a byte that is not valid UTF-8.
#[derive(Clone, Debug)]
pub struct Script {
    value: Map<String, Value>,
    tools: Map<String, Value>,
}

impl Default for Script {
    fn default() -> Self {
        Self::new()
    }
}

impl Script {
    /// Creates a script for a server without tools.
    pub fn new() -> Self {
        Self {
            value: Map::new(),
            tools: Map::new(),
        }
    }

    /// Sets a top-level key.
    #[must_use]
    pub fn with(mut self, key: &str, value: Value) -> Self {
        self.value.insert(key.to_owned(), value);
        self
    }

    /// Adds a tool.
    #[must_use]
    pub fn tool(mut self, name: &str, words: Value) -> Self {
        self.tools.insert(name.to_owned(), words);
        self
    }

    /// Writes the script into a folder and returns the server's arguments: the script, the witness log and
    /// the state file, all in that folder.
    pub fn write(&self, folder: &Path, name: &str) -> Arguments {
        let mut value = self.value.clone();
        value.insert("name".to_owned(), name.into());
        value.insert("tools".to_owned(), Value::Object(self.tools.clone()));
        let script = folder.join(format!("{name}.json"));
        std::fs::write(&script, Value::Object(value).to_string()).expect("a script can be written");
        Arguments {
            script,
            witness: folder.join(format!("{name}.log")),
            state: folder.join(format!("{name}.state")),
        }
    }
}

/// The paths of a script, its witness log and its state file.
#[derive(Clone, Debug)]
pub struct Arguments {
    /// The script.
    pub script: PathBuf,
    /// The witness log.
    pub witness: PathBuf,
    /// The file with flags and counters, which outlive the process.
    pub state: PathBuf,
}

impl Arguments {
    /// Returns the command-line arguments of the server.
    pub fn list(&self) -> Vec<String> {
        [&self.script, &self.witness, &self.state]
            .into_iter()
            .map(|path| path.to_string_lossy().into_owned())
            .collect()
    }
}

/// Returns the script for the `start_work` example of the seeds: branches cannot be created until the VPN is
/// up, and the cluster requires a login.
pub fn start_work() -> Script {
    let no_route = json!({"error": "fatal: unable to access remote: no route to host"});
    let key = json!({"type": "object", "required": ["issue_key"], "properties": {
        "issue_key": {"type": "string"}, "status": {"type": "string"}}});
    let branch = json!({"type": "object", "required": ["branch"], "properties": {
        "branch": {"type": "string"}, "from_branch": {"type": "string"}}});
    Script::new()
        .tool(
            "jira_view_issue",
            json!({
                "description": "Show a Jira issue.", "schema": key,
                "annotations": {"readOnlyHint": true},
                "structured": {"key": "${issue_key}", "type": "Story", "summary": "Fix the login page", "status": "New"}
            }),
        )
        .tool(
            "git_branch_exists",
            json!({
                "description": "Tell whether a branch exists.", "schema": branch,
                "annotations": {"readOnlyHint": true}, "text": "❌ no branch ${branch}"
            }),
        )
        .tool(
            "git_create_branch",
            json!({
                "description": "Create a branch.", "schema": branch, "annotations": {"destructiveHint": false},
                "need": {"vpn": no_route}, "set": {"branch": true}, "text": "✅ created ${branch}"
            }),
        )
        .tool(
            "git_push_branch",
            json!({
                "description": "Push a branch.", "schema": branch,
                "need": {"vpn": {"text": "❌ push failed: no route to host"}}, "text": "✅ pushed ${branch}"
            }),
        )
        .tool(
            "vpn_connect",
            json!({
                "description": "Bring the VPN up.", "annotations": {"idempotentHint": true},
                "set": {"vpn": true}, "text": "✅ VPN up"
            }),
        )
        .tool(
            "kube_login",
            json!({
                "description": "Log in to a cluster.", "annotations": {"idempotentHint": true},
                "set": {"kube": true}, "text": "✅ logged in to ${cluster}"
            }),
        )
        .tool(
            "k8s_get_pods",
            json!({
                "description": "List pods.", "annotations": {"readOnlyHint": true},
                "need": {"kube": {"error": "401 unauthorized: token expired"}},
                "structured": {"result": [{"name": "web-1", "status": "Running"}, {"name": "web-2", "status": "Pending"}]}
            }),
        )
        .tool(
            "jira_transition",
            json!({
                "description": "Move a Jira issue to another status.", "schema": key,
                "annotations": {"destructiveHint": true}, "set": {"transitioned": true},
                "text": "✅ ${issue_key} is now ${status}"
            }),
        )
}
