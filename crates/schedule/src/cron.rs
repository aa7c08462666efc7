//! Cron expressions: parsing, validation, and the next fire in a time zone.
//!
//! croner only searches plain wall time; time zones are handled here. croner's own zoned search treats an
//! expression as fixed only if hour, minute and second are single values, so `0 2,14 * * *` would lose its
//! 02:00 in a gap and fire twice in a fold. It also fails on gaps longer than two hours. The description in
//! words is in `words`, and counting without a search in `count`.

use std::fmt;
use std::ops::Range;
use std::sync::Arc;

use jiff::Timestamp;
use jiff::civil::DateTime;
use jiff::tz::TimeZone;

use crate::error::{Error, quote, trimmed_range};
use crate::fields::Fields;
use crate::words;
use crate::zone::{resolve, second_run_ends};

/// A cron expression; cheap to clone.
#[derive(Clone, PartialEq, Eq)]
pub struct Cron(Arc<ParsedCron>);

#[derive(PartialEq, Eq)]
struct ParsedCron {
    text: String,
    fields: Fields,
    follows_clock: bool,
    impossible: bool,
    search: croner::Cron,
}

impl Cron {
    /// Parses an expression with 5 fields, 6 with leading seconds, 7 with a trailing year, or a nickname.
    pub fn parse(text: &str) -> Result<Cron, Error> {
        let whole = trimmed_range(text);
        let fields = match text[whole.clone()].strip_prefix('@') {
            Some(_) => Fields::parse(nickname(&text[whole.clone()], &whole)?)?,
            None => Fields::parse(text)?,
        };
        let search = fields.search().map_err(|error| {
            let message = format!(
                "cron expression {} is not valid",
                quote(&text[whole.clone()])
            );
            Error::new(message)
                .with_span(whole.clone())
                .hint(error.to_string())
        })?;
        Ok(Cron(Arc::new(ParsedCron {
            text: text[whole].to_owned(),
            follows_clock: fields.follows_clock(),
            impossible: fields.impossible(),
            fields,
            search,
        })))
    }

    /// Returns the expression as written, trimmed.
    pub fn as_str(&self) -> &str {
        &self.0.text
    }

    /// Returns an error if the expression has no fire after `now`.
    pub fn check(&self, zone: &TimeZone, now: Timestamp) -> Result<(), Error> {
        let error = || {
            Error::new(format!(
                "cron expression {} never fires",
                quote(&self.0.text)
            ))
        };
        if self.0.impossible {
            let hint = "no month it names has such a day";
            return Err(error().with_span(self.0.fields.day.span.clone()).hint(hint));
        }
        if self.next_after(zone, now).is_some() {
            return Ok(());
        }
        if self.0.fields.year.any {
            return Err(error().hint("no date matches all of its fields"));
        }
        let span = self.0.fields.year.span.clone();
        Err(error()
            .with_span(span)
            .hint("no future date in the given years matches"))
    }

    /// Returns the first fire later than `after`.
    pub fn next_after(&self, zone: &TimeZone, after: Timestamp) -> Option<Timestamp> {
        if self.impossible() {
            None
        } else if self.follows_clock() {
            self.next_on_clock(zone, after)
        } else {
            self.next_fixed(zone, after)
        }
    }

    /// Returns a description of the expression in English.
    pub fn words(&self) -> String {
        words::cron(&self.0.fields)
    }

    pub(crate) fn fields(&self) -> &Fields {
        &self.0.fields
    }

    /// Whether the expression fires at every matching instant (a step or `*` as the hour), as opposed to at
    /// fixed times of day.
    pub(crate) fn follows_clock(&self) -> bool {
        self.0.follows_clock
    }

    pub(crate) fn impossible(&self) -> bool {
        self.0.impossible
    }

    /// Returns the next fire at a fixed time of day: a skipped time fires at the end of the gap, a repeated
    /// time at its first occurrence.
    fn next_fixed(&self, zone: &TimeZone, after: Timestamp) -> Option<Timestamp> {
        let offset = zone.to_offset(after);
        let mut wall = match second_run_ends(zone, after, offset) {
            Some(end) => self.next_wall(end, true)?,
            None => self.next_wall(offset.to_datetime(after), false)?,
        };
        loop {
            // All times in a gap share one instant, so the next wall time may resolve to this fire too.
            let fire = resolve(zone, wall)?;
            if fire > after {
                return Some(fire);
            }
            wall = self.next_wall(wall, false)?;
        }
    }

    /// Returns the next instant with a matching wall time; searches one period of constant offset after
    /// another.
    fn next_on_clock(&self, zone: &TimeZone, after: Timestamp) -> Option<Timestamp> {
        let mut offset = zone.to_offset(after);
        let mut from = offset.to_datetime(after);
        let mut wall = self.next_wall(from, false);
        for change in zone.following(after) {
            let fire = wall.and_then(|wall| offset.to_timestamp(wall).ok());
            if fire.is_some_and(|fire| fire < change.timestamp()) {
                return fire;
            }
            offset = change.offset();
            let start = offset.to_datetime(change.timestamp());
            // Nothing matches between `from` and `wall`, so most clock changes need no new search.
            let known = start > from && wall.is_none_or(|wall| start <= wall);
            if !known {
                from = start;
                wall = self.next_wall(start, true);
            }
            wall?;
        }
        offset.to_timestamp(wall?).ok()
    }

    /// Returns the next matching wall time, ignoring clock changes.
    pub(crate) fn next_wall(&self, from: DateTime, inclusive: bool) -> Option<DateTime> {
        self.0.search.find_next_occurrence(&from, inclusive).ok()
    }
}

/// Prints only the text: croner's tables would fill thousands of lines.
impl fmt::Debug for Cron {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Cron").field(&self.0.text).finish()
    }
}

/// Returns the fields of a nickname such as `@daily`.
fn nickname(name: &str, span: &Range<usize>) -> Result<&'static str, Error> {
    match name.to_ascii_lowercase().as_str() {
        "@yearly" | "@annually" => Ok("0 0 1 1 *"),
        "@monthly" => Ok("0 0 1 * *"),
        "@weekly" => Ok("0 0 * * 0"),
        "@daily" | "@midnight" => Ok("0 0 * * *"),
        "@hourly" => Ok("0 * * * *"),
        _ => Err(Error::new(format!("unknown cron nickname {}", quote(name)))
            .with_span(span.clone())
            .hint("there are @yearly, @monthly, @weekly, @daily and @hourly")),
    }
}
