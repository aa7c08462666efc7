//! Conversion of literals from the parser's tree to ours: numbers, strings and f-strings.

use deft_values::ast::{Constant, Conversion, ExprKind, FStringPart};
use ruff_python_ast::{
    self as python, ConversionFlag, Expr as Python, FStringPart as PythonPart,
    InterpolatedStringElement as Element, Number,
};

use super::explain::misplaced_star;
use super::lower::{LowerResult, lower as lower_expr, span};
use crate::error::SyntaxError;

/// `CPython` also refuses longer decimal integers, because parsing them takes quadratic time.
const MAX_DECIMAL_DIGITS: usize = 4300;

/// Python 3.11 allows a value inside a format spec, but none inside that value's format spec.
const MAX_LEVEL: usize = 2;

pub(super) fn lower(text: &str, expr: &Python) -> LowerResult<ExprKind> {
    let constant = match expr {
        Python::BooleanLiteral(node) => Constant::Bool(node.value),
        Python::EllipsisLiteral(_) => Constant::Ellipsis,
        Python::NumberLiteral(node) => number(text, node)?,
        Python::BytesLiteral(node) => Constant::Bytes(node.value.bytes().collect()),
        Python::StringLiteral(node) => Constant::Str(string(text, node)?),
        Python::FString(node) => return fstring(text, node),
        _ => Constant::None,
    };
    Ok(ExprKind::Constant(constant))
}

fn number(text: &str, node: &python::ExprNumberLiteral) -> LowerResult<Constant> {
    let span = span(node);
    match &node.value {
        Number::Int(_) => {
            let digits = &text[span.clone()];
            if digits.len() > MAX_DECIMAL_DIGITS && digits.bytes().all(|b| b.is_ascii_digit()) {
                let message = format!("an integer of more than {MAX_DECIMAL_DIGITS} digits");
                return Err(SyntaxError::new(message, span));
            }
            Ok(int(digits))
        }
        Number::Float(value) => Ok(Constant::Float(*value)),
        Number::Complex { imag, .. } => Ok(Constant::Imaginary(*imag)),
    }
}

/// Parses an integer literal.
fn int(text: &str) -> Constant {
    let (digits, radix) = match text.get(..2) {
        Some("0x" | "0X") => (&text[2..], 16),
        Some("0o" | "0O") => (&text[2..], 8),
        Some("0b" | "0B") => (&text[2..], 2),
        _ => (text, 10),
    };
    let digits = digits.replace('_', "").to_ascii_lowercase();
    match i64::from_str_radix(&digits, radix) {
        Ok(value) => Constant::Int(value),
        Err(_) => Constant::BigInt { digits, radix },
    }
}

fn string(text: &str, node: &python::ExprStringLiteral) -> LowerResult<String> {
    let mut joined = String::new();
    for part in &node.value {
        joined.push_str(check_literal(text, part)?);
    }
    Ok(joined)
}

/// Returns the text of a literal. Fails for the escape of a lone surrogate, which is a character only in
/// Python; the parser replaces it by U+FFFD.
fn check_literal<'t>(text: &str, literal: &'t python::StringLiteral) -> LowerResult<&'t str> {
    let span = span(literal);
    let source = &text[span.clone()];
    let replaced = literal.value.contains(char::REPLACEMENT_CHARACTER)
        && !source.contains(char::REPLACEMENT_CHARACTER);
    match replaced.then(|| surrogate(source)).flatten() {
        None => Ok(&literal.value),
        Some(at) => {
            let escape = &source[at.clone()];
            let message = format!("`{escape}` is not a character");
            Err(SyntaxError::new(
                message,
                span.start + at.start..span.start + at.end,
            ))
        }
    }
}

/// Returns the span of the first escape for a lone surrogate.
fn surrogate(source: &str) -> Option<std::ops::Range<usize>> {
    let escape = |at: usize| {
        let width = match source.as_bytes().get(at + 1)? {
            b'u' => 4,
            b'U' => 8,
            _ => return None,
        };
        let digits = source.get(at + 2..at + 2 + width)?;
        let code = u32::from_str_radix(digits, 16).ok()?;
        char::from_u32(code).is_none().then_some(at..at + 2 + width)
    };
    source.match_indices('\\').find_map(|(at, _)| escape(at))
}

fn fstring(text: &str, node: &python::ExprFString) -> LowerResult<ExprKind> {
    let mut parts = Vec::new();
    for part in &node.value {
        match part {
            PythonPart::Literal(literal) => push_text(&mut parts, check_literal(text, literal)?),
            PythonPart::FString(fstring) => elements(text, &fstring.elements, 0, &mut parts)?,
        }
    }
    Ok(match parts.as_mut_slice() {
        [] => ExprKind::Constant(Constant::Str(String::new())),
        [FStringPart::Literal(text)] => ExprKind::Constant(Constant::Str(std::mem::take(text))),
        _ => ExprKind::FString(parts),
    })
}

fn elements(
    text: &str,
    found: &[Element],
    level: usize,
    parts: &mut Vec<FStringPart>,
) -> LowerResult<()> {
    for element in found {
        match element {
            Element::Literal(literal) => push_text(parts, &literal.value),
            Element::Interpolation(value) if level >= MAX_LEVEL => {
                let start = span(value).start;
                let message = "values in an f-string are nested too deeply";
                return Err(SyntaxError::new(message, start..start + 1));
            }
            Element::Interpolation(element) => value(text, element, level, parts)?,
        }
    }
    Ok(())
}

fn value(
    text: &str,
    element: &python::InterpolatedElement,
    level: usize,
    parts: &mut Vec<FStringPart>,
) -> LowerResult<()> {
    if element.expression.is_starred_expr() {
        return Err(misplaced_star(span(element.expression.as_ref())));
    }
    let expr = Box::new(lower_expr(text, &element.expression)?);
    if let Some(shown) = &element.debug_text {
        for piece in [shown.leading(), shown.expression(), shown.trailing()] {
            push_text(parts, piece);
        }
    }
    let format = match &element.format_spec {
        None => None,
        Some(spec) => {
            let mut inner = Vec::new();
            elements(text, &spec.elements, level + 1, &mut inner)?;
            Some(inner)
        }
    };
    let conversion = match element.conversion {
        ConversionFlag::Str => Some(Conversion::Str),
        ConversionFlag::Repr => Some(Conversion::Repr),
        ConversionFlag::Ascii => Some(Conversion::Ascii),
        // `{x=}` formats the value with `repr`, unless it has a format or conversion.
        ConversionFlag::None if element.debug_text.is_some() && format.is_none() => {
            Some(Conversion::Repr)
        }
        ConversionFlag::None => None,
    };
    parts.push(FStringPart::Value {
        expr,
        conversion,
        format,
    });
    Ok(())
}

/// Appends text, merged with a preceding literal.
fn push_text(parts: &mut Vec<FStringPart>, text: &str) {
    if text.is_empty() {
        return;
    }
    if let Some(FStringPart::Literal(last)) = parts.last_mut() {
        last.push_str(text);
    } else {
        parts.push(FStringPart::Literal(text.to_owned()));
    }
}
