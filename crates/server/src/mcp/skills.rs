//! Skills over MCP (SEP-2640): clients list skills with the digests of their files, and read the files as
//! resources.

use std::collections::BTreeMap;

use deft_service::offers::{SkillOffers, SkillPackage};
use deft_wire::mcp::{ResultHead, SkillEntries, SkillEntry, SkillEntryResult, SkillFile};
use rmcp::ErrorData;
use rmcp::model::{CustomResult, ExtensionCapabilities, JsonObject};
use serde::Serialize;
use serde_json::Value;

use super::page::cut_at;
use super::resources::{file_uri, split_file_uri};

/// Method that lists skills.
pub(super) const LIST: &str = "skills/list";

/// Method that returns one skill.
pub(super) const GET: &str = "skills/get";

const EXTENSION: &str = "io.modelcontextprotocol/skills";
const SKILL_MD: &str = "SKILL.md";

/// Maximum number of skills on a page. Every file of them is hashed, so pages are short.
const LENGTH: usize = 50;

/// Time for which a list may be cached, in milliseconds. Changes are announced.
const CACHE_MILLIS: u64 = 5_000;

/// Returns the server's declaration of this extension. Folders can be listed too (`directories.rs`).
pub(super) fn extension() -> ExtensionCapabilities {
    let settings = JsonObject::from_iter([("directoryRead".to_owned(), Value::Bool(true))]);
    BTreeMap::from([(EXTENSION.to_owned(), settings)])
}

/// Handles `skills/list`.
pub(super) fn list(skills: &SkillOffers, params: &Value) -> Result<CustomResult, ErrorData> {
    let cursor = params.get("cursor").and_then(Value::as_str);
    let (names, next_cursor) = cut_at(&skills.package_names(), cursor, LENGTH)?;
    let packages = names.iter().filter_map(|name| skills.package(name));
    result(&SkillEntries {
        head: head(),
        skills: packages.map(entry).collect(),
        next_cursor,
    })
}

/// Handles `skills/get`.
pub(super) fn get(skills: &SkillOffers, params: &Value) -> Result<CustomResult, ErrorData> {
    let uri = params.get("uri").and_then(Value::as_str);
    let uri = uri.ok_or_else(|| ErrorData::invalid_params("`uri` is missing", None))?;
    let named = split_file_uri(uri).filter(|(_, path)| *path == SKILL_MD);
    let package = named.and_then(|(name, _)| skills.package(name));
    let package =
        package.ok_or_else(|| ErrorData::invalid_params(format!("unknown skill `{uri}`"), None))?;
    result(&SkillEntryResult {
        head: head(),
        skill: entry(package),
    })
}

/// Converts a document to the result of a request that `rmcp` does not know.
pub(super) fn result(document: &impl Serialize) -> Result<CustomResult, ErrorData> {
    let value = serde_json::to_value(document);
    value.map(CustomResult::new).map_err(|problem| {
        ErrorData::internal_error(format!("the result cannot be written: {problem}"), None)
    })
}

/// Returns the fields that every result of this extension begins with.
pub(super) fn head() -> ResultHead {
    ResultHead {
        result_type: "complete".to_owned(),
        ttl_ms: CACHE_MILLIS,
        cache_scope: "private".to_owned(),
    }
}

fn entry(package: SkillPackage) -> SkillEntry {
    let files = package.files.iter().map(|file| SkillFile {
        uri: file_uri(&package.name, &file.path),
        digest: format!("sha256:{}", file.sha256),
        size: file.size,
    });
    SkillEntry {
        uri: file_uri(&package.name, SKILL_MD),
        resources: files.collect(),
        frontmatter: package.frontmatter,
    }
}
