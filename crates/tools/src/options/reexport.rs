//! Whether other programs can use a server through deft's own MCP server.

use serde::{Deserialize, Serialize};

/// How deft's MCP server offers the tools, prompts and resources of another server.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Reexport {
    /// Not offered.
    #[default]
    Off,
    /// Offered with the server's name as a prefix, as in `github_create_issue`.
    Prefixed,
    /// Offered under their own names.
    Plain,
}
