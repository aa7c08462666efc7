//! The two little languages inside YAML skills: Jinja templates and Python conditions.
//!
//! A [`Template`] is text with `{{ … }}` in it, a [`Condition`] is one Python expression. Both are
//! parsed once, tell which names they read and whether a missing name would matter, and are
//! rendered or evaluated as often as needed against a [`Scope`]. Values are Python's in both.
//!
//! This crate does not know which names exist: the caller compares [`NameUse`]s with what a skill
//! defines, and answers for them at run time. It has no clock, no files and no interpreter; what
//! only a full Python can do is an error of the kind [`EvalKind::Unsupported`], for the caller to
//! hand on. Secrets are placeholders here, and their contents never come in. Spans are byte ranges
//! in the text that was given; mapping them back into a YAML file is the caller's part.

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
