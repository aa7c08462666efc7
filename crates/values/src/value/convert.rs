//! Conversions shared by builtins and filters: to integers, and rounding.
//!
//! Not here: conversion to text (`show`) and to JSON (`json`).

use super::number::{Number, integral, too_big};
use super::{Value, float, number, show, text};
use crate::fault::{Fault, Outcome};

/// `int(number)` of a float.
pub fn truncate<'a>(number: f64) -> Outcome<Value<'a>> {
    if number.is_nan() {
        return Err(Fault::other("cannot convert float NaN to integer"));
    }
    if number.is_infinite() {
        return Err(Fault::other("cannot convert float infinity to integer"));
    }
    integral(number.trunc()).map(Value::Int).ok_or_else(too_big)
}

/// `int(text, base)`.
pub fn parse_int<'a>(source: &str, base: i64) -> Outcome<Value<'a>> {
    if base != 0 && !(2..=36).contains(&base) {
        return Err(Fault::other("int() base must be >= 2 and <= 36, or 0"));
    }
    let invalid = || {
        let mut shown = String::new();
        show::quote(&mut shown, source, false);
        Fault::other(format!(
            "invalid literal for int() with base {base}: {shown}"
        ))
    };
    let trimmed = source.trim_matches(text::is_space);
    if !trimmed.is_ascii() {
        return Err(Fault::unsupported_python("an integer in other digits"));
    }
    let (negative, digits) = match trimmed.strip_prefix('-') {
        Some(digits) => (true, digits),
        None => (false, trimmed.strip_prefix('+').unwrap_or(trimmed)),
    };
    let (base, digits) = radix(digits, base).ok_or_else(invalid)?;
    let digits = float::without_underscores(digits).ok_or_else(invalid)?;
    if digits.is_empty() || !digits.chars().all(|c| c.is_digit(base)) {
        return Err(invalid());
    }
    let value = i128::from_str_radix(&digits, base).map_err(|_| too_big())?;
    Ok(Value::Int(if negative { -value } else { value }))
}

/// Strips a prefix such as `0x` where the base allows it, and returns the base.
fn radix(digits: &str, base: i64) -> Option<(u32, &str)> {
    let prefixed = digits.get(..2).and_then(|prefix| {
        let radix = match prefix.to_ascii_lowercase().as_str() {
            "0x" => 16,
            "0o" => 8,
            "0b" => 2,
            _ => return None,
        };
        (base == 0 || base == i64::from(radix)).then_some(radix)
    });
    match prefixed {
        Some(radix) => {
            let digits = &digits[2..];
            Some((radix, digits.strip_prefix('_').unwrap_or(digits)))
        }
        // With base 0, `010` is invalid, but `0` and `00` are valid.
        None if base == 0 => {
            let zeros = digits.starts_with('0') && digits.contains(|c| !matches!(c, '0' | '_'));
            (!zeros).then_some((10, digits))
        }
        None => u32::try_from(base).ok().map(|base| (base, digits)),
    }
}

/// `abs(value)`.
pub fn absolute<'a>(value: &Value<'a>) -> Outcome<Value<'a>> {
    match Number::from_value(value) {
        Some(Number::Int(int)) => int
            .checked_abs()
            .map(Value::Int)
            .ok_or_else(number::too_big),
        Some(Number::Float(float)) => Ok(Value::Float(float.abs())),
        None => {
            value.usable()?;
            let name = value.type_name();
            Err(Fault::type_error(format!(
                "bad operand type for abs(): '{name}'"
            )))
        }
    }
}

/// `round(value, digits)`.
pub fn round<'a>(value: &Value<'a>, digits: Option<i64>) -> Outcome<Value<'a>> {
    match (Number::from_value(value), digits) {
        (Some(Number::Int(int)), None | Some(0..)) => Ok(Value::Int(int)),
        (Some(Number::Int(int)), Some(digits)) => round_int(int, digits),
        (Some(Number::Float(float)), None) if float.is_finite() => {
            integral(float.round_ties_even())
                .map(Value::Int)
                .ok_or_else(number::too_big)
        }
        (Some(Number::Float(float)), None) => truncate(float),
        (Some(Number::Float(float)), Some(digits)) => round_float(float, digits),
        (None, _) => {
            value.usable()?;
            Err(Fault::type_error(format!(
                "type {} doesn't define __round__ method",
                value.type_name()
            )))
        }
    }
}

/// Rounds to tens, hundreds, …; a half goes to the even neighbour.
fn round_int<'a>(int: i128, digits: i64) -> Outcome<Value<'a>> {
    let places = u32::try_from(-digits).unwrap_or(u32::MAX);
    let Some(unit) = 10_i128.checked_pow(places) else {
        return Ok(Value::Int(0));
    };
    let low = int.div_euclid(unit);
    let rest = int.rem_euclid(unit);
    let twice = rest.checked_mul(2).ok_or_else(number::too_big)?;
    let up = twice > unit || (twice == unit && low % 2 != 0);
    let rounded = (low + i128::from(up)).checked_mul(unit);
    rounded.map(Value::Int).ok_or_else(number::too_big)
}

/// Rounds by the exact decimal digits, as Python does.
fn round_float<'a>(float: f64, digits: i64) -> Outcome<Value<'a>> {
    const MAX_DIGITS: i64 = 323;
    if !float.is_finite() || digits > MAX_DIGITS {
        return Ok(Value::Float(float));
    }
    match usize::try_from(digits) {
        Ok(places) => {
            let shown = format!("{float:.places$}");
            Ok(Value::Float(shown.parse().unwrap_or(float)))
        }
        Err(_) => Err(Fault::unsupported_python(
            "rounding a float to tens and more",
        )),
    }
}
