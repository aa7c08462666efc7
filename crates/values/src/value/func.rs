//! Functions and methods as values.
//!
//! Not here: calls, which the evaluator performs.

use super::{Kind, MAX_VALUE_DEPTH, Value};

/// A function or method that can be called.
pub enum Func<'a> {
    /// A builtin that is not a type.
    Builtin(&'static str),
    /// `"a".lower` without a call.
    Bound(Value<'a>, &'static str),
    /// `str.lower`.
    Unbound(Kind, &'static str),
}

impl Func<'_> {
    /// Returns the type.
    pub fn kind(&self) -> Kind {
        match self {
            Func::Builtin(_) | Func::Bound(..) => Kind::Builtin,
            Func::Unbound(..) => Kind::Method,
        }
    }

    /// The number of levels of containers in it.
    pub fn depth(&self) -> u16 {
        let inner = match self {
            Func::Bound(receiver, _) => receiver.depth(),
            Func::Builtin(_) | Func::Unbound(..) => 0,
        };
        (inner + 1).min(MAX_VALUE_DEPTH)
    }
}
