//! Agents and commands of Claude Code: `agents/*.md` become agents, `commands/*.md` become playbooks or
//! workflows. `find` searches for them, `page` reads one, `agent` and `command` convert it.

mod agent;
mod command;
mod find;
mod page;
mod tools;

pub(super) use agent::agent;
pub(super) use command::command;
pub(super) use find::{ClaudeFile, ClaudeRole, find, find_one};

/// The file that an import writes for one page, with notes about lost parts.
#[derive(Debug)]
pub(super) struct ConvertedPage {
    pub id: String,
    pub form: ConvertedForm,
    pub content: String,
    pub notes: Vec<String>,
}

/// The form that a page takes in deft.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ConvertedForm {
    Agent,
    Playbook,
    Workflow,
}

/// Returns a note about keys that deft does not support; `None` if `keys` is empty.
fn keys_note(keys: &[&str]) -> Option<String> {
    let names: Vec<String> = keys.iter().map(|key| format!("`{key}`")).collect();
    (!names.is_empty()).then(|| format!("not kept: {}", names.join(", ")))
}
