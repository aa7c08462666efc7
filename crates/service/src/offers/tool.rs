//! deft's own tools, as offered to other programs.

use deft_engine::is_own_tool;
use deft_tools::ToolInfo;
use deft_wire::skill_files::SchemaDocument;
use deft_wire::tool::ToolAnnotations;
use serde_json::Value;

use crate::app::App;

/// A tool with everything a client needs to call it.
#[derive(Clone, Debug, PartialEq)]
pub struct OfferedTool {
    /// The name.
    pub name: String,
    /// The description.
    pub description: String,
    /// The JSON Schema of the arguments.
    pub input_schema: SchemaDocument,
    /// Hints about the tool's behaviour.
    pub annotations: ToolAnnotations,
}

/// The built-in tool that lists all tools.
const CATALOG: &str = "get_tool_catalog";

/// Tools that only add things and change nothing that exists.
const ADDITIVE_TOOLS: [&str; 2] = ["memory_store_skill", "fact_save"];

/// Tools that run a skill, an agent or any other tool, and so may have any effect. Each call of a client has a
/// key of its own, so a repeated call runs again.
const RUNNING: [&str; 4] = ["skill_run", "use_skill", "dispatch_agent", "queue_task"];

/// Returns deft's own tools, sorted by name.
pub fn own_tools(app: &App) -> Vec<OfferedTool> {
    let tools = app.engine.router().list().into_iter();
    let mut tools: Vec<OfferedTool> = tools.filter(is_offered).map(offer_tool).collect();
    tools.sort_by(|a, b| a.name.cmp(&b.name));
    tools
}

fn is_offered(tool: &ToolInfo) -> bool {
    let name = tool.name.as_str();
    tool.builtin && (is_own_tool(name) || name == CATALOG)
}

fn offer_tool(tool: ToolInfo) -> OfferedTool {
    let given = tool.annotations;
    let reads = given.read_only_hint == Some(true);
    let runs = RUNNING.contains(&tool.name.as_str());
    // The router does not know which tools are destructive, so writing tools count as destructive.
    let destructive = !reads && !ADDITIVE_TOOLS.contains(&tool.name.as_str());
    OfferedTool {
        description: tool.description,
        input_schema: SchemaDocument(Value::clone(&tool.input_schema)),
        annotations: ToolAnnotations {
            read_only_hint: given.read_only_hint,
            destructive_hint: Some(destructive),
            idempotent_hint: given.idempotent_hint.map(|hint| hint && !runs),
            open_world_hint: Some(runs || given.open_world_hint.unwrap_or(false)),
        },
        name: tool.name,
    }
}
