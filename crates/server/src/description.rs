//! Description of a request in the OpenAPI document.
//!
//! The document is a file in this crate, `openapi.json`, and a test compares it with the types of `wire`.
//! Therefore only tests generate schemas: in the binary, that code would take half a megabyte and run once.

use schemars::JsonSchema;

#[cfg(test)]
pub(crate) use self::shapes::{Shape, shape};

/// Summary and JSON types of a request.
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
    /// Success statuses.
    #[cfg(test)]
    pub(crate) statuses: &'static [u16],
    /// Body of a response with status 422, if it can be more than a problem.
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
    /// Describes a request with a query, a body and a response.
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

    /// Replaces the success statuses.
    pub(crate) fn with_statuses(mut self, statuses: &'static [u16]) -> Self {
        #[cfg(test)]
        {
            self.statuses = statuses;
        }
        self
    }

    /// Sets the body of a response with status 422, for operations that were tried and failed.
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

    /// Generates the schema of a type.
    pub(crate) type Shape = fn(&mut SchemaGenerator) -> Schema;

    /// Returns the schema generator of a query or a body; `None` for [`Nothing`].
    pub(crate) fn shape<T: JsonSchema + 'static>() -> Option<Shape> {
        let is_nothing = TypeId::of::<T>() == TypeId::of::<Nothing>();
        (!is_nothing).then_some(|generator: &mut SchemaGenerator| T::json_schema(generator))
    }
}
