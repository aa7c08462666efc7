//! The example skill that a daemon stores at its first start.

use deft_config::Home;
use deft_engine::Engine;
use deft_wire::{Done, Failure};

use crate::{app, seed};

/// A skill as an assistant would store it: one call, no model.
const HELLO: &str = include_str!("../../defaults/examples/hello-deft.json");

/// Stores a skill that shows life at once, in a home that was never up. Says whether it did.
pub(super) async fn store_hello(home: &Home, engine: &Engine) -> Done<bool> {
    if !seed::was_never_up(home) {
        return Ok(false);
    }
    let record = serde_json::from_str(HELLO)
        .map_err(|error| Failure::input("defaults", format!("hello-deft: {error}")))?;
    match engine.library().store_skill(&record).await {
        // A home with a skill of that name has shown already that deft works.
        Ok(_) | Err(deft_engine::Error::NameTaken { .. }) => {}
        Err(error) => return Err(app::failure(&error)),
    }
    seed::mark_started(home)?;
    Ok(true)
}
