//! `deft skills …`.

pub(super) mod doctor;
pub(super) mod export;
pub(super) mod import;
pub(super) mod list;
pub(super) mod new;
pub(super) mod prompt;
pub(super) mod show;
pub(crate) mod stored;
pub(crate) mod switch;
pub(super) mod validate;
pub(super) mod watch;

use deft_model::nearest;
use deft_registry::{Loaded, Snapshot};

use crate::failure::{Done, Failure};

/// How often a skill failed in a row, and until when it backs off, if it does.
pub(crate) fn failure_words(failures: u32, until: Option<&str>) -> Option<String> {
    let times = if failures == 1 { "time" } else { "times" };
    let failed = format!("failed {failures} {times} in a row");
    match until {
        Some(until) => Some(format!("{failed}, rests until {until}")),
        None => (failures > 0).then_some(failed),
    }
}

/// The skill that a name means.
pub(super) fn find<'a>(snapshot: &'a Snapshot, name: &str) -> Done<&'a Loaded> {
    snapshot.find(name).map(|loaded| &**loaded).ok_or_else(|| {
        let ids = snapshot.skills().map(|loaded| loaded.skill.id.as_str());
        let hint = match nearest(name, ids) {
            Some(near) => format!("did you mean `{near}`?"),
            None => "`deft skills list` shows what there is".to_owned(),
        };
        Failure::input("unknown_skill", format!("there is no skill `{name}`")).hint(hint)
    })
}
