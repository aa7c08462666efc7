//! How the values of a record are built, for the crate that corrects records before they are read.

use super::{DETAILS, Field, Kind, POLICY, RECORD};

/// How the value of a key is built.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    /// A list of texts.
    Texts,
    /// A whole number.
    Whole,
    /// True or false.
    Truth,
    /// A mapping, a list of anything else, or either.
    Structure,
    /// A text, a number with a fraction, a length of time.
    Scalar,
}

/// The keys of a record whose values have a shape, in the order of their tables.
pub fn record_keys(shape: Shape) -> impl Iterator<Item = &'static str> {
    let fields = [RECORD, DETAILS, POLICY].into_iter().flatten();
    let of_shape = fields.filter(move |field: &&Field| shape_of(&field.kind) == shape);
    of_shape.map(|field| field.name)
}

fn shape_of(kind: &Kind) -> Shape {
    match kind {
        Kind::Texts | Kind::Classes => Shape::Texts,
        Kind::Count | Kind::Positive | Kind::Integer => Shape::Whole,
        Kind::Truth => Shape::Truth,
        Kind::Any
        | Kind::Object
        | Kind::List
        | Kind::Choices
        | Kind::Loop
        | Kind::Wait
        | Kind::Table(_)
        | Kind::Open(_)
        | Kind::Tables(_) => Shape::Structure,
        Kind::Text
        | Kind::Filled
        | Kind::Name
        | Kind::Number
        | Kind::Duration
        | Kind::Cron
        | Kind::Words(_)
        | Kind::OnError => Shape::Scalar,
    }
}
