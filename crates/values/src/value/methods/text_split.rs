//! Methods of strings: splitting and joining.

use crate::fault::{Fault, Outcome};
use crate::value::args::{self, Args};
use crate::value::budget::Budget;
use crate::value::text::is_space;
use crate::value::{Text, Value, iterate, operate};

pub(super) fn call<'a>(
    text: &Text<'a>,
    name: &str,
    args: Args<'a>,
    budget: &Budget,
) -> Outcome<Option<Value<'a>>> {
    Ok(Some(match name {
        "split" | "rsplit" => {
            let [separator, most] = args.bind(name, ["sep", "maxsplit"], 0)?;
            let most = match most {
                Some(most) => usize::try_from(args::size(&most)?).ok(),
                None => None,
            };
            let parts = split(text, name, separator.as_ref(), most)?;
            budget.items(parts.len())?;
            Value::list(parts)?
        }
        "splitlines" => {
            let [keep] = args.bind(name, ["keepends"], 0)?;
            let keep = keep.map_or(Ok(false), |keep| keep.truth())?;
            let parts = lines(text, keep);
            budget.items(parts.len())?;
            Value::list(parts)?
        }
        "partition" | "rpartition" => partition(text, name, args)?,
        "join" => join(text, args, budget)?,
        _ => return Ok(None),
    }))
}

fn split<'a>(
    text: &Text<'a>,
    name: &str,
    separator: Option<&Value<'a>>,
    most: Option<usize>,
) -> Outcome<Vec<Value<'a>>> {
    let most = most.unwrap_or(usize::MAX);
    let mut ranges = match separator {
        None | Some(Value::None) if name == "split" => words(text, most),
        None | Some(Value::None) => words_from_end(text, most),
        Some(separator) => {
            let separator = args::text(separator, "the separator")?;
            if separator.is_empty() {
                return Err(Fault::other("empty separator"));
            }
            by_separator(text, separator, most, name == "rsplit")
        }
    };
    Ok(ranges
        .drain(..)
        .map(|range| Value::Str(text.cut(range)))
        .collect())
}

type Ranges = Vec<std::ops::Range<usize>>;

fn by_separator(text: &str, separator: &str, most: usize, from_end: bool) -> Ranges {
    let place = |part: &str| {
        let start = part.as_ptr() as usize - text.as_ptr() as usize;
        start..start + part.len()
    };
    let parts = most.saturating_add(1);
    if from_end {
        let mut ranges: Ranges = text.rsplitn(parts, separator).map(place).collect();
        ranges.reverse();
        return ranges;
    }
    text.splitn(parts, separator).map(place).collect()
}

fn words(text: &str, most: usize) -> Ranges {
    let mut ranges = Vec::new();
    let mut at = text.len() - text.trim_start_matches(is_space).len();
    while at < text.len() {
        let len = if ranges.len() == most {
            text.len() - at
        } else {
            text[at..].find(is_space).unwrap_or(text.len() - at)
        };
        ranges.push(at..at + len);
        let rest = &text[at + len..];
        at = text.len() - rest.trim_start_matches(is_space).len();
    }
    ranges
}

fn words_from_end(text: &str, most: usize) -> Ranges {
    let mut ranges = Vec::new();
    let mut rest = text.trim_end_matches(is_space);
    while !rest.is_empty() {
        let start = if ranges.len() == most {
            0
        } else {
            rest.char_indices()
                .rev()
                .find(|(_, c)| is_space(*c))
                .map_or(0, |(at, c)| at + c.len_utf8())
        };
        ranges.push(start..rest.len());
        rest = if ranges.len() > most {
            ""
        } else {
            rest[..start].trim_end_matches(is_space)
        };
    }
    ranges.reverse();
    ranges
}

fn is_line_end(c: char) -> bool {
    matches!(
        c,
        '\n' | '\r' | '\x0b' | '\x0c' | '\x1c'..='\x1e' | '\u{85}' | '\u{2028}' | '\u{2029}'
    )
}

pub(crate) fn lines<'a>(text: &Text<'a>, keep: bool) -> Vec<Value<'a>> {
    let mut lines = Vec::new();
    let mut start = 0;
    while start < text.len() {
        let rest = &text[start..];
        let Some(len) = rest.find(is_line_end) else {
            lines.push(Value::Str(text.cut(start..text.len())));
            break;
        };
        let width = if rest[len..].starts_with("\r\n") {
            2
        } else {
            rest[len..].chars().next().map_or(1, char::len_utf8)
        };
        let end = if keep { len + width } else { len };
        lines.push(Value::Str(text.cut(start..start + end)));
        start += len + width;
    }
    lines
}

fn partition<'a>(text: &Text<'a>, name: &str, args: Args<'a>) -> Outcome<Value<'a>> {
    let separator = args.one(name)?;
    let separator = args::text(&separator, "the separator")?;
    if separator.is_empty() {
        return Err(Fault::other("empty separator"));
    }
    let empty = Value::Str(Text::Ref(""));
    let found = match name {
        "partition" => text.find(&**separator),
        _ => text.rfind(&**separator),
    };
    let Some(at) = found else {
        let whole = Value::Str(text.clone());
        return Value::tuple(match name {
            "partition" => vec![whole, empty.clone(), empty],
            _ => vec![empty.clone(), empty, whole],
        });
    };
    Value::tuple(vec![
        Value::Str(text.cut(0..at)),
        Value::Str(separator.clone()),
        Value::Str(text.cut(at + separator.len()..text.len())),
    ])
}

fn join<'a>(text: &Text<'a>, args: Args<'a>, budget: &Budget) -> Outcome<Value<'a>> {
    let items = iterate::items(&args.one("join")?, budget)?;
    let mut parts = Vec::with_capacity(items.len());
    for (at, item) in items.iter().enumerate() {
        match item {
            Value::Str(part) => parts.push(part.clone()),
            _ => {
                item.usable()?;
                let name = item.type_name();
                return Err(Fault::type_error(format!(
                    "sequence item {at}: expected str instance, {name} found"
                )));
            }
        }
    }
    Ok(Value::str(operate::join(text, &parts, budget)?))
}
