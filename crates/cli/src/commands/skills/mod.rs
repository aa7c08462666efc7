//! `deft skills …`.

pub(super) mod delete;
pub(super) mod doctor;
pub(super) mod export;
pub(super) mod import;
pub(super) mod list;
pub(super) mod new;
pub(super) mod prompt;
pub(super) mod remote;
pub(super) mod show;
pub(crate) mod switch;
pub(super) mod validate;
pub(super) mod watch;

/// Describes the failures of a skill in a row and its next try, or returns `None` without failures.
pub(crate) fn failure_words(failures: u32, until: Option<&str>) -> Option<String> {
    let noun = if failures == 1 {
        "failure"
    } else {
        "failures in a row"
    };
    let failed = format!("{failures} {noun}");
    match until {
        Some(until) => Some(format!("{failed}; next try at {until}")),
        None => (failures > 0).then_some(failed),
    }
}
