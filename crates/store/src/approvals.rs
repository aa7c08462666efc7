//! The trait for questions to people, their answers, and grants.

use crate::{Answer, ApprovalRow, Decision, DecisionResult, Grant};

/// Approvals and grants. See [`Store`](crate::Store) for the rules that all methods follow.
pub trait Approvals: Send + Sync {
    /// Answers a question. The first answer is stored and makes the run due.
    fn decide(&self, approval: &str, decision: Decision) -> Answer<'_, DecisionResult> {
        self.decide_with(approval, decision, None)
    }

    /// Like [`decide`](Self::decide). If the answer is accepted, the grant is stored with it.
    fn decide_with(
        &self,
        approval: &str,
        decision: Decision,
        grant: Option<Grant>,
    ) -> Answer<'_, DecisionResult>;

    /// Returns questions, oldest first; only open ones unless `all` is set.
    fn approvals(&self, all: bool) -> Answer<'_, Vec<ApprovalRow>>;

    /// Returns a question by its id, answered or not.
    fn approval(&self, id: &str) -> Answer<'_, Option<ApprovalRow>>;

    /// Stores a grant.
    fn grant(&self, grant: Grant) -> Answer<'_, ()>;

    /// Returns all grants of a skill.
    fn grants(&self, skill: &str) -> Answer<'_, Vec<Grant>>;

    /// Returns all grants, oldest first.
    fn all_grants(&self) -> Answer<'_, Vec<Grant>>;

    /// Revokes a grant. Returns whether it existed.
    fn revoke(&self, grant: &str) -> Answer<'_, bool>;
}
