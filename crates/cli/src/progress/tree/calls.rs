//! Lines below the step of an agent: its calls, and the agents it starts.
//!
//! Not here: the reply of the agent, which is the result of the step.

use std::time::Instant;

use deft_wire::model::Object;

use super::{Mark, Tree, clip};

impl Tree {
    /// Adds a line for a call that begins. `what` describes its arguments.
    pub(super) fn begin_call(&mut self, path: &str, name: &str, what: String) {
        if let Some(line) = self.line_at(path) {
            line.name = Some(name.to_owned());
            line.mark = Mark::Running;
            line.what = what;
            line.started = Some(Instant::now());
        }
    }
}

/// Formats the arguments of a call as truncated JSON.
pub(super) fn arguments(args: &Object) -> String {
    if args.is_empty() {
        return String::new();
    }
    clip(&serde_json::to_string(args).unwrap_or_default())
}
