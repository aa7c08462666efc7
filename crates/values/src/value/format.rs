//! `str.format`: text with `{…}` fields.
//!
//! Not here: f-strings, which are parsed with the condition.

use super::args::Args;
use super::budget::Budget;
use super::{Text, Value, index, show, spec};
use crate::fault::{Fault, Outcome};

/// Python allows a field inside a format spec, but none inside that field's spec.
const MAX_LEVEL: usize = 2;

/// `text.format(*args)`.
pub(crate) fn format(text: &str, args: &Args<'_>, budget: &Budget) -> Outcome<String> {
    let mut formatter = Formatter {
        args,
        budget,
        next: 0,
        manual: None,
    };
    formatter.run(text, 0)
}

struct Formatter<'f, 'a> {
    args: &'f Args<'a>,
    budget: &'f Budget,
    next: usize,
    /// Whether fields are numbered explicitly; both kinds cannot be mixed.
    manual: Option<bool>,
}

impl<'a> Formatter<'_, 'a> {
    fn run(&mut self, text: &str, level: usize) -> Outcome<String> {
        if level >= MAX_LEVEL {
            return Err(Fault::other("Max string recursion exceeded"));
        }
        let mut out = String::new();
        let mut rest = text;
        while let Some(at) = rest.find(['{', '}']) {
            self.budget.spend(1)?;
            out.push_str(&rest[..at]);
            let brace = &rest[at..=at];
            let tail = &rest[at + 1..];
            if let Some(after) = tail.strip_prefix(brace) {
                out.push_str(brace);
                rest = after;
                continue;
            }
            if brace == "}" {
                return Err(Fault::other("Single '}' encountered in format string"));
            }
            let end = field_end(tail)?;
            out.push_str(&self.field(&tail[..end], level)?);
            rest = &tail[end + 1..];
        }
        out.push_str(rest);
        self.budget.make(out.len())?;
        Ok(out)
    }

    /// Formats a field without its braces: `name!r:spec`.
    fn field(&mut self, field: &str, level: usize) -> Outcome<String> {
        let split = field.find(['!', ':', '[']);
        // Inside brackets, `!` and `:` have no special meaning.
        let head_end = match split {
            Some(at) if field[at..].starts_with('[') => {
                let close = field[at..]
                    .find(']')
                    .map_or(field.len(), |close| at + close);
                field[close..]
                    .find(['!', ':'])
                    .map_or(field.len(), |more| close + more)
            }
            Some(at) => at,
            None => field.len(),
        };
        let value = self.value(&field[..head_end])?;
        let tail = &field[head_end..];
        let (conversion, tail) = match tail.strip_prefix('!') {
            Some(tail) => {
                let end = tail.find(':').unwrap_or(tail.len());
                (Some(&tail[..end]), &tail[end..])
            }
            None => (None, tail),
        };
        let spec_text = tail.strip_prefix(':').unwrap_or("");
        let spec_text = if spec_text.contains(['{', '}']) {
            self.run(spec_text, level + 1)?
        } else {
            spec_text.to_owned()
        };
        let value = convert(value, conversion, self.budget)?;
        spec::apply(&value, &spec_text, self.budget)
    }

    fn value(&mut self, path: &str) -> Outcome<Value<'a>> {
        let end = path.find(['.', '[']).unwrap_or(path.len());
        let mut value = self.first(&path[..end])?;
        let mut rest = &path[end..];
        while let Some(c) = rest.chars().next() {
            let (found, tail) = match c {
                '.' => attribute(&value, &rest[1..])?,
                _ => item(&value, &rest[1..], self.budget)?,
            };
            (value, rest) = (found, tail);
        }
        Ok(value)
    }

    fn first(&mut self, name: &str) -> Outcome<Value<'a>> {
        let number = name.parse::<usize>().ok();
        if name.is_empty() || number.is_some() {
            let manual = number.is_some();
            if self.manual.is_some_and(|before| before != manual) {
                return Err(Fault::other(
                    "cannot switch between automatic and manual field numbering",
                ));
            }
            self.manual = Some(manual);
        }
        if let Some(at) = number.or_else(|| name.is_empty().then_some(self.next)) {
            self.next += usize::from(number.is_none());
            let found = self.args.positional.get(at).cloned();
            return found.ok_or_else(|| {
                Fault::other(format!(
                    "Replacement index {at} out of range for positional args tuple"
                ))
            });
        }
        let found = self.args.named.iter().find(|(key, _)| &**key == name);
        match found {
            Some((_, value)) => Ok(value.clone()),
            None => Err(Fault::other(format!("the field `{name}` has no argument"))),
        }
    }
}

/// Returns the byte offset of the brace that closes a field.
fn field_end(text: &str) -> Outcome<usize> {
    let mut depth = 0_usize;
    for (at, byte) in text.bytes().enumerate() {
        match byte {
            b'{' => depth += 1,
            b'}' if depth == 0 => return Ok(at),
            b'}' => depth -= 1,
            _ => {}
        }
    }
    Err(Fault::other("expected '}' before end of string"))
}

fn attribute<'a, 't>(value: &Value<'a>, rest: &'t str) -> Outcome<(Value<'a>, &'t str)> {
    let end = rest.find(['.', '[']).unwrap_or(rest.len());
    let name = &rest[..end];
    let found = match value {
        Value::Dict(dict) => dict.field(name),
        _ => {
            value.usable()?;
            None
        }
    };
    match found {
        Some(found) => Ok((found, &rest[end..])),
        None => Err(Fault::unsupported_python(format!(
            "the attribute `{name}` in a format"
        ))),
    }
}

fn item<'a, 't>(
    value: &Value<'a>,
    rest: &'t str,
    budget: &Budget,
) -> Outcome<(Value<'a>, &'t str)> {
    let Some(end) = rest.find(']') else {
        return Err(Fault::other("Missing ']' in format string"));
    };
    let key = match rest[..end].parse::<usize>() {
        Ok(at) => Value::int(at),
        Err(_) => Value::Str(Text::Own(rest[..end].into())),
    };
    let tail = &rest[end + 1..];
    if !tail.is_empty() && !tail.starts_with(['.', '[']) {
        return Err(Fault::other(
            "Only '.' or '[' may follow ']' in format field specifier",
        ));
    }
    Ok((index::item(value, &key, budget)?, tail))
}

/// Applies the conversion `!r`, `!s` or `!a`.
pub fn convert<'a>(
    value: Value<'a>,
    conversion: Option<&str>,
    budget: &Budget,
) -> Outcome<Value<'a>> {
    Ok(match conversion {
        None => value,
        Some("s") => Value::str(show::to_str(&value, budget)?),
        Some("r") => Value::str(show::to_repr(&value, budget)?),
        Some("a") => Value::str(ascii(&value, budget)?),
        Some(other) => {
            return Err(Fault::other(format!(
                "unknown conversion specifier `{other}`"
            )));
        }
    })
}

/// `ascii(value)`.
pub fn ascii(value: &Value<'_>, budget: &Budget) -> Outcome<String> {
    let shown = show::to_repr(value, budget)?;
    if shown.is_ascii() {
        return Ok(shown);
    }
    let mut out = String::with_capacity(shown.len());
    for c in shown.chars() {
        if c.is_ascii() {
            out.push(c);
        } else {
            show::escape(&mut out, c);
        }
    }
    budget.make(out.len())?;
    Ok(out)
}
