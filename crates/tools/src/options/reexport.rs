//! Whether other programs reach what a server offers through deft's own MCP server.

use serde::{Deserialize, Serialize};

/// How deft's MCP server offers the tools, prompts and resources of another server.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Reexport {
    /// Not at all.
    #[default]
    Off,
    /// Under the name of the server and their own, as in `github_create_issue`.
    Prefixed,
    /// Under their own names.
    Plain,
}
