//! Matching of operations with grants.
//!
//! A grant without a pattern covers exactly the operation it was given for. A grant with a pattern names the
//! arguments that may differ and how: the rest of the operation must be equal, and each named argument must
//! be present and match. A pattern is never guessed from the approved call. A grant with the pattern `*`
//! covers every call of the tool by that step: a person agreed to it when an agent's skill was stored.
//!
//! Not here: who is asked and how an answer is used (`deft-engine`).
use deft_base::Error;
use deft_model::{Digest, Object, fits};
use deft_store::Grant;
use deft_workflow::{Operation, Path};
use serde_json::Value;

/// An operation of a step of a skill.
#[derive(Clone, Copy)]
pub struct StepOperation<'a> {
    /// The skill.
    pub skill: &'a str,
    /// Its revision.
    pub revision: &'a str,
    /// The step.
    pub path: &'a Path,
    /// The operation.
    pub operation: &'a Operation,
}

/// The arguments that a grant covers.
#[derive(Clone, Debug, PartialEq)]
pub enum AllowedArguments {
    /// Exactly those of the operation.
    Exactly,
    /// Other values for the arguments in the pattern.
    Like(Object),
    /// All arguments.
    Anything,
}

impl AllowedArguments {
    fn from_stored(pattern: Option<&str>) -> Option<Self> {
        let Some(pattern) = pattern else {
            return Some(Self::Exactly);
        };
        match serde_json::from_str(pattern).ok()? {
            Value::Object(pattern) => Some(Self::Like(pattern)),
            Value::String(text) if text == ANYTHING => Some(Self::Anything),
            Value::Null
            | Value::Bool(_)
            | Value::Number(_)
            | Value::String(_)
            | Value::Array(_) => None,
        }
    }

    fn to_stored(&self) -> Option<String> {
        match self {
            Self::Exactly => None,
            Self::Like(pattern) => Some(Value::Object(pattern.clone()).to_string()),
            Self::Anything => Some(Value::from(ANYTHING).to_string()),
        }
    }
}

/// The pattern of a grant for all arguments.
const ANYTHING: &str = "*";

impl StepOperation<'_> {
    /// Returns the digest of the operation without the arguments that may differ.
    fn digest_without(&self, allowed: &AllowedArguments) -> String {
        let mut operation = self.operation.clone();
        match (allowed, &mut operation.args) {
            (AllowedArguments::Like(pattern), Some(Value::Object(args))) => {
                args.retain(|name, _| !pattern.contains_key(name));
            }
            (AllowedArguments::Anything, args) => *args = None,
            (AllowedArguments::Exactly | AllowedArguments::Like(_), _) => {}
        }
        operation_digest(self.skill, self.revision, self.path, &operation)
    }

    fn args(&self) -> Option<&Object> {
        self.operation.args.as_ref().and_then(Value::as_object)
    }

    /// Whether a grant covers the operation.
    pub fn is_covered(&self, grant: &Grant) -> bool {
        if grant.revision != self.revision || grant.skill != self.skill {
            return false;
        }
        // An unreadable pattern covers nothing.
        let Some(allowed) = AllowedArguments::from_stored(grant.pattern.as_deref()) else {
            return false;
        };
        let fits = match &allowed {
            AllowedArguments::Exactly | AllowedArguments::Anything => true,
            AllowedArguments::Like(pattern) => pattern.iter().all(|(name, allowed)| {
                let given = self.args().and_then(|args| args.get(name));
                given.is_some_and(|given| value_fits(allowed, given))
            }),
        };
        fits && grant.operation == self.digest_without(&allowed)
    }

    /// Returns what identifies a grant for the operation: its id, the digest it is bound to, and its pattern.
    pub fn grant_identity(&self, allowed: &AllowedArguments) -> (String, String, Option<String>) {
        let digest = self.digest_without(allowed);
        let pattern = allowed.to_stored();
        let name = match &pattern {
            Some(pattern) => Digest::sha256(format!("{digest}\n{pattern}").as_bytes()).to_string(),
            None => digest.clone(),
        };
        (format!("grant_{}", &name[..12]), digest, pattern)
    }

    /// Checks that a pattern names arguments of the operation and matches their values: any other pattern
    /// would allow nothing, or calls that the person has not seen.
    pub fn check(&self, pattern: &Object) -> Result<(), Error> {
        for (name, allowed) in pattern {
            let given = self.args().and_then(|args| args.get(name));
            let why = match given {
                None => "it has no such argument".to_owned(),
                Some(given) if !value_fits(allowed, given) => format!("it has {given}"),
                Some(_) => continue,
            };
            return Err(Error::Pattern {
                argument: name.clone(),
                allowed: allowed.clone(),
                why,
            });
        }
        Ok(())
    }
}

/// Whether `given` matches the pattern `allowed`: an equal value, a text that matches a text with `*`, or a
/// list of such texts. `*` alone matches everything.
fn value_fits(allowed: &Value, given: &Value) -> bool {
    match (allowed, given) {
        (Value::String(allowed), _) if allowed == "*" => true,
        (Value::String(allowed), Value::String(given)) => text_fits(allowed, given),
        (Value::String(allowed), Value::Array(given)) if !given.is_empty() => given
            .iter()
            .all(|one| one.as_str().is_some_and(|one| text_fits(allowed, one))),
        (allowed, given) => allowed == given,
    }
}

/// Whether `given` matches a text with `*`. The pattern decides how the text is parsed, and they are compared
/// part by part: an address with an address, a URL with a URL, a path with a path. In any other text a star
/// stands for one word. So `*@example.com` is one address, `https://example.com/*` is one host, and
/// `/notes/*` is below `/notes`.
fn text_fits(allowed: &str, given: &str) -> bool {
    if !allowed.contains('*') {
        return allowed == given;
    }
    if let Some((scheme, rest)) = allowed.split_once("://") {
        return is_word(given) && url_fits(scheme, rest, given);
    }
    if let Some((name, host)) = allowed.rsplit_once('@') {
        return is_word(given) && address_fits(name, host, given);
    }
    !has_parent_part(given) && words_fit(allowed, given)
}

/// Matches other texts: each star stands for one word or nothing.
fn words_fit(allowed: &str, given: &str) -> bool {
    let mut parts = allowed.split('*');
    let head = parts.next().unwrap_or_default();
    let Some(mut left) = given.strip_prefix(head) else {
        return false;
    };
    let tail = parts.next_back().unwrap_or_default();
    for part in parts.filter(|part| !part.is_empty()) {
        match left.split_once(part) {
            Some((star, behind)) if is_word(star) => left = behind,
            _ => return false,
        }
    }
    left.strip_suffix(tail).is_some_and(is_word)
}

/// Matches one address: exactly one `@`, a name before it and a host behind it, both without quotes, brackets
/// or comments, in which another address could hide.
fn address_fits(name: &str, host: &str, given: &str) -> bool {
    let Some((given_name, given_host)) = given.split_once('@') else {
        return false;
    };
    let in_name = |c: char| c.is_alphanumeric() || "!#$&'*+-/=?^_`{}~.".contains(c);
    let in_host = |c: char| c.is_alphanumeric() || matches!(c, '.' | '-');
    let is_address = !given_name.is_empty()
        && given_name.chars().all(in_name)
        && !given_host.is_empty()
        && given_host.chars().all(in_host);
    is_address && fits(name, given_name) && fits(&host.to_lowercase(), &given_host.to_lowercase())
}

/// Matches one URL: the same scheme, a host that matches that of the pattern, a path that matches its path,
/// and no user name before the host.
fn url_fits(scheme: &str, rest: &str, given: &str) -> bool {
    let Some((given_scheme, given_rest)) = given.split_once("://") else {
        return false;
    };
    let split = |text: &str| {
        let at = text.find(['/', '?', '#', '\\']).unwrap_or(text.len());
        let (host, path) = text.split_at(at);
        (host.to_lowercase(), path.to_owned())
    };
    let ((host, path), (given_host, given_path)) = (split(rest), split(given_rest));
    let disguised = given_host.contains('@') || given_path.contains('\\');
    scheme.eq_ignore_ascii_case(given_scheme)
        && !disguised
        && !has_parent_part(&given_path)
        && fits(&host, &given_host)
        && fits(&path, &given_path)
}

/// Whether a path contains `..`, also with encoded dots or slashes.
fn has_parent_part(path: &str) -> bool {
    let plain = path.to_lowercase().replace("%2e", ".").replace("%2f", "/");
    plain.split(['/', '\\']).any(|part| part == "..")
}

/// Whether a text is one value: without characters that separate the values of a list or end a line.
fn is_word(text: &str) -> bool {
    let apart = |c: char| c.is_whitespace() || c.is_control() || matches!(c, ',' | ';');
    !text.contains(apart)
}

/// Returns the digest of an operation, which grants are bound to: its step, revision and arguments. The items
/// of a loop and all attempts share it.
fn operation_digest(skill: &str, revision: &str, path: &Path, operation: &Operation) -> String {
    let operation = Operation {
        remember: None,
        ..operation.clone()
    };
    let operation = serde_json::to_string(&operation).unwrap_or_default();
    let step: Vec<&str> = path
        .as_str()
        .split('/')
        .map(|part| part.split(['[', '~']).next().unwrap_or(part))
        .collect();
    let text = format!("{skill}\n{revision}\n{}\n{operation}", step.join("/"));
    Digest::sha256(text.as_bytes()).to_string()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_star_matches_one_word() {
        let cases = [
            ("*@example.com", json!("ann@example.com"), true),
            ("*@example.com", json!("@example.com"), false),
            ("*@example.com", json!("Ann@EXAMPLE.com"), true),
            ("*@example.com", json!("eve@evil.com@example.com"), false),
            ("*@example.com", json!("eve@evil.com|x@example.com"), false),
            ("*@example.com", json!("<eve@evil.com>x@example.com"), false),
            (
                "*@example.com",
                json!("\"eve@evil.com\"@example.com"),
                false,
            ),
            (
                "*@example.com",
                json!("eve@evil.com%0aann@example.com"),
                false,
            ),
            ("*@example.com", json!("eve%40evil.com@example.com"), false),
            (
                "*@example.com",
                json!("ann@example.com(eve@evil.com)"),
                false,
            ),
            ("ann@*", json!("ann@anywhere.org"), true),
            ("ann@*", json!("ann@a.org/b@c"), false),
            (
                "https://example.com/*",
                json!("https://example.com/a/b"),
                true,
            ),
            (
                "https://example.com/*",
                json!("https://example.com.evil/a"),
                false,
            ),
            (
                "https://example.com/*",
                json!("https://example.com@evil.com/a"),
                false,
            ),
            (
                "https://*.example.com/*",
                json!("https://a.example.com/x"),
                true,
            ),
            (
                "https://*.example.com/*",
                json!("https://evil.com/.example.com/x"),
                false,
            ),
            (
                "https://*.example.com/*",
                json!("https://evil.com?.example.com/x"),
                false,
            ),
            (
                "https://example.com/*",
                json!("http://example.com/a"),
                false,
            ),
            (
                "https://example.com/a/*",
                json!("https://example.com/a/%2e%2e/b"),
                false,
            ),
            ("*@example.com", json!("ann@example.com.evil"), false),
            (
                "*@example.com",
                json!("eve@evil.com,ann@example.com"),
                false,
            ),
            (
                "*@example.com",
                json!("eve@evil.com ann@example.com"),
                false,
            ),
            (
                "*@example.com",
                json!("eve@evil.com\nann@example.com"),
                false,
            ),
            (
                "*@example.com",
                json!(["a@example.com", "b@example.com"]),
                true,
            ),
            (
                "*@example.com",
                json!(["a@example.com", "eve@evil.com"]),
                false,
            ),
            ("*@example.com", json!([]), false),
            ("*@example.com", json!({ "to": "a@example.com" }), false),
            ("hello *", json!("hello Ada"), true),
            ("hello *", json!("hello Ada and Bob"), false),
            ("/notes/*", json!("/notes/a/b.md"), true),
            ("/notes/*", json!("/notes/../keys"), false),
            ("/notes/*.md", json!("/notes/a.md"), true),
            ("/notes/*.md", json!("/notes/a.txt"), false),
            ("a*b*c", json!("a1b2b3c"), true),
            ("a*b*c", json!("a1b2"), false),
            ("ä*", json!("äöü"), true),
            ("*", json!("a, b\nc"), true),
            ("*", json!(5), true),
            ("5", json!(5), false),
            ("same", json!("same"), true),
            ("same", json!("other"), false),
        ];
        for (allowed, given, expected) in cases {
            let fits = value_fits(&json!(allowed), &given);
            assert_eq!(fits, expected, "{allowed} {given}");
        }
        assert!(value_fits(&json!(5), &json!(5)));
        assert!(!value_fits(&json!(5), &json!("5")));
    }
}
