//! Access to the skills of servers, by their ids.
//!
//! A skill belongs to the server in its id, and only that server is asked for its data: no skill can
//! make deft read from another server.

use std::sync::Arc;

use deft_model::{Failure, FailureClass};

use super::Router;
use crate::remote_skill::{RemoteSkill, SKILL_MD, SkillListing, split_skill_id};
use crate::server::Server;

impl Router {
    /// Returns the known skills of all enabled servers, without asking any server.
    pub fn known_skills(&self) -> Vec<(String, SkillListing)> {
        let servers = self.inner.servers.lock();
        let known = servers.values().filter_map(|server| {
            let listing = server.skills()?;
            Some((server.name().to_owned(), listing))
        });
        known.collect()
    }

    /// Returns the current skills of a server. Uses the known list while it is fresh.
    pub async fn skills(&self, server: &str) -> Result<SkillListing, Failure> {
        Box::pin(self.skill_server(server)?.current_skills()).await
    }

    /// Returns the current entry of a skill, by its id; the skill need not be listed.
    pub async fn skill(&self, id: &str) -> Result<RemoteSkill, Failure> {
        let (server, uri) = split_skill_id(id).ok_or_else(|| no_id(id))?;
        Box::pin(self.skill_server(server)?.current_skill(&uri)).await
    }

    /// Splits an id into the id of a skill and the path of one of its files. Only known skills can be
    /// told apart from their files; any other id refers to a `SKILL.md`.
    pub fn split_skill_file(&self, id: &str) -> (String, String) {
        let all = self.known_skills().into_iter();
        let ids = all.flat_map(|(_, listing)| listing.skills);
        let ids = ids.map(|skill| skill.id());
        let behind = |skill: &str| id.strip_prefix(skill)?.strip_prefix('/').map(str::to_owned);
        let mut meant = (id.to_owned(), SKILL_MD.to_owned());
        let mut longest = 0;
        for skill in ids {
            if skill == id {
                return (skill, SKILL_MD.to_owned());
            }
            // One skill may be in the folder of another: the innermost folder wins.
            if let Some(path) = behind(&skill)
                && skill.len() > longest
            {
                longest = skill.len();
                meant = (skill, path);
            }
        }
        meant
    }

    /// Reads a file of a skill from the skill's server. Fails if the content differs from the entry.
    pub async fn read_skill_file(
        &self,
        skill: &RemoteSkill,
        path: &str,
    ) -> Result<Vec<u8>, Failure> {
        let server = self.skill_server(&skill.server)?;
        Box::pin(server.read_skill_file(skill, path)).await
    }

    /// Whether an id has the form of a skill id of a configured, enabled server; the skill need not
    /// exist.
    pub fn is_skill_of_server(&self, id: &str) -> bool {
        split_skill_id(id).is_some_and(|(server, _)| self.skill_server(server).is_ok())
    }

    fn skill_server(&self, name: &str) -> Result<Arc<Server>, Failure> {
        let found = self.inner.servers.lock().get(name).cloned();
        let server = found.ok_or_else(|| {
            Failure::new(FailureClass::NotFound, format!("unknown server `{name}`"))
                .hint("`deft mcp list` shows all servers")
        })?;
        match server.failure_if_disabled() {
            Some(failure) => Err(failure),
            None => Ok(server),
        }
    }
}

fn no_id(id: &str) -> Failure {
    let message = format!("`{id}` is not the id of a skill of a server");
    Failure::new(FailureClass::NotFound, message).hint("such an id is `SERVER/NAME`")
}
