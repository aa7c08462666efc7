//! Descriptive fields of a skill. Tags are separate, because lists have them too.

#![allow(missing_docs, reason = "fields are named after the JSON")]

use deft_model::Details;
use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize};

/// Defines [`DetailsView`]. Each field is one line with its key, which is also its label for people.
macro_rules! details_view {
    ( $( $field:ident ),+ $(,)? ) => {
        /// Descriptive fields of a skill from a file or of a record.
        #[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
        pub struct DetailsView {
            $( pub $field: Option<String>, )+
        }

        impl From<Details> for DetailsView {
            fn from(details: Details) -> Self {
                // Destructured, so that a new field does not compile until it is shown.
                let Details { tags: _, $( $field ),+ } = details;
                Self { $( $field ),+ }
            }
        }

        impl DetailsView {
            /// Returns the fields with their labels for people.
            pub fn texts(&self) -> Vec<(&'static str, Option<&String>)> {
                vec![ $( (stringify!($field), self.$field.as_ref()) ),+ ]
            }
        }
    };
}

details_view! {
    author,
    version,
    created,
}

/// Deserializes the fields; returns `None` if all of them are absent.
pub(crate) fn present<'de, D: Deserializer<'de>>(from: D) -> Result<Option<DetailsView>, D::Error> {
    let details = DetailsView::deserialize(from)?;
    Ok((details != DetailsView::default()).then_some(details))
}
