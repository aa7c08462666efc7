//! Checks of the store: disabled skills, undelivered notices, open approvals, interrupted runs, and the
//! clock.

use std::fmt::Display;
use std::sync::Arc;

use deft_model::{DisabledReason, Outcome, RunStatus};
use deft_store::{NoticeFilter, NoticeStatus, RunFilter, SkillFilter, Store};

use super::Findings;
use crate::app::App;
use crate::words::format_count;

pub(super) async fn check(app: &App, found: &mut Findings) {
    check_store(app.engine.store(), found).await;
    check_orphans(app, found).await;
    check_clock(app, found).await;
}

/// Returns the value of a read. A read that failed is a finding about `subject`.
fn readable<T, E: Display>(subject: &str, read: Result<T, E>, found: &mut Findings) -> Option<T> {
    let error = match read {
        Ok(read) => return Some(read),
        Err(error) => error,
    };
    let hint = "restore the database from a backup, or delete the row that the message names";
    found.bad("store.readable", error.to_string(), Some(hint.to_owned()));
    found.about(subject);
    None
}

async fn check_store(store: &Arc<dyn Store>, found: &mut Findings) {
    let off = |why| SkillFilter {
        disabled: Some(why),
        ..SkillFilter::default()
    };
    let failing = store.skills(off(DisabledReason::Failures)).await;
    if let Some(rows) = readable("disabled skills", failing, found)
        && !rows.is_empty()
    {
        let names: Vec<&str> = rows.iter().map(|row| row.text.skill.as_str()).collect();
        let message = format!("disabled after failures: {}", names.join(", "));
        let hint = "`deft runs list --skill NAME` shows why, `deft skills enable NAME` resets the \
             failure count";
        found.bad("skills.failing", message, Some(hint.to_owned()));
    }
    let waiting = store.skills(off(DisabledReason::MissingTools)).await;
    if let Some(rows) = readable("waiting skills", waiting, found)
        && !rows.is_empty()
    {
        let names: Vec<&str> = rows.iter().map(|row| row.text.skill.as_str()).collect();
        let message = format!("waiting for tools or a model: {}", names.join(", "));
        let hint = "`deft skills show NAME` lists the missing tools, `deft mcp add` adds servers";
        found.note("skills.waiting", message, hint);
    }
    let dead = NoticeFilter {
        status: Some(NoticeStatus::Dead),
        ..NoticeFilter::default()
    };
    if let Some(rows) = readable("notices", store.notices(dead).await, found)
        && !rows.is_empty()
    {
        let message = format!(
            "{} could not be delivered",
            format_count(rows.len(), "notice")
        );
        let hint = "`deft notices list --dead` shows why, `deft notices retry` retries";
        found.bad("notices.dead", message, Some(hint.to_owned()));
    }
    if let Some(asked) = readable("approvals", store.approvals(false).await, found)
        && !asked.is_empty()
    {
        let message = format!("waiting for approval: {}", format_count(asked.len(), "run"));
        found.note(
            "approvals.open",
            message,
            "`deft approvals list` shows them",
        );
    }
}

/// Finds runs that do not resume by themselves: interrupted ones, and those whose process has exited and that
/// wait for a daemon.
async fn check_orphans(app: &App, found: &mut Findings) {
    let store = app.engine.store();
    let ended = RunFilter {
        outcomes: vec![Outcome::Interrupted],
        ..RunFilter::default()
    };
    let running = RunFilter {
        statuses: vec![RunStatus::Running],
        ..RunFilter::default()
    };
    let Some(ended) = readable("interrupted runs", store.runs(ended).await, found) else {
        return;
    };
    let Some(mut left) = readable("running runs", store.runs(running).await, found) else {
        return;
    };
    left.retain(|row| app.engine.is_abandoned(row));
    let interrupted = format_count(ended.len() + left.len(), "run");
    let hint = match (ended.len(), left.len()) {
        (0, 0) => return,
        (_, 0) => "`deft runs list --outcome interrupted`, then `deft runs resume ID`",
        _ => {
            "`deft runs list` shows all runs; `deft up` resumes those that are `abandoned`, `deft runs resume ID` resumes any"
        }
    };
    let message = format!("{interrupted} interrupted and not resumed");
    found.note("runs.interrupted", message, hint);
}

/// Finds skills that will not fire for a long time because the clock was once ahead.
async fn check_clock(app: &App, found: &mut Findings) {
    let Some(check) = readable("slots", app.scheduler().check_clock().await, found) else {
        return;
    };
    let show = |at| deft_schedule::show(at, &app.zone);
    if let Some(first) = check.ahead.first() {
        let (skill, until) = (&first.skill, show(first.until));
        let message = format!(
            "{} scheduled far in the future because the clock was wrong: `{skill}` does not fire \
             before {until}",
            format_count(check.ahead.len(), "skill")
        );
        let hint = format!(
            "if the clock is correct now: `deft skills disable {skill}`, then `deft skills enable \
             {skill}` plans its slots from now"
        );
        found.bad("clock.agrees", message, Some(hint));
    } else if let Some(newest) = check.newest {
        let message = format!("the newest run is from {}, in the future", show(newest));
        let hint = "check the clock of this host; slots that were already handled do not run again";
        found.note("clock.agrees", message, hint);
    }
}

#[cfg(test)]
mod tests {
    use deft_wire::check::CheckStatus;

    use super::*;

    #[test]
    fn a_read_that_fails_is_a_finding() {
        let mut found = Findings::default();
        assert_eq!(readable("notices", Ok::<_, String>(1), &mut found), Some(1));
        assert_eq!(found, Findings::default());
        let damaged = Err::<i32, _>("row 4 of table `notice` is damaged");
        assert_eq!(readable("notices", damaged, &mut found), None);
        let [check] = found.0.as_slice() else {
            panic!("one finding: {found:?}");
        };
        assert_eq!(
            (check.id.as_str(), check.status),
            ("store.readable", CheckStatus::Bad)
        );
        assert_eq!(check.subject.as_deref(), Some("notices"));
        assert_eq!(check.message, "row 4 of table `notice` is damaged");
    }
}
