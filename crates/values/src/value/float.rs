//! Formatting and parsing of floats as in Python.
//!
//! Rust and Python agree on rounding and on the digits (the shortest that parse to the same number), but not
//! on when to use an exponent. Not here: formats with a width (`spec`).

/// `repr(value)`.
pub(crate) fn repr(value: f64) -> String {
    if let Some(special) = special(value) {
        return special.to_owned();
    }
    let (sign, digits, exponent) = shortest(value);
    if (-4..16).contains(&exponent) {
        let plain = plain(&digits, exponent);
        return format!("{sign}{plain}");
    }
    format!("{sign}{}", scientific(&digits, exponent, 'e'))
}

/// Returns `inf`, `-inf` or `nan`.
pub(crate) fn special(value: f64) -> Option<&'static str> {
    if value.is_nan() {
        Some("nan")
    } else if value == f64::INFINITY {
        Some("inf")
    } else if value == f64::NEG_INFINITY {
        Some("-inf")
    } else {
        None
    }
}

/// Returns sign, digits without a point, and the exponent of the first digit.
fn shortest(value: f64) -> (&'static str, String, i32) {
    let shown = format!("{:e}", value.abs());
    let sign = if value.is_sign_negative() { "-" } else { "" };
    let (digits, exponent) = split_exponent(&shown);
    (sign, digits, exponent)
}

/// Returns the digits of `d.ddde-d` without the point, and the exponent.
pub(crate) fn split_exponent(shown: &str) -> (String, i32) {
    let (mantissa, exponent) = shown.split_once('e').unwrap_or((shown, "0"));
    let digits = mantissa.chars().filter(char::is_ascii_digit).collect();
    (digits, exponent.parse().unwrap_or(0))
}

fn plain(digits: &str, exponent: i32) -> String {
    if exponent < 0 {
        let zeros = "0".repeat(exponent.unsigned_abs() as usize - 1);
        return format!("0.{zeros}{digits}");
    }
    let whole = exponent.unsigned_abs() as usize + 1;
    if digits.len() <= whole {
        let zeros = "0".repeat(whole - digits.len());
        return format!("{digits}{zeros}.0");
    }
    format!("{}.{}", &digits[..whole], &digits[whole..])
}

/// Formats digits with a point after the first one and an exponent of at least two digits.
pub(crate) fn scientific(digits: &str, exponent: i32, letter: char) -> String {
    let sign = if exponent < 0 { '-' } else { '+' };
    let exponent = exponent.unsigned_abs();
    match digits.len() {
        0 | 1 => format!("{digits}{letter}{sign}{exponent:02}"),
        _ => format!(
            "{}.{}{letter}{sign}{exponent:02}",
            &digits[..1],
            &digits[1..]
        ),
    }
}

/// `float(text)`; `None` if Python rejects it.
pub fn parse(text: &str) -> Option<f64> {
    let text = text.trim_matches(super::text::is_space);
    let text = without_underscores(text)?;
    let unsigned = text.strip_prefix(['+', '-']).unwrap_or(&text);
    let word = unsigned.to_ascii_lowercase();
    let number = match word.as_str() {
        "inf" | "infinity" => f64::INFINITY,
        "nan" => f64::NAN,
        _ if unsigned.starts_with(|c: char| c.is_ascii_digit() || c == '.') => {
            unsigned.parse().ok()?
        }
        _ => return None,
    };
    Some(if text.starts_with('-') {
        -number
    } else {
        number
    })
}

/// Removes underscores; `None` unless each is between two digits.
pub(crate) fn without_underscores(text: &str) -> Option<String> {
    let bytes = text.as_bytes();
    let digit = |at: Option<usize>| {
        at.and_then(|at| bytes.get(at))
            .is_some_and(u8::is_ascii_alphanumeric)
    };
    let fine = bytes.iter().enumerate().filter(|(_, byte)| **byte == b'_');
    for (at, _) in fine {
        if !digit(at.checked_sub(1)) || !digit(Some(at + 1)) {
            return None;
        }
    }
    Some(text.replace('_', ""))
}
