//! What the name of a skill gives away about it.
//!
//! Not here: the handlers themselves, and which there are (`model` knows their names).

/// Whether a skill only reads, going by the last part of its name (S2.58). For skills that do not
/// declare their effects: a name is a guess, and a wrong one must be on the safe side.
pub fn reads_only(skill: &str) -> bool {
    let action = skill.rsplit_once('.').map(|(_, action)| action);
    matches!(action, Some("search" | "get" | "list" | "read"))
}
