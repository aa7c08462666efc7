//! The description of a request in the OpenAPI document.
//!
//! The document is a file of this crate, `openapi.json`, and a test compares it with what the types of `wire` say. So
//! only tests make schemas: in the binary they would be half a megabyte of code that runs once.

use schemars::JsonSchema;

#[cfg(test)]
pub(crate) use self::shapes::{Shape, shape};

/// The words and shapes of a request.
#[derive(Clone, Debug)]
pub(crate) struct Description {
    #[cfg(test)]
    pub(crate) summary: &'static str,
    #[cfg(test)]
    pub(crate) query: Option<Shape>,
    #[cfg(test)]
    pub(crate) body: Option<Shape>,
    #[cfg(test)]
    pub(crate) reply: Shape,
    /// The statuses of success.
    #[cfg(test)]
    pub(crate) statuses: &'static [u16],
    /// The document of a reply with status 422, where that is more than a problem.
    #[cfg(test)]
    pub(crate) refusal: Option<Shape>,
}

#[cfg_attr(
    not(test),
    expect(
        unused_variables,
        unused_mut,
        clippy::extra_unused_type_parameters,
        reason = "only tests read what is noted here"
    )
)]
impl Description {
    /// A request with a query, a body and a reply.
    pub(crate) fn new<Q, B, R>(summary: &'static str, statuses: &'static [u16]) -> Self
    where
        Q: JsonSchema + 'static,
        B: JsonSchema + 'static,
        R: JsonSchema,
    {
        Self {
            #[cfg(test)]
            summary,
            #[cfg(test)]
            query: shape::<Q>(),
            #[cfg(test)]
            body: shape::<B>(),
            #[cfg(test)]
            reply: |generator| generator.subschema_for::<R>(),
            #[cfg(test)]
            statuses,
            #[cfg(test)]
            refusal: None,
        }
    }

    /// The same with these statuses of success.
    pub(crate) fn with_statuses(mut self, statuses: &'static [u16]) -> Self {
        #[cfg(test)]
        {
            self.statuses = statuses;
        }
        self
    }

    /// The same with a document for what was tried and failed.
    pub(crate) fn with_refusal<R: JsonSchema>(mut self) -> Self {
        #[cfg(test)]
        {
            self.refusal = Some(schemars::SchemaGenerator::subschema_for::<R>);
        }
        self
    }
}

#[cfg(test)]
mod shapes {
    use std::any::TypeId;

    use schemars::generate::SchemaGenerator;
    use schemars::{JsonSchema, Schema};

    use crate::route::Nothing;

    /// Describes a type in the document.
    pub(crate) type Shape = fn(&mut SchemaGenerator) -> Schema;

    /// The shape of a query or a body; none if there is none.
    pub(crate) fn shape<T: JsonSchema + 'static>() -> Option<Shape> {
        let is_nothing = TypeId::of::<T>() == TypeId::of::<Nothing>();
        (!is_nothing).then_some(|generator: &mut SchemaGenerator| T::json_schema(generator))
    }
}
