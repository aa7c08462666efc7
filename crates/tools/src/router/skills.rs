//! Skills of servers, by their ids.
//!
//! A skill belongs to the server in its id, and everything about it is asked there: no skill can make deft read on
//! another server.

use std::sync::Arc;

use deft_model::{Failure, FailureClass};

use super::Router;
use crate::remote_skill::{RemoteSkill, SKILL_MD, SkillListing, split_skill_id};
use crate::server::Server;

impl Router {
    /// The skills of servers in use, as far as they are known without asking.
    pub fn known_skills(&self) -> Vec<(String, SkillListing)> {
        let servers = self.inner.servers.lock();
        let known = servers.values().filter_map(|server| {
            let listing = server.skills()?;
            Some((server.name().to_owned(), listing))
        });
        known.collect()
    }

    /// The skills that a server offers now. A list that may still be believed is not asked for again.
    pub async fn skills(&self, server: &str) -> Result<SkillListing, Failure> {
        Box::pin(self.skill_server(server)?.current_skills()).await
    }

    /// The entry of a skill as it is now, by its id; it need not be listed.
    pub async fn skill(&self, id: &str) -> Result<RemoteSkill, Failure> {
        let (server, uri) = split_skill_id(id).ok_or_else(|| no_id(id))?;
        Box::pin(self.skill_server(server)?.current_skill(&uri)).await
    }

    /// The skill and the file of it that an id means, with the path of the file behind the id of the skill. Only
    /// skills that are known without asking are told apart from their files; any other id means a `SKILL.md`.
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
            // A skill may be in the folder of another one: the nearest folder counts.
            if let Some(path) = behind(&skill)
                && skill.len() > longest
            {
                longest = skill.len();
                meant = (skill, path);
            }
        }
        meant
    }

    /// Reads a file of a skill on the server of the skill. Its content is what the entry says, or there is none.
    pub async fn read_skill_file(
        &self,
        skill: &RemoteSkill,
        path: &str,
    ) -> Result<Vec<u8>, Failure> {
        let server = self.skill_server(&skill.server)?;
        Box::pin(server.read_skill_file(skill, path)).await
    }

    /// Whether an id is that of a skill of a configured server, if there is such a skill.
    pub fn is_skill_of_server(&self, id: &str) -> bool {
        split_skill_id(id).is_some_and(|(server, _)| self.skill_server(server).is_ok())
    }

    fn skill_server(&self, name: &str) -> Result<Arc<Server>, Failure> {
        let found = self.inner.servers.lock().get(name).cloned();
        let server = found.ok_or_else(|| {
            Failure::new(
                FailureClass::NotFound,
                format!("no server is called `{name}`"),
            )
            .hint("`deft mcp list` shows all servers")
        })?;
        match server.switched_off() {
            Some(failure) => Err(failure),
            None => Ok(server),
        }
    }
}

fn no_id(id: &str) -> Failure {
    let message = format!("`{id}` is not the id of a skill of a server");
    Failure::new(FailureClass::NotFound, message).hint("such an id is `SERVER/NAME`")
}
