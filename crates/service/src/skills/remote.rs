//! Skills offered by MCP servers: the known skills, their files, and approvals.
//!
//! Listing uses the stored answers of servers. Only opening and approving a skill query its server, and an
//! approval reads no file. Not here: how agents receive an approved skill (`deft_agents`).

use std::collections::BTreeMap;

use deft_channels::ShowLine;
use deft_config::Home;
use deft_engine::{allows_skill, approve_skill, forget_skill, is_for_skill, skill_grant};
use deft_model::FailureClass;
use deft_registry::Snapshot;
use deft_store::{Grant, Store};
use deft_tools::{RemoteFile, RemoteFiles, RemoteSkill, Router, split_skill_id};
use deft_wire::remote_skill::{
    RefusedSkillView, RemoteFileView, RemoteSkillDocument, RemoteSkillPage, RemoteSkillView,
    RevokedSkill, SkillApproval,
};
use deft_wire::{Done, Failure};
use jiff::Timestamp;

use crate::doorbell::{self, Ring};
use crate::router::CatalogRouter;
use crate::store;
use crate::workspace::Workspace;

/// Whether a name must be that of a server's skill: no skill of a home has a slash in its name.
pub fn is_remote(name: &str) -> bool {
    split_skill_id(name).is_some()
}

/// Returns the known skills of servers, and those that cannot be used.
pub(super) fn list_known(
    router: &Router,
    grants: &[Grant],
    local: &Snapshot,
) -> (Vec<RemoteSkillView>, Vec<RefusedSkillView>) {
    let local = local.skills().map(|loaded| &loaded.skill);
    let names = local.map(|skill| (skill.name.clone(), skill.id.to_string()));
    let names: BTreeMap<String, String> = names.collect();
    let (mut skills, mut refused) = (Vec::new(), Vec::new());
    for (server, listing) in router.known_skills() {
        skills.extend((listing.skills.iter()).map(|skill| view(skill, grants, &names)));
        refused.extend(listing.refused.into_iter().map(|it| RefusedSkillView {
            server: server.clone(),
            uri: it.uri,
            reason: it.reason,
        }));
    }
    (skills, refused)
}

/// Reads a skill of a server, or the file whose path follows the skill's id. The result is for display to
/// people and never passed to a model.
pub async fn read_remote(workspace: &Workspace, id: &str) -> Done<RemoteSkillPage> {
    let opened = SkillServer::open(workspace, id).await?;
    let page = opened.page(id).await;
    opened.close(page).await
}

/// Approves a skill of a server in its current revision, which must be `revision` if given.
pub async fn approve_remote(
    workspace: &Workspace,
    id: &str,
    revision: Option<&str>,
    by: &str,
) -> Done<RemoteSkillDocument> {
    let opened = SkillServer::open(workspace, id).await?;
    let approved = opened.approve(id, revision, by).await;
    opened.close(approved).await
}

/// Revokes the approval of a skill. Its server need not be configured any more.
pub async fn revoke_remote(workspace: &Workspace, id: &str) -> Done<RevokedSkill> {
    let store = store::open(&workspace.home()?)?;
    let forgotten = forget_skill(&*store, id).await;
    if !forgotten.map_err(|error| store::failure(&error))? {
        let message = format!("the skill `{id}` is not approved");
        return Err(Failure::input("not_approved", message)
            .hint("`deft skills list` shows the skills of servers"));
    }
    Ok(RevokedSkill {
        revoked: id.to_owned(),
    })
}

/// Downloads all files of a skill of a server, each compared with the server's list.
pub(super) async fn download(
    workspace: &Workspace,
    id: &str,
) -> Done<(RemoteSkill, Vec<(String, Vec<u8>)>)> {
    let opened = SkillServer::open(workspace, id).await?;
    let files = opened.files(id).await;
    opened.close(files).await
}

/// A router with the server of one skill.
struct SkillServer {
    home: Home,
    store: std::sync::Arc<dyn Store>,
    server: CatalogRouter,
    tell: ShowLine,
}

impl SkillServer {
    async fn open(workspace: &Workspace, id: &str) -> Done<Self> {
        let home = workspace.home()?;
        let (server, _) = split_skill_id(id).ok_or_else(|| {
            let message = format!("`{id}` is not the id of a skill of a server");
            Failure::input("unknown_skill", message).hint("such an id is `SERVER/NAME`")
        })?;
        if !home.config.tools.servers.contains_key(server) {
            let message = format!("unknown server `{server}`");
            let hint = "`deft mcp list` shows all servers";
            return Err(Failure::input("no_such_server", message).hint(hint));
        }
        let store = store::open(&home)?;
        // A router with this server only, so that no other server is started or queried.
        let asked = CatalogRouter::to_ask_one(&home, store.clone(), server, workspace.tell);
        let server = asked.await?;
        Ok(Self {
            home,
            store,
            server,
            tell: workspace.tell,
        })
    }

    async fn page(&self, id: &str) -> Done<RemoteSkillPage> {
        let router = &self.server.router;
        let (id, file) = router.split_skill_file(id);
        let skill = router.skill(&id).await.map_err(|why| refusal(&why))?;
        let content = router.read_skill_file(&skill, &file).await;
        let content = content.map_err(|why| refusal(&why))?;
        Ok(RemoteSkillPage {
            skill: self.view(&skill).await?,
            file,
            text: String::from_utf8(content).ok(),
        })
    }

    async fn approve(
        &self,
        id: &str,
        revision: Option<&str>,
        by: &str,
    ) -> Done<RemoteSkillDocument> {
        let skill = self.server.router.skill(id).await;
        let skill = skill.map_err(|why| refusal(&why))?;
        let grant = skill_grant(&skill, by, Timestamp::now());
        let grant = grant.ok_or_else(|| no_digests(&skill))?;
        if revision.is_some_and(|seen| seen != grant.revision) {
            let message = format!("the skill `{id}` has changed since it was shown");
            return Err(Failure::input("skill_changed", message)
                .hint(format!("`deft skills show {id}` shows it as it is now")));
        }
        let approved = approve_skill(&*self.store, grant).await;
        approved.map_err(|error| store::failure(&error))?;
        Ok(RemoteSkillDocument {
            skill: self.view(&skill).await?,
        })
    }

    async fn files(&self, id: &str) -> Done<(RemoteSkill, Vec<(String, Vec<u8>)>)> {
        let router = &self.server.router;
        let skill = router.skill(id).await.map_err(|why| refusal(&why))?;
        let RemoteFiles::Listed(listed) = &skill.files else {
            return Err(no_digests(&skill));
        };
        let mut files = Vec::with_capacity(listed.len());
        for file in listed {
            let content = router.read_skill_file(&skill, &file.path).await;
            files.push((file.path.clone(), content.map_err(|why| refusal(&why))?));
        }
        Ok((skill, files))
    }

    async fn view(&self, skill: &RemoteSkill) -> Done<RemoteSkillView> {
        let grants = self.store.all_grants().await;
        let grants = grants.map_err(|error| store::failure(&error))?;
        Ok(view(skill, &grants, &BTreeMap::new()))
    }

    /// Shuts the server down, regardless of the result.
    async fn close<T>(self, done: Done<T>) -> Done<T> {
        let warnings = self.server.close().await;
        warnings.iter().for_each(|line| (self.tell)(line));
        // Tell a running daemon to query its own connection again.
        doorbell::ring(&self.home.path, Ring::Tools);
        done
    }
}

fn view(
    skill: &RemoteSkill,
    grants: &[Grant],
    local: &BTreeMap<String, String>,
) -> RemoteSkillView {
    let id = skill.id();
    let holds = grants.iter().find(|grant| allows_skill(grant, skill));
    let approval = match (skill.fingerprint(), holds) {
        (None, _) => SkillApproval::Impossible,
        (Some(_), Some(_)) => SkillApproval::Approved,
        (Some(_), None) if grants.iter().any(|grant| is_for_skill(grant, &id)) => {
            SkillApproval::Changed
        }
        (Some(_), None) => SkillApproval::Needed,
    };
    let files = match &skill.files {
        RemoteFiles::Listed(files) => Some(files.iter().map(file_view).collect()),
        RemoteFiles::Dynamic => None,
    };
    RemoteSkillView {
        id,
        server: skill.server.clone(),
        uri: skill.uri.clone(),
        name: skill.name().to_owned(),
        description: skill.description().to_owned(),
        approval,
        revision: skill.fingerprint(),
        approved_by: holds.map(|grant| grant.by.clone()),
        approved_at: holds.map(|grant| grant.at),
        allowed_tools: skill.frontmatter.get("allowed-tools").cloned(),
        same_name_as: local.get(skill.name()).cloned(),
        files,
    }
}

fn file_view(file: &RemoteFile) -> RemoteFileView {
    RemoteFileView {
        path: file.path.clone(),
        uri: file.uri.clone(),
        size: file.size,
        sha256: file.sha256.clone(),
    }
}

fn no_digests(skill: &RemoteSkill) -> Failure {
    let message = format!(
        "the skill `{}` cannot be approved: the server `{}` lists no digests of its files",
        skill.id(),
        skill.server
    );
    Failure::input("dynamic_skill", message)
        .hint("an approval would cover anything that the server sends; you can read the skill with `deft skills show`")
}

/// Converts a server's refusal into a failure for front ends.
fn refusal(why: &deft_model::Failure) -> Failure {
    let message = why.message.clone();
    let failure = match why.class {
        FailureClass::NotFound => Failure::input("unknown_skill", message),
        FailureClass::Invalid => Failure::input("unverified_skill", message),
        FailureClass::Network
        | FailureClass::Auth
        | FailureClass::Quota
        | FailureClass::Timeout
        | FailureClass::Limit
        | FailureClass::Cancelled
        | FailureClass::Budget
        | FailureClass::Interrupted
        | FailureClass::Other => Failure::input("server", message),
    };
    failure.maybe_hint(why.hint.clone())
}
