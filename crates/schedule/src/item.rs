//! The grammar of one item in the list of a cron field.
//!
//! Not here: which values an item matches.

use std::ops::Range;

use crate::error::{Error, quote};
use crate::kind::Kind;

/// One item of a field's comma-separated list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Item {
    /// Every `step`th value from `from` to `to`; a single value is a range of one.
    Range { from: u16, to: u16, step: u16 },
    /// `L` in the day field.
    LastDay,
    /// `LW` in the day field.
    LastWorkday,
    /// `15W`: the working day nearest to the day.
    Nearest(u16),
    /// `FRI#2`, or `MON-WED#1`.
    Nth { from: u16, to: u16, nth: u16 },
    /// `FRIL`: the last such weekday of the month.
    LastWeekday(u16),
}

/// One item of a list, not yet parsed.
pub(crate) struct Part<'a> {
    pub(crate) kind: Kind,
    pub(crate) text: &'a str,
    pub(crate) span: Range<usize>,
}

impl Part<'_> {
    /// Parses the item.
    pub(crate) fn parse(&self) -> Result<Item, Error> {
        if self.text.is_empty() {
            let message = format!(
                "cron field for {} has an empty entry in its list",
                self.name()
            );
            return Err(self.error(message).hint("remove the extra comma"));
        }
        if self.text == "*" {
            let message = format!("`*` cannot be part of a list in {}", self.name());
            return Err(self
                .error(message)
                .hint("write `*` alone, or only the values you want"));
        }
        let upper = self.text.to_ascii_uppercase();
        match self.kind {
            Kind::Day => self.day(&upper),
            Kind::Weekday => self.weekday(&upper),
            Kind::Second | Kind::Minute | Kind::Hour | Kind::Month | Kind::Year => {
                self.parse_step(&upper)
            }
        }
    }

    fn day(&self, text: &str) -> Result<Item, Error> {
        match (text, text.strip_suffix('W')) {
            ("L", _) => Ok(Item::LastDay),
            ("LW", _) => Ok(Item::LastWorkday),
            (_, Some(day)) => Ok(Item::Nearest(self.value(day)?)),
            (_, None) => self.parse_step(text),
        }
    }

    fn weekday(&self, text: &str) -> Result<Item, Error> {
        if text == "L" {
            let message = "cron field `L` does not say which weekday";
            return Err(self
                .error(message)
                .hint("write `5L` for the last Friday of the month"));
        }
        if let Some(day) = text.strip_suffix("#L").or(text.strip_suffix('L')) {
            return Ok(Item::LastWeekday(self.value(day)? % 7));
        }
        let Some((days, nth)) = text.split_once('#') else {
            return self.parse_step(text);
        };
        let (from, to) = match days.split_once('-') {
            Some((from, to)) => self.bounds(from, to)?,
            None => self.value(days).map(|day| (day % 7, day % 7))?,
        };
        let Some(nth @ 1..=5) = number(nth) else {
            let message = format!("cron field {} has no such week", quote(self.text));
            return Err(self
                .error(message)
                .hint("after `#` comes the week of the month, 1 to 5"));
        };
        Ok(Item::Nth { from, to, nth })
    }

    fn parse_step(&self, text: &str) -> Result<Item, Error> {
        let Some((range, step)) = text.split_once('/') else {
            return self.range(text, 1);
        };
        let Some(step @ 1..=9999) = number(step) else {
            let message = format!(
                "cron field {} has no valid step for {}",
                quote(self.text),
                self.name()
            );
            return Err(self
                .error(message)
                .hint("after `/` comes a whole number from 1"));
        };
        let (low, high) = self.kind.range();
        if range == "*" {
            // Weekday 7 is Sunday again; a step must not reach Sunday twice.
            let to = if self.kind == Kind::Weekday { 6 } else { high };
            return Ok(Item::Range {
                from: low,
                to,
                step,
            });
        }
        if !range.contains('-') {
            let from = if range.is_empty() {
                low
            } else {
                self.value(range)?
            };
            let start = if from == low {
                "*".into()
            } else {
                format!("{from}-{high}")
            };
            let message = format!("cron field {} has a step without a range", quote(self.text));
            return Err(self.error(message).hint(format!("write `{start}/{step}`")));
        }
        self.range(range, step)
    }

    fn range(&self, text: &str, step: u16) -> Result<Item, Error> {
        let (from, to) = match text.split_once('-') {
            Some((from, to)) => self.bounds(from, to)?,
            None => self.value(text).map(|value| (value, value))?,
        };
        Ok(Item::Range { from, to, step })
    }

    fn bounds(&self, from: &str, to: &str) -> Result<(u16, u16), Error> {
        let (from, mut to) = (self.value(from)?, self.value(to)?);
        if self.kind == Kind::Weekday && to == 0 && from > 0 {
            to = 7;
        }
        if from > to {
            let message = format!("cron field {} runs backwards", quote(self.text));
            let hint = "a range goes from low to high; write two ranges with a comma";
            return Err(self.error(message).hint(hint));
        }
        Ok((from, to))
    }

    fn value(&self, text: &str) -> Result<u16, Error> {
        let named = self
            .kind
            .names()
            .iter()
            .position(|name| !text.is_empty() && *name == text);
        if let Some(value) = named.and_then(|index| u16::try_from(index).ok()) {
            return Ok(value);
        }
        let (low, high) = self.kind.range();
        if let Some(value) = number(text).filter(|value| (low..=high).contains(value)) {
            return Ok(value);
        }
        let what = if is_digits(text) {
            "is out of range for"
        } else {
            "is not valid for"
        };
        let message = format!("cron field {} {what} {}", quote(self.text), self.name());
        Err(self.error(message).hint(self.kind.hint()))
    }

    fn name(&self) -> &'static str {
        self.kind.name()
    }

    fn error(&self, message: impl Into<String>) -> Error {
        Error::new(message).with_span(self.span.clone())
    }
}

fn is_digits(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit())
}

/// Parses a number without a sign; `parse` alone would accept one.
fn number(text: &str) -> Option<u16> {
    text.parse().ok().filter(|_| is_digits(text))
}
