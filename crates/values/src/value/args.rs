//! The arguments of a call, and their binding to parameters.
//!
//! Used by the functions and methods of conditions and templates.

use super::{Text, Value};
use crate::fault::{Fault, Outcome};

/// The arguments of a call.
#[derive(Clone, Default)]
pub struct Args<'a> {
    /// The arguments without names, in order.
    pub positional: Vec<Value<'a>>,
    /// The arguments with names, in order.
    pub named: Vec<(Text<'a>, Value<'a>)>,
}

impl<'a> Args<'a> {
    /// Returns arguments without names.
    pub fn from_positional(positional: Vec<Value<'a>>) -> Self {
        Args {
            positional,
            named: Vec::new(),
        }
    }

    /// Binds arguments to parameters; parameters that begin with `/` are positional-only.
    pub fn bind<const N: usize>(
        self,
        function: &str,
        params: [&str; N],
        required: usize,
    ) -> Outcome<[Option<Value<'a>>; N]> {
        let given = self.positional.len();
        if given > N {
            return Err(wrong_count(function, N, given));
        }
        let mut bound = [const { None }; N];
        for (slot, value) in bound.iter_mut().zip(self.positional) {
            *slot = Some(value);
        }
        for (name, value) in self.named {
            match params.iter().position(|param| *param == &*name) {
                Some(at) if bound[at].is_none() => bound[at] = Some(value),
                Some(_) => {
                    let message =
                        format!("{function}() got multiple values for argument '{}'", &*name);
                    return Err(Fault::type_error(message));
                }
                None => return Err(unexpected_argument(function, &name)),
            }
        }
        match bound[..required].iter().position(Option::is_none) {
            Some(at) => Err(missing_argument(function, params[at], at)),
            None => Ok(bound),
        }
    }

    /// Returns the only argument.
    pub fn one(self, function: &str) -> Outcome<Value<'a>> {
        let [value] = self.bind(function, ["/"], 1)?;
        value.ok_or_else(|| missing_argument(function, "", 0))
    }

    /// Fails if there is an argument.
    pub fn none(self, function: &str) -> Outcome<()> {
        self.bind::<0>(function, [], 0).map(|_| ())
    }

    /// Removes and returns a named argument.
    pub fn take(&mut self, name: &str) -> Option<Value<'a>> {
        let at = self.named.iter().position(|(found, _)| &**found == name)?;
        Some(self.named.swap_remove(at).1)
    }

    /// Returns the positional arguments; fails if named ones are left.
    pub fn take_positional(self, function: &str) -> Outcome<Vec<Value<'a>>> {
        match self.named.first() {
            Some((name, _)) => Err(unexpected_argument(function, name)),
            None => Ok(self.positional),
        }
    }
}

fn missing_argument(function: &str, param: &str, at: usize) -> Fault {
    let message = if param.starts_with('/') || param.is_empty() {
        format!("{function}() takes at least {} argument", at + 1)
    } else {
        format!(
            "{function}() missing required argument '{param}' (pos {})",
            at + 1
        )
    };
    Fault::type_error(message)
}

fn wrong_count(function: &str, most: usize, given: usize) -> Fault {
    let message = match most {
        0 => format!("{function}() takes no arguments ({given} given)"),
        1 => format!("{function}() takes exactly one argument ({given} given)"),
        _ => format!("{function}() takes at most {most} arguments ({given} given)"),
    };
    Fault::type_error(message)
}

fn unexpected_argument(function: &str, name: &str) -> Fault {
    Fault::type_error(format!(
        "{function}() got an unexpected keyword argument '{name}'"
    ))
}

/// Reads an integer argument.
pub fn int(value: &Value<'_>) -> Outcome<i128> {
    match value {
        Value::Int(int) => Ok(*int),
        Value::Bool(flag) => Ok(i128::from(*flag)),
        _ => {
            value.usable()?;
            let name = value.type_name();
            Err(Fault::type_error(format!(
                "'{name}' object cannot be interpreted as an integer"
            )))
        }
    }
}

/// Reads an integer argument and clamps it to the range of an `i64`.
pub fn size(value: &Value<'_>) -> Outcome<i64> {
    let int = int(value)?;
    let cut_off = if int < 0 { -i64::MAX } else { i64::MAX };
    Ok(i64::try_from(int).unwrap_or(cut_off).max(-i64::MAX))
}

/// Reads a text argument.
pub fn text<'v, 'a>(value: &'v Value<'a>, what: &str) -> Outcome<&'v Text<'a>> {
    match value {
        Value::Str(text) => Ok(text),
        _ => {
            value.usable()?;
            let name = value.type_name();
            Err(Fault::type_error(format!("{what} must be str, not {name}")))
        }
    }
}
