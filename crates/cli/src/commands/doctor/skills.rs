//! What `deft doctor` finds about skills: files that are broken or hidden, and names that two have.

use deft_registry::State;

use crate::args::{Global, Roots};
use crate::commands::skills::stored::Stored;
use crate::commands::skills::surroundings;
use crate::output::counted;
use deft_config::Home;
use deft_service::Library;
use deft_service::app;
use deft_service::budget::unpriced;
use deft_service::doctor::Findings;

pub(super) fn check(home: &Home, global: &Global, found: &mut Findings) {
    let snapshot = app::load_kept(home, &Library::of_home(home));
    // A limit that cannot be reached is worse than none: people rely on it.
    if let Some(advice) = unpriced(&home.config, &snapshot) {
        found.bad("budget.priced", advice.message, Some(advice.hint));
    }
    let count = |wanted: fn(&State) -> bool| {
        let files = snapshot.files().iter();
        files.filter(|file| wanted(&file.state)).count()
    };
    let broken = count(|state| matches!(state, State::Broken { .. }));
    let shadowed = count(|state| matches!(state, State::Shadowed { .. }));
    let hint = Some("`deft skills doctor` says which and why".to_owned());
    if broken > 0 {
        let kept = count(|state| matches!(state, State::Broken { kept: Some(_) }));
        let kept = match kept {
            0 => String::new(),
            kept => format!(", of which {kept} stay in use as they were"),
        };
        let message = format!("{} cannot be loaded{kept}", counted(broken, "skill file"));
        found.bad("skills.valid", message, hint);
    } else {
        let skills = counted(snapshot.skill_count(), "skill");
        found.good("skills.valid", format!("{skills} loaded, none broken"));
    }
    if shadowed > 0 {
        let message = format!("{} hidden by others", counted(shadowed, "skill file"));
        found.note(
            "skills.shadowed",
            message,
            "`deft skills doctor` says which",
        );
    }
    let unfit = surroundings::check(global, &snapshot, None).len();
    if unfit > 0 {
        let files = counted(unfit, "skill file");
        found.note(
            "skills.tools",
            format!("{files} with tools, arguments or skills that are not there"),
            "`deft skills doctor` says which",
        );
    }
    // A store that cannot be read is told of by its own check.
    let stored = Stored::read(global, &Roots::default()).unwrap_or_default();
    for (message, hint) in stored.clashes(&snapshot) {
        found.bad("skills.clash", message, Some(hint));
    }
}
