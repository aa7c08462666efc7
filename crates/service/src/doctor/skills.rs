//! Checks of skills: broken and hidden files, duplicate names, and budget limits without effect.

use deft_config::Home;

use super::Findings;
use crate::budget::advise_on_prices;
use crate::skills::{SkillHealth, health};
use crate::words::format_count;
use crate::workspace::Workspace;

pub(super) fn check(home: &Home, workspace: &Workspace, found: &mut Findings) {
    match health(workspace) {
        Ok(health) => {
            // People rely on a limit: one that is never reached is worse than none.
            if let Some(advice) = advise_on_prices(&home.config, &health.snapshot) {
                found.bad("budget.priced", advice.message, Some(advice.hint));
            }
            report(health, found);
        }
        Err(failure) => found.bad("skills.valid", failure.message, failure.hint),
    }
}

fn report(health: SkillHealth, found: &mut Findings) {
    if health.broken > 0 {
        let kept = match health.kept {
            0 => String::new(),
            kept => format!("; for {kept} of them the last good version is in use"),
        };
        let files = format_count(health.broken, "skill file");
        let hint = Some("`deft skills doctor` lists them with the reasons".to_owned());
        found.bad(
            "skills.valid",
            format!("{files} cannot be loaded{kept}"),
            hint,
        );
    } else {
        let skills = format_count(health.skill_count, "skill");
        found.good("skills.valid", format!("{skills} loaded, none broken"));
    }
    if health.shadowed > 0 {
        let files = format_count(health.shadowed, "skill file");
        found.note(
            "skills.shadowed",
            format!("{files} hidden by files with the same skill name"),
            "`deft skills doctor` lists them",
        );
    }
    if health.unfit > 0 {
        let files = format_count(health.unfit, "skill file");
        found.note(
            "skills.tools",
            format!("{files} with unknown tools, arguments or skills"),
            "`deft skills doctor` lists them",
        );
    }
    for (message, hint) in health.clashes {
        found.bad("skills.clash", message, Some(hint));
    }
}
