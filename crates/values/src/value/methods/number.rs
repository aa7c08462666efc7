//! Methods of numbers.

use crate::fault::{Fault, Outcome};
use crate::value::Value;
use crate::value::args::Args;

pub(super) fn call<'a>(
    receiver: &Value<'a>,
    name: &str,
    args: Args<'a>,
) -> Outcome<Option<Value<'a>>> {
    args.none(name)?;
    Ok(match (receiver, name) {
        (Value::Float(float), "is_integer") => Some(Value::Bool(float.fract() == 0.0)),
        (Value::Float(float), "as_integer_ratio") if !float.is_finite() => {
            return Err(Fault::other(
                "cannot convert Infinity or NaN to integer ratio",
            ));
        }
        (Value::Int(int), "bit_length") => Some(Value::Int(i128::from(
            128 - int.unsigned_abs().leading_zeros(),
        ))),
        (Value::Int(int), "bit_count") => {
            Some(Value::Int(i128::from(int.unsigned_abs().count_ones())))
        }
        (Value::Int(int), "as_integer_ratio") => {
            Some(Value::tuple(vec![Value::Int(*int), Value::Int(1)])?)
        }
        (Value::Int(_) | Value::Float(_), "conjugate") => Some(receiver.clone()),
        _ => None,
    })
}
