//! What the name of a skill implies about its effects.
//!
//! Not here: the handlers themselves, and their names (`model` has those).

/// Whether a skill only reads, judged by the last part of its name (S2.58). Used for skills that do not
/// declare their effects. The name is only a guess, so unknown names count as writing.
pub fn reads_only(skill: &str) -> bool {
    let action = skill.rsplit_once('.').map(|(_, action)| action);
    matches!(action, Some("search" | "get" | "list" | "read"))
}
