//! Conversion of values from and to JSON.
//!
//! Tuples, sets, views and ranges become lists, and keys become text. Other values without a JSON form are
//! errors.

use serde_json::{Map, Number, Value as Json};

use super::{Dict, Kind, Seq, Text, Value, show};
use crate::fault::{Fault, Outcome};

impl<'a> Value<'a> {
    /// Wraps JSON as a value without copying.
    #[inline]
    pub fn from_json(json: &'a Json) -> Self {
        match json {
            Json::Null => Value::None,
            Json::Bool(value) => Value::Bool(*value),
            Json::Number(number) => from_number(number),
            Json::String(text) => Value::Str(Text::Ref(text)),
            Json::Array(items) => Value::List(Seq::Json(items)),
            Json::Object(map) => Value::Dict(Dict::Json(map)),
        }
    }

    /// Converts to JSON; secrets become their placeholders.
    pub fn to_json(&self) -> Outcome<Json> {
        match self {
            // An unchanged input is no larger than before, so it needs no limit.
            Value::List(Seq::Json(items)) => Ok(Json::Array(items.to_vec())),
            Value::Dict(Dict::Json(map)) => Ok(Json::Object((*map).clone())),
            _ => Writer::default().value(self),
        }
    }

    /// Converts to JSON; fails if the value contains a secret.
    pub fn to_open_json(&self) -> Outcome<Json> {
        Writer {
            open: true,
            ..Writer::default()
        }
        .value(self)
    }
}

/// Maximum number of values and bytes of text in a result.
///
/// Our own values share their parts, so a small one can be large when written out.
const MAX_VALUES: usize = 1_000_000;
const MAX_BYTES: usize = 64 << 20;

#[derive(Default)]
struct Writer {
    values: usize,
    bytes: usize,
    /// Whether secrets are refused.
    open: bool,
}

impl Writer {
    fn value(&mut self, value: &Value<'_>) -> Outcome<Json> {
        self.count(0)?;
        Ok(match value {
            Value::Undefined(missing) => return Err(missing.fault()),
            Value::None => Json::Null,
            Value::Bool(value) => Json::Bool(*value),
            Value::Int(value) => Json::Number(int(*value)?),
            Value::Float(value) => match Number::from_f64(*value) {
                Some(number) => Json::Number(number),
                None => return Err(not_json(&show::float(*value))),
            },
            Value::Str(text) => {
                self.count(text.len())?;
                Json::String(text.to_string())
            }
            Value::List(seq) | Value::Tuple(seq) | Value::View(_, seq) => self.list(seq.iter())?,
            Value::Set(set) => self.list(set.items.iter().cloned())?,
            Value::Range(start, end, step) => {
                let len = super::index::range_len(*start, *end, *step);
                self.list((0..len).map(|at| super::index::range_at(*start, *step, at)))?
            }
            Value::Dict(dict) => self.object(dict)?,
            Value::Secret(secret) if !self.open => Json::String(secret.1.clone()),
            Value::Secret(_) | Value::Secrets => return Err(Fault::secret()),
            Value::Ellipsis | Value::Type(_) | Value::Func(_) | Value::Iter(_) => {
                return Err(not_json(&format!("a `{}`", value.type_name())));
            }
        })
    }

    fn count(&mut self, bytes: usize) -> Outcome<()> {
        self.values += 1;
        self.bytes = self.bytes.saturating_add(bytes);
        if self.values > MAX_VALUES || self.bytes > MAX_BYTES {
            return Err(Fault::limit("the result is too large"));
        }
        Ok(())
    }

    fn list<'a>(&mut self, items: impl Iterator<Item = Value<'a>>) -> Outcome<Json> {
        let items: Outcome<Vec<_>> = items.map(|item| self.value(&item)).collect();
        Ok(Json::Array(items?))
    }

    fn object(&mut self, dict: &Dict<'_>) -> Outcome<Json> {
        let mut map = Map::with_capacity(dict.len());
        for (key, value) in dict.iter() {
            let key = key_text(&key)?;
            self.count(key.len())?;
            map.insert(key, self.value(&value)?);
        }
        Ok(Json::Object(map))
    }
}

fn not_json(what: &str) -> Fault {
    Fault::type_error(format!("{what} has no JSON form"))
}

fn from_number<'a>(number: &Number) -> Value<'a> {
    if let Some(int) = number.as_i64() {
        return Value::Int(i128::from(int));
    }
    if let Some(int) = number.as_u64() {
        return Value::Int(i128::from(int));
    }
    Value::Float(number.as_f64().unwrap_or(f64::NAN))
}

fn int(value: i128) -> Outcome<Number> {
    Number::from_i128(value)
        .ok_or_else(|| Fault::unsupported_python("an integer beyond 64 bits as JSON"))
}

/// Formats a key as Python's `json.dumps` does.
fn key_text(key: &Value<'_>) -> Outcome<String> {
    Ok(match key {
        Value::Str(text) => text.to_string(),
        Value::None => "null".to_owned(),
        Value::Bool(value) => value.to_string(),
        Value::Int(value) => value.to_string(),
        Value::Float(value) => show::float(*value),
        _ => {
            let kind: Kind = key.kind();
            return Err(not_json(&format!("a key of type `{}`", kind.name())));
        }
    })
}
