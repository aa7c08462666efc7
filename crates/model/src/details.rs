//! What people read about a skill.

use serde_json::{Value, json};

/// Defines [`Details`] and its rows: a field is one line, with its key, what it takes, and what it is for. `Text(80)`
/// takes at most 80 characters, and `Texts(80)` texts of at most 80.
macro_rules! details {
    ( $( $field:ident: $takes:ident $( ( $most:literal ) )? = $help:literal ),+ $(,)? ) => {
        /// The descriptive fields of a skill: people see them and find the skill by them; they do not decide how it
        /// runs.
        #[derive(Clone, Debug, Default, PartialEq, Eq)]
        pub struct Details {
            $( #[doc = $help] pub $field: details!(@type $takes), )+
        }

        impl Details {
            /// All fields, in the order in which files have them.
            pub const ROWS: &'static [DetailRow] = &[ $( DetailRow {
                key: stringify!($field),
                help: $help,
                most: details!(@most $( $most )?),
                place: DetailPlace::$takes(|details| &mut details.$field),
            } ),+ ];
        }
    };
    (@type Text) => { Option<String> };
    (@type Texts) => { Vec<String> };
    (@most) => { None };
    (@most $most:literal) => { Some($most) };
}

/// A descriptive field.
#[derive(Clone, Copy)]
pub struct DetailRow {
    /// Its key in files.
    pub key: &'static str,
    /// What it is for, in a line of the reference.
    pub help: &'static str,
    /// The most characters of its text, or of each of its texts.
    pub most: Option<u32>,
    /// Where its value is kept.
    pub place: DetailPlace,
}

/// Where the value of a descriptive field is kept, and so what the field takes.
#[derive(Clone, Copy)]
pub enum DetailPlace {
    /// A text.
    Text(fn(&mut Details) -> &mut Option<String>),
    /// A list of texts.
    Texts(fn(&mut Details) -> &mut Vec<String>),
}

details! {
    tags: Texts = "words to find the skill by",
    author: Text = "who wrote it",
    version: Text = "its version, in its author's words",
    created: Text = "when it was written",
}

impl Details {
    /// The fields that say something, as the keys and values of a file.
    pub fn entries(&self) -> Vec<(&'static str, Value)> {
        let mut all = self.clone();
        let mut value = |place| match place {
            DetailPlace::Text(text) => text(&mut all).take().map(|text| json!(text)),
            DetailPlace::Texts(texts) => {
                let texts = std::mem::take(texts(&mut all));
                (!texts.is_empty()).then(|| json!(texts))
            }
        };
        let rows = Self::ROWS.iter();
        rows.filter_map(|row| Some((row.key, value(row.place)?)))
            .collect()
    }
}
