//! Checks of skills against the available tools while the daemon runs: when servers have listed their tools,
//! when skill files change, and when the configured servers change. Problems disable no skill; each is logged
//! once per revision.

use std::collections::HashSet;

use deft_engine::Engine;
use parking_lot::Mutex;

/// A skill with its revision, and the message of a problem.
type Problem = (String, String);

/// Problems that have already been logged.
#[derive(Default)]
pub(super) struct ToolChecks(Mutex<HashSet<Problem>>);

impl ToolChecks {
    /// Checks all skills, and logs new problems.
    pub(super) fn run(&self, engine: &Engine) {
        let mut known = self.0.lock();
        let mut found = HashSet::new();
        for (loaded, diagnostics) in engine.library().check_tools() {
            let id = loaded.skill.id.as_str();
            for one in diagnostics {
                let problem = (format!("{id} {}", loaded.revision), one.message);
                if !known.contains(&problem) {
                    tracing::warn!(skill = id, hint = one.help, "{}", problem.1);
                }
                found.insert(problem);
            }
        }
        *known = found;
    }
}
