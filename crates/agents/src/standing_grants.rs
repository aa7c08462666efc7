//! A cache of standing grants, for decisions that cannot wait for the store, and grants that hold for a tool:
//! a person approved all of its calls in a chat.
//!
//! A grant for a tool is bound to the server's description of the tool. If the server changes the
//! description, the arguments or the annotations, the tool needs a new approval.
//!
//! Not here: which calls need an approval (`authority`), what a grant for a skill covers
//! (`deft_library::grants`).

use std::collections::HashMap;
use std::sync::Arc;

use deft_base::Error;
use deft_model::Digest;
use deft_store::Grant;
use deft_tools::ToolInfo;
use deft_workflow::ToolMark;
use jiff::Timestamp;
use parking_lot::Mutex;
use serde_json::json;

use crate::Agents;

type BySkill = HashMap<String, Vec<Grant>>;

/// Standing grants as they were last read, by skill.
#[derive(Default)]
pub(crate) struct StandingGrants(Mutex<Arc<BySkill>>);

impl StandingGrants {
    fn get(&self) -> Arc<BySkill> {
        Arc::clone(&self.0.lock())
    }

    fn set(&self, grants: BySkill) {
        *self.0.lock() = Arc::new(grants);
    }

    /// Returns the grants for a skill.
    pub(crate) fn of_skill(&self, skill: &str) -> Vec<Grant> {
        self.get().get(skill).cloned().unwrap_or_default()
    }

    /// Whether a person approved all calls of a tool, as its server describes it now.
    pub(crate) fn has_tool(&self, info: &ToolInfo) -> bool {
        let grants = self.get();
        let mut for_tools = grants.get(FOR_TOOLS).into_iter().flatten();
        for_tools.any(|grant| allows_tool(grant, info))
    }
}

/// The value of `skill` in grants that hold for a tool.
const FOR_TOOLS: &str = "";

/// Whether a grant holds for a tool as its server describes it now.
pub fn allows_tool(grant: &Grant, info: &ToolInfo) -> bool {
    let mark = mark(info);
    grant.tool() == Some(mark.tool.as_str()) && grant.revision == mark.digest
}

/// Returns the mark of a tool as its server describes it now.
pub(crate) fn mark(info: &ToolInfo) -> ToolMark {
    let described = json!({
        "tool": info.full_name(),
        "description": info.description,
        "input_schema": info.input_schema,
        "annotations": info.annotations,
    });
    ToolMark {
        tool: info.full_name(),
        digest: Digest::sha256(described.to_string().as_bytes()).to_string(),
    }
}

/// Returns the grant for the approval of all calls of a tool.
pub fn tool_grant(mark: &ToolMark, by: &str, at: Timestamp) -> Grant {
    Grant {
        id: format!("grant_{}", mark.digest.get(..12).unwrap_or(&mark.digest)),
        skill: FOR_TOOLS.to_owned(),
        revision: mark.digest.clone(),
        operation: mark.tool.clone(),
        pattern: None,
        describes: format!("every call of `{}` in chats", mark.tool),
        by: by.to_owned(),
        at,
    }
}

impl Agents {
    /// Reads the grants again, because another process may have added or removed some.
    async fn read_grants(&self) -> Result<(), Error> {
        let mut by_skill = BySkill::new();
        for grant in self.store().all_grants().await? {
            by_skill.entry(grant.skill.clone()).or_default().push(grant);
        }
        self.grants.set(by_skill);
        Ok(())
    }

    /// Like `read_grants`, but if the store fails, the cached grants are kept.
    pub async fn read_grants_again(&self) {
        if let Err(error) = self.read_grants().await {
            tracing::warn!(%error, "standing grants could not be read");
        }
    }
}
