//! Checks the tools of a listing and disables faulty ones.
//!
//! One faulty tool must not make the whole server unusable, and must not be callable either: it is
//! disabled, with a reason that `deft tools list`, `deft doctor` and the log show. Secrets are removed
//! from a listing here, before anything else sees it.
//!
//! Not here: requesting listings (`listing.rs`).

use deft_model::clip;
use std::sync::Arc;

use rmcp::model::{JsonObject, Tool, ToolAnnotations};
use serde_json::Value;

use super::raw::TOO_DEEP_MARK;
use crate::arguments::Checker;
use crate::redact::Redaction;
use crate::tool::{Annotations, DisabledTool, ToolInfo};

/// The largest schema of a tool, in bytes. A larger one would not fit into a prompt.
const MAX_SCHEMA_BYTES: usize = 256 * 1024;
/// The longest name, in characters.
const MAX_NAME_LEN: usize = 200;
/// The maximum length of a reason, in characters.
const MAX_REASON_LEN: usize = 300;

/// A tool as the server listed it.
pub(super) enum ListedTool {
    Tool(Box<Tool>),
    /// The tool's name, if it has one, and why the tool cannot be parsed.
    Unreadable(Option<String>, String),
}

impl ListedTool {
    /// Parses a tool from a page that could not be parsed as a whole.
    pub(super) fn read(tool: &Value) -> Self {
        match serde_json::from_value(tool.clone()) {
            Ok(tool) => Self::Tool(Box::new(tool)),
            Err(error) => {
                let name = tool.get("name").and_then(Value::as_str);
                Self::Unreadable(name.map(str::to_owned), error.to_string())
            }
        }
    }
}

/// The usable and the disabled tools of a listing.
pub(super) struct VettedListing {
    server: String,
    redaction: Arc<Redaction>,
    /// Remaining number of bytes for descriptions and schemas.
    room: usize,
    pub(super) tools: Vec<ToolInfo>,
    pub(super) disabled: Vec<DisabledTool>,
}

impl VettedListing {
    pub(super) fn new(server: &str, redaction: Arc<Redaction>, room: usize) -> Self {
        Self {
            server: server.to_owned(),
            redaction,
            room,
            tools: Vec::new(),
            disabled: Vec::new(),
        }
    }

    /// Whether the size limit is reached.
    pub(super) fn is_full(&self) -> bool {
        self.room == 0
    }

    pub(super) fn count(&self) -> usize {
        self.tools.len() + self.disabled.len()
    }

    /// Adds a tool, or records why it is disabled.
    pub(super) fn add(&mut self, listed: ListedTool) {
        let tool = match listed {
            ListedTool::Tool(tool) => *tool,
            ListedTool::Unreadable(name, reason) => {
                let name = name.unwrap_or_else(|| format!("tool {}", self.count() + 1));
                return self.disable(name, &format!("it cannot be read: {reason}"));
            }
        };
        let info = describe(&self.server, tool);
        match self.problem(&info) {
            Some(reason) => self.disable(info.name, &reason),
            None => self.tools.push(redact_tool(info, &self.redaction)),
        }
    }

    fn disable(&mut self, name: String, reason: &str) {
        let shown = clip(&self.redaction.redact_owned(name), MAX_NAME_LEN);
        let reason = self.redaction.text(reason);
        self.disabled.push(DisabledTool {
            name: shown.replace(char::is_control, "?"),
            reason: clip(&reason, MAX_REASON_LEN),
        });
    }

    fn problem(&mut self, info: &ToolInfo) -> Option<String> {
        if let Some(problem) = name_problem(&info.name) {
            return Some(problem.to_owned());
        }
        if self.redaction.text(&info.name) != info.name {
            return Some("its name contains a secret".to_owned());
        }
        let schema = info.input_schema.to_string();
        let output = info.output_schema.as_ref().map(ToString::to_string);
        let bytes = schema.len() + output.as_ref().map_or(0, String::len);
        if bytes > MAX_SCHEMA_BYTES {
            return Some(format!(
                "its schema has {bytes} bytes, more than {MAX_SCHEMA_BYTES}"
            ));
        }
        let all = bytes + info.description.len() + info.title.as_ref().map_or(0, String::len);
        if all > self.room {
            self.room = 0;
            return Some("the listing is too large".to_owned());
        }
        self.room -= all;
        let is_cut = |text: &String| text.contains(TOO_DEEP_MARK);
        if is_cut(&schema) || output.as_ref().is_some_and(is_cut) {
            return Some("its schema is nested too deeply".to_owned());
        }
        let problem = Checker::new(info.input_schema.clone()).problem()?;
        Some(format!("its schema is invalid: {problem}"))
    }
}

fn name_problem(name: &str) -> Option<&'static str> {
    if name.is_empty() {
        return Some("it has no name");
    }
    if name.chars().count() > MAX_NAME_LEN {
        return Some("its name is too long");
    }
    let odd = |letter: char| letter.is_control() || letter == char::REPLACEMENT_CHARACTER;
    name.contains(odd)
        .then_some("its name has characters that cannot be shown")
}

fn redact_tool(info: ToolInfo, redaction: &Redaction) -> ToolInfo {
    if redaction.is_empty() {
        return info;
    }
    let schema = |schema: Arc<Value>| Arc::new(redaction.value(Arc::unwrap_or_clone(schema)));
    ToolInfo {
        title: info.title.map(|title| redaction.redact_owned(title)),
        description: redaction.redact_owned(info.description),
        input_schema: schema(info.input_schema),
        output_schema: info.output_schema.map(schema),
        ..info
    }
}

fn describe(server: &str, tool: Tool) -> ToolInfo {
    let name = tool.name.into_owned();
    let as_value = |schema: Arc<JsonObject>| Arc::new(Value::Object(Arc::unwrap_or_clone(schema)));
    ToolInfo {
        shown: format!("{server}.{name}"),
        name,
        server: server.to_owned(),
        title: tool.title,
        description: tool.description.unwrap_or_default().into_owned(),
        input_schema: as_value(tool.input_schema),
        output_schema: tool.output_schema.map(as_value),
        annotations: tool
            .annotations
            .map(|given| annotations(&given))
            .unwrap_or_default(),
        builtin: false,
    }
}

fn annotations(given: &ToolAnnotations) -> Annotations {
    Annotations {
        read_only_hint: given.read_only_hint,
        destructive_hint: given.destructive_hint,
        idempotent_hint: given.idempotent_hint,
        open_world_hint: given.open_world_hint,
    }
}
