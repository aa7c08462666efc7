//! The skills of a server (SEP-2640): listing them, getting one entry, reading one file.
//!
//! deft fetches only lists on its own. A file is read when a caller opens it, only from the server that
//! listed it, and its content is compared with the entry before it is returned.
//!
//! Not here: the format of entries and the comparison of content (`../remote_skill/`), and who may open
//! a skill, which the caller decides.

use std::collections::HashSet;
use std::sync::Arc;
use std::time::{Duration, Instant};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use deft_model::{Failure, FailureClass, clip};
use rmcp::model::{
    ClientRequest, CustomRequest, ErrorCode, ReadResourceRequest, ReadResourceRequestParams,
    ReadResourceResult, ResourceContents, ServerResult,
};
use rmcp::service::{PeerRequestOptions, ServiceError};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use super::link::Link;
use super::phase::relist;
use super::{Server, fault};
use crate::limit::Limit;
use crate::redact::Redaction;
use crate::remote_skill::{
    RefusedSkill, RemoteFile, RemoteSkill, SKILL_MD, SkillListing, changed_content, check_file,
    check_frontmatter, read_entry, unlisted_file,
};

/// The name of the extension.
const EXTENSION: &str = "io.modelcontextprotocol/skills";
/// The maximum number of pages and of skills that a server may list.
const MAX_PAGES: usize = 200;
const MAX_SKILLS: usize = 2_000;
/// The maximum number of refused entries to record.
const MAX_REFUSED: usize = 100;
/// The timeout for listing skills: tools are listed at the same time and must not be blocked.
const LISTING: Duration = Duration::from_secs(10);
/// The longest time that a list stays fresh, in milliseconds, even if the server's TTL is longer.
const MAX_TTL_MS: u64 = 24 * 60 * 60 * 1000;

/// Whether the server offers skills.
pub(super) fn are_offered(link: &Link) -> bool {
    let info = link.info();
    let extensions = info
        .as_ref()
        .and_then(|info| info.capabilities.extensions.as_ref());
    extensions.is_some_and(|extensions| extensions.contains_key(EXTENSION))
}

/// Lists the skills of a server; `None` if it offers none. A failed listing gives an empty list, so
/// that the tools still work.
pub(super) async fn list(server: &Server, link: &Link) -> Option<SkillListing> {
    if !are_offered(link) {
        return None;
    }
    link.watch.follow_resources();
    let redaction = server.redaction.load_full();
    let pages = pages(link, &server.name, &redaction, server.max_reply_bytes);
    let problem = match tokio::time::timeout(LISTING, pages).await {
        Ok(Ok(listing)) => return Some(listing),
        Ok(Err(error)) => redaction.redact_owned(error.to_string()),
        Err(_) => "no answer in time".to_owned(),
    };
    let problem = clip(&problem, 300);
    tracing::warn!(server = server.name, problem, "skills could not be listed");
    Some(SkillListing::default())
}

async fn pages(
    link: &Link,
    server: &str,
    redaction: &Redaction,
    max_bytes: usize,
) -> Result<SkillListing, ServiceError> {
    let mut listing = SkillListing {
        ttl_ms: MAX_TTL_MS,
        ..SkillListing::default()
    };
    let (mut seen, mut bytes) = (HashSet::new(), 0);
    let mut cursor: Option<String> = None;
    for _ in 0..MAX_PAGES {
        let params = match &cursor {
            Some(cursor) => json!({ "cursor": cursor }),
            None => json!({}),
        };
        let page = ask(link, "skills/list", params).await?;
        let entries = page.get("skills").and_then(Value::as_array);
        for entry in entries.ok_or(ServiceError::UnexpectedResponse)? {
            bytes += entry.to_string().len();
            if listing.skills.len() >= MAX_SKILLS || bytes > max_bytes {
                return Ok(listing);
            }
            match vet_entry(server, entry, redaction) {
                // Of entries with the same URI, the first wins.
                Ok(skill) if seen.insert(skill.uri.clone()) => listing.skills.push(skill),
                Err(refused) if listing.refused.len() < MAX_REFUSED => {
                    listing.refused.push(refused);
                }
                Ok(_) | Err(_) => {}
            }
        }
        // The whole list is as fresh as its least fresh page; a page without a TTL is not fresh at all.
        let ttl = page.get("ttlMs").and_then(Value::as_u64).unwrap_or(0);
        listing.ttl_ms = listing.ttl_ms.min(ttl);
        let next = page.get("nextCursor").and_then(Value::as_str);
        // A server that repeats its cursor would cause an endless loop.
        if next.is_none() || next == cursor.as_deref() {
            break;
        }
        cursor = next.map(str::to_owned);
    }
    Ok(listing)
}

/// Returns the entry if it is valid and contains no secret, because it is stored and shown.
fn vet_entry(
    server: &str,
    entry: &Value,
    redaction: &Redaction,
) -> Result<RemoteSkill, RefusedSkill> {
    if redaction.value(entry.clone()) != *entry {
        return Err(RefusedSkill {
            uri: String::new(),
            reason: "it contains a secret of this home".to_owned(),
        });
    }
    read_entry(server, entry)
}

#[expect(
    clippy::wildcard_enum_match_arm,
    reason = "`rmcp` has many kinds of messages and may add more"
)]
async fn ask(link: &Link, method: &str, params: Value) -> Result<Value, ServiceError> {
    let request = ClientRequest::CustomRequest(CustomRequest::new(method, Some(params)));
    match send(link, request).await? {
        ServerResult::CustomResult(answer) => Ok(answer.0),
        _ => Err(ServiceError::UnexpectedResponse),
    }
}

#[expect(
    clippy::wildcard_enum_match_arm,
    reason = "`rmcp` has many kinds of messages and may add more"
)]
async fn read(link: &Link, uri: &str) -> Result<ReadResourceResult, ServiceError> {
    let request = ReadResourceRequest::new(ReadResourceRequestParams::new(uri));
    match send(link, ClientRequest::ReadResourceRequest(request)).await? {
        ServerResult::ReadResourceResult(answer) => Ok(answer),
        _ => Err(ServiceError::UnexpectedResponse),
    }
}

async fn send(link: &Link, request: ClientRequest) -> Result<ServerResult, ServiceError> {
    let options = PeerRequestOptions::no_options();
    let handle = link.peer.send_request_with_option(request, options).await?;
    handle.await_response().await
}

impl Server {
    /// Returns the known skills, possibly from a stored catalog; `None` if the server offers none or is
    /// disabled.
    pub(crate) fn skills(&self) -> Option<SkillListing> {
        let catalog = self.catalog().filter(|_| self.options.enabled)?;
        catalog.skills.clone()
    }

    /// Returns the current skills: the known list while it is fresh, else a new one.
    pub(crate) async fn current_skills(self: &Arc<Self>) -> Result<SkillListing, Failure> {
        self.within(async |link| {
            if !self.has_fresh_skills() {
                relist(self, &link).await;
            }
            Ok(())
        })
        .await?;
        self.skills().ok_or_else(|| self.offers_none())
    }

    /// Returns the current entry of a skill: from the list while it is fresh, else from the server.
    pub(crate) async fn current_skill(self: &Arc<Self>, uri: &str) -> Result<RemoteSkill, Failure> {
        self.within(async |link| {
            if !are_offered(&link) {
                return Ok(Err(self.offers_none()));
            }
            let listed = || self.skills()?.skills.into_iter().find(|it| it.uri == uri);
            if let Some(skill) = self.has_fresh_skills().then(listed).flatten() {
                return Ok(Ok(skill));
            }
            match ask(&link, "skills/get", json!({ "uri": uri })).await {
                Ok(answer) => Ok(self.entry(uri, &answer)),
                Err(ServiceError::McpError(error)) if error.code == ErrorCode::INVALID_PARAMS => {
                    Ok(Err(self.has_no_skill(uri)))
                }
                Err(error) => Err(error),
            }
        })
        .await?
    }

    fn entry(&self, uri: &str, answer: &Value) -> Result<RemoteSkill, Failure> {
        let entry = answer.get("skill").unwrap_or(&Value::Null);
        let skill = vet_entry(&self.name, entry, &self.redaction.load());
        let skill = skill.map_err(|refused| self.unusable_skill(uri, &refused.reason))?;
        if skill.uri != uri {
            return Err(self.unusable_skill(uri, "the server answered with another one"));
        }
        Ok(skill)
    }

    /// Returns the content of a skill's file, after comparing it with the entry.
    pub(crate) async fn read_skill_file(
        self: &Arc<Self>,
        skill: &RemoteSkill,
        path: &str,
    ) -> Result<Vec<u8>, Failure> {
        let listed = skill.file(path);
        let is_dynamic = skill.fingerprint().is_none();
        let uri = match listed {
            Some(file) => &file.uri,
            // Without a list of files, only the URI of `SKILL.md` is known.
            None if is_dynamic && path == SKILL_MD => &skill.uri,
            None => return Err(unlisted_file(skill, path)),
        };
        let answer = self.within(async |link| read(&link, uri).await).await?;
        let content = content(skill, path, uri, answer)?;
        check(skill, listed, path, &content)?;
        Ok(self.bytes_without_secrets(content))
    }

    /// Removes secrets from a file's content, as from results of tools.
    fn bytes_without_secrets(&self, content: Vec<u8>) -> Vec<u8> {
        match String::from_utf8(content) {
            Ok(text) => self.redaction.load().redact_owned(text).into_bytes(),
            Err(binary) => binary.into_bytes(),
        }
    }

    /// Whether the list that this process fetched is still fresh.
    fn has_fresh_skills(&self) -> bool {
        let ttl = self.skills().map_or(0, |listing| listing.ttl_ms);
        self.age.has_fresh_skills(Duration::from_millis(ttl))
    }

    /// Runs `work` with the connection, within the server's timeout.
    async fn within<T>(
        self: &Arc<Self>,
        work: impl AsyncFnOnce(Arc<Link>) -> Result<T, ServiceError>,
    ) -> Result<T, Failure> {
        self.admit()?;
        let limit = Limit::new(self.timeout(), CancellationToken::new());
        let doing = format!("reading skills of the server `{}`", self.name);
        let outcome = limit
            .run(async {
                let link = Box::pin(self.ensure()).await?;
                let done = work(Arc::clone(&link)).await;
                done.map_err(|error| self.judge_skills(&error, &link))
            })
            .await;
        let outcome = outcome.map_err(|stop| limit.failure(stop, &doing));
        let outcome = outcome.and_then(|outcome| outcome);
        match &outcome {
            Ok(_) => self.record_answer(),
            Err(_) => self.breaker.lock().record_no_result(Instant::now()),
        }
        outcome.map_err(|failure| self.redaction.load().failure(failure))
    }

    fn judge_skills(&self, error: &ServiceError, link: &Link) -> Failure {
        let most = self.max_reply_bytes;
        let fault = fault::classify_call(&self.name, error, false, &link.watch, most);
        // Reading changes nothing, so the outcome is never in doubt.
        Failure {
            in_doubt: false,
            ..fault.failure
        }
    }

    fn offers_none(&self) -> Failure {
        let message = format!("the server `{}` offers no skills", self.name);
        Failure::new(FailureClass::NotFound, message)
    }

    fn has_no_skill(&self, uri: &str) -> Failure {
        let message = format!("the server `{}` has no skill `{uri}`", self.name);
        Failure::new(FailureClass::NotFound, message)
            .hint("`deft skills list` shows the skills of servers")
    }

    fn unusable_skill(&self, uri: &str, reason: &str) -> Failure {
        let message = format!(
            "the skill `{uri}` of the server `{}` cannot be used: {reason}",
            self.name
        );
        Failure::new(FailureClass::Invalid, message)
            .hint("the server is faulty; report it to its author")
    }
}

/// Returns the content of an answer that must have exactly one.
fn content(
    skill: &RemoteSkill,
    path: &str,
    uri: &str,
    answer: ReadResourceResult,
) -> Result<Vec<u8>, Failure> {
    let mut contents = answer.contents.into_iter();
    let (Some(only), None) = (contents.next(), contents.next()) else {
        return Err(changed_content(
            skill,
            path,
            "the reply does not have exactly one content item",
        ));
    };
    let (of, content) = match only {
        ResourceContents::TextResourceContents { uri, text, .. } => (uri, Some(text.into_bytes())),
        ResourceContents::BlobResourceContents { uri, blob, .. } => {
            (uri, STANDARD.decode(blob).ok())
        }
        _ => (String::new(), None),
    };
    if of != uri {
        return Err(changed_content(skill, path, "the reply is for another URI"));
    }
    content.ok_or_else(|| changed_content(skill, path, "the reply has no readable content"))
}

fn check(
    skill: &RemoteSkill,
    listed: Option<&RemoteFile>,
    path: &str,
    content: &[u8],
) -> Result<(), Failure> {
    if let Some(file) = listed {
        check_file(skill, file, content)?;
    }
    if path == SKILL_MD {
        check_frontmatter(skill, content)?;
    }
    Ok(())
}
