//! Maps tools of Claude Code to the tools of deft.

use serde_json::Value;

/// The mapped tools, and the names of tools that could not be mapped.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct KnownTools {
    pub tools: Vec<String>,
    /// Tools that deft does not have.
    unknown: Vec<String>,
    /// Tools that are restricted to some arguments.
    limited: Vec<String>,
}

impl KnownTools {
    /// Parses a list, or a string of names separated by commas or blanks.
    pub(super) fn from_value(value: &Value) -> Self {
        let names: Vec<String> = match value {
            Value::String(text) => split(text),
            Value::Array(items) => items
                .iter()
                .filter_map(Value::as_str)
                .flat_map(split)
                .collect(),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::Object(_) => Vec::new(),
        };
        let mut known = Self::default();
        for name in names {
            known.add(&name);
        }
        known
    }

    fn add(&mut self, name: &str) {
        // `Bash(git add:*)` allows some calls only. deft can only allow a tool as a whole, which would be too
        // much, so the tool is dropped.
        if name.contains('(') {
            self.limited.push(name.to_owned());
            return;
        }
        match counterpart(name) {
            Some(tool) if !self.tools.contains(&tool) => self.tools.push(tool),
            Some(_) => {}
            None => self.unknown.push(name.to_owned()),
        }
    }

    /// Describes the tools that are not kept.
    pub(super) fn notes(&self) -> Vec<String> {
        let listed = |names: &[String]| {
            let names: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
            names.join(", ")
        };
        let unknown = (!self.unknown.is_empty())
            .then(|| format!("tools that deft does not have: {}", listed(&self.unknown)));
        let limited = (!self.limited.is_empty()).then(|| {
            let names = listed(&self.limited);
            format!("tools that deft can only allow as a whole, left out: {names}")
        });
        unknown.into_iter().chain(limited).collect()
    }
}

fn counterpart(name: &str) -> Option<String> {
    if let Some(rest) = name.strip_prefix("mcp__") {
        return Some(match rest.split_once("__") {
            Some((server, tool)) => format!("{server}.{tool}"),
            None => format!("{rest}.*"),
        });
    }
    let own = match name {
        "Read" => "file.read",
        "LS" => "file.list",
        "Write" => "file.write",
        "Bash" => "shell.run",
        "WebFetch" => "http.request",
        _ => return None,
    };
    Some(own.to_owned())
}

/// Splits names at commas and blanks outside parentheses.
fn split(text: impl AsRef<str>) -> Vec<String> {
    let mut names = vec![String::new()];
    let mut depth = 0_usize;
    for c in text.as_ref().chars() {
        match c {
            '(' => depth += 1,
            ')' => depth = depth.saturating_sub(1),
            _ => {}
        }
        if depth == 0 && (c == ',' || c.is_whitespace()) {
            names.push(String::new());
        } else if let Some(last) = names.last_mut() {
            last.push(c);
        }
    }
    names.retain(|name| !name.is_empty());
    names
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn names_of_tools_are_translated() {
        let known = KnownTools::from_value(&json!(
            "Read, Bash(git add:*, git rm:*) Grep, mcp__github__list_issues,mcp__slack, Read"
        ));
        assert_eq!(known.tools, ["file.read", "github.list_issues", "slack.*"]);
        assert_eq!(known.unknown, ["Grep"]);
        assert_eq!(known.limited, ["Bash(git add:*, git rm:*)"]);
        let known = KnownTools::from_value(&json!(["Bash", "WebFetch"]));
        assert_eq!(known.tools, ["shell.run", "http.request"]);
        assert_eq!(known.notes(), Vec::<String>::new());
    }
}
