//! The fields of a cron expression, parsed and converted for croner.
//!
//! Not here: nicknames, time zones and the search for fires (`cron`).

use std::sync::LazyLock;

use croner::CronComponent;
use croner::errors::CronError;

use crate::error::{Error, quote, trimmed_range};
use crate::field::Field;
use crate::item::Item;
use crate::kind::Kind;

/// The year component for `*`, parsed once: croner marks 5000 years one by one, which is most of the cost of
/// parsing.
static EVERY_YEAR: LazyLock<Option<CronComponent>> = LazyLock::new(|| {
    let (first, last) = Kind::Year.range();
    let mut years = CronComponent::new(first, last, 0, 0);
    years.parse("*").is_ok().then_some(years)
});

/// The seven fields; seconds and year get defaults if omitted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Fields {
    pub(crate) second: Field,
    pub(crate) minute: Field,
    pub(crate) hour: Field,
    pub(crate) day: Field,
    pub(crate) month: Field,
    pub(crate) weekday: Field,
    pub(crate) year: Field,
}

impl Fields {
    /// Parses 5 to 7 fields.
    pub(crate) fn parse(text: &str) -> Result<Fields, Error> {
        let parts: Vec<(usize, &str)> = split(text);
        let (second, rest) = match parts.len() {
            5 => (None, &parts[..]),
            6 | 7 => (parts.first(), &parts[1..]),
            count => return Err(wrong_count(text, count)),
        };
        let field = |kind, index: usize| match rest.get(index) {
            Some((at, part)) => Field::parse(kind, part, *at),
            None => Ok(Field::any(kind)),
        };
        let second = match second {
            Some((at, part)) => Field::parse(Kind::Second, part, *at)?,
            None => Field::parse(Kind::Second, "0", 0)?,
        };
        Ok(Fields {
            second,
            minute: field(Kind::Minute, 0)?,
            hour: field(Kind::Hour, 1)?,
            day: field(Kind::Day, 2)?,
            month: field(Kind::Month, 3)?,
            weekday: field(Kind::Weekday, 4)?,
            year: field(Kind::Year, 5)?,
        })
    }

    /// Converts the fields to a croner expression.
    pub(crate) fn search(&self) -> Result<croner::Cron, CronError> {
        let mut text = String::new();
        let Fields {
            second,
            minute,
            hour,
            day,
            month,
            weekday,
            year,
        } = self;
        for field in [second, minute, hour, day, month, weekday] {
            field.write_plain(&mut text);
            text.push(' ');
        }
        let Some(every_year) = EVERY_YEAR.as_ref().filter(|_| year.any) else {
            year.write_plain(&mut text);
            return text.parse();
        };
        text.push('1');
        let mut search: croner::Cron = text.parse()?;
        search.pattern.years.clone_from(every_year);
        Ok(search)
    }

    /// Whether fires follow elapsed time: the hour is `*`, has a step, or lists every hour.
    pub(crate) fn follows_clock(&self) -> bool {
        self.hour.stepped || self.hour.values().len() == 24
    }

    /// Whether no listed month has any of the days. croner would only find this out by searching 3000 years.
    pub(crate) fn impossible(&self) -> bool {
        if self.day.any || !self.weekday.any {
            return false;
        }
        let longest = self
            .month
            .values()
            .into_iter()
            .map(longest_month)
            .max()
            .unwrap_or(31);
        self.day.items.iter().all(|item| match item {
            Item::Range { from, .. } => *from > longest,
            Item::Nearest(day) => *day > longest,
            Item::LastDay | Item::LastWorkday | Item::Nth { .. } | Item::LastWeekday(_) => false,
        })
    }
}

fn longest_month(month: u16) -> u16 {
    match month {
        2 => 29,
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

/// Splits a text into words with their byte offsets.
fn split(text: &str) -> Vec<(usize, &str)> {
    let start = text.as_ptr().addr();
    text.split_whitespace()
        .map(|part| (part.as_ptr().addr() - start, part))
        .collect()
}

fn wrong_count(text: &str, count: usize) -> Error {
    if count == 0 {
        return Error::new("cron expression is empty").hint("write five fields: `0 9 * * *`");
    }
    let span = trimmed_range(text);
    let what = if count < 5 { "too few" } else { "too many" };
    let message = format!(
        "cron expression {} has {what} fields",
        quote(&text[span.clone()])
    );
    let extra = if count < 5 {
        ""
    } else {
        " (6 with seconds first, 7 with a year last)"
    };
    let hint = format!(
        "a cron expression has 5 fields: minute hour day month weekday{extra}; this one has {count}"
    );
    Error::new(message).with_span(span).hint(hint)
}
