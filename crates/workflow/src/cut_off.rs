//! Limit and failure for calls that were cut off.

use deft_model::{Failure, FailureClass};

use crate::Path;

/// Number of times that a repeatable call is begun again after it was cut off. A call that crashes the whole
/// process each time must not do so forever.
pub(crate) const MAX_CUT_OFFS: u32 = 5;

/// Returns the failure of a check in the worker that was cut off. The checked value exists, so nothing is in
/// doubt.
pub(crate) fn unjudged_failure(path: &Path) -> Failure {
    let message = format!("the check of `{path}` was interrupted");
    Failure::new(FailureClass::Interrupted, message)
}
