//! `text % values`: formatting as in C.
//!
//! Not here: the newer kinds of formatting (`format` and `spec`).

use super::budget::Budget;
use super::number::{Number, integral};
use super::spec::{self, Pieces, Spec};
use super::{Seq, Value, args, format as formats, show};
use crate::fault::{Fault, Outcome};

/// `text % values`.
pub fn format(text: &str, values: &Value<'_>, budget: &Budget) -> Outcome<String> {
    let positional = match values {
        Value::Tuple(seq) => seq.clone(),
        single => Seq::own(vec![single.clone()])?,
    };
    let mapping = matches!(values, Value::Dict(_) | Value::List(_) | Value::Range(..));
    let mut run = Run {
        values,
        positional,
        next: 0,
        budget,
        rest: text,
    };
    let out = run.all()?;
    if run.next < run.positional.len() && !mapping {
        return Err(Fault::type_error(
            "not all arguments converted during string formatting",
        ));
    }
    Ok(out)
}

struct Run<'f, 'a> {
    values: &'f Value<'a>,
    positional: Seq<'a>,
    next: usize,
    budget: &'f Budget,
    rest: &'f str,
}

impl<'a> Run<'_, 'a> {
    fn all(&mut self) -> Outcome<String> {
        let mut out = String::new();
        while let Some(at) = self.rest.find('%') {
            self.budget.spend(1)?;
            out.push_str(&self.rest[..at]);
            self.rest = &self.rest[at + 1..];
            let shown = self.one()?;
            self.budget.make(shown.len())?;
            out.push_str(&shown);
        }
        out.push_str(self.rest);
        self.budget.make(out.len())?;
        Ok(out)
    }

    fn one(&mut self) -> Outcome<String> {
        let named = self.key()?;
        let mut spec = self.flags();
        let left = spec.align == Some('<');
        spec.width = match self.star_or_digits()? {
            Some(width) if width < 0 => {
                spec.align = Some('<');
                size(width.unsigned_abs())
            }
            Some(width) => size(width.unsigned_abs()),
            None => 0,
        };
        if self.rest.starts_with('.') {
            self.rest = &self.rest[1..];
            let precision = self.star_or_digits()?.unwrap_or(0);
            spec.precision = Some(size(u64::try_from(precision).unwrap_or(0)));
        }
        self.rest = self.rest.strip_prefix(['h', 'l', 'L']).unwrap_or(self.rest);
        let mut chars = self.rest.chars();
        let Some(kind) = chars.next() else {
            return Err(Fault::other("incomplete format"));
        };
        self.rest = chars.as_str();
        if kind == '%' {
            return Ok("%".to_owned());
        }
        self.budget
            .make(spec.width.saturating_add(spec.precision.unwrap_or(0)))?;
        let value = match named {
            Some(value) => value,
            None => self.take()?,
        };
        if left {
            spec.zero = false;
        }
        convert(kind, &value, spec, self.budget)
    }

    /// Parses `(name)` after the percent sign and looks up its value.
    fn key(&mut self) -> Outcome<Option<Value<'a>>> {
        let Some(tail) = self.rest.strip_prefix('(') else {
            return Ok(None);
        };
        let Some(end) = tail.find(')') else {
            return Err(Fault::other("incomplete format key"));
        };
        let name = &tail[..end];
        self.rest = &tail[end + 1..];
        let Value::Dict(dict) = self.values else {
            return Err(Fault::type_error("format requires a mapping"));
        };
        self.next = self.positional.len();
        match dict.field(name) {
            Some(value) => Ok(Some(value)),
            None => Err(Fault::other(format!("the key `{name}` does not exist"))),
        }
    }

    fn flags(&mut self) -> Spec {
        let mut spec = Spec::default();
        while let Some(c) = self.rest.chars().next() {
            match c {
                '-' => spec.align = Some('<'),
                '+' => spec.sign = Some('+'),
                ' ' => spec.sign = spec.sign.or(Some(' ')),
                '#' => spec.alternate = true,
                '0' => spec.zero = true,
                _ => break,
            }
            self.rest = &self.rest[1..];
        }
        spec
    }

    fn star_or_digits(&mut self) -> Outcome<Option<i64>> {
        if let Some(tail) = self.rest.strip_prefix('*') {
            self.rest = tail;
            let value = self.take()?;
            return match value {
                Value::Int(_) | Value::Bool(_) => args::size(&value).map(Some),
                _ => Err(Fault::type_error("* wants int")),
            };
        }
        let len = self.rest.bytes().take_while(u8::is_ascii_digit).count();
        let (digits, tail) = self.rest.split_at(len);
        self.rest = tail;
        match digits {
            "" => Ok(None),
            _ => digits
                .parse()
                .map(Some)
                .map_err(|_| Fault::other("width too big")),
        }
    }

    fn take(&mut self) -> Outcome<Value<'a>> {
        let value = self.positional.get(self.next);
        self.next += 1;
        value.ok_or_else(|| Fault::type_error("not enough arguments for format string"))
    }
}

fn size(number: u64) -> usize {
    usize::try_from(number).unwrap_or(usize::MAX)
}

fn convert(kind: char, value: &Value<'_>, mut spec: Spec, budget: &Budget) -> Outcome<String> {
    value.usable()?;
    match kind {
        's' | 'r' | 'a' | 'c' => {
            let shown = match kind {
                's' => show::to_str(value, budget)?,
                'r' => show::to_repr(value, budget)?,
                'a' => formats::ascii(value, budget)?,
                _ => character(value)?,
            };
            let most = spec.precision.unwrap_or(usize::MAX);
            let cut = &shown[..super::text::byte_of(&shown, most)];
            Ok(spec::pad(cut, ' ', spec.align.unwrap_or('>'), spec.width))
        }
        'd' | 'i' | 'u' | 'x' | 'X' | 'o' => {
            let int = whole(kind, value)?;
            Ok(integer(kind, int, spec))
        }
        'e' | 'E' | 'f' | 'F' | 'g' | 'G' => {
            let Some(float) = spec::real(value) else {
                let name = value.type_name();
                return Err(Fault::type_error(format!(
                    "must be real number, not {name}"
                )));
            };
            spec.kind = Some(kind);
            spec.zero &= float.is_finite();
            Ok(spec::padded_number(
                &spec::number_text(float, &spec)?,
                &spec,
            ))
        }
        _ => Err(Fault::other(format!(
            "unsupported format character '{kind}'"
        ))),
    }
}

fn character(value: &Value<'_>) -> Outcome<String> {
    match value {
        Value::Str(text) if text.chars().count() == 1 => Ok(text.to_string()),
        Value::Int(int) => match u32::try_from(*int).ok().and_then(char::from_u32) {
            Some(c) => Ok(c.to_string()),
            None => Err(Fault::other("%c arg not in range(0x110000)")),
        },
        _ => Err(Fault::type_error("%c requires int or char")),
    }
}

fn whole(kind: char, value: &Value<'_>) -> Outcome<i128> {
    let decimal = matches!(kind, 'd' | 'i' | 'u');
    match Number::from_value(value) {
        Some(Number::Int(int)) => Ok(int),
        Some(Number::Float(float)) if decimal => integral(float.trunc())
            .ok_or_else(|| Fault::unsupported_python("a float of this size as `%d`")),
        _ => {
            let (name, wanted) = (
                value.type_name(),
                if decimal {
                    "a real number"
                } else {
                    "an integer"
                },
            );
            Err(Fault::type_error(format!(
                "%{kind} format: {wanted} is required, not {name}"
            )))
        }
    }
}

fn integer(kind: char, int: i128, mut spec: Spec) -> String {
    let size = int.unsigned_abs();
    let (prefix, digits) = match kind {
        'x' => ("0x", format!("{size:x}")),
        'X' => ("0X", format!("{size:X}")),
        'o' => ("0o", format!("{size:o}")),
        _ => ("", size.to_string()),
    };
    let least = spec.precision.take().unwrap_or(0);
    let pieces = Pieces {
        negative: int < 0,
        prefix: if spec.alternate { prefix } else { "" },
        whole: format!("{digits:0>least$}"),
        rest: String::new(),
    };
    spec::padded_number(&pieces, &spec)
}
