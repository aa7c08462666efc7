//! The two small languages inside YAML skills: Jinja templates and Python conditions.
//!
//! A [`Template`] is text with `{{ … }}`, a [`Condition`] is one Python expression. Both are parsed once,
//! report which names they read and whether a missing name would matter, and can be rendered or evaluated
//! repeatedly against a [`Scope`]. Both use Python values.
//!
//! The caller knows which names exist: it compares the [`NameUse`]s with the names that a skill defines, and
//! provides their values at run time. This crate has no clock, file access or interpreter. Expressions that
//! require full Python are errors of the kind [`EvalKind::Unsupported`]; the caller can pass these to the
//! sandbox. Secrets are represented by placeholders; this crate never gets their contents. Spans are byte
//! ranges in the given text; the caller maps them to positions in a YAML file.

#![expect(
    clippy::wildcard_enum_match_arm,
    reason = "as in Python, an operation names the kinds it accepts and refuses all others, also new ones"
)]

mod condition;
mod error;
mod markup;
mod names;
mod scope;
mod template;

pub use condition::Condition;
pub use deft_values::ast::{
    Argument, BinaryOp, BoolOp, Clause, CompareOp, ComprehensionKind, Constant, Conversion,
    DictItem, Expr, ExprKind, FStringPart, Ident, Param, ParamKind, Target, UnaryOp,
};
pub use deft_values::{EvalError, EvalKind};
pub use error::{SyntaxError, house_style};
pub use markup::has_markup;
pub use names::NameUse;
pub use scope::{Lookup, Member, Scope};
pub use template::Template;
