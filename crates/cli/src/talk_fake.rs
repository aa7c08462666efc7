//! A [`Talk`] with scripted answers, shared with the tests of the service.

pub(crate) use deft_service::ask::*;
pub(crate) use deft_service::talk::*;

#[allow(dead_code, reason = "the tests of two crates use it")]
#[path = "../../service/tests/support/fake.rs"]
pub(crate) mod fake;
