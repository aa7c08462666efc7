//! Name lookup during evaluation: frames, the scope, builtins.
//!
//! Frames are stored in one list and referred to by index, so that a generator that holds its own frame
//! creates no reference cycle. A frame is dropped when no value created in it can outlive it.

use deft_values::ast::{Constant, Expr, ExprKind, Target};
use deft_values::{Fault, Outcome};
use deft_values::{Func, Kind, Text, Value};

use super::Machine;
use crate::condition::names;
use crate::scope::{Lookup, Member};

pub(super) struct Frame<'a> {
    vars: Vec<(&'a str, Value<'a>)>,
    parent: Option<usize>,
    /// Whether it belongs to a comprehension; `:=` skips such frames.
    comprehension: bool,
}

impl Frame<'_> {
    pub(super) fn root() -> Self {
        Frame {
            vars: Vec::new(),
            parent: None,
            comprehension: false,
        }
    }
}

impl<'a> Machine<'a> {
    /// Opens a frame inside `parent` and returns its index.
    pub(super) fn open_frame(&mut self, parent: usize, comprehension: bool) -> usize {
        self.frames.push(Frame {
            vars: Vec::new(),
            parent: Some(parent),
            comprehension,
        });
        self.frames.len() - 1
    }

    /// Drops a frame, unless functions or generators were created since `captures` was read.
    pub(super) fn close_frame(&mut self, frame: usize, captures: usize) {
        if self.captures == captures {
            self.frames.truncate(frame);
        }
    }

    pub(super) fn set(&mut self, frame: usize, name: &'a str, value: Value<'a>) {
        let vars = &mut self.frames[frame].vars;
        match vars.iter_mut().find(|(known, _)| *known == name) {
            Some((_, slot)) => *slot = value,
            None => vars.push((name, value)),
        }
    }

    /// Evaluates `name := value`, which assigns outside of the enclosing comprehensions.
    pub(super) fn assign(&mut self, name: &'a str, value: Value<'a>) {
        let mut frame = self.frame;
        while self.frames[frame].comprehension
            && let Some(parent) = self.frames[frame].parent
        {
            frame = parent;
        }
        self.set(frame, name, value);
    }

    pub(super) fn name(&self, name: &'a str) -> Value<'a> {
        let mut frame = Some(self.frame);
        while let Some(at) = frame {
            let vars = &self.frames[at].vars;
            if let Some((_, value)) = vars.iter().find(|(known, _)| *known == name) {
                return value.clone();
            }
            frame = self.frames[at].parent;
        }
        match self.slots.get(name, self.scope) {
            Lookup::Value(json) => Value::from_json(json),
            Lookup::Absent => Value::None,
            Lookup::Unknown => unknown(name),
        }
    }

    /// Whether a path goes through a step or an input without a value. As in templates, the rest of such a
    /// path evaluates to `None`.
    pub(super) fn is_absent(&self, expr: &'a Expr) -> bool {
        let (owner, member) = match &expr.kind {
            ExprKind::Name(name) => return self.is_absent_name(name),
            ExprKind::Attribute { value, name } => (value, Some(name.name.as_str())),
            ExprKind::Subscript { value, index } => match &index.kind {
                ExprKind::Constant(Constant::Str(key)) => (value, Some(key.as_str())),
                _ => (value, None),
            },
            _ => return false,
        };
        let of_name = match (&owner.kind, member) {
            (ExprKind::Name(name), Some(member)) => {
                !self.is_bound(name) && self.scope.member(name, member) == Member::Absent
            }
            _ => false,
        };
        of_name || self.is_absent(owner)
    }

    /// Whether `member` of a name means the value of the name itself, as in `step.result`.
    pub(super) fn is_itself(&self, owner: &Expr, value: &Value<'a>, member: &str) -> bool {
        let ExprKind::Name(name) = &owner.kind else {
            return false;
        };
        let held = matches!(value, Value::Dict(dict) if dict.field(member).is_some());
        !held && !self.is_bound(name) && self.scope.member(name, member) == Member::Itself
    }

    fn is_absent_name(&self, name: &str) -> bool {
        let known = matches!(self.slots.get(name, self.scope), Lookup::Absent);
        known && !self.is_bound(name)
    }

    /// Whether the condition itself binds `name`.
    fn is_bound(&self, name: &str) -> bool {
        let mut frames = self.frames.iter().flat_map(|frame| &frame.vars);
        frames.any(|(known, _)| *known == name)
    }

    /// Returns the error for reading a secret: conditions must not read secrets, and unknown ones get their
    /// own message.
    pub(super) fn secret(&self, name: &str) -> Outcome<Value<'a>> {
        if self.scope.secret(name).is_some() {
            return Err(Fault::secret());
        }
        Err(
            Fault::undefined_name(name, format!("unknown secret `{name}`"))
                .with_hint("declare it under `secrets:`"),
        )
    }

    /// Binds the target of a comprehension.
    pub(super) fn bind(
        &mut self,
        frame: usize,
        target: &'a Target,
        value: Value<'a>,
    ) -> Outcome<()> {
        match target {
            Target::Name(ident) => {
                self.set(frame, &ident.name, value);
                Ok(())
            }
            Target::Tuple(targets) => self.unpack(frame, targets, &value),
            Target::Starred(inner) => self.bind(frame, inner, value),
        }
    }

    fn unpack(&mut self, frame: usize, targets: &'a [Target], value: &Value<'a>) -> Outcome<()> {
        let mut items = self.drain(value).map_err(|fault| match value {
            Value::None | Value::Int(_) | Value::Float(_) | Value::Bool(_) => Fault::type_error(
                format!("cannot unpack non-iterable {} object", value.type_name()),
            ),
            _ => fault,
        })?;
        let star = targets
            .iter()
            .position(|target| matches!(target, Target::Starred(_)));
        let (given, wanted) = (items.len(), targets.len());
        let fits = match star {
            Some(_) => given + 1 >= wanted,
            None => given == wanted,
        };
        if !fits {
            return Err(count_mismatch(given, wanted, star.is_some()));
        }
        if let Some(at) = star {
            let rest: Vec<_> = items.drain(at..at + given + 1 - wanted).collect();
            items.insert(at, Value::list(rest)?);
        }
        for (target, item) in targets.iter().zip(items) {
            self.bind(frame, target, item)?;
        }
        Ok(())
    }
}

fn count_mismatch(given: usize, wanted: usize, star: bool) -> Fault {
    Fault::other(if star {
        let least = wanted - 1;
        format!("not enough values to unpack (expected at least {least}, got {given})")
    } else if given > wanted {
        format!("too many values to unpack (expected {wanted})")
    } else {
        format!("not enough values to unpack (expected {wanted}, got {given})")
    })
}

/// Returns the value of a name that is neither bound nor in the scope: a builtin, `secrets`, or `None`.
fn unknown(name: &str) -> Value<'_> {
    if let Some(kind) = Kind::builtin(name) {
        return Value::Type(kind);
    }
    match names::builtin(name) {
        Some(builtin) => Value::Func(Func::Builtin(builtin).into()),
        None if name == "secrets" => Value::Secrets,
        None => Value::None,
    }
}

/// Returns a string value for a static text.
pub(super) fn word<'a>(text: &'static str) -> Value<'a> {
    Value::Str(Text::Ref(text))
}
