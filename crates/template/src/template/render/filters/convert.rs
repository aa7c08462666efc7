//! Filters that convert values: to numbers, booleans, JSON.

use deft_values::args::{self, Args};
use deft_values::ast::BinaryOp;
use deft_values::budget::Budget;
use deft_values::number::{Number, integral};
use deft_values::{Fault, Outcome};
use deft_values::{Value, convert as conversions, float, operate, show};

use super::{bind, number};

pub(super) fn apply<'a>(
    name: &str,
    value: &Value<'a>,
    args: &Args<'a>,
    budget: &Budget,
) -> Outcome<Option<Value<'a>>> {
    Ok(Some(match name {
        "abs" => conversions::absolute(value)?,
        "bool" => Value::Bool(value.truth()?),
        "int" => int(value, args)?,
        "float" => {
            let [default] = bind(name, args, ["default"], 0)?;
            let found = real(value);
            found.map_or(default.unwrap_or(Value::Float(0.0)), Value::Float)
        }
        "round" => round(value, args, budget)?,
        "tojson" => {
            let [indent] = bind(name, args, ["indent"], 0)?;
            let indent = match indent {
                None | Some(Value::None) => None,
                some => Some(usize::try_from(number(some, 0)?).unwrap_or(0)),
            };
            Value::str(dump(value, indent, budget)?)
        }
        "pprint" => {
            let shown = show::to_repr(value, budget)?;
            // Not supported: longer values would be broken into lines, and dicts sorted.
            if shown.len() > 79 || matches!(value, Value::Dict(_)) {
                return Ok(None);
            }
            Value::str(shown)
        }
        _ => return Ok(None),
    }))
}

fn real(value: &Value<'_>) -> Option<f64> {
    match value {
        Value::Str(text) => float::parse(text),
        other => Number::from_value(other).map(Number::to_float),
    }
}

/// The filter `int`. Values that are not numbers give the default.
fn int<'a>(value: &Value<'a>, args: &Args<'a>) -> Outcome<Value<'a>> {
    let [default, base] = bind("int", args, ["default", "base"], 0)?;
    let base = number(base, 10)?;
    let direct = match value {
        Value::Str(text) => match conversions::parse_int(text, base) {
            Ok(int) => Some(int),
            Err(_) => float::parse(text)
                .and_then(|float| integral(float.trunc()))
                .map(Value::Int),
        },
        Value::Float(float) => integral(float.trunc()).map(Value::Int),
        Value::Int(_) | Value::Bool(_) => Some(Value::Int(args::int(value)?)),
        _ => None,
    };
    Ok(direct.or(default).unwrap_or(Value::Int(0)))
}

fn round<'a>(value: &Value<'a>, args: &Args<'a>, budget: &Budget) -> Outcome<Value<'a>> {
    let [precision, method] = bind("round", args, ["precision", "method"], 0)?;
    let digits = number(precision, 0)?;
    let method = match &method {
        Some(method) => args::text(method, "the method")?.to_string(),
        None => "common".to_owned(),
    };
    if method == "common" {
        return conversions::round(value, Some(digits));
    }
    let factor = operate::binary(
        BinaryOp::Power,
        &Value::Int(10),
        &Value::Int(i128::from(digits)),
        budget,
    )?;
    let scaled = operate::binary(BinaryOp::Multiply, value, &factor, budget)?;
    let whole = match (Number::from_value(&scaled), method.as_str()) {
        (Some(Number::Int(int)), "ceil" | "floor") => Some(int),
        (Some(Number::Float(float)), "ceil") => integral(float.ceil()),
        (Some(Number::Float(float)), "floor") => integral(float.floor()),
        _ => return Err(Fault::other("method must be common, ceil or floor")),
    };
    match whole {
        Some(whole) => operate::binary(BinaryOp::Divide, &Value::Int(whole), &factor, budget),
        None => Err(Fault::unsupported_python("rounding a float of this size")),
    }
}

/// Writes JSON like Jinja2: sorted keys, ASCII only, and no characters that could end a script element.
fn dump(value: &Value<'_>, indent: Option<usize>, budget: &Budget) -> Outcome<String> {
    let json = sort_keys(value.to_open_json()?);
    let mut out = String::new();
    let mut writer = Writer {
        out: &mut out,
        indent,
        budget,
    };
    writer.value(&json, 1)?;
    Ok(out)
}

fn sort_keys(value: serde_json::Value) -> serde_json::Value {
    let mut value = value;
    value.sort_all_objects();
    value
}

struct Writer<'o> {
    out: &'o mut String,
    indent: Option<usize>,
    budget: &'o Budget,
}

impl Writer<'_> {
    fn value(&mut self, value: &serde_json::Value, level: usize) -> Outcome<()> {
        self.budget.spend(1)?;
        match value {
            serde_json::Value::Null => self.out.push_str("null"),
            serde_json::Value::Bool(flag) => {
                self.out.push_str(if *flag { "true" } else { "false" });
            }
            serde_json::Value::Number(_) => {
                self.out
                    .push_str(&show::to_repr(&Value::from_json(value), self.budget)?);
            }
            serde_json::Value::String(text) => {
                self.budget.make(text.len())?;
                self.string(text);
            }
            serde_json::Value::Array(items) => {
                self.out.push('[');
                for (at, item) in items.iter().enumerate() {
                    self.separate(at, level)?;
                    self.value(item, level + 1)?;
                }
                self.close(items.is_empty(), level, ']')?;
            }
            serde_json::Value::Object(map) => {
                self.out.push('{');
                for (at, (key, value)) in map.iter().enumerate() {
                    self.separate(at, level)?;
                    self.string(key);
                    self.out.push_str(": ");
                    self.value(value, level + 1)?;
                }
                self.close(map.is_empty(), level, '}')?;
            }
        }
        Ok(())
    }

    fn separate(&mut self, at: usize, level: usize) -> Outcome<()> {
        if at > 0 {
            self.out.push(',');
        }
        match self.indent {
            Some(_) => self.line(level),
            None if at > 0 => {
                self.out.push(' ');
                Ok(())
            }
            None => Ok(()),
        }
    }

    fn line(&mut self, level: usize) -> Outcome<()> {
        let width = self.indent.unwrap_or(0).saturating_mul(level);
        self.budget.make(width)?;
        self.out.push('\n');
        self.out.extend(std::iter::repeat_n(' ', width));
        Ok(())
    }

    fn close(&mut self, empty: bool, level: usize, bracket: char) -> Outcome<()> {
        if !empty && self.indent.is_some() {
            self.line(level - 1)?;
        }
        self.out.push(bracket);
        Ok(())
    }

    fn string(&mut self, text: &str) {
        self.out.push('"');
        for c in text.chars() {
            match c {
                '"' => self.out.push_str("\\\""),
                '\\' => self.out.push_str("\\\\"),
                '\n' => self.out.push_str("\\n"),
                '\r' => self.out.push_str("\\r"),
                '\t' => self.out.push_str("\\t"),
                '\x08' => self.out.push_str("\\b"),
                '\x0c' => self.out.push_str("\\f"),
                '<' | '>' | '&' | '\'' => self.escape(c),
                ' '..='~' => self.out.push(c),
                c => self.escape(c),
            }
        }
        self.out.push('"');
    }

    fn escape(&mut self, c: char) {
        let mut units = [0_u16; 2];
        for unit in c.encode_utf16(&mut units) {
            self.out.push_str(&format!("\\u{unit:04x}"));
        }
    }
}
