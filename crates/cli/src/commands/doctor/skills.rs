//! What `deft doctor` finds about skills: broken and hidden files, and names that two skills have.

use super::Findings;
use crate::args::Global;
use crate::commands::budget::unpriced;
use crate::output::counted;
use deft_config::Home;
use deft_service::Library;
use deft_service::app;
use deft_service::skills::{SkillHealth, health};

pub(super) fn check(home: &Home, global: &Global, found: &mut Findings) {
    let snapshot = app::load_kept(home, &Library::of_home(home));
    // A person relies on a limit; one that cannot be reached is worse than none.
    if let Some((message, hint)) = unpriced(&home.config, &snapshot) {
        found.bad("budget.priced", message, Some(hint));
    }
    match health(&global.workspace()) {
        Ok(health) => report(health, found),
        Err(failure) => found.bad("skills.valid", failure.message, failure.hint),
    }
}

fn report(health: SkillHealth, found: &mut Findings) {
    if health.broken > 0 {
        let kept = match health.kept {
            0 => String::new(),
            kept => format!(", of which {kept} stay in use as they were"),
        };
        let files = counted(health.broken, "skill file");
        let hint = Some("`deft skills doctor` says which and why".to_owned());
        found.bad(
            "skills.valid",
            format!("{files} cannot be loaded{kept}"),
            hint,
        );
    } else {
        let skills = counted(health.skill_count, "skill");
        found.good("skills.valid", format!("{skills} loaded, none broken"));
    }
    if health.shadowed > 0 {
        let files = counted(health.shadowed, "skill file");
        found.note(
            "skills.shadowed",
            format!("{files} hidden by others"),
            "`deft skills doctor` says which",
        );
    }
    if health.unfit > 0 {
        let files = counted(health.unfit, "skill file");
        found.note(
            "skills.tools",
            format!("{files} with tools, arguments or skills that are not there"),
            "`deft skills doctor` says which",
        );
    }
    for (message, hint) in health.clashes {
        found.bad("skills.clash", message, Some(hint));
    }
}
