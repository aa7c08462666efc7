//! The offers of one server, as the server describes them.

use rmcp::model::{Prompt, Resource, ResourceTemplate, Tool};

use crate::options::Reexport;

/// Everything that a server offers to clients of deft.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Offers {
    /// The name of the server.
    pub server: String,
    /// How the names of its items are formed.
    pub reexport: Reexport,
    /// The tools that may be called.
    pub tools: Vec<Tool>,
    /// The prompts.
    pub prompts: Vec<Prompt>,
    /// The resources.
    pub resources: Vec<Resource>,
    /// URI templates of further resources.
    pub templates: Vec<ResourceTemplate>,
    /// Whether the server completes arguments.
    pub completes: bool,
    /// Whether the server sends log messages.
    pub logs: bool,
    /// Whether the server announces changes of single resources.
    pub announces_updates: bool,
}

/// A change that a server announces.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum News {
    /// The list of tools.
    Tools,
    /// The list of prompts.
    Prompts,
    /// The list of resources.
    Resources,
    /// The resource with this URI.
    Updated(String),
}
