//! Statistics for dashboards. Nothing is written.

mod outcomes;
mod spending;
mod tools;

pub use outcomes::outcomes;
pub use spending::spending;
pub use tools::tools;

use deft_wire::Done;
use deft_wire::Failure;
use jiff::civil::Date;
use jiff::{Span, Timestamp};

use crate::app::App;

/// The default number of days.
const DAYS: u32 = 30;

/// The maximum number of days.
const MAX_DAYS: u32 = 366;

/// A range of days up to today, in the zone of deft.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Days {
    from: Date,
    to: Date,
}

impl Days {
    fn last(app: &App, days: Option<u32>) -> Done<Self> {
        let to = Timestamp::now().to_zoned(app.zone.clone()).date();
        let before = days.unwrap_or(DAYS).clamp(1, MAX_DAYS) - 1;
        let from = to.checked_sub(Span::new().days(i64::from(before)));
        let from = from.map_err(|problem| Failure::internal("engine", problem.to_string()))?;
        Ok(Self { from, to })
    }

    /// Returns the start of the first day.
    fn start(self, app: &App) -> Done<Timestamp> {
        let start = self.from.to_zoned(app.zone.clone());
        let start = start.map_err(|problem| Failure::internal("engine", problem.to_string()))?;
        Ok(start.timestamp())
    }
}
