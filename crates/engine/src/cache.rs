//! Cached results for later runs: their keys and their format.
//!
//! A result may hold placeholders of secrets, which are valid only in the run that made them. It is stored
//! with the nonce of that run, and converted to the nonce of the run that reads it.

use deft_model::{Digest, Object};
use deft_workflow::{rekey, replace_placeholders};
use serde::{Deserialize, Serialize};
use serde_json::Value;

#[derive(Serialize, Deserialize)]
struct CachedResult<V> {
    nonce: String,
    value: V,
}

/// Returns a result as it is stored.
pub(crate) fn write(value: &Value, nonce: &str) -> String {
    let nonce = nonce.to_owned();
    // JSON values always serialize.
    serde_json::to_string(&CachedResult { nonce, value }).unwrap_or_default()
}

/// Parses a stored result for a run with this nonce; `None` if it is unreadable.
pub(crate) fn read(kept: &str, nonce: &str) -> Option<Value> {
    let mut kept: CachedResult<Value> = serde_json::from_str(kept).ok()?;
    rekey(&mut kept.value, &kept.nonce, nonce);
    Some(kept.value)
}

/// Returns the key of a call: tool and arguments. The order of the arguments does not matter, and secrets
/// count by name.
pub(crate) fn key(tool: &str, args: &Object, nonce: &str) -> String {
    let mut names: Vec<&String> = args.keys().collect();
    names.sort();
    let mut text = tool.to_owned();
    for name in names {
        text.push('\n');
        text.push_str(name);
        text.push('=');
        text.push_str(&args[name].to_string());
    }
    Digest::sha256(by_name(&text, nonce).as_bytes()).to_string()
}

/// Replaces placeholders of secrets by names. The mark around a name does not occur in the text, so that
/// other text is never mistaken for a secret.
fn by_name(text: &str, nonce: &str) -> String {
    let mut nth = 0_usize;
    let mut mark = String::from("[secret 0 ");
    while text.contains(&mark) {
        nth += 1;
        mark = format!("[secret {nth} ");
    }
    let named = replace_placeholders(text, nonce, |name| format!("{mark}{name}]"));
    format!("{nth}\n{}", named.as_deref().unwrap_or(text))
}

#[cfg(test)]
mod tests {
    use deft_workflow::placeholder;
    use serde_json::json;

    use super::{key, read, write};

    fn args(text: &str) -> deft_model::Object {
        deft_model::Object::from_iter([("a".to_owned(), json!(text))])
    }

    #[test]
    fn only_secrets_keep_their_placeholder_across_runs() {
        let one = key("t", &args(&placeholder("n1", "TOKEN")), "n1");
        assert_eq!(one, key("t", &args(&placeholder("n2", "TOKEN")), "n2"));
        for other in [
            placeholder("n2", "OTHER"),
            placeholder("n1", "TOKEN"),
            "[secret 0 TOKEN]".to_owned(),
        ] {
            assert_ne!(one, key("t", &args(&other), "n2"), "{other:?}");
        }
    }

    #[test]
    fn a_cached_result_uses_the_placeholders_of_the_reading_run() {
        let forged = placeholder("n2", "TOKEN");
        let value = json!({ "a": [placeholder("n1", "TOKEN")], "b": "plain" });
        let expected = json!({ "a": [forged], "b": "plain" });
        assert_eq!(read(&write(&value, "n1"), "n2"), Some(expected));
        assert_eq!(read("no json", "n2"), None);
    }
}
