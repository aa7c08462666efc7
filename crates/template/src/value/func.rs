//! What can be called, as data.
//!
//! Calling is the evaluator's part.

use super::{DEEPEST, Kind, Value};

pub(crate) enum Func<'a> {
    /// A builtin that is no type.
    Builtin(&'static str),
    /// `"a".lower`, not called yet.
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
