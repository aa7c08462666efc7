//! What a server offers, as it says so itself.

use rmcp::model::{Prompt, Resource, ResourceTemplate, Tool};

use crate::options::Reexport;

/// Everything that a server offers to clients of deft.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Offers {
    /// The server.
    pub server: String,
    /// Under which names.
    pub reexport: Reexport,
    /// The tools that may be called.
    pub tools: Vec<Tool>,
    /// Its prompts.
    pub prompts: Vec<Prompt>,
    /// Its resources.
    pub resources: Vec<Resource>,
    /// Addresses of further resources.
    pub templates: Vec<ResourceTemplate>,
    /// It completes arguments.
    pub completes: bool,
    /// It sends lines for a log.
    pub logs: bool,
    /// It says when a resource changes.
    pub announces_updates: bool,
}

/// A change that a server announces.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum News {
    /// Its list of tools.
    Tools,
    /// Its list of prompts.
    Prompts,
    /// Its list of resources.
    Resources,
    /// The resource with this address.
    Updated(String),
}
