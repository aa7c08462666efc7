//! Placeholders: texts that stand for secrets in arguments and events until their tools are called.

use serde_json::Value;

/// Delimiters of a placeholder; neither character occurs in ordinary text.
const OPEN: char = '\u{F0000}';
const CLOSE: char = '\u{F0001}';

/// Returns the text that stands for a secret until its tool is called.
pub fn placeholder(nonce: &str, name: &str) -> String {
    format!("{OPEN}{nonce}:{name}{CLOSE}")
}

/// Replaces every placeholder with this nonce in a text. Returns `None` if there is none.
pub fn replace_placeholders(
    text: &str,
    nonce: &str,
    mut with: impl FnMut(&str) -> String,
) -> Option<String> {
    // Most texts have no placeholder, and this check is cheaper than setting up a search.
    if !text.contains(OPEN) {
        return None;
    }
    let start = format!("{OPEN}{nonce}:");
    let mut rest = text;
    let mut out: Option<String> = None;
    while let Some((before, behind)) = rest.split_once(start.as_str()) {
        let Some((name, behind)) = behind.split_once(CLOSE) else {
            break;
        };
        let out = out.get_or_insert_with(String::new);
        out.push_str(before);
        out.push_str(&with(name));
        rest = behind;
    }
    out.map(|mut out| {
        out.push_str(rest);
        out
    })
}

/// Converts the placeholders in a text from the nonce of one run to that of another.
pub(crate) fn rekey_text(text: &mut String, from: &str, to: &str) {
    if let Some(changed) = replace_placeholders(text, from, |name| placeholder(to, name)) {
        *text = changed;
    }
}

/// Converts the placeholders in a value from the nonce of one run to that of another.
pub fn rekey(value: &mut Value, from: &str, to: &str) {
    match value {
        Value::String(text) => rekey_text(text, from, to),
        Value::Array(items) => items.iter_mut().for_each(|item| rekey(item, from, to)),
        Value::Object(map) => {
            if map.keys().any(|key| key.contains(OPEN)) {
                let entries = std::mem::take(map).into_iter();
                *map = entries
                    .map(|(mut key, value)| {
                        rekey_text(&mut key, from, to);
                        (key, value)
                    })
                    .collect();
            }
            map.values_mut().for_each(|value| rekey(value, from, to));
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// Returns the text with every placeholder shown as `[secret NAME]`, or `None` if it has none.
pub fn mask(text: &str) -> Option<String> {
    let mut rest = text;
    let mut out: Option<String> = None;
    while let Some((before, behind)) = rest.split_once(OPEN) {
        let Some((inside, behind)) = behind.split_once(CLOSE) else {
            break;
        };
        let name = inside.rsplit(':').next().unwrap_or(inside);
        let out = out.get_or_insert_with(String::new);
        out.push_str(before);
        out.push_str("[secret ");
        out.push_str(name);
        out.push(']');
        rest = behind;
    }
    out.map(|mut out| {
        out.push_str(rest);
        out
    })
}

/// Shows every placeholder in the texts of a value as `[secret NAME]`.
pub fn mask_value(value: &mut Value) {
    match value {
        Value::String(text) => {
            if let Some(masked) = mask(text) {
                *text = masked;
            }
        }
        Value::Array(items) => items.iter_mut().for_each(mask_value),
        Value::Object(map) => map.values_mut().for_each(mask_value),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

#[cfg(test)]
mod tests {
    use super::{mask, placeholder, replace_placeholders};

    #[test]
    fn only_placeholders_of_this_run_are_replaced() {
        let text = format!(
            "Bearer {} and {}",
            placeholder("n1", "TOKEN"),
            placeholder("other", "TOKEN")
        );
        let shown = replace_placeholders(&text, "n1", |name| format!("<{name}>")).unwrap();
        assert!(shown.starts_with("Bearer <TOKEN> and "));
        assert!(!shown.ends_with("<TOKEN>"));
        assert_eq!(replace_placeholders("plain", "n1", |_| String::new()), None);
    }

    #[test]
    fn a_truncated_placeholder_does_not_block_others() {
        let whole = placeholder("n1", "TOKEN");
        let text = format!("{whole} {}", &whole[..whole.len() - 4]);
        let shown = replace_placeholders(&text, "n1", |name| format!("<{name}>")).unwrap();
        assert!(shown.starts_with("<TOKEN> "));
        assert!(mask(&text).unwrap().starts_with("[secret TOKEN] "));
        assert_eq!(mask("plain"), None);
    }
}
