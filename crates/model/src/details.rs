//! The descriptive fields of a skill.

use serde_json::{Value, json};

/// Defines [`Details`] and its rows. Each field is one line with its key, its type and its help text.
/// `Text(80)` is a text of at most 80 characters, `Texts(80)` a list of strings of at most 80 characters each.
macro_rules! details {
    ( $( $field:ident: $takes:ident $( ( $most:literal ) )? = $help:literal ),+ $(,)? ) => {
        /// The descriptive fields of a skill. They help people to recognise and find it and do not affect how
        /// it runs.
        #[derive(Clone, Debug, Default, PartialEq, Eq)]
        pub struct Details {
            $( #[doc = $help] pub $field: details!(@type $takes), )+
        }

        impl Details {
            /// All fields, in the order in which files contain them.
            pub const ROWS: &'static [DetailRow] = &[ $( DetailRow {
                key: stringify!($field),
                help: $help,
                most: details!(@most $( $most )?),
                place: DetailAccessor::$takes(|details| &mut details.$field),
            } ),+ ];
        }
    };
    (@type Text) => { Option<String> };
    (@type Texts) => { Vec<String> };
    (@most) => { None };
    (@most $most:literal) => { Some($most) };
}

/// The definition of a descriptive field.
#[derive(Clone, Copy)]
pub struct DetailRow {
    /// The key in files.
    pub key: &'static str,
    /// One line of help for the reference.
    pub help: &'static str,
    /// Maximum number of characters of the text, or of each text.
    pub most: Option<u32>,
    /// Accessor for the value.
    pub place: DetailAccessor,
}

/// Accessor for the value of a descriptive field; the variant is the type of the field.
#[derive(Clone, Copy)]
pub enum DetailAccessor {
    /// A text.
    Text(fn(&mut Details) -> &mut Option<String>),
    /// A list of strings.
    Texts(fn(&mut Details) -> &mut Vec<String>),
}

details! {
    tags: Texts = "words to find the skill by",
    author: Text = "who wrote it",
    version: Text = "its version, in its author's words",
    created: Text = "when it was written",
}

impl Details {
    /// Returns the fields that have a value, as keys and values of a file.
    pub fn entries(&self) -> Vec<(&'static str, Value)> {
        let mut all = self.clone();
        let mut value = |place| match place {
            DetailAccessor::Text(text) => text(&mut all).take().map(|text| json!(text)),
            DetailAccessor::Texts(texts) => {
                let texts = std::mem::take(texts(&mut all));
                (!texts.is_empty()).then(|| json!(texts))
            }
        };
        let rows = Self::ROWS.iter();
        rows.filter_map(|row| Some((row.key, value(row.place)?)))
            .collect()
    }
}
