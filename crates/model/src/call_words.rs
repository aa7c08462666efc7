//! Calls in the text of a question. A front end that shows the arguments itself removes them from the text,
//! so the same file writes and finds them.

use serde_json::Value;

use crate::{Object, clip};

/// The words between a name and its arguments.
const WITH: &str = " with ";

/// Returns a call in words, with its arguments as JSON, cut to `most` characters: `` `post` with {"a":1} ``.
pub fn call_words(name: &str, args: Option<&Object>, most: usize) -> String {
    let Some(args) = args.filter(|args| !args.is_empty()) else {
        return format!("`{name}`");
    };
    let args = serde_json::to_string(args).unwrap_or_default();
    format!("`{name}`{WITH}{}", clip(&args, most))
}

/// Whether a text has all arguments of the call, uncut.
pub fn has_arguments(text: &str, args: &Value) -> bool {
    text.contains(&args.to_string())
}

/// Removes the arguments of a call, possibly cut, from a text with its [`call_words`].
pub fn without_arguments(text: &str, args: &Value) -> String {
    let json = args.to_string();
    let Some((before, behind)) = text.split_once(WITH) else {
        return text.to_owned();
    };
    let same = behind.char_indices().zip(json.chars());
    let same = same.take_while(|((_, one), other)| one == other);
    let Some(((last, c), _)) = same.last() else {
        return text.to_owned();
    };
    let rest = &behind[last + c.len_utf8()..];
    format!("{before}{}", rest.strip_prefix('…').unwrap_or(rest))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn arguments_are_found_at_their_positions() {
        let args = json!({"text": "one with two…", "count": 3});
        let whole = args.to_string().chars().count();
        for (most, is_whole) in [(whole, true), (9, false), (1, false)] {
            let words = call_words("post", args.as_object(), most);
            let question = format!("Call {words}? Its server says nothing.");
            assert_eq!(has_arguments(&question, &args), is_whole, "{most}");
            let rest = without_arguments(&question, &args);
            assert_eq!(rest, "Call `post`? Its server says nothing.", "{most}");
        }
    }

    #[test]
    fn text_without_arguments_is_unchanged() {
        let empty = json!({});
        assert_eq!(call_words("post", empty.as_object(), 9), "`post`");
        assert_eq!(call_words("post", None, 9), "`post`");
        for text in ["Really?", "Really with all?"] {
            assert_eq!(without_arguments(text, &empty), text);
        }
    }
}
