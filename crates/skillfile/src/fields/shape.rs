//! The shapes of a record's values, for the crate that normalises records.

use super::{DETAILS, Field, Kind, POLICY, RECORD};

/// The shape of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    /// A list of strings.
    Texts,
    /// A whole number.
    Whole,
    /// A boolean.
    Truth,
    /// A mapping, or a list of anything except texts.
    Structure,
    /// A text, a decimal number or a duration.
    Scalar,
}

/// Returns the keys of a record whose values have this shape, in table order.
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
