//! One cron field: its kind and items, and its spelling for croner.
//!
//! croner has a parser of its own, but it does not report which field is wrong, replaces names anywhere
//! (`JAN` as a minute, `1MON` as 11) and accepts fields that never match (`,`, and `7L` for weekdays).
//! Therefore fields are parsed here and passed to croner in one plain spelling. This module does not search
//! for fires and does not use time zones.

use std::fmt::Write as _;
use std::ops::Range;

use crate::error::{Error, quote};
use crate::item::{Item, Part};
use crate::kind::Kind;

/// One parsed field.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Field {
    pub(crate) kind: Kind,
    pub(crate) items: Vec<Item>,
    /// Whether the field is `*`, `?` or `*/1` and matches every value.
    pub(crate) any: bool,
    /// Whether the field contains a `*` or a step.
    pub(crate) stepped: bool,
    /// The byte range of the field in the whole text.
    pub(crate) span: Range<usize>,
}

impl Field {
    /// Parses a field that starts at byte `offset` of the whole text.
    pub(crate) fn parse(kind: Kind, text: &str, offset: usize) -> Result<Field, Error> {
        let span = offset..offset + text.len();
        let day = matches!(kind, Kind::Day | Kind::Weekday);
        if text == "*" || text == "*/1" || (text == "?" && day) {
            return Ok(Field {
                span,
                ..Field::any(kind)
            });
        }
        let mut items = Vec::new();
        let mut at = offset;
        for part in text.split(',') {
            // An empty entry has no span, so the error points at the whole field.
            let place = if part.is_empty() {
                span.clone()
            } else {
                at..at + part.len()
            };
            items.push(
                Part {
                    kind,
                    text: part,
                    span: place,
                }
                .parse()?,
            );
            at += part.len() + 1;
        }
        if items.contains(&Item::LastDay) && items.contains(&Item::LastWorkday) {
            // croner would silently drop the `L`.
            let message = format!("cron field {} names both `L` and `LW`", quote(text));
            return Err(Error::new(message).with_span(span).hint("keep one of them"));
        }
        let stepped = text.contains('/');
        Ok(Field {
            kind,
            items,
            any: false,
            stepped,
            span,
        })
    }

    /// Returns the field that matches everything.
    pub(crate) fn any(kind: Kind) -> Field {
        let (from, to) = kind.range();
        let items = vec![Item::Range { from, to, step: 1 }];
        Field {
            kind,
            items,
            any: true,
            stepped: true,
            span: 0..0,
        }
    }

    /// Returns the plain values in order, without items that depend on the month (`L`, `W`, `#`).
    pub(crate) fn values(&self) -> Vec<u16> {
        let mut values = Vec::new();
        for item in &self.items {
            if let Item::Range { from, to, step } = *item {
                values.extend((from..=to).step_by(usize::from(step)));
            }
        }
        if self.kind == Kind::Weekday {
            // Both 0 and 7 are Sunday.
            for value in &mut values {
                *value %= 7;
            }
        }
        values.sort_unstable();
        values.dedup();
        values
    }

    /// Appends the field to `out` in a spelling that croner interprets in the same way as deft.
    pub(crate) fn write_plain(&self, out: &mut String) {
        if self.any {
            out.push('*');
            return;
        }
        for (i, item) in self.items.iter().enumerate() {
            if i > 0 {
                out.push(',');
            }
            // Writing to a string does not fail.
            let _ok = match item {
                Item::Range { from, to, step: 1 } if from == to => write!(out, "{from}"),
                Item::Range { from, to, step } if from == to => write!(out, "{from}-{to}/{step}"),
                Item::Range { from, to, step: 1 } => write!(out, "{from}-{to}"),
                Item::Range { from, to, step } => write!(out, "{from}-{to}/{step}"),
                Item::LastDay => write!(out, "L"),
                Item::LastWorkday => write!(out, "LW"),
                Item::Nearest(day) => write!(out, "{day}W"),
                Item::Nth { from, to, nth } if from == to => write!(out, "{from}#{nth}"),
                Item::Nth { from, to, nth } => write!(out, "{from}-{to}#{nth}"),
                // croner does not accept 7 as Sunday here, so the value is already 0 to 6.
                Item::LastWeekday(day) => write!(out, "{day}L"),
            };
        }
    }
}
