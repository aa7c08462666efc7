//! Filters on text. As in Jinja2, other values are converted to text first.

use deft_values::args::{self, Args};
use deft_values::budget::Budget;
use deft_values::methods;
use deft_values::text::{byte_of, char_len, is_space};
use deft_values::{Dict, Text, Value, iterate, operate, percent, show};
use deft_values::{Fault, Outcome};

use super::{bind, flag, markup, number};

pub(super) fn apply<'a>(
    name: &str,
    value: &Value<'a>,
    args: &Args<'a>,
    budget: &Budget,
) -> Outcome<Option<Value<'a>>> {
    Ok(Some(match name {
        "lower" | "upper" | "capitalize" => {
            args.clone().none(name)?;
            methods::call(&soft(value, budget)?, name, Args::default(), budget)?
        }
        "string" | "safe" => soft(value, budget)?,
        "title" => {
            let Value::Str(text) = soft(value, budget)? else {
                return Ok(None);
            };
            Value::str(title_case(&text))
        }
        "trim" => {
            let [chars] = bind(name, args, ["chars"], 0)?;
            let args = Args::from_positional(chars.into_iter().collect());
            methods::call(&soft(value, budget)?, "strip", args, budget)?
        }
        "replace" => replace(value, args, budget)?,
        "center" => {
            let [width] = bind(name, args, ["width"], 0)?;
            let args = Args::from_positional(vec![width.unwrap_or(Value::Int(80))]);
            methods::call(&soft(value, budget)?, "center", args, budget)?
        }
        "escape" | "e" | "forceescape" => escape(value, budget)?,
        "striptags" => markup::strip_tags(value, budget)?,
        "filesizeformat" => {
            let [binary] = bind(name, args, ["binary"], 0)?;
            markup::file_size(value, flag(binary)?)?
        }
        "format" => format(value, args, budget)?,
        "indent" => indent(value, args, budget)?,
        "truncate" => truncate(value, args, budget)?,
        "urlencode" => urlencode(value, budget)?,
        "wordcount" => {
            let text = show::to_str(value, budget)?;
            Value::int(words(&text))
        }
        "split" => {
            let text = soft(value, budget)?;
            methods::call(&text, "split", args.clone(), budget)?
        }
        "lines" => methods::call(&soft(value, budget)?, "splitlines", Args::default(), budget)?,
        _ => return Ok(None),
    }))
}

/// Converts a value to text; text is returned unchanged.
fn soft<'a>(value: &Value<'a>, budget: &Budget) -> Outcome<Value<'a>> {
    match value {
        Value::Str(_) => Ok(value.clone()),
        other => show::to_str(other, budget).map(Value::str),
    }
}

fn words(text: &str) -> usize {
    let parts = text.split(|c: char| !(c.is_alphanumeric() || c == '_'));
    parts.filter(|part| !part.is_empty()).count()
}

/// Capitalizes every word; words are separated by blanks, `-` and brackets.
fn title_case(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut inside = false;
    for c in text.chars() {
        if inside {
            out.extend(c.to_lowercase());
        } else {
            out.extend(c.to_uppercase());
        }
        inside = !(is_space(c) || matches!(c, '-' | '(' | '{' | '[' | '<'));
    }
    out
}

fn replace<'a>(value: &Value<'a>, args: &Args<'a>, budget: &Budget) -> Outcome<Value<'a>> {
    let [old, new, count] = bind("replace", args, ["old", "new", "count"], 2)?;
    let mut positional = Vec::with_capacity(3);
    for part in [old, new].into_iter().flatten() {
        positional.push(soft(&part, budget)?);
    }
    positional.extend(count.filter(|count| !matches!(count, Value::None)));
    methods::call(
        &soft(value, budget)?,
        "replace",
        Args::from_positional(positional),
        budget,
    )
}

fn escape<'a>(value: &Value<'a>, budget: &Budget) -> Outcome<Value<'a>> {
    let text = show::to_str(value, budget)?;
    budget.make(text.len().saturating_mul(2))?;
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '\'' => out.push_str("&#39;"),
            '"' => out.push_str("&#34;"),
            c => out.push(c),
        }
    }
    Ok(Value::str(out))
}

fn format<'a>(value: &Value<'a>, args: &Args<'a>, budget: &Budget) -> Outcome<Value<'a>> {
    let text = show::to_str(value, budget)?;
    let values = if args.named.is_empty() {
        Value::tuple(args.positional.clone())?
    } else {
        super::dict(Args {
            positional: Vec::new(),
            named: args.named.clone(),
        })?
    };
    Ok(Value::str(percent::format(&text, &values, budget)?))
}

fn indent<'a>(value: &Value<'a>, args: &Args<'a>, budget: &Budget) -> Outcome<Value<'a>> {
    let [width, first, blank] = bind("indent", args, ["width", "first", "blank"], 0)?;
    let (first, blank) = (flag(first)?, flag(blank)?);
    let margin = match width {
        Some(Value::Str(margin)) => margin.to_string(),
        width => {
            let width = usize::try_from(number(width, 4)?).unwrap_or(0);
            budget.make(width)?;
            " ".repeat(width)
        }
    };
    let text = args::text(value, "the value of `indent`")?;
    let text = Value::str(format!("{}\n", &**text));
    let lines = methods::call(&text, "splitlines", Args::default(), budget)?;
    let lines = iterate::items(&lines, budget)?;
    budget.make(lines.len().saturating_mul(margin.len() + 1))?;
    let mut out = String::new();
    for (at, line) in lines.iter().enumerate() {
        let line = args::text(line, "a line")?;
        if at > 0 {
            out.push('\n');
        }
        if (at == 0 && first) || (at > 0 && (blank || !line.is_empty())) {
            out.push_str(&margin);
        }
        out.push_str(line);
    }
    Ok(Value::str(out))
}

fn truncate<'a>(value: &Value<'a>, args: &Args<'a>, budget: &Budget) -> Outcome<Value<'a>> {
    let params = ["length", "killwords", "end", "leeway"];
    let [length, kill, end, leeway] = bind("truncate", args, params, 0)?;
    let length = usize::try_from(number(length, 255)?).unwrap_or(0);
    let leeway = usize::try_from(number(leeway, 5)?).unwrap_or(0);
    let end = match &end {
        Some(end) => show::to_str(end, budget)?,
        None => "...".to_owned(),
    };
    let Value::Str(text) = value else {
        return Err(Fault::unsupported_python("`truncate` on anything but text"));
    };
    if char_len(text) <= length.saturating_add(leeway) {
        return Ok(value.clone());
    }
    let Some(keep) = length.checked_sub(char_len(&end)) else {
        return Err(Fault::other(
            "`length` is shorter than the end that is put on",
        ));
    };
    let cut = &text[..byte_of(text, keep)];
    let cut = if flag(kill)? {
        cut
    } else {
        cut.rsplit_once(' ').map_or(cut, |(head, _)| head)
    };
    Ok(Value::str(format!("{cut}{end}")))
}

fn urlencode<'a>(value: &Value<'a>, budget: &Budget) -> Outcome<Value<'a>> {
    let mut parts = Vec::new();
    match value {
        Value::Dict(dict) => pairs(dict, &mut parts, budget)?,
        Value::Str(_) | Value::Int(_) | Value::Float(_) | Value::Bool(_) | Value::None => {
            let text = show::to_str(value, budget)?;
            return Ok(Value::str(percent_encode(&text, true)));
        }
        _ => return Err(Fault::unsupported_python("`urlencode` on this value")),
    }
    Ok(Value::str(operate::join("&", &parts, budget)?))
}

fn pairs<'a>(dict: &Dict<'a>, parts: &mut Vec<Text<'a>>, budget: &Budget) -> Outcome<()> {
    for (key, value) in dict.iter() {
        let key = percent_encode(&show::to_str(&key, budget)?, false);
        let value = percent_encode(&show::to_str(&value, budget)?, false);
        parts.push(Text::Own(format!("{key}={value}").into()));
    }
    Ok(())
}

/// Percent-encodes text. With `path`, slashes are kept; otherwise blanks become `+`.
fn percent_encode(text: &str, path: bool) -> String {
    let mut out = String::with_capacity(text.len());
    for byte in text.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'_' | b'.' | b'-' | b'~' => {
                out.push(char::from(byte));
            }
            b'/' if path => out.push('/'),
            b' ' if !path => out.push('+'),
            byte => out.push_str(&format!("%{byte:02X}")),
        }
    }
    out
}
