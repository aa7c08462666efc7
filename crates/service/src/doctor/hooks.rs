//! Checks of hooks: readable secrets, hooks without skills, and skills that name an unknown hook.

use super::Findings;
use crate::hooks;
use crate::workspace::Workspace;

/// Adds no finding if there are no hooks and no skill names one.
pub(super) fn check(workspace: &Workspace, found: &mut Findings) {
    let (Ok(list), Ok(unknown)) = (hooks::list(workspace), hooks::unknown(workspace)) else {
        // The configuration or the skills cannot be read; other checks report that.
        return;
    };
    for hook in &list.hooks {
        let name = &hook.name;
        match &hook.problem {
            None => found.good(
                "hooks.secret",
                format!("the secret of `{name}` can be read"),
            ),
            Some(why) => {
                let message = format!("the secret of `{name}` cannot be read: {why}");
                let hint = format!(
                    "store the secret that `hooks.{name}.secret` refers to; until then deft refuses \
                     deliveries"
                );
                found.bad("hooks.secret", message, Some(hint));
            }
        }
        found.about(name);
        if hook.skills.is_empty() {
            let hint = format!(
                "write `trigger_config: {{hook: {name}}}` into a skill, or remove the hook"
            );
            found.note(
                "hooks.skills",
                format!("no skill waits for `{name}`"),
                &hint,
            );
            found.about(name);
        }
    }
    for waiting in unknown {
        let (skill, hook) = (&waiting.skill, &waiting.hook);
        let message = format!("`{skill}` waits for the unknown hook `{hook}`");
        let hint = format!("add a section `[hooks.{hook}]` to the configuration");
        found.bad("hooks.skills", message, Some(hint));
        found.about(skill);
    }
}
