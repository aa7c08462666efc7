//! Checks the two little languages inside YAML skills: Jinja templates and Python conditions.
//!
//! A [`Template`] is text with `{{ … }}` in it, a [`Condition`] is one Python expression. Both are
//! parsed once, and tell which names they read and whether a missing name would matter.
//!
//! This crate does not render a template or evaluate a condition, and it does not know which
//! names exist: the caller compares [`NameUse`]s with what a skill defines. Spans are byte ranges
//! in the text that was given; mapping them back into a YAML file is the caller's part.

mod condition;
mod error;
mod names;
mod template;

pub use condition::Condition;
pub use condition::ast::{
    Argument, BinaryOp, BoolOp, Clause, CompareOp, ComprehensionKind, Constant, Conversion,
    DictItem, Expr, ExprKind, FStringPart, Ident, Param, ParamKind, Target, UnaryOp,
};
pub use error::SyntaxError;
pub use names::NameUse;
pub use template::{Template, has_markup};
