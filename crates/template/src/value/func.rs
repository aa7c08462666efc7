//! What can be called, as data.
//!
//! Calling is the evaluator's part: a lambda needs its frames.

use super::{DEEPEST, Kind, Value};
use crate::condition::ast::{Expr, Param};

pub(crate) enum Func<'a> {
    /// A lambda, with the values of its defaults and the frame it was made in.
    Lambda {
        params: &'a [Param],
        body: &'a Expr,
        defaults: Vec<Option<Value<'a>>>,
        frame: usize,
    },
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
            Func::Lambda { .. } => Kind::Lambda,
            Func::Builtin(_) | Func::Bound(..) => Kind::Builtin,
            Func::Unbound(..) => Kind::Method,
        }
    }

    pub(crate) fn depth(&self) -> u16 {
        let inner = match self {
            Func::Lambda { defaults, .. } => defaults
                .iter()
                .flatten()
                .map(Value::depth)
                .max()
                .unwrap_or(0),
            Func::Bound(receiver, _) => receiver.depth(),
            Func::Builtin(_) | Func::Unbound(..) => 0,
        };
        (inner + 1).min(DEEPEST)
    }
}
