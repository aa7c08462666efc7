//! The tools and skills of a server in a form that can be stored; the overview of all tools for models
//! (S0.56).

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::remote_skill::SkillListing;
use crate::tool::{DisabledTool, ToolInfo};

/// The protocol era of a server.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Era {
    /// Up to 2025-11-25: a session that begins with `initialize`.
    Legacy,
    /// From 2026-07-28: no session, every request is self-contained.
    Modern,
}

/// The tools of one server at one time.
///
/// The router passes it out whenever it changes and accepts it back at the next start, so tools are
/// known before their server is started.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Catalog {
    /// The name of the server.
    pub server: String,
    /// The command or URL that was asked; the catalog is void when it changes.
    pub source: String,
    /// The server's protocol era.
    pub era: Era,
    /// The protocol revision.
    pub protocol: String,
    /// The server's name for itself, with its version.
    #[serde(default)]
    pub implementation: Option<String>,
    /// The tools, in the server's order.
    pub tools: Vec<ToolInfo>,
    /// Listed tools that cannot be used.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub disabled: Vec<DisabledTool>,
    /// The skills; `None` if the server offers no skills.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub skills: Option<SkillListing>,
}

/// The first sentence of each tool, by server and tool name.
type Groups<'a> = BTreeMap<&'a str, BTreeMap<&'a str, String>>;

/// The maximum number of results of a search; an agent is then offered all of them.
const MAX_FOUND: usize = 8;

/// The score of an exact name match; more than any number of other matches.
const EXACT: usize = 1 << 16;

/// Returns the overview in the shape that the seeds define: names and first sentences, grouped by
/// server, in alphabetical order.
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
        count_tools(count, "tool"),
        count_tools(groups.len(), "MCP server")
    );
    group_tools(&summary, groups)
}

/// Returns the best matches for a search, in the shape of [`overview`]. Searches names and
/// descriptions; if a tool's exact name occurs, returns only exact matches.
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
    // A stable sort keeps tools with equal scores in order of their names.
    found.sort_by_key(|(fit, _)| std::cmp::Reverse(*fit));
    if found.first().is_some_and(|(fit, _)| *fit >= EXACT) {
        found.retain(|(fit, _)| *fit >= EXACT);
    }
    let fitting = count_tools(found.len(), "tool");
    let summary = match found.len() {
        0 => format!(
            "no match among {}; try other words, or `{{}}` to list all",
            count_tools(all, "tool")
        ),
        many if many > MAX_FOUND => format!("the first {MAX_FOUND} of {fitting} that fit"),
        _ => format!("{fitting} of {all} that fit"),
    };
    let mut groups: Groups<'_> = BTreeMap::new();
    for (_, tool) in found.into_iter().take(MAX_FOUND) {
        let group = groups.entry(&tool.server).or_default();
        group.insert(&tool.shown, tool.summary());
    }
    group_tools(&summary, groups)
}

/// Returns the score of a tool: a match in its name counts more than one in its description.
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

fn count_tools(count: usize, what: &str) -> String {
    let plural = if count == 1 { "" } else { "s" };
    format!("{count} {what}{plural}")
}

fn group_tools(summary: &str, groups: Groups<'_>) -> Value {
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
