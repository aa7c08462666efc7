//! Calls that were cut off.

use deft_model::{Failure, FailureClass};

use crate::Path;

/// How often a call that may be repeated is begun again after it was cut off. One that takes the
/// whole process with it each time must not do so for ever.
pub(crate) const MOST_CUT_OFFS: u32 = 5;

/// A worker that was cut off: what it judges is there, and nothing is in doubt.
pub(crate) fn unjudged(path: &Path) -> Failure {
    let message = format!("the judging of `{path}` was cut off");
    Failure::new(FailureClass::Interrupted, message)
}
