//! The table of descriptive fields, which every dialect has. The rows come from the model.

use deft_model::{DetailAccessor, Details};

use super::{Field, Kind, optional};

/// The descriptive fields, for listings and people.
pub(crate) const DETAILS: &[Field] = &detail_fields();

const fn detail_fields() -> [Field; Details::ROWS.len()] {
    let mut fields = [optional("", Kind::Text, ""); Details::ROWS.len()];
    let mut at = 0;
    while at < fields.len() {
        let row = Details::ROWS[at];
        let kind = match row.place {
            DetailAccessor::Text(_) => Kind::Text,
            DetailAccessor::Texts(_) => Kind::Texts,
        };
        fields[at] = Field {
            most: row.most,
            ..optional(row.key, kind, row.help)
        };
        at += 1;
    }
    fields
}
