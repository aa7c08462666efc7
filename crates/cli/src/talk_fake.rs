//! A [`Talk`] that answers as a test tells it, shared with the tests of the service.

pub(crate) use deft_service::talk::*;

#[allow(dead_code, reason = "the tests of two crates use it")]
#[path = "../../service/tests/support/fake.rs"]
pub(crate) mod fake;
