//! Functions and methods as values.
//!
//! Not here: calls, which the evaluator performs.

use super::{DEEPEST, Kind, Value};

pub(crate) enum Func<'a> {
    /// A builtin that is not a type.
    Builtin(&'static str),
    /// `"a".lower` without a call.
    Bound(Value<'a>, &'static str),
    /// `str.lower`.
    Unbound(Kind, &'static str),
}

impl Func<'_> {
    pub(crate) fn kind(&self) -> Kind {
        match self {
            Func::Builtin(_) | Func::Bound(..) => Kind::Builtin,
            Func::Unbound(..) => Kind::Method,
        }
    }

    pub(crate) fn depth(&self) -> u16 {
        let inner = match self {
            Func::Bound(receiver, _) => receiver.depth(),
            Func::Builtin(_) | Func::Unbound(..) => 0,
        };
        (inner + 1).min(DEEPEST)
    }
}
