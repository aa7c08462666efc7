//! What a server said it can do, in a form that can be stored; and the overview
//! that a model gets of all tools (S0.56).

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::server::Era;
use crate::tool::ToolInfo;

/// The tools of one server at one time.
///
/// It is handed out whenever it changes and may be given back at the next
/// start, so that tools are known before their server was ever asked.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Catalog {
    /// The name of the server.
    pub server: String,
    /// What was asked: a changed command or URL makes the catalog void.
    pub source: String,
    /// Which family of the protocol it speaks.
    pub era: Era,
    /// The revision of the protocol.
    pub protocol: String,
    /// What the server calls itself, with its version.
    #[serde(default)]
    pub implementation: Option<String>,
    /// Its tools, in the order it listed them.
    pub tools: Vec<ToolInfo>,
}

/// The overview in the shape that the seeds fix: names and first sentences,
/// grouped by server, in alphabetical order.
pub(crate) fn overview<'a>(tools: impl IntoIterator<Item = &'a ToolInfo>) -> Value {
    let mut groups: BTreeMap<&str, BTreeMap<&str, String>> = BTreeMap::new();
    for tool in tools {
        groups
            .entry(&tool.server)
            .or_default()
            .insert(&tool.shown, tool.summary());
    }
    let count: usize = groups.values().map(BTreeMap::len).sum();
    let plural = |n: usize| if n == 1 { "" } else { "s" };
    let summary = format!(
        "{count} tool{} across {} MCP server{}",
        plural(count),
        groups.len(),
        plural(groups.len())
    );
    let catalog: serde_json::Map<_, _> = groups
        .into_iter()
        .map(|(server, tools)| {
            let lines: Vec<_> = tools
                .into_iter()
                .map(|(name, description)| json!({"name": name, "description": description}))
                .collect();
            (server.to_owned(), Value::Array(lines))
        })
        .collect();
    json!({"success": true, "data": {"summary": summary, "catalog": catalog}})
}
