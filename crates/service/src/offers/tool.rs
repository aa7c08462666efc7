//! deft's own tools, as offered to other programs.

use deft_agent::CATALOG_TOOL;
use deft_engine::OwnTool;
use deft_tools::ToolInfo;
use deft_wire::skill_files::SchemaDocument;
use deft_wire::tool::ToolAnnotations;
use serde_json::Value;

use crate::app::App;

/// A tool with everything a client needs to call it.
#[derive(Clone, Debug, PartialEq)]
pub struct OfferedTool {
    /// The tool.
    pub kind: OfferedKind,
    /// The name.
    pub name: String,
    /// The description.
    pub description: String,
    /// The JSON Schema of the arguments.
    pub input_schema: SchemaDocument,
    /// Hints about the tool's behaviour.
    pub annotations: ToolAnnotations,
}

/// A tool that is offered to other programs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OfferedKind {
    /// The built-in tool that lists all tools.
    Catalog,
    /// One of deft's own tools.
    Own(OwnTool),
}

/// Returns deft's own tools, sorted by name.
pub fn own_tools(app: &App) -> Vec<OfferedTool> {
    let tools = app.engine.router().list().into_iter();
    let mut tools: Vec<OfferedTool> = tools.filter_map(offer_tool).collect();
    tools.sort_by(|a, b| a.name.cmp(&b.name));
    tools
}

impl OfferedKind {
    /// Returns the kind of a tool; `None` if it is not offered.
    fn from_tool(tool: &ToolInfo) -> Option<Self> {
        match tool.name.as_str() {
            _ if !tool.builtin => None,
            CATALOG_TOOL => Some(Self::Catalog),
            name => OwnTool::from_name(name).map(Self::Own),
        }
    }
}

fn offer_tool(tool: ToolInfo) -> Option<OfferedTool> {
    let kind = OfferedKind::from_tool(&tool)?;
    let (runs, adds) = match kind {
        OfferedKind::Catalog => (false, false),
        OfferedKind::Own(own) => (own.runs_others(), own.only_adds()),
    };
    let given = tool.annotations;
    let reads = given.read_only_hint == Some(true);
    Some(OfferedTool {
        kind,
        description: tool.description,
        input_schema: SchemaDocument(Value::clone(&tool.input_schema)),
        annotations: ToolAnnotations {
            read_only_hint: given.read_only_hint,
            // The router does not know which tools are destructive, so writing tools count as destructive.
            destructive_hint: Some(!reads && !adds),
            // Each call of a client has a key of its own, so a repeated call runs again.
            idempotent_hint: given.idempotent_hint.map(|hint| hint && !runs),
            open_world_hint: Some(runs || given.open_world_hint.unwrap_or(false)),
        },
        name: tool.name,
    })
}
