//! What a server said it can do, in a form that can be stored; and the overview
//! that a model gets of all tools (S0.56).

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::remote_skill::SkillListing;
use crate::tool::{DisabledTool, ToolInfo};

/// Which family of the protocol a server speaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Era {
    /// Up to 2025-11-25: a session that starts with `initialize`.
    Legacy,
    /// From 2026-07-28: no session, every request speaks for itself.
    Modern,
}

/// The tools of one server at one time.
///
/// It is handed out whenever it changes and may be given back at the next
/// start, so that tools are known before their server was ever asked.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Catalog {
    /// The name of the server.
    pub server: String,
    /// What was asked: a changed command or URL makes the catalog void.
    pub source: String,
    /// Which family of the protocol it speaks.
    pub era: Era,
    /// The revision of the protocol.
    pub protocol: String,
    /// What the server calls itself, with its version.
    #[serde(default)]
    pub implementation: Option<String>,
    /// Its tools, in the order it listed them.
    pub tools: Vec<ToolInfo>,
    /// Tools that it listed and that cannot be used.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub disabled: Vec<DisabledTool>,
    /// Its skills; none if it offers none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub skills: Option<SkillListing>,
}

/// First sentences by name, by server.
type Groups<'a> = BTreeMap<&'a str, BTreeMap<&'a str, String>>;

/// How many tools a search shows: an agent is offered all of them.
const MOST_FOUND: usize = 8;

/// How well a tool fits that is called by its name; more than any number of other words.
const EXACT: usize = 1 << 16;

/// The overview in the shape that the seeds fix: names and first sentences,
/// grouped by server, in alphabetical order.
pub(crate) fn overview<'a>(tools: impl IntoIterator<Item = &'a ToolInfo>) -> Value {
    let mut groups: Groups<'_> = BTreeMap::new();
    for tool in tools {
        groups
            .entry(&tool.server)
            .or_default()
            .insert(&tool.shown, tool.summary());
    }
    let count: usize = groups.values().map(BTreeMap::len).sum();
    let summary = format!(
        "{} across {}",
        counted(count, "tool"),
        counted(groups.len(), "MCP server")
    );
    grouped(&summary, groups)
}

/// The tools that fit some words best, in the same shape. Words are looked for in names and
/// descriptions; a tool that is named exactly is what was meant, and no other is shown then.
pub(crate) fn search<'a>(tools: impl IntoIterator<Item = &'a ToolInfo>, words: &str) -> Value {
    let words = words.to_lowercase();
    let split = |c: char| !(c.is_alphanumeric() || matches!(c, '.' | '_' | '-'));
    let words: BTreeSet<&str> = words.split(split).filter(|word| !word.is_empty()).collect();
    let tools: Vec<&ToolInfo> = tools.into_iter().collect();
    let all = tools.len();
    let mut found: Vec<(usize, &ToolInfo)> = tools
        .into_iter()
        .map(|tool| (fit(tool, &words), tool))
        .filter(|(fit, _)| *fit > 0)
        .collect();
    // A stable sort keeps the order of names among equals.
    found.sort_by_key(|(fit, _)| std::cmp::Reverse(*fit));
    if found.first().is_some_and(|(fit, _)| *fit >= EXACT) {
        found.retain(|(fit, _)| *fit >= EXACT);
    }
    let fitting = counted(found.len(), "tool");
    let summary = match found.len() {
        0 => format!(
            "none of {} fits; other words may, and `{{}}` lists all",
            counted(all, "tool")
        ),
        many if many > MOST_FOUND => format!("the first {MOST_FOUND} of {fitting} that fit"),
        _ => format!("{fitting} of {all} that fit"),
    };
    let mut groups: Groups<'_> = BTreeMap::new();
    for (_, tool) in found.into_iter().take(MOST_FOUND) {
        let group = groups.entry(&tool.server).or_default();
        group.insert(&tool.shown, tool.summary());
    }
    grouped(&summary, groups)
}

/// How well a tool fits: a word in its name counts more than one in its description.
fn fit(tool: &ToolInfo, words: &BTreeSet<&str>) -> usize {
    let names = [&tool.shown, &tool.name, &tool.full_name()].map(|name| name.to_lowercase());
    let about = tool.description.to_lowercase();
    let one = |word: &&str| match *word {
        word if names.iter().any(|name| name == word) => EXACT,
        word if names.iter().any(|name| name.contains(word)) => 3,
        word if about.contains(word) => 1,
        _ => 0,
    };
    words.iter().map(one).sum()
}

fn counted(count: usize, what: &str) -> String {
    let plural = if count == 1 { "" } else { "s" };
    format!("{count} {what}{plural}")
}

fn grouped(summary: &str, groups: Groups<'_>) -> Value {
    let catalog: serde_json::Map<_, _> = groups
        .into_iter()
        .map(|(server, tools)| {
            let lines: Vec<_> = tools
                .into_iter()
                .map(|(name, description)| json!({"name": name, "description": description}))
                .collect();
            (server.to_owned(), Value::Array(lines))
        })
        .collect();
    json!({"success": true, "data": {"summary": summary, "catalog": catalog}})
}
