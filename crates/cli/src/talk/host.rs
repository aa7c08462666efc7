//! The one who answers for real: the engine of a home.
//!
//! Not here yet: the engine's part of talking comes with the agent tier. Until then nobody answers,
//! and whoever asks hears that.

use std::sync::Arc;

use super::Talk;
use crate::app::App;
use crate::failure::{Done, Failure};

/// Somebody to talk to in a home.
pub(crate) fn of(_app: &App) -> Done<Arc<dyn Talk>> {
    Err(Failure::input(
        "no_agent",
        "this version of deft has no agents to talk to",
    ))
}
