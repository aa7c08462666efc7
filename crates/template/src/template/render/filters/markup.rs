//! Filters for people: file sizes, and text without tags.

use deft_values::budget::Budget;
use deft_values::{Fault, Outcome};
use deft_values::{Value, show};

/// Formats `1.5 kB`, or `1.5 KiB` with powers of 1024.
pub(super) fn file_size<'a>(value: &Value<'a>, binary: bool) -> Outcome<Value<'a>> {
    const DECIMAL: [&str; 8] = ["kB", "MB", "GB", "TB", "PB", "EB", "ZB", "YB"];
    const BINARY: [&str; 8] = ["KiB", "MiB", "GiB", "TiB", "PiB", "EiB", "ZiB", "YiB"];
    let bytes = match value {
        #[expect(clippy::cast_precision_loss, reason = "only one decimal is shown")]
        Value::Int(bytes) => *bytes as f64,
        Value::Float(bytes) => *bytes,
        Value::Bool(truth) => f64::from(u8::from(*truth)),
        Value::Str(text) => text.trim().parse().map_err(|_| not_a_size(value))?,
        _ => return Err(not_a_size(value)),
    };
    let (base, prefixes) = if binary {
        (1024.0, BINARY)
    } else {
        (1000.0, DECIMAL)
    };
    if (bytes - 1.0).abs() < f64::EPSILON {
        return Ok(Value::str("1 Byte"));
    }
    if bytes < base {
        return Ok(Value::str(format!("{:.0} Bytes", bytes.trunc())));
    }
    let mut size = bytes / base;
    let mut at = 0;
    while size >= base && at + 1 < prefixes.len() {
        size /= base;
        at += 1;
    }
    Ok(Value::str(format!("{size:.1} {}", prefixes[at])))
}

fn not_a_size(value: &Value<'_>) -> Fault {
    Fault::type_error(format!("a size is a number, not {}", value.type_name()))
}

/// Removes tags and comments, collapses white space and decodes entities.
pub(super) fn strip_tags<'a>(value: &Value<'a>, budget: &Budget) -> Outcome<Value<'a>> {
    let text = show::to_str(value, budget)?;
    budget.scan(text.len())?;
    let text = without(&without(&text, "<!--", "-->"), "<", ">");
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    Ok(Value::str(read_entities(&text)))
}

/// Removes everything from an opening to its end; an unclosed opening stays.
fn without(text: &str, open: &str, close: &str) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some((before, behind)) = rest.split_once(open) {
        let Some((_, behind)) = behind.split_once(close) else {
            break;
        };
        out.push_str(before);
        rest = behind;
    }
    out.push_str(rest);
    out
}

fn read_entities(text: &str) -> String {
    let read = [
        ("&lt;", "<"),
        ("&gt;", ">"),
        ("&quot;", "\""),
        ("&#39;", "'"),
        ("&#34;", "\""),
    ];
    let read = read.iter();
    let text = read.fold(text.to_owned(), |text, (entity, sign)| {
        text.replace(entity, sign)
    });
    text.replace("&amp;", "&")
}
