//! The descriptive fields of a skill as programs and people see them. Tags are apart, because listings have them too.

#![allow(missing_docs, reason = "fields are named after the JSON")]

use deft_model::Details;
use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize};

/// The descriptive fields of a skill of a file or a record.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct DetailsView {
    pub author: Option<String>,
    pub version: Option<String>,
    pub created: Option<String>,
}

impl From<Details> for DetailsView {
    fn from(details: Details) -> Self {
        // Written out, so that a new field does not compile before it is shown.
        let Details {
            tags: _,
            author,
            version,
            created,
        } = details;
        Self {
            author,
            version,
            created,
        }
    }
}

impl DetailsView {
    /// The fields with the words that people see before them.
    pub fn texts(&self) -> Vec<(&'static str, Option<&String>)> {
        let Self {
            author,
            version,
            created,
        } = self;
        vec![
            ("author", author.as_ref()),
            ("version", version.as_ref()),
            ("created", created.as_ref()),
        ]
    }
}

/// The fields, where one of them is present.
pub(crate) fn present<'de, D: Deserializer<'de>>(from: D) -> Result<Option<DetailsView>, D::Error> {
    let details = DetailsView::deserialize(from)?;
    Ok((details != DetailsView::default()).then_some(details))
}
