//! Tools as lines of a quick reference, for models in command mode.

use deft_model::{PromptEntry, ToolSpec};
use serde_json::Value;

/// Returns the entry of a tool: its name, its flags, optional ones in brackets, and its first sentence.
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
    // A schema that was relaxed for models has a list of types, the original one first.
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

/// Returns an example of a command: the name in a usage line with the required flags.
pub(super) fn example(usage: &str) -> String {
    let mut words = usage.split_whitespace();
    let mut line = words.next().unwrap_or_default().to_owned();
    let mut optional = 0_usize;
    let mut flagged = false;
    for word in words {
        let inside = optional > 0 || word.starts_with('[');
        optional += word.matches('[').count();
        optional = optional.saturating_sub(word.matches(']').count());
        if inside {
            flagged = false;
        } else if word.starts_with("--") {
            line.push_str(&format!(" {word}"));
            flagged = true;
        } else if std::mem::take(&mut flagged) {
            line.push_str(" \"...\"");
        }
    }
    line
}

/// Returns an example of a tool as a command.
pub(super) fn tool_example(tool: &ToolSpec) -> String {
    example(&line(tool))
}

/// Returns the text up to the first full stop that ends a sentence, or the first line.
fn first_sentence(text: &str) -> &str {
    let line = text.trim().lines().next().unwrap_or_default().trim();
    match line.find(". ") {
        Some(at) => &line[..=at],
        None => line,
    }
}

#[cfg(test)]
mod tests {
    use super::example;

    /// S2.49: an example has the required flags and nothing else.
    #[test]
    fn examples_have_the_flags_that_must_be_given() {
        for (usage, shown) in [
            (
                "email.send --to <addresses> --subject <text> [--priority <level>] [--dry-run]",
                "email.send --to \"...\" --subject \"...\"",
            ),
            (
                "tasks.search [--status <a b>] --overdue",
                "tasks.search --overdue",
            ),
            ("a.b <x> --to <two words>", "a.b --to \"...\""),
            ("a.b", "a.b"),
            ("", ""),
        ] {
            assert_eq!(example(usage), shown);
        }
    }
}
