//! The grant that follows from an answer with "always".

use deft_agents::tool_grant;
use deft_library::grants::{AllowedArguments, StepOperation};
use deft_model::Object;
use deft_store::Grant;
use deft_workflow::{Operation, Path};
use jiff::Timestamp;

use crate::Error;

/// A yes that covers later operations.
pub(crate) struct GrantRequest<'a> {
    pub(crate) skill: &'a str,
    pub(crate) revision: &'a str,
    pub(crate) path: &'a Path,
    pub(crate) message: &'a str,
    pub(crate) operation: &'a Operation,
    pub(crate) by: &'a str,
}

impl GrantRequest<'_> {
    /// Returns the grant: for all calls of a tool if the question offers that, else for this operation, or
    /// for those that match the pattern `like`.
    pub(crate) fn grant(&self, like: Option<&Object>, at: Timestamp) -> Result<Grant, Error> {
        if let (Some(mark), None) = (&self.operation.remember, like) {
            return Ok(tool_grant(mark, self.by, at));
        }
        if !self.operation.is_exact() {
            let step = self.path.to_string();
            return Err(Error::NotExact { step });
        }
        let place = StepOperation {
            skill: self.skill,
            revision: self.revision,
            path: self.path,
            operation: self.operation,
        };
        like.map_or(Ok(()), |pattern| place.check(pattern))?;
        let allowed = match like.filter(|pattern| !pattern.is_empty()) {
            Some(pattern) => AllowedArguments::Like(pattern.clone()),
            None => AllowedArguments::Exactly,
        };
        let (id, digest, pattern) = place.grant_identity(&allowed);
        Ok(Grant {
            id,
            skill: self.skill.to_owned(),
            revision: self.revision.to_owned(),
            operation: digest,
            pattern,
            describes: format!("{}: {}", self.path, self.message),
            by: self.by.to_owned(),
            at,
        })
    }
}
