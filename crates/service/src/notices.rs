//! Messages to people: which there are, whether they arrived, and another try.

use deft_model::RunId;
use deft_store::{NoticeFilter, NoticeRow};
use deft_wire::notice::{NoticeBody, NoticeStatus, NoticeView, NoticesQueued};
use deft_wire::{Done, Failure};
use jiff::Timestamp;

use crate::app::App;
use crate::ids::LAST;
use crate::runs::read_cursor;
use crate::shape::read_stored;
use crate::store;

/// The messages of a home, newest first.
pub struct NoticePages<'a> {
    app: &'a App,
    filter: NoticeFilter,
}

/// Lists messages: all, or those that were given up.
pub fn list(app: &App, only_dead: bool) -> NoticePages<'_> {
    let filter = NoticeFilter {
        status: only_dead.then_some(deft_store::NoticeStatus::Dead),
        ..NoticeFilter::default()
    };
    NoticePages { app, filter }
}

impl NoticePages<'_> {
    /// The same list behind the page that a cursor ended.
    pub fn behind(mut self, cursor: &str) -> Done<Self> {
        self.filter.before = Some(read_cursor(cursor)?);
        Ok(self)
    }

    /// Where the last page ended.
    pub fn cursor(&self) -> Option<String> {
        self.filter.before.map(|before| before.to_string())
    }

    /// The next messages, at most so many.
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

    /// How many messages there are in all.
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

/// Sends messages again that were given up: one, by its number or `last`, or all of them.
pub fn retry(app: &App, id: Option<&str>) -> Done<NoticesQueued> {
    let id = id.map(|id| number(app, id)).transpose()?;
    let retried = app.engine.store().retry_notices(id, Timestamp::now());
    let queued = app
        .block_on(retried)
        .map_err(|error| store::failure(&error))?;
    match (id, queued) {
        (Some(id), 0) => {
            let message = format!("message {id} does not exist or was not given up");
            Err(unknown(message))
        }
        _ => Ok(NoticesQueued { queued }),
    }
}

/// The number of a message; `last` is the newest one that was given up.
fn number(app: &App, id: &str) -> Done<i64> {
    if id != LAST {
        let number = id.parse();
        return number.map_err(|_| unknown(format!("`{id}` is not the number of a message")));
    }
    let newest = list(app, true).next(1)?;
    let newest = newest.first().map(|notice| notice.id);
    newest.ok_or_else(|| unknown("no message was given up".to_owned()))
}

fn unknown(message: String) -> Failure {
    Failure::input("unknown_notice", message).hint("`deft notices list --dead` shows them")
}

fn view(row: &NoticeRow) -> Done<NoticeView> {
    let notice: NoticeBody = read_stored(&format!("message {}", row.id), &row.body)?;
    // Messages of the `notify` tool name their run in the body.
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
