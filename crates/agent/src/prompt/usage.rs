//! Tools as lines of a quick reference, for models that call them by commands.

use deft_model::{PromptEntry, ToolSpec};
use serde_json::Value;

/// The line of a tool: its name, its flags, optional ones in brackets, and its first sentence.
pub(super) fn entry(tool: &ToolSpec) -> PromptEntry {
    let about = first_sentence(&tool.description);
    let text = match about {
        "" => format!("  {}\n", line(tool)),
        about => format!("  {}\n      {about}\n", line(tool)),
    };
    PromptEntry {
        name: tool.name.as_str().into(),
        about: about.into(),
        text: text.into(),
        priority: 0,
    }
}

fn line(tool: &ToolSpec) -> String {
    let mut line = tool.name.clone();
    let required: Vec<&str> = tool.schema["required"]
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(Value::as_str)
        .collect();
    let properties = tool.schema["properties"].as_object();
    for (name, schema) in properties.into_iter().flatten() {
        let flag = format!("--{name}{}", value(schema));
        if required.contains(&name.as_str()) {
            line.push_str(&format!(" {flag}"));
        } else {
            line.push_str(&format!(" [{flag}]"));
        }
    }
    line
}

fn value(schema: &Value) -> String {
    let words: Vec<&str> = schema["enum"]
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(Value::as_str)
        .collect();
    if !words.is_empty() && words.len() <= 6 {
        return format!(" {}", words.join("|"));
    }
    // A relaxed schema has a list of types, the real one first.
    let kind = schema["type"]
        .as_str()
        .or_else(|| schema["type"][0].as_str());
    match kind {
        Some("boolean") => String::new(),
        Some("integer" | "number") => " N".to_owned(),
        Some("array") => " VALUE…".to_owned(),
        Some("object") => " JSON".to_owned(),
        _ => " \"...\"".to_owned(),
    }
}

/// Up to the first full stop that ends a sentence, or the first line.
fn first_sentence(text: &str) -> &str {
    let line = text.trim().lines().next().unwrap_or_default().trim();
    match line.find(". ") {
        Some(at) => &line[..=at],
        None => line,
    }
}
