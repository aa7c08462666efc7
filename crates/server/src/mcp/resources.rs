//! Resources: those of servers behind deft, the files of skills that are folders (`skill://NAME/PATH`), and
//! the text of every skill (`deft://skills/ID`).

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use deft_service::offers::SkillOffers;
use rmcp::model::{
    ClientRequest, ReadResourceRequest, ReadResourceRequestParams, ReadResourceResponse,
    ReadResourceResult, Resource, ResourceContents, ServerResult,
};
use rmcp::service::RequestContext;
use rmcp::{ErrorData, RoleServer};

use super::handler::McpServer;
use super::relay::{self, Upstream};

const MARKDOWN: &str = "text/markdown";

/// URI prefix of skill texts.
const TEXTS: &str = "deft://skills/";

/// URI prefix of skill files.
const FILES: &str = "skill://";

/// Returns the URI of a skill's file.
pub(super) fn file_uri(skill: &str, path: &str) -> String {
    format!("{FILES}{skill}/{}", encode(path))
}

/// Splits the URI of a file into skill and path.
pub(super) fn split_file_uri(uri: &str) -> Option<(&str, &str)> {
    uri.strip_prefix(FILES)?.split_once('/')
}

/// Splits the URI of a folder into the skill and the percent-encoded path below it, which is empty for the skill itself.
pub(super) fn split_folder_uri(uri: &str) -> Option<(&str, &str)> {
    let rest = uri.strip_prefix(FILES)?;
    let rest = rest.strip_suffix('/').unwrap_or(rest);
    Some(rest.split_once('/').unwrap_or((rest, "")))
}

/// Lists the files that define skills, and the texts of skills that are not folders.
pub(super) fn list(skills: &SkillOffers) -> Vec<Resource> {
    let folders = skills.package_names();
    let all = skills.list().into_iter().map(|skill| {
        let uri = if folders.contains(&skill.id) {
            file_uri(&skill.id, "SKILL.md")
        } else {
            format!("{TEXTS}{}", encode(&skill.id))
        };
        Resource::new(uri, skill.id)
            .with_title(skill.name)
            .with_description(skill.description)
            .with_mime_type(MARKDOWN)
    });
    all.collect()
}

/// Reads a resource of a server behind deft.
pub(super) async fn relay_read(
    server: &McpServer,
    upstream: &Upstream,
    params: ReadResourceRequestParams,
    context: &RequestContext<RoleServer>,
) -> Result<ReadResourceResponse, ErrorData> {
    let request = ClientRequest::ReadResourceRequest(ReadResourceRequest::new(params));
    match relay::forward(server, upstream, request, context).await {
        Ok(ServerResult::ReadResourceResult(result)) => Ok(result.into()),
        Ok(ServerResult::InputRequiredResult(input)) => Ok(input.into()),
        Ok(_) => Err(relay::unreadable(&upstream.server)),
        Err(error) => Err(relay::error(error)),
    }
}

/// Reads a resource of deft.
pub(super) fn read(skills: &SkillOffers, uri: &str) -> Result<ReadResourceResult, ErrorData> {
    let contents = match uri.strip_prefix(TEXTS) {
        Some(id) => text(skills, id, uri),
        None => file(skills, uri),
    };
    let contents = contents.ok_or_else(|| unknown(uri))?;
    Ok(ReadResourceResult::new(vec![contents]))
}

/// Whether a URI has a prefix that only deft uses.
pub(super) fn is_own(uri: &str) -> bool {
    uri.starts_with(TEXTS) || uri.starts_with(FILES)
}

/// Creates the error for an unknown URI.
pub(super) fn unknown(uri: &str) -> ErrorData {
    ErrorData::resource_not_found(
        format!("unknown resource `{uri}`"),
        Some(serde_json::json!({ "uri": uri })),
    )
}

fn text(skills: &SkillOffers, encoded: &str, uri: &str) -> Option<ResourceContents> {
    let all = skills.list();
    let skill = all.iter().find(|skill| encode(&skill.id) == encoded)?;
    let text = skills.text(&skill.id)?;
    Some(ResourceContents::text(text, uri).with_mime_type(MARKDOWN))
}

fn file(skills: &SkillOffers, uri: &str) -> Option<ResourceContents> {
    let (skill, encoded) = split_file_uri(uri)?;
    let (path, content) = skills.package_file(skill, |path| encode(path) == encoded)?;
    Some(match String::from_utf8(content) {
        Ok(text) => ResourceContents::text(text, uri).with_mime_type(text_type(&path)),
        Err(binary) => ResourceContents::blob(STANDARD.encode(binary.as_bytes()), uri)
            .with_mime_type("application/octet-stream"),
    })
}

fn text_type(path: &str) -> &'static str {
    type_of_name(path).unwrap_or("text/plain")
}

/// Returns the MIME type that the extension of a file stands for; `None` if the content decides.
pub(super) fn type_of_name(path: &str) -> Option<&'static str> {
    match path.rsplit_once('.')?.1 {
        "md" => Some(MARKDOWN),
        "json" => Some("application/json"),
        "yaml" | "yml" => Some("application/yaml"),
        "html" => Some("text/html"),
        "csv" => Some("text/csv"),
        _ => None,
    }
}

/// Percent-encodes a path: everything but ASCII letters, digits and `-._~/` becomes `%XX`.
pub(super) fn encode(path: &str) -> String {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~/".contains(&byte);
    let letters = path.bytes().map(|byte| match byte {
        byte if plain(byte) => char::from(byte).to_string(),
        byte => format!("%{byte:02X}"),
    });
    letters.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_plain_ascii() {
        let uri = file_uri("pdf", "references/Über uns.md");
        assert_eq!(uri, "skill://pdf/references/%C3%9Cber%20uns.md");
        assert_eq!(
            split_file_uri(&uri),
            Some(("pdf", "references/%C3%9Cber%20uns.md"))
        );
        assert_eq!(split_file_uri("https://pdf/SKILL.md"), None);
    }
}
