//! Calls and attributes.
//!
//! In a call, a method takes precedence over a key of the same name; otherwise the key does, because tool
//! results have keys such as `items` and `count`.

use deft_values::args::Args;
use deft_values::ast::{Argument, Expr, ExprKind};
use deft_values::table::Table;
use deft_values::{Fault, Outcome};
use deft_values::{Func, Kind, Text, Value, methods};

use super::Machine;
use super::frame::word;

impl<'a> Machine<'a> {
    pub(super) fn call(&mut self, callee: &'a Expr, args: &'a [Argument]) -> Outcome<Value<'a>> {
        if let ExprKind::Attribute { value, name } = &callee.kind {
            let receiver = self.eval(value)?;
            let name = name.name.as_str();
            let Some(method) = methods::find(receiver.kind(), name) else {
                let function = self
                    .attribute(&receiver, name)
                    .map_err(|f| f.with_span(&callee.span))?;
                let args = self.arguments(args)?;
                return self.call_value(&function, args);
            };
            let args = self.arguments(args)?;
            return self.method(&receiver, method, args);
        }
        let function = self.eval(callee)?;
        let args = self.arguments(args)?;
        self.call_value(&function, args)
    }

    fn arguments(&mut self, args: &'a [Argument]) -> Outcome<Args<'a>> {
        let mut out = Args::default();
        for arg in args {
            match arg {
                Argument::Positional(value) => out.positional.push(self.eval(value)?),
                Argument::Star(value) => {
                    let value = self.eval(value)?;
                    out.positional.extend(self.drain(&value)?);
                }
                Argument::Keyword { name, value } => {
                    out.named.push((Text::Ref(&name.name), self.eval(value)?));
                }
                Argument::DoubleStar(value) => {
                    let Value::Dict(dict) = self.eval(value)? else {
                        return Err(Fault::type_error("argument after ** must be a mapping"));
                    };
                    for (key, value) in dict.iter() {
                        let Value::Str(key) = key else {
                            return Err(Fault::type_error("keywords must be strings"));
                        };
                        out.named.push((key, value));
                    }
                }
            }
        }
        match find_repeated(&out.named) {
            Some(name) => Err(Fault::type_error(format!(
                "got multiple values for keyword argument '{name}'"
            ))),
            None => Ok(out),
        }
    }

    /// Calls a method. Iterators among the arguments are drained first, because methods only accept
    /// containers.
    fn method(
        &mut self,
        receiver: &Value<'a>,
        name: &'static str,
        mut args: Args<'a>,
    ) -> Outcome<Value<'a>> {
        for arg in &mut args.positional {
            if let Value::Iter(_) = arg {
                *arg = Value::list(self.drain(arg)?)?;
            }
        }
        match (receiver, name) {
            (Value::Dict(_), "fromkeys") => from_keys(args),
            _ => methods::call(receiver, name, args, &self.budget),
        }
    }

    pub(super) fn call_value(
        &mut self,
        function: &Value<'a>,
        mut args: Args<'a>,
    ) -> Outcome<Value<'a>> {
        match function {
            Value::Type(kind) => self.construct(*kind, args),
            Value::Func(func) => match &**func {
                Func::Builtin(name) => self.builtin(name, args),
                Func::Bound(receiver, name) => self.method(receiver, name, args),
                Func::Unbound(Kind::Dict, "fromkeys") => {
                    if let Some(keys) = args.positional.first_mut() {
                        *keys = Value::list(self.drain(keys)?)?;
                    }
                    from_keys(args)
                }
                Func::Unbound(kind, name) => {
                    let fits = |value: &Value<'_>| value.kind().is_a(*kind);
                    if !args.positional.first().is_some_and(fits) {
                        let kind = kind.name();
                        return Err(Fault::type_error(format!(
                            "descriptor '{name}' needs a '{kind}' object"
                        )));
                    }
                    let receiver = args.positional.remove(0);
                    self.method(&receiver, name, args)
                }
            },
            _ => {
                function.usable()?;
                let name = function.type_name();
                Err(Fault::type_error(format!(
                    "'{name}' object is not callable"
                )))
            }
        }
    }

    /// Evaluates `value.name` outside of a call.
    pub(super) fn attribute(&self, value: &Value<'a>, name: &str) -> Outcome<Value<'a>> {
        if let Value::Secrets = value {
            return self.secret(name);
        }
        value.usable()?;
        match member(value, name) {
            Some(found) => Ok(found),
            None if name.starts_with("__") => {
                Err(Fault::unsupported_python(format!("the attribute `{name}`")))
            }
            None => Err(no_attribute(value, name)),
        }
    }
}

/// Returns the attribute of a value, or `None` if it has none with this name.
pub(super) fn member<'a>(value: &Value<'a>, name: &str) -> Option<Value<'a>> {
    let field = match (value, name) {
        (Value::Dict(dict), _) => dict.field(name),
        (Value::Type(kind), "__name__" | "__qualname__") => Some(word(kind.name())),
        (_, "__class__") => Some(Value::Type(value.kind())),
        (Value::Int(_) | Value::Float(_), "real") | (Value::Int(_), "numerator") => {
            Some(value.clone())
        }
        (Value::Int(_), "imag") => Some(Value::Int(0)),
        (Value::Float(_), "imag") => Some(Value::Float(0.0)),
        (Value::Int(_), "denominator") => Some(Value::Int(1)),
        (Value::Range(start, ..), "start") => Some(Value::Int(i128::from(*start))),
        (Value::Range(_, stop, _), "stop") => Some(Value::Int(i128::from(*stop))),
        (Value::Range(_, _, step), "step") => Some(Value::Int(i128::from(*step))),
        _ => None,
    };
    field.or_else(|| {
        let func = match value {
            Value::Type(kind) => Func::Unbound(*kind, methods::find(*kind, name)?),
            _ => Func::Bound(value.clone(), methods::find(value.kind(), name)?),
        };
        Some(Value::Func(func.into()))
    })
}

#[cold]
fn no_attribute(value: &Value<'_>, name: &str) -> Fault {
    let kind = match value {
        Value::Type(kind) => {
            let kind = kind.name();
            return Fault::type_error(format!("type object '{kind}' has no attribute '{name}'"));
        }
        _ => value.type_name(),
    };
    let fault = Fault::type_error(format!("'{kind}' object has no attribute '{name}'"));
    match value {
        Value::Dict(_) => fault.with_hint("use `.get(…)` where a key may be missing"),
        _ => fault,
    }
}

fn find_repeated<'n>(named: &'n [(Text<'_>, Value<'_>)]) -> Option<&'n str> {
    let twice = |at: usize| named[..at].iter().any(|(name, _)| *name == named[at].0);
    let at = (1..named.len()).find(|at| twice(*at))?;
    Some(&named[at].0)
}

/// `dict.fromkeys(keys, value)`.
fn from_keys(args: Args<'_>) -> Outcome<Value<'_>> {
    let [keys, value] = args.bind("fromkeys", ["/", "/"], 1)?;
    let value = value.unwrap_or(Value::None);
    let mut table = Table::default();
    if let Some(Value::List(keys)) = keys {
        for key in keys.iter() {
            table.insert(key, value.clone())?;
        }
        return Ok(table.finish());
    }
    Err(Fault::unsupported_python("`fromkeys` on this value"))
}
