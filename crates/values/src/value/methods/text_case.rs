//! Methods of strings: upper and lower case.
//!
//! For these, Rust and Python use the same tables. Rust has none for title case and case folding; where
//! these could differ, full Python is required.

use crate::fault::{Fault, Outcome};
use crate::value::{Text, Value};

pub(super) fn convert<'a>(text: &Text<'a>, name: &str) -> Outcome<Value<'a>> {
    let converted = match name {
        "lower" => text.to_lowercase(),
        "upper" => text.to_uppercase(),
        "swapcase" if text.is_ascii() => text.chars().map(swap_case).collect(),
        "casefold" => fold_case(text)?,
        "capitalize" => capitalize(text)?,
        "title" => title_case(text)?,
        _ => return Err(Fault::unsupported_python(format!("`{name}` on this text"))),
    };
    Ok(Value::str(converted))
}

fn swap_case(c: char) -> char {
    if c.is_ascii_lowercase() {
        c.to_ascii_uppercase()
    } else {
        c.to_ascii_lowercase()
    }
}

fn fold_case(text: &str) -> Outcome<String> {
    let plain = |c: char| c.is_ascii() || !has_case(c);
    if text.chars().all(plain) {
        return Ok(text.to_ascii_lowercase());
    }
    Err(Fault::unsupported_python(
        "`casefold` on letters beyond ASCII",
    ))
}

fn has_case(c: char) -> bool {
    !(c.to_lowercase().eq([c]) && c.to_uppercase().eq([c]))
}

/// Returns the text with its first character in title case and the rest in lower case.
pub(crate) fn capitalize(text: &str) -> Outcome<String> {
    let mut chars = text.chars();
    let Some(first) = chars.next() else {
        return Ok(String::new());
    };
    let mut out = String::with_capacity(text.len());
    out.push(title_char(first)?);
    out.push_str(&chars.as_str().to_lowercase());
    Ok(out)
}

fn title_char(c: char) -> Outcome<char> {
    let mut upper = c.to_uppercase();
    match (upper.next(), upper.next()) {
        (Some(upper), None) if !matches!(c, '\u{1c4}'..='\u{1cc}' | '\u{1f1}'..='\u{1f3}' | '\u{10d0}'..='\u{10ff}') => {
            Ok(upper)
        }
        _ => Err(Fault::unsupported_python(format!("title case of `{c}`"))),
    }
}

/// Returns the text with every letter after an uncased character in title case.
fn title_case(text: &str) -> Outcome<String> {
    let mut out = String::with_capacity(text.len());
    let mut inside = false;
    for c in text.chars() {
        if inside {
            out.extend(c.to_lowercase());
        } else {
            out.push(title_char(c)?);
        }
        inside = c.is_lowercase() || c.is_uppercase();
    }
    Ok(out)
}

pub(super) fn is_lower(text: &str) -> bool {
    text.chars().any(char::is_lowercase) && !text.chars().any(char::is_uppercase)
}

pub(super) fn is_upper(text: &str) -> bool {
    text.chars().any(char::is_uppercase) && !text.chars().any(char::is_lowercase)
}

/// `istitle`, for ASCII only.
pub(super) fn is_title(text: &str) -> bool {
    let (mut inside, mut any) = (false, false);
    for c in text.chars() {
        if (c.is_ascii_uppercase() && inside) || (c.is_ascii_lowercase() && !inside) {
            return false;
        }
        inside = c.is_ascii_alphabetic();
        any |= inside;
    }
    any
}
