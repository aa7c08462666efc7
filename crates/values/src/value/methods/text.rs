//! Methods of strings: search, replacement, padding, character tests.
//!
//! Not here: splitting and joining (`text_split`), upper and lower case (`text_case`).

use super::{list::clip, text_case, text_split};
use crate::fault::{Fault, Outcome};
use crate::value::args::{self, Args};
use crate::value::budget::Budget;
use crate::value::text::{byte_of, char_len, is_printable, is_space};
use crate::value::{Text, Value, format, spec};

pub(super) fn call<'a>(
    text: &Text<'a>,
    name: &str,
    args: Args<'a>,
    budget: &Budget,
) -> Outcome<Option<Value<'a>>> {
    budget.scan(text.len())?;
    Ok(Some(match name {
        "find" | "index" | "rfind" | "rindex" => find(text, name, args)?,
        "count" => count(text, args)?,
        "startswith" | "endswith" => affix(text, name, args)?,
        "removeprefix" | "removesuffix" => remove_affix(text, name, args)?,
        "replace" => replace(text, args, budget)?,
        "strip" | "lstrip" | "rstrip" => strip(text, name, args)?,
        "center" | "ljust" | "rjust" => justify(text, name, args, budget)?,
        "zfill" => zfill(text, args, budget)?,
        "format" => Value::str(format::format(text, &args, budget)?),
        "expandtabs" | "encode" | "translate" | "maketrans" | "format_map" => return Ok(None),
        _ if name.starts_with("is") => {
            args.none(name)?;
            return Ok(class(text, name).map(Value::Bool));
        }
        "lower" | "upper" | "title" | "capitalize" | "swapcase" | "casefold" => {
            args.none(name)?;
            budget.make(text.len())?;
            text_case::convert(text, name)?
        }
        _ => return text_split::call(text, name, args, budget),
    }))
}

/// Returns the part of the text to search, and the number of characters before it.
fn window<'t, 'a>(
    text: &'t str,
    start: Option<Value<'a>>,
    stop: Option<Value<'a>>,
) -> Outcome<Option<(&'t str, usize)>> {
    let given = |value: Option<Value<'a>>| value.filter(|value| !matches!(value, Value::None));
    let (start, stop) = (given(start), given(stop));
    if start.is_none() && stop.is_none() {
        return Ok(Some((text, 0)));
    }
    let len = char_len(text);
    let from = match &start {
        // After the end, not even the empty text is found.
        Some(start) if args::int(start)? > len as i128 => return Ok(None),
        Some(start) => clip(args::size(start)?, len),
        None => 0,
    };
    let to = match &stop {
        Some(stop) => clip(args::size(stop)?, len),
        None => len,
    };
    if from > to {
        return Ok(None);
    }
    Ok(Some((&text[byte_of(text, from)..byte_of(text, to)], from)))
}

fn find<'a>(text: &str, name: &str, args: Args<'a>) -> Outcome<Value<'a>> {
    let [wanted, start, stop] = args.bind(name, ["/", "/", "/"], 1)?;
    let wanted = wanted.unwrap_or(Value::None);
    let wanted = args::text(&wanted, "the argument")?;
    let found = window(text, start, stop)?.and_then(|(part, before)| {
        let byte = match name {
            "find" | "index" => part.find(&**wanted),
            _ => part.rfind(&**wanted),
        };
        byte.map(|byte| before + char_len(&part[..byte]))
    });
    match found {
        Some(at) => Ok(Value::int(at)),
        None if name.ends_with("find") => Ok(Value::Int(-1)),
        None => Err(Fault::other("substring not found")),
    }
}

fn count<'a>(text: &str, args: Args<'a>) -> Outcome<Value<'a>> {
    let [wanted, start, stop] = args.bind("count", ["/", "/", "/"], 1)?;
    let wanted = wanted.unwrap_or(Value::None);
    let wanted = args::text(&wanted, "the argument")?;
    let found = window(text, start, stop)?.map_or(0, |(part, _)| match &**wanted {
        "" => char_len(part) + 1,
        wanted => part.matches(wanted).count(),
    });
    Ok(Value::int(found))
}

fn affix<'a>(text: &str, name: &str, args: Args<'a>) -> Outcome<Value<'a>> {
    let [wanted, start, stop] = args.bind(name, ["/", "/", "/"], 1)?;
    let wanted = wanted.unwrap_or(Value::None);
    let choices = match &wanted {
        Value::Tuple(seq) => seq.to_vec(),
        single => vec![single.clone()],
    };
    let Some((part, _)) = window(text, start, stop)? else {
        return Ok(Value::Bool(false));
    };
    for choice in &choices {
        let what = format!("{name} first arg");
        let choice = args::text(choice, &what)?;
        let found = match name {
            "startswith" => part.starts_with(&**choice),
            _ => part.ends_with(&**choice),
        };
        if found {
            return Ok(Value::Bool(true));
        }
    }
    Ok(Value::Bool(false))
}

fn remove_affix<'a>(text: &Text<'a>, name: &str, args: Args<'a>) -> Outcome<Value<'a>> {
    let affix = args.one(name)?;
    let affix = args::text(&affix, "the argument")?;
    let rest = match name {
        "removeprefix" => text
            .strip_prefix(&**affix)
            .map(|rest| text.len() - rest.len()..text.len()),
        _ => text.strip_suffix(&**affix).map(|rest| 0..rest.len()),
    };
    Ok(Value::Str(text.cut(rest.unwrap_or(0..text.len()))))
}

fn replace<'a>(text: &Text<'a>, args: Args<'a>, budget: &Budget) -> Outcome<Value<'a>> {
    let [old, new, count] = args.bind("replace", ["/", "/", "/"], 2)?;
    let (old, new) = (old.unwrap_or(Value::None), new.unwrap_or(Value::None));
    let (old, new) = (
        args::text(&old, "replace() argument 1")?,
        args::text(&new, "replace() argument 2")?,
    );
    let most = match count {
        Some(count) => usize::try_from(args::size(&count)?).unwrap_or(usize::MAX),
        None => usize::MAX,
    };
    replace_occurrences(text, old, new, most, budget).map(Value::Str)
}

/// Replaces up to `most` occurrences.
pub(crate) fn replace_occurrences<'a>(
    text: &Text<'a>,
    old: &str,
    new: &str,
    most: usize,
    budget: &Budget,
) -> Outcome<Text<'a>> {
    let found = if old.is_empty() {
        char_len(text) + 1
    } else {
        text.matches(old).count()
    };
    let times = found.min(most);
    if times == 0 {
        return Ok(text.clone());
    }
    budget.make(text.len().saturating_add(new.len().saturating_mul(times)))?;
    Ok(Text::Own(text.replacen(old, new, times).into()))
}

fn strip<'a>(text: &Text<'a>, name: &str, args: Args<'a>) -> Outcome<Value<'a>> {
    let [chars] = args.bind(name, ["/"], 0)?;
    let chars = chars.filter(|chars| !matches!(chars, Value::None));
    let chars = match &chars {
        Some(chars) => Some(args::text(chars, &format!("{name} arg"))?),
        None => None,
    };
    let gone = |c: char| match chars {
        Some(chars) => chars.contains(c),
        None => is_space(c),
    };
    let start = match name {
        "rstrip" => 0,
        _ => text.len() - text.trim_start_matches(gone).len(),
    };
    let end = match name {
        "lstrip" => text.len(),
        _ => text.trim_end_matches(gone).len(),
    };
    Ok(Value::Str(text.cut(start..end.max(start))))
}

fn justify<'a>(text: &Text<'a>, name: &str, args: Args<'a>, budget: &Budget) -> Outcome<Value<'a>> {
    let [width, fill] = args.bind(name, ["/", "/"], 1)?;
    let width = args::size(&width.unwrap_or(Value::None))?;
    let fill = match &fill {
        Some(fill) => args::text(fill, "the fill character")?.to_string(),
        None => " ".to_owned(),
    };
    let mut chars = fill.chars();
    let (Some(fill), None) = (chars.next(), chars.next()) else {
        return Err(Fault::type_error(
            "the fill character must be exactly one character long",
        ));
    };
    let width = usize::try_from(width).unwrap_or(0);
    budget.make(width.saturating_mul(fill.len_utf8()))?;
    Ok(match name {
        "center" => Value::str(center(text, width, fill)),
        "ljust" => Value::str(spec::pad(text, fill, '<', width)),
        _ => Value::str(spec::pad(text, fill, '>', width)),
    })
}

/// `str.center`, which puts an extra blank on the left if the width is odd.
pub(crate) fn center(text: &str, width: usize, fill: char) -> String {
    let missing = width.saturating_sub(char_len(text));
    let left = missing / 2 + (missing & width & 1);
    let mut out: String = std::iter::repeat_n(fill, left).collect();
    out.push_str(text);
    out.extend(std::iter::repeat_n(fill, missing - left));
    out
}

fn zfill<'a>(text: &Text<'a>, args: Args<'a>, budget: &Budget) -> Outcome<Value<'a>> {
    let width = usize::try_from(args::size(&args.one("zfill")?)?).unwrap_or(0);
    budget.make(width)?;
    let (sign, digits) = match text.strip_prefix(['+', '-']) {
        Some(digits) => text.split_at(text.len() - digits.len()),
        None => ("", &**text),
    };
    let width = width.saturating_sub(sign.len());
    Ok(Value::str(format!(
        "{sign}{}",
        spec::pad(digits, '0', '>', width)
    )))
}

/// `isdigit` and the like; `None` if the result requires Unicode tables.
fn class(text: &str, name: &str) -> Option<bool> {
    match name {
        "isascii" => Some(text.is_ascii()),
        "isspace" => Some(!text.is_empty() && text.chars().all(is_space)),
        "isprintable" => Some(text.chars().all(is_printable)),
        "islower" => Some(text_case::is_lower(text)),
        "isupper" => Some(text_case::is_upper(text)),
        "isidentifier" if text.is_ascii() => Some(
            text.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
                && text.chars().all(|c| c.is_ascii_alphanumeric() || c == '_'),
        ),
        "isidentifier" | "istitle" if !text.is_ascii() => None,
        "istitle" => Some(text_case::is_title(text)),
        _ => all_of(text, name),
    }
}

fn all_of(text: &str, name: &str) -> Option<bool> {
    if text.is_empty() {
        return Some(false);
    }
    for c in text.chars() {
        let (letter, digit) = if c.is_ascii() {
            (c.is_ascii_alphabetic(), c.is_ascii_digit())
        } else {
            (is_letter(c)?, false)
        };
        let fits = match name {
            "isalpha" => letter,
            "isalnum" => letter || digit,
            // Some ideographs are numeric as well.
            "isnumeric" if letter && c >= '\u{2e80}' => return None,
            _ => digit,
        };
        if !fits {
            return Some(false);
        }
    }
    Some(true)
}

/// Whether Python treats a character as a letter; `None` if that is uncertain.
fn is_letter(c: char) -> Option<bool> {
    match c {
        '\u{aa}' | '\u{b5}' | '\u{ba}' | '\u{c0}'..='\u{24f}' => Some(c.is_alphabetic()),
        '\u{386}'..='\u{3ff}' | '\u{400}'..='\u{481}' | '\u{48a}'..='\u{52f}' => {
            Some(c.is_alphabetic())
        }
        '\u{3041}'..='\u{3096}' | '\u{4e00}'..='\u{9fff}' | '\u{ac00}'..='\u{d7a3}' => Some(true),
        _ if c.is_alphanumeric() => None,
        _ => Some(false),
    }
}
