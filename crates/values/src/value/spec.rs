//! `format(value, spec)`: format specs of f-strings and `str.format`.
//!
//! Formats that depend on a locale (`n`) and extreme precisions require full Python.

use super::budget::Budget;
use super::number::Number;
use super::{Value, float, show};
use crate::fault::{Fault, Outcome};

/// More digits than any number needs.
const MAX_DIGITS: usize = 1_000;

/// A parsed format spec.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Spec {
    pub(crate) fill: Option<char>,
    pub(crate) align: Option<char>,
    pub(crate) sign: Option<char>,
    pub(crate) alternate: bool,
    pub(crate) zero: bool,
    pub(crate) width: usize,
    pub(crate) group: Option<char>,
    pub(crate) precision: Option<usize>,
    pub(crate) kind: Option<char>,
}

/// `format(value, spec)`.
pub fn apply(value: &Value<'_>, text: &str, budget: &Budget) -> Outcome<String> {
    if text.is_empty() {
        return show::to_str(value, budget);
    }
    let spec = parse(text, value)?;
    budget.make(
        spec.width
            .saturating_add(spec.precision.unwrap_or(0))
            .saturating_mul(4),
    )?;
    match value {
        Value::Str(text) => string(text, &spec),
        Value::Bool(flag) => int(i128::from(*flag), &spec),
        Value::Int(value) => int(*value, &spec),
        Value::Float(value) => number_text(*value, &spec).map(|text| padded_number(&text, &spec)),
        _ => {
            value.usable()?;
            let name = value.type_name();
            Err(Fault::type_error(format!(
                "unsupported format string passed to {name}.__format__"
            )))
        }
    }
}

fn parse(text: &str, value: &Value<'_>) -> Outcome<Spec> {
    let mut spec = Spec::default();
    let chars: Vec<char> = text.chars().collect();
    let mut rest = chars.as_slice();
    let is_align = |c: &char| matches!(c, '<' | '>' | '^' | '=');
    match rest {
        [fill, align, tail @ ..] if is_align(align) => {
            (spec.fill, spec.align, rest) = (Some(*fill), Some(*align), tail);
        }
        [align, tail @ ..] if is_align(align) => (spec.align, rest) = (Some(*align), tail),
        _ => {}
    }
    if let [sign @ ('+' | '-' | ' '), tail @ ..] = rest {
        (spec.sign, rest) = (Some(*sign), tail);
    }
    if let ['z', ..] = rest {
        return Err(Fault::unsupported_python("the format option `z`"));
    }
    if let ['#', tail @ ..] = rest {
        (spec.alternate, rest) = (true, tail);
    }
    if let ['0', tail @ ..] = rest {
        (spec.zero, rest) = (true, tail);
    }
    (spec.width, rest) = digits(rest)?;
    if let [group @ (',' | '_'), tail @ ..] = rest {
        (spec.group, rest) = (Some(*group), tail);
    }
    if let ['.', tail @ ..] = rest {
        if !tail.first().is_some_and(char::is_ascii_digit) {
            return Err(Fault::other("Format specifier missing precision"));
        }
        let (precision, tail) = digits(tail)?;
        (spec.precision, rest) = (Some(precision), tail);
    }
    match rest {
        [] => {}
        [kind] => spec.kind = Some(*kind),
        _ => {
            let name = value.type_name();
            return Err(Fault::other(format!(
                "invalid format specifier `{text}` for object of type '{name}'"
            )));
        }
    }
    Ok(spec)
}

fn digits(text: &[char]) -> Outcome<(usize, &[char])> {
    let len = text.iter().take_while(|c| c.is_ascii_digit()).count();
    let shown: String = text[..len].iter().collect();
    let number = match shown.as_str() {
        "" => 0,
        digits => digits
            .parse()
            .map_err(|_| Fault::other("Too many decimal digits in format string"))?,
    };
    Ok((number, &text[len..]))
}

fn unknown(kind: char, name: &str) -> Fault {
    if kind == 'n' {
        return Fault::unsupported_python("the format code `n`");
    }
    Fault::other(format!(
        "unknown format code '{kind}' for object of type '{name}'"
    ))
}

fn string(text: &str, spec: &Spec) -> Outcome<String> {
    if let Some(kind) = spec.kind
        && kind != 's'
    {
        return Err(unknown(kind, "str"));
    }
    let wrong = match spec {
        Spec { sign: Some(_), .. } => Some("sign not allowed in string format specifier"),
        Spec {
            alternate: true, ..
        } => Some("alternate form (#) not allowed in string format specifier"),
        Spec { group: Some(_), .. } => Some("cannot specify ',' or '_' with 's'"),
        Spec {
            align: Some('='), ..
        } => Some("'=' alignment not allowed in string format specifier"),
        _ => None,
    };
    if let Some(message) = wrong {
        return Err(Fault::other(message));
    }
    let cut = match spec.precision {
        Some(most) => &text[..super::text::byte_of(text, most)],
        None => text,
    };
    let fill = spec.fill.unwrap_or(if spec.zero { '0' } else { ' ' });
    Ok(pad(cut, fill, spec.align.unwrap_or('<'), spec.width))
}

/// Pads to a width; callers with signs handle `=`.
pub(crate) fn pad(text: &str, fill: char, align: char, width: usize) -> String {
    let missing = width.saturating_sub(super::text::char_len(text));
    let left = match align {
        '<' => 0,
        '^' => missing / 2,
        _ => missing,
    };
    let mut out = String::with_capacity(text.len() + missing * fill.len_utf8());
    out.extend(std::iter::repeat_n(fill, left));
    out.push_str(text);
    out.extend(std::iter::repeat_n(fill, missing - left));
    out
}

/// A number as sign, prefix such as `0x`, digits, and the rest.
#[derive(Default)]
pub(crate) struct Pieces {
    pub(crate) negative: bool,
    pub(crate) prefix: &'static str,
    pub(crate) whole: String,
    pub(crate) rest: String,
}

#[expect(clippy::cast_precision_loss, reason = "a float format shows a float")]
fn int(value: i128, spec: &Spec) -> Outcome<String> {
    let digits = value.unsigned_abs();
    let (prefix, whole) = match spec.kind {
        None | Some('d') => ("", digits.to_string()),
        Some('x') => ("0x", format!("{digits:x}")),
        Some('X') => ("0X", format!("{digits:X}")),
        Some('o') => ("0o", format!("{digits:o}")),
        Some('b') => ("0b", format!("{digits:b}")),
        Some('c') => return character(value, spec),
        Some('e' | 'E' | 'f' | 'F' | 'g' | 'G' | '%') => {
            return number_text(value as f64, spec).map(|text| padded_number(&text, spec));
        }
        Some(kind) => return Err(unknown(kind, "int")),
    };
    if spec.precision.is_some() {
        return Err(Fault::other(
            "Precision not allowed in integer format specifier",
        ));
    }
    if spec.group == Some(',') && !matches!(spec.kind, None | Some('d')) {
        let kind = spec.kind.unwrap_or('d');
        return Err(Fault::other(format!("cannot specify ',' with '{kind}'")));
    }
    let pieces = Pieces {
        negative: value < 0,
        prefix: if spec.alternate { prefix } else { "" },
        whole,
        rest: String::new(),
    };
    Ok(padded_number(&pieces, spec))
}

fn character(value: i128, spec: &Spec) -> Outcome<String> {
    if spec.sign.is_some() || spec.precision.is_some() {
        return Err(Fault::other(
            "sign not allowed with integer format specifier 'c'",
        ));
    }
    let c = u32::try_from(value).ok().and_then(char::from_u32);
    let c = c.ok_or_else(|| Fault::other("%c arg not in range(0x110000)"))?;
    let shown = c.to_string();
    Ok(pad(
        &shown,
        spec.fill.unwrap_or(' '),
        spec.align.unwrap_or('<'),
        spec.width,
    ))
}

/// Returns the digits of a float by kind and precision.
pub(crate) fn number_text(value: f64, spec: &Spec) -> Outcome<Pieces> {
    let kind = spec.kind.unwrap_or(match spec.precision {
        Some(_) => 'G', // Means "general, but always with a fraction"; see `general`.
        None => 'r',
    });
    let precision = spec.precision.unwrap_or(6);
    if precision > MAX_DIGITS {
        return Err(Fault::unsupported_python("a precision beyond 1000 digits"));
    }
    let size = value.abs();
    let upper = matches!(spec.kind, Some('E' | 'F' | 'G'));
    let shown = match (float::special(size), kind) {
        (Some(special), _) if kind == '%' => format!("{special}%"),
        (Some(special), _) => special.to_owned(),
        (None, 'r') => float::repr(size),
        (None, 'f' | 'F') => format_fixed(size, precision, spec.alternate),
        (None, '%') => format!("{}%", format_fixed(size * 100.0, precision, spec.alternate)),
        (None, 'e' | 'E') => exponential(size, precision, spec.alternate),
        (None, 'g' | 'G') => general(size, precision, spec.alternate, spec.kind.is_none()),
        (None, kind) => return Err(unknown(kind, "float")),
    };
    let shown = if upper { shown.to_uppercase() } else { shown };
    let split = shown
        .find(|c: char| !c.is_ascii_digit())
        .unwrap_or(shown.len());
    let split = if size.is_finite() { split } else { shown.len() };
    Ok(Pieces {
        negative: value.is_sign_negative() && !value.is_nan(),
        prefix: "",
        whole: shown[..split].to_owned(),
        rest: shown[split..].to_owned(),
    })
}

fn format_fixed(value: f64, precision: usize, alternate: bool) -> String {
    let point = if alternate && precision == 0 { "." } else { "" };
    format!("{value:.precision$}{point}")
}

fn exponential(value: f64, precision: usize, alternate: bool) -> String {
    let (digits, exponent) = float::split_exponent(&format!("{value:.precision$e}"));
    let shown = float::scientific(&digits, exponent, 'e');
    if alternate && precision == 0 {
        return shown.replacen('e', ".e", 1);
    }
    shown
}

/// Format `g`: the shorter of both notations. Without a type code, a fraction is always shown.
fn general(value: f64, precision: usize, alternate: bool, fraction: bool) -> String {
    let precision = precision.max(1);
    let (digits, exponent) = float::split_exponent(&format!("{value:.*e}", precision - 1));
    let limit = i32::try_from(precision).unwrap_or(i32::MAX) - i32::from(fraction);
    if exponent < -4 || exponent >= limit {
        let digits = if alternate {
            &digits
        } else {
            trim_zeros(&digits, 1)
        };
        return float::scientific(digits, exponent, 'e');
    }
    let places = (i32::try_from(precision).unwrap_or(i32::MAX) - 1 - exponent).max(0);
    let mut shown = format!("{value:.*}", places.unsigned_abs() as usize);
    if !alternate && shown.contains('.') {
        shown.truncate(shown.trim_end_matches('0').trim_end_matches('.').len());
    }
    if fraction && !shown.contains('.') {
        shown.push_str(".0");
    }
    shown
}

fn trim_zeros(digits: &str, least: usize) -> &str {
    let len = digits.trim_end_matches('0').len();
    &digits[..len.max(least).min(digits.len())]
}

/// Joins sign, prefix, digits and padding.
pub(crate) fn padded_number(pieces: &Pieces, spec: &Spec) -> String {
    let sign = match (pieces.negative, spec.sign) {
        (true, _) => "-",
        (false, Some('+')) => "+",
        (false, Some(' ')) => " ",
        (false, _) => "",
    };
    let head = format!("{sign}{}", pieces.prefix);
    let fill = spec.fill.unwrap_or(if spec.zero { '0' } else { ' ' });
    let align = spec.align.unwrap_or(if spec.zero { '=' } else { '>' });
    let room = spec.width.saturating_sub(head.len() + pieces.rest.len());
    let grouped = match spec.group {
        Some(mark) => {
            let every = if matches!(spec.kind, Some('x' | 'X' | 'o' | 'b')) {
                4
            } else {
                3
            };
            let least = if fill == '0' && align == '=' { room } else { 0 };
            group(&pieces.whole, mark, every, least)
        }
        None => pieces.whole.clone(),
    };
    let body = format!("{grouped}{}", pieces.rest);
    if align == '=' {
        let width = spec.width.saturating_sub(head.len());
        return format!("{head}{}", pad(&body, fill, '>', width));
    }
    pad(&format!("{head}{body}"), fill, align, spec.width)
}

/// Groups digits with a separator, after padding with zeros to the width `least`.
fn group(digits: &str, mark: char, every: usize, least: usize) -> String {
    if !digits.bytes().all(|b| b.is_ascii_hexdigit()) {
        return digits.to_owned();
    }
    let mut count = digits.len();
    while count + count.saturating_sub(1) / every < least {
        count += 1;
    }
    let padded = format!("{digits:0>count$}");
    let mut out = String::with_capacity(count + count / every);
    for (at, c) in padded.chars().enumerate() {
        if at > 0 && (count - at).is_multiple_of(every) {
            out.push(mark);
        }
        out.push(c);
    }
    out
}

/// Converts a number to a float.
pub(crate) fn real(value: &Value<'_>) -> Option<f64> {
    Number::from_value(value).map(Number::to_float)
}
