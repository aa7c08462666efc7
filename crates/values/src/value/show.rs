//! `str` and `repr` of values, exactly as in Python.
//!
//! Functions and iterators are not supported, because Python's text for them contains an address.

use super::budget::Budget;
use super::text::is_printable;
use super::{Kind, Value, float as floats};
use crate::fault::{Fault, Outcome};

/// Maximum depth of values to format; deeper JSON is an error.
const MAX_DEPTH: usize = 250;

/// `str(value)` as a new string.
pub fn to_str(value: &Value<'_>, budget: &Budget) -> Outcome<String> {
    let mut out = String::new();
    write_str(&mut out, value, budget)?;
    Ok(out)
}

/// `repr(value)`.
pub fn to_repr(value: &Value<'_>, budget: &Budget) -> Outcome<String> {
    let mut out = String::new();
    write_repr(&mut out, value, budget)?;
    Ok(out)
}

/// Appends `str(value)`.
pub fn write_str(out: &mut String, value: &Value<'_>, budget: &Budget) -> Outcome<()> {
    match value {
        Value::Str(text) => {
            budget.make(text.len())?;
            out.push_str(text);
            Ok(())
        }
        _ => write_repr(out, value, budget),
    }
}

fn write_repr(out: &mut String, value: &Value<'_>, budget: &Budget) -> Outcome<()> {
    let mut writer = Writer {
        out,
        budget,
        depth: 0,
    };
    writer.value(value)
}

/// `repr` of a float.
pub(crate) fn float(value: f64) -> String {
    floats::repr(value)
}

struct Writer<'o> {
    out: &'o mut String,
    budget: &'o Budget,
    depth: usize,
}

impl Writer<'_> {
    fn value(&mut self, value: &Value<'_>) -> Outcome<()> {
        self.budget.spend(1)?;
        match value {
            Value::Undefined(missing) => return Err(missing.fault()),
            Value::None => self.out.push_str("None"),
            Value::Ellipsis => self.out.push_str("Ellipsis"),
            Value::Bool(true) => self.out.push_str("True"),
            Value::Bool(false) => self.out.push_str("False"),
            Value::Int(value) => self.out.push_str(&value.to_string()),
            Value::Float(value) => self.out.push_str(&float(*value)),
            Value::Str(text) => {
                self.budget.make(text.len())?;
                quote(self.out, text, false);
            }
            Value::List(seq) => return self.items("[", seq.iter(), "]"),
            Value::Tuple(seq) if seq.len() == 1 => return self.items("(", seq.iter(), ",)"),
            Value::Tuple(seq) => return self.items("(", seq.iter(), ")"),
            Value::Dict(dict) => return self.dict(dict),
            Value::Set(set) => return self.set(set),
            Value::Range(start, end, 1) => {
                self.out.push_str(&format!("range({start}, {end})"));
            }
            Value::Range(start, end, step) => {
                self.out.push_str(&format!("range({start}, {end}, {step})"));
            }
            Value::View(kind, seq) => {
                self.out.push_str(kind.name());
                return self.items("([", seq.iter(), "])");
            }
            Value::Type(Kind::Ellipsis) => self.out.push_str("<class 'ellipsis'>"),
            Value::Type(kind) => self.out.push_str(&format!("<class '{}'>", kind.name())),
            Value::Func(_) | Value::Iter(_) => {
                return Err(Fault::unsupported_python(format!(
                    "showing a `{}`",
                    value.type_name()
                )));
            }
            Value::Secrets | Value::Secret(_) => return Err(Fault::secret()),
        }
        Ok(())
    }

    fn down(&mut self) -> Outcome<()> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return Err(Fault::limit("a value is nested too deeply to be shown"));
        }
        Ok(())
    }

    fn items<'v>(
        &mut self,
        open: &str,
        items: impl Iterator<Item = Value<'v>>,
        close: &str,
    ) -> Outcome<()> {
        self.down()?;
        self.out.push_str(open);
        for (at, item) in items.enumerate() {
            if at > 0 {
                self.out.push_str(", ");
            }
            self.value(&item)?;
        }
        self.out.push_str(close);
        self.depth -= 1;
        Ok(())
    }

    fn dict(&mut self, dict: &super::Dict<'_>) -> Outcome<()> {
        self.down()?;
        self.out.push('{');
        for (at, (key, value)) in dict.iter().enumerate() {
            if at > 0 {
                self.out.push_str(", ");
            }
            self.value(&key)?;
            self.out.push_str(": ");
            self.value(&value)?;
        }
        self.out.push('}');
        self.depth -= 1;
        Ok(())
    }

    fn set(&mut self, set: &super::Set<'_>) -> Outcome<()> {
        let (open, close) = if set.items.is_empty() {
            ("set(", ")")
        } else {
            ("{", "}")
        };
        self.items(open, set.items.iter().cloned(), close)
    }
}

/// Appends a string literal; with `ascii`, non-ASCII characters are escaped too.
pub fn quote(out: &mut String, text: &str, ascii: bool) {
    let quote = if text.contains('\'') && !text.contains('"') {
        '"'
    } else {
        '\''
    };
    out.push(quote);
    for c in text.chars() {
        match c {
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            _ if c == quote => {
                out.push('\\');
                out.push(c);
            }
            _ if is_printable(c) && (c.is_ascii() || !ascii) => out.push(c),
            _ => escape(out, c),
        }
    }
    out.push(quote);
}

pub(crate) fn escape(out: &mut String, c: char) {
    let code = u32::from(c);
    out.push_str(&match code {
        0..=0xff => format!("\\x{code:02x}"),
        0x100..=0xffff => format!("\\u{code:04x}"),
        _ => format!("\\U{code:08x}"),
    });
}
