//! Parsing of the descriptive fields of a skill, shared by all dialects.

use deft_model::{DetailAccessor, Details};

use crate::diagnostic::Sink;
use crate::fields::DETAILS;
use crate::read::Fields;

/// Reads the descriptive fields from `fields`: the document itself, or `metadata` of a `SKILL.md`.
pub(crate) fn read(fields: &Fields<'_>, sink: &mut Sink) -> Details {
    let mut details = Details::default();
    for row in Details::ROWS {
        match row.place {
            DetailAccessor::Text(text) => *text(&mut details) = fields.text(row.key, sink),
            DetailAccessor::Texts(texts) => *texts(&mut details) = fields.texts(row.key, sink),
        }
    }
    fields.check_limits(DETAILS, || details.entries(), sink);
    details
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::fields::read_sample;

    /// Each row survives a round trip.
    #[test]
    fn all_rows_are_read_and_written() {
        let sample = |place| match place {
            DetailAccessor::Text(_) => json!("some text"),
            DetailAccessor::Texts(_) => json!(["one", "two"]),
        };
        let rows = Details::ROWS.iter();
        let given: Vec<(&str, Value)> = rows.map(|row| (row.key, sample(row.place))).collect();
        assert_eq!(read_sample(&given, read).entries(), given);
    }
}
