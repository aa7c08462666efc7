//! Skills held against the tools there are, while deft is up: once servers have listed their tools, when
//! files change and when the configuration names other servers. Nothing is switched off for it; the log
//! says it once for each revision.

use std::collections::HashSet;

use deft_engine::Engine;
use parking_lot::Mutex;

/// A revision of a skill and what is wrong with it.
type Problem = (String, String);

/// Problems that are in the log already.
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
