//! The trait for questions to people, their answers, and standing permissions.

use crate::{Answer, ApprovalRow, Decision, DecisionResult, Grant};

/// Approvals and grants. See [`Store`](crate::Store) for what holds for every method.
pub trait Approvals: Send + Sync {
    /// Answers a question; the first answer counts and makes the run due.
    fn decide(&self, approval: &str, decision: Decision) -> Answer<'_, DecisionResult>;

    /// Questions, oldest first; only open ones unless `all`.
    fn approvals(&self, all: bool) -> Answer<'_, Vec<ApprovalRow>>;

    /// One question by its id, answered or not.
    fn approval(&self, id: &str) -> Answer<'_, Option<ApprovalRow>>;

    /// Stores a standing permission.
    fn grant(&self, grant: Grant) -> Answer<'_, ()>;

    /// All standing permissions of a skill.
    fn grants(&self, skill: &str) -> Answer<'_, Vec<Grant>>;

    /// All standing permissions, oldest first.
    fn all_grants(&self) -> Answer<'_, Vec<Grant>>;

    /// Revokes a standing permission. Returns whether it existed.
    fn revoke(&self, grant: &str) -> Answer<'_, bool>;
}
