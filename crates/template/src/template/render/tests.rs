//! The tests of Jinja2 (after `is`), with a few more names from minijinja.
//!
//! Tests of a type return false for a missing value; tests of its content fail.

use deft_values::args::{self, Args};
use deft_values::ast::{BinaryOp, CompareOp};
use deft_values::budget::Budget;
use deft_values::{Fault, Outcome};
use deft_values::{Value, compare, methods, operate, show};

use super::super::builtins;
use super::expr::holds;

/// Whether `value` passes the test.
pub(in crate::template) fn apply<'a>(
    name: &str,
    value: &Value<'a>,
    args: Args<'a>,
    budget: &Budget,
) -> Outcome<bool> {
    match name {
        "defined" => return Ok(!matches!(value, Value::Undefined(_))),
        "undefined" => return Ok(matches!(value, Value::Undefined(_))),
        _ => {}
    }
    if let Value::Secret(_) | Value::Secrets = value {
        return Err(Fault::secret());
    }
    if let Some(answer) = of_type(name, value) {
        args.none(name)?;
        return Ok(answer);
    }
    value.usable()?;
    if let Some(op) = operator(name) {
        return holds(op, value, &args.one(name)?, budget);
    }
    of_content(name, value, args, budget)
}

fn of_type(name: &str, value: &Value<'_>) -> Option<bool> {
    Some(match name {
        "none" => matches!(value, Value::None),
        "boolean" => matches!(value, Value::Bool(_)),
        "true" => matches!(value, Value::Bool(true)),
        "false" => matches!(value, Value::Bool(false)),
        "integer" | "int" => matches!(value, Value::Int(_)),
        "float" => matches!(value, Value::Float(_)),
        "number" => matches!(value, Value::Bool(_) | Value::Int(_) | Value::Float(_)),
        "string" => matches!(value, Value::Str(_)),
        "mapping" => matches!(value, Value::Dict(_)),
        "sequence" => matches!(
            value,
            Value::Str(_) | Value::List(_) | Value::Tuple(_) | Value::Dict(_) | Value::Range(..)
        ),
        "iterable" => matches!(
            value,
            Value::Str(_)
                | Value::List(_)
                | Value::Tuple(_)
                | Value::Dict(_)
                | Value::Set(_)
                | Value::View(..)
                | Value::Range(..)
        ),
        // Nothing is escaped, so no text is marked as safe.
        "escaped" | "safe" => false,
        _ => return None,
    })
}

fn operator(name: &str) -> Option<CompareOp> {
    Some(match name {
        "==" | "eq" | "equalto" => CompareOp::Equal,
        "!=" | "ne" => CompareOp::NotEqual,
        "<" | "lt" | "lessthan" => CompareOp::Less,
        "<=" | "le" => CompareOp::LessEqual,
        ">" | "gt" | "greaterthan" => CompareOp::Greater,
        ">=" | "ge" => CompareOp::GreaterEqual,
        "in" => CompareOp::In,
        _ => return None,
    })
}

fn of_content<'a>(name: &str, value: &Value<'a>, args: Args<'a>, budget: &Budget) -> Outcome<bool> {
    match name {
        "odd" | "even" => {
            args.none(name)?;
            let rest = operate::binary(BinaryOp::Modulo, value, &Value::Int(2), budget)?;
            let odd = compare::equal(&rest, &Value::Int(1), budget)?;
            let even = compare::equal(&rest, &Value::Int(0), budget)?;
            Ok(if name == "odd" { odd } else { even })
        }
        "divisibleby" => {
            let rest = operate::binary(BinaryOp::Modulo, value, &args.one(name)?, budget)?;
            compare::equal(&rest, &Value::Int(0), budget)
        }
        "sameas" => compare::identical(value, &args.one(name)?, budget),
        "lower" | "upper" => {
            args.none(name)?;
            let text = Value::str(show::to_str(value, budget)?);
            let method = if name == "lower" {
                "islower"
            } else {
                "isupper"
            };
            methods::call(&text, method, Args::default(), budget)?.truth()
        }
        "startingwith" | "endingwith" => {
            let affix = args.one(name)?;
            let text = args::text(value, "the value")?;
            let affix = args::text(&affix, "the argument")?;
            Ok(if name == "startingwith" {
                text.starts_with(&**affix)
            } else {
                text.ends_with(&**affix)
            })
        }
        "filter" | "test" => {
            args.none(name)?;
            let wanted = args::text(value, "the value")?;
            Ok(if name == "filter" {
                builtins::check_filter(wanted, 0).is_ok()
            } else {
                builtins::check_test(wanted, 0).is_ok()
            })
        }
        _ => Err(Fault::other(format!("unknown test `{name}`"))),
    }
}
