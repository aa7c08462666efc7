//! `resources/directory/read` of skills over MCP (SEP-2640): the files and folders directly below a folder of a skill.
//!
//! Not here: the content of files, which is a resource of its own (`resources.rs`).

use std::collections::BTreeMap;

use deft_service::offers::SkillOffers;
use deft_wire::mcp::{DirectoryListing, DirectoryResource};
use rmcp::ErrorData;
use rmcp::model::CustomResult;
use serde_json::Value;

use super::page::cut_at;
use super::resources::{encode, file_uri, split_folder_uri, type_of_name};
use super::skills::{head, result};

/// Method that lists a folder.
pub(super) const READ: &str = "resources/directory/read";

/// Maximum number of entries on a page.
const LENGTH: usize = 200;

/// The type of an entry that is itself a folder.
const FOLDER: &str = "inode/directory";

/// Handles `resources/directory/read`.
pub(super) fn read(skills: &SkillOffers, params: &Value) -> Result<CustomResult, ErrorData> {
    let uri = params.get("uri").and_then(Value::as_str);
    let uri = uri.ok_or_else(|| ErrorData::invalid_params("`uri` is missing", None))?;
    let unknown = || ErrorData::invalid_params(format!("`{uri}` is not a folder"), None);
    let (skill, folder) = split_folder_uri(uri).ok_or_else(unknown)?;
    let paths = skills.package_paths(skill).ok_or_else(unknown)?;
    let entries = children(skill, folder, &paths);
    if entries.is_empty() {
        return Err(unknown());
    }
    let cursor = params.get("cursor").and_then(Value::as_str);
    let (resources, next_cursor) = cut_at(&entries, cursor, LENGTH)?;
    result(&DirectoryListing {
        head: head(),
        resources,
        next_cursor,
    })
}

/// Returns the entries directly below `folder` of a skill, sorted by name. `folder` is percent-encoded, and empty for
/// the folder of the skill itself.
fn children(skill: &str, folder: &str, paths: &[String]) -> Vec<DirectoryResource> {
    let mut entries = BTreeMap::new();
    for path in paths {
        let Some(below) = path_below(folder, path) else {
            continue;
        };
        let (name, mime_type) = match below.split_once('/') {
            Some((name, _)) => (name, Some(FOLDER)),
            None => (below, type_of_name(below)),
        };
        let parent = &path[..path.len() - below.len()];
        let entry = DirectoryResource {
            uri: file_uri(skill, &format!("{parent}{name}")),
            name: name.to_owned(),
            mime_type: mime_type.map(str::to_owned),
        };
        entries.insert(name.to_owned(), entry);
    }
    entries.into_values().collect()
}

/// Returns the part of `path` below a percent-encoded folder; `None` if the path is not in that folder.
fn path_below<'a>(folder: &str, path: &'a str) -> Option<&'a str> {
    if folder.is_empty() {
        return Some(path);
    }
    let ends = path.match_indices('/').map(|(at, _)| at);
    let mut ends = ends.filter(|at| encode(&path[..*at]) == folder);
    ends.next().map(|at| &path[at + 1..])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(folder: &str) -> Vec<(String, String)> {
        let paths = [
            "SKILL.md",
            "a b/one.md",
            "a b/c/two.json",
            "a b/c/three.bin",
        ];
        let paths = paths.map(str::to_owned);
        let entries = children("pdf", folder, &paths).into_iter();
        let known = entries.map(|it| (it.uri, it.mime_type.unwrap_or_default()));
        known.collect()
    }

    #[test]
    fn a_folder_has_its_direct_children() {
        let entry = |uri: &str, kind: &str| (format!("skill://pdf/{uri}"), kind.to_owned());
        assert_eq!(
            names(""),
            [
                entry("SKILL.md", "text/markdown"),
                entry("a%20b", "inode/directory"),
            ]
        );
        assert_eq!(
            names("a%20b"),
            [
                entry("a%20b/c", "inode/directory"),
                entry("a%20b/one.md", "text/markdown"),
            ]
        );
        assert_eq!(
            names("a%20b/c"),
            [
                entry("a%20b/c/three.bin", ""),
                entry("a%20b/c/two.json", "application/json"),
            ]
        );
        for nothing in ["SKILL.md", "a b", "a%20b/one.md", "a", "..", "c"] {
            assert_eq!(names(nothing), [], "{nothing}");
        }
    }
}
