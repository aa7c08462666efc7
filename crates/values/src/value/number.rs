//! Arithmetic with Python's rules: floor division, true division, exact comparison.
//!
//! Integers have 128 bits. Larger integers and complex numbers require full Python.

use std::cmp::Ordering;

use super::Value;
use crate::fault::{Fault, Outcome};

/// A number in arithmetic; booleans are integers.
#[derive(Clone, Copy, Debug)]
pub enum Number {
    /// An integer.
    Int(i128),
    /// A floating-point number.
    Float(f64),
}

impl Number {
    /// Returns the number in a value; `None` for other types.
    pub fn from_value(value: &Value<'_>) -> Option<Self> {
        match value {
            Value::Bool(flag) => Some(Number::Int(i128::from(*flag))),
            Value::Int(int) => Some(Number::Int(*int)),
            Value::Float(float) => Some(Number::Float(*float)),
            _ => None,
        }
    }

    /// Converts to the nearest float.
    #[expect(
        clippy::cast_precision_loss,
        reason = "Python rounds to the nearest float as well"
    )]
    pub fn to_float(self) -> f64 {
        match self {
            Number::Int(int) => int as f64,
            Number::Float(float) => float,
        }
    }
}

/// Returns the integer equal to a float, or `None` if it has a fraction or does not fit.
#[expect(
    clippy::cast_possible_truncation,
    reason = "the range is checked before"
)]
pub fn integral(float: f64) -> Option<i128> {
    const LIMIT: f64 = 1.0e38;
    (float.fract() == 0.0 && float.abs() < LIMIT).then_some(float as i128)
}

/// The error for an integer of more than 128 bits.
#[cold]
pub fn too_big() -> Fault {
    Fault::unsupported_python("an integer beyond 128 bits")
}

#[cold]
fn zero_division(message: &str) -> Fault {
    Fault::other(message)
}

fn wide<'a>(int: Option<i128>) -> Outcome<Value<'a>> {
    int.map(Value::Int).ok_or_else(too_big)
}

pub(crate) fn add<'a>(a: Number, b: Number) -> Outcome<Value<'a>> {
    match (a, b) {
        (Number::Int(a), Number::Int(b)) => wide(a.checked_add(b)),
        _ => Ok(Value::Float(a.to_float() + b.to_float())),
    }
}

pub(crate) fn subtract<'a>(a: Number, b: Number) -> Outcome<Value<'a>> {
    match (a, b) {
        (Number::Int(a), Number::Int(b)) => wide(a.checked_sub(b)),
        _ => Ok(Value::Float(a.to_float() - b.to_float())),
    }
}

pub(crate) fn multiply<'a>(a: Number, b: Number) -> Outcome<Value<'a>> {
    match (a, b) {
        (Number::Int(a), Number::Int(b)) => wide(a.checked_mul(b)),
        _ => Ok(Value::Float(a.to_float() * b.to_float())),
    }
}

pub(crate) fn divide<'a>(a: Number, b: Number) -> Outcome<Value<'a>> {
    match (a, b) {
        (Number::Int(_), Number::Int(0)) => Err(zero_division("division by zero")),
        (Number::Int(a), Number::Int(b)) => int_ratio(a, b).map(Value::Float),
        _ if b.to_float() == 0.0 => Err(zero_division("float division by zero")),
        _ => Ok(Value::Float(a.to_float() / b.to_float())),
    }
}

/// `a / b`, rounded once; dividing two rounded floats would round three times.
#[expect(
    clippy::cast_precision_loss,
    clippy::cast_possible_wrap,
    reason = "both are small enough to be exact, or the rounding is the point"
)]
fn int_ratio(a: i128, b: i128) -> Outcome<f64> {
    const EXACT: u128 = 1 << 53;
    let (top, bottom) = (a.unsigned_abs(), b.unsigned_abs());
    if top <= EXACT && bottom <= EXACT {
        return Ok(a as f64 / b as f64);
    }
    let bits = |n: u128| 128 - n.leading_zeros();
    // The quotient gets at least 57 bits; its last bit is set if the division has a remainder.
    let shift = (57 + bits(bottom)).saturating_sub(bits(top));
    if bits(top) + shift > 127 {
        return Err(Fault::unsupported_python("dividing integers of this size"));
    }
    let scaled = top << shift;
    let quotient = (scaled / bottom) | u128::from(scaled % bottom != 0);
    let ratio = quotient as f64 * 0.5_f64.powi(shift as i32);
    Ok(if (a < 0) == (b < 0) { ratio } else { -ratio })
}

pub(crate) fn floor_divide<'a>(a: Number, b: Number) -> Outcome<Value<'a>> {
    match (a, b) {
        (Number::Int(_), Number::Int(0)) => {
            Err(zero_division("integer division or modulo by zero"))
        }
        (Number::Int(a), Number::Int(b)) => wide(int_floor(a, b)),
        _ => float_divmod(a.to_float(), b.to_float(), "float floor division by zero")
            .map(|(quotient, _)| Value::Float(quotient)),
    }
}

pub(crate) fn modulo<'a>(a: Number, b: Number) -> Outcome<Value<'a>> {
    match (a, b) {
        (Number::Int(_), Number::Int(0)) => {
            Err(zero_division("integer division or modulo by zero"))
        }
        (Number::Int(a), Number::Int(b)) => {
            let rest = a.checked_rem(b).unwrap_or(0);
            let adjust = rest != 0 && (rest < 0) != (b < 0);
            Ok(Value::Int(if adjust { rest + b } else { rest }))
        }
        _ => float_divmod(a.to_float(), b.to_float(), "float modulo")
            .map(|(_, rest)| Value::Float(rest)),
    }
}

fn int_floor(a: i128, b: i128) -> Option<i128> {
    let quotient = a.checked_div(b)?;
    let rest = a.checked_rem(b)?;
    let adjust = rest != 0 && (rest < 0) != (b < 0);
    Some(if adjust { quotient - 1 } else { quotient })
}

/// Returns quotient and remainder of floats, with the same steps as `CPython`.
fn float_divmod(a: f64, b: f64, by_zero: &str) -> Outcome<(f64, f64)> {
    if b == 0.0 {
        return Err(zero_division(by_zero));
    }
    let mut rest = a % b;
    let mut quotient = (a - rest) / b;
    if rest == 0.0 {
        rest = 0.0_f64.copysign(b);
    } else if (b < 0.0) != (rest < 0.0) {
        rest += b;
        quotient -= 1.0;
    }
    if quotient == 0.0 {
        return Ok((0.0_f64.copysign(a / b), rest));
    }
    let floor = quotient.floor();
    Ok((
        if quotient - floor > 0.5 {
            floor + 1.0
        } else {
            floor
        },
        rest,
    ))
}

pub(crate) fn power<'a>(a: Number, b: Number) -> Outcome<Value<'a>> {
    match (a, b) {
        (Number::Int(a), Number::Int(b)) if b >= 0 => int_power(a, b),
        _ => float_power(a.to_float(), b.to_float()).map(Value::Float),
    }
}

fn int_power<'a>(base: i128, exponent: i128) -> Outcome<Value<'a>> {
    match (base, u32::try_from(exponent)) {
        (0 | 1, _) if exponent > 0 => Ok(Value::Int(base)),
        (-1, _) => Ok(Value::Int(if exponent % 2 == 0 { 1 } else { -1 })),
        (_, Ok(exponent)) => wide(base.checked_pow(exponent)),
        (_, Err(_)) => Err(too_big()),
    }
}

fn float_power(base: f64, exponent: f64) -> Outcome<f64> {
    if base == 0.0 && exponent < 0.0 {
        return Err(zero_division("0.0 cannot be raised to a negative power"));
    }
    if base < 0.0 && base.is_finite() && exponent.is_finite() && exponent.fract() != 0.0 {
        return Err(Fault::unsupported_python("a complex number"));
    }
    let power = base.powf(exponent);
    if power.is_infinite() && base.is_finite() && exponent.is_finite() {
        return Err(Fault::other("(34, 'Numerical result out of range')"));
    }
    Ok(power)
}

/// Compares two numbers; `None` if one is NaN.
pub(crate) fn compare(a: Number, b: Number) -> Option<Ordering> {
    match (a, b) {
        (Number::Int(a), Number::Int(b)) => Some(a.cmp(&b)),
        (Number::Float(a), Number::Float(b)) => a.partial_cmp(&b),
        (Number::Int(a), Number::Float(b)) => int_with_float(a, b),
        (Number::Float(a), Number::Int(b)) => int_with_float(b, a).map(Ordering::reverse),
    }
}

/// Compares exactly, without rounding a large integer first.
fn int_with_float(int: i128, float: f64) -> Option<Ordering> {
    if float.is_nan() {
        return None;
    }
    match integral(float.floor()) {
        Some(floor) => Some(int.cmp(&floor).then(if float.fract() == 0.0 {
            Ordering::Equal
        } else {
            Ordering::Less
        })),
        // The float is beyond the range of integers, so only its sign counts.
        None => 0.0.partial_cmp(&float),
    }
}
