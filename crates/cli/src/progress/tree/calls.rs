//! The work of an agent as lines below its step: calls, and the agents that it starts.
//!
//! Not here: what it says, which is the result of the step.

use std::time::Instant;

use deft_wire::model::Object;

use super::{Mark, Tree, clip};

impl Tree {
    /// A call begins: a line with its name, and what it is called with.
    pub(super) fn begin_call(&mut self, path: &str, name: &str, what: String) {
        if let Some(line) = self.line_at(path) {
            line.name = Some(name.to_owned());
            line.mark = Mark::Running;
            line.what = what;
            line.started = Some(Instant::now());
        }
    }
}

/// The arguments of a call, short.
pub(super) fn arguments(args: &Object) -> String {
    if args.is_empty() {
        return String::new();
    }
    clip(&serde_json::to_string(args).unwrap_or_default())
}
