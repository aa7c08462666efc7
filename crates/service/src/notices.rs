//! Notices to people: lists them with their delivery state, and retries failed deliveries.

use deft_model::RunId;
use deft_store::{NoticeFilter, NoticeRow};
use deft_wire::notice::{NoticeBody, NoticeRetryResult, NoticeStatus, NoticeView};
use deft_wire::{Done, Failure};
use jiff::Timestamp;

use crate::app::App;
use crate::ids::LAST;
use crate::runs::read_cursor;
use crate::shape::read_stored;
use crate::store;

/// The notices of a home, newest first, in pages.
pub struct NoticePages<'a> {
    app: &'a App,
    filter: NoticeFilter,
}

/// Lists all notices, or only those whose delivery was given up.
pub fn list(app: &App, only_dead: bool) -> NoticePages<'_> {
    let filter = NoticeFilter {
        status: only_dead.then_some(deft_store::NoticeStatus::Dead),
        ..NoticeFilter::default()
    };
    NoticePages { app, filter }
}

impl NoticePages<'_> {
    /// Continues after the page that returned `cursor`.
    pub fn after_cursor(mut self, cursor: &str) -> Done<Self> {
        self.filter.before = Some(read_cursor(cursor)?);
        Ok(self)
    }

    /// Returns the cursor of the last page.
    pub fn cursor(&self) -> Option<String> {
        self.filter.before.map(|before| before.to_string())
    }

    /// Returns the next page of at most `limit` notices.
    pub fn next(&mut self, limit: u32) -> Done<Vec<NoticeView>> {
        let filter = NoticeFilter {
            limit: Some(limit),
            ..self.filter.clone()
        };
        let rows = self.app.block_on(self.app.engine.store().notices(filter));
        let rows = rows.map_err(|error| store::failure(&error))?;
        self.filter.before = rows.last().map(|row| row.id).or(self.filter.before);
        rows.iter().map(view).collect()
    }

    /// Returns the total number of notices.
    pub fn count(&self) -> Done<u64> {
        let filter = NoticeFilter {
            before: None,
            ..self.filter.clone()
        };
        let count = self.app.engine.store().count_notices(filter);
        self.app
            .block_on(count)
            .map_err(|error| store::failure(&error))
    }
}

/// Queues notices for delivery whose delivery was given up: the one named by its number or `last`, or all of
/// them.
pub fn retry(app: &App, id: Option<&str>) -> Done<NoticeRetryResult> {
    let id = id.map(|id| number(app, id)).transpose()?;
    let retried = app.engine.store().retry_notices(id, Timestamp::now());
    let queued = app
        .block_on(retried)
        .map_err(|error| store::failure(&error))?;
    match (id, queued) {
        (Some(id), 0) => {
            let message = format!("notice {id} does not exist, or its delivery has not failed");
            Err(unknown(message))
        }
        _ => Ok(NoticeRetryResult { queued }),
    }
}

/// Parses the number of a notice; `last` is the newest one whose delivery was given up.
fn number(app: &App, id: &str) -> Done<i64> {
    if id != LAST {
        let number = id.parse();
        return number.map_err(|_| unknown(format!("`{id}` is not the number of a notice")));
    }
    let newest = list(app, true).next(1)?;
    let newest = newest.first().map(|notice| notice.id);
    newest.ok_or_else(|| unknown("no notice has failed".to_owned()))
}

fn unknown(message: String) -> Failure {
    Failure::input("unknown_notice", message).hint("`deft notices list --dead` shows them")
}

fn view(row: &NoticeRow) -> Done<NoticeView> {
    let notice: NoticeBody = read_stored(&format!("notice {}", row.id), &row.body)?;
    // Notices of the `notify` tool name their run in the body.
    let run = row.run.clone().or(notice.run.as_deref().map(RunId::new));
    Ok(NoticeView {
        id: row.id,
        run,
        skill: row.skill.clone(),
        notice,
        status: status(row.status),
        attempts: row.attempts,
        receipt: row.receipt.clone(),
        error: row.error.clone(),
        at: row.at,
        next_try_at: row.try_at,
        ended_at: row.ended_at,
    })
}

fn status(status: deft_store::NoticeStatus) -> NoticeStatus {
    match status {
        deft_store::NoticeStatus::Queued => NoticeStatus::Queued,
        deft_store::NoticeStatus::Sent => NoticeStatus::Sent,
        deft_store::NoticeStatus::Dead => NoticeStatus::Dead,
    }
}
