//! Which operations a standing permission covers.
//!
//! One without a pattern covers the very operation it was given for. One with a pattern names the
//! arguments that may differ and how; the operation without these must be the same, and each of
//! these must be there and fit. What differs is never guessed from the call that was approved. One
//! with the pattern `*` covers every call of the tool by that step: a person agreed to it when an
//! agent's skill was stored.
//!
//! Not here: who is asked and what becomes of an answer (`ask.rs`).

use deft_model::Object;
use deft_store::Grant;
use deft_workflow::{Operation, Path};
use serde_json::Value;

use crate::Error;
use crate::ask::{hex, operation_digest};

/// An operation of a step of a skill.
#[derive(Clone, Copy)]
pub(crate) struct Place<'a> {
    pub(crate) skill: &'a str,
    pub(crate) revision: &'a str,
    pub(crate) path: &'a Path,
    pub(crate) operation: &'a Operation,
}

/// Which arguments a permission covers.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Allowed {
    /// Those of the operation.
    Exactly,
    /// Others where the pattern says so.
    Like(Object),
    /// All.
    Anything,
}

impl Allowed {
    fn from_stored(pattern: Option<&str>) -> Option<Self> {
        let Some(pattern) = pattern else {
            return Some(Self::Exactly);
        };
        match serde_json::from_str(pattern).ok()? {
            Value::Object(pattern) => Some(Self::Like(pattern)),
            Value::String(text) if text == ANYTHING => Some(Self::Anything),
            _ => None,
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

/// The pattern of a permission for all arguments.
const ANYTHING: &str = "*";

impl Place<'_> {
    /// The digest of everything but the arguments that may differ.
    fn digest_without(&self, allowed: &Allowed) -> String {
        let mut operation = self.operation.clone();
        match (allowed, &mut operation.args) {
            (Allowed::Like(pattern), Some(Value::Object(args))) => {
                args.retain(|name, _| !pattern.contains_key(name));
            }
            (Allowed::Anything, args) => *args = None,
            (Allowed::Exactly | Allowed::Like(_), _) => {}
        }
        operation_digest(self.skill, self.revision, self.path, &operation)
    }

    fn args(&self) -> Option<&Object> {
        self.operation.args.as_ref().and_then(Value::as_object)
    }

    /// Whether a permission covers it.
    pub(crate) fn is_covered(&self, grant: &Grant) -> bool {
        if grant.revision != self.revision || grant.skill != self.skill {
            return false;
        }
        // What cannot be read covers nothing.
        let Some(allowed) = Allowed::from_stored(grant.pattern.as_deref()) else {
            return false;
        };
        let fits = match &allowed {
            Allowed::Exactly | Allowed::Anything => true,
            Allowed::Like(pattern) => pattern.iter().all(|(name, allowed)| {
                let given = self.args().and_then(|args| args.get(name));
                given.is_some_and(|given| value_fits(allowed, given))
            }),
        };
        fits && grant.operation == self.digest_without(&allowed)
    }

    /// What a permission for it is called, and what it is bound to.
    pub(crate) fn bound(&self, allowed: &Allowed) -> (String, String, Option<String>) {
        let digest = self.digest_without(allowed);
        let pattern = allowed.to_stored();
        let name = match &pattern {
            Some(pattern) => hex(format!("{digest}\n{pattern}").as_bytes()),
            None => digest.clone(),
        };
        (format!("grant_{}", &name[..12]), digest, pattern)
    }

    /// A pattern must be about arguments that the operation has, and fit them: anything else is a
    /// mistake that would allow nothing, or something that nobody has looked at.
    pub(crate) fn check(&self, pattern: &Object) -> Result<(), Error> {
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

/// Whether a value is what a pattern allows: the same, a text that fits one with `*`, or a list of
/// such texts. `*` alone fits everything.
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

/// Whether a text fits one with `*`. A star within a text stands for one word: no blanks, no commas
/// or semicolons, no way up in a folder. So `*@example.com` is one address and `/notes/*` is below
/// `/notes`.
fn text_fits(allowed: &str, given: &str) -> bool {
    let Some((head, rest)) = allowed.split_once('*') else {
        return allowed == given;
    };
    let climbs = given.split(['/', '\\']).any(|part| part == "..");
    let Some(mut left) = given.strip_prefix(head).filter(|_| !climbs) else {
        return false;
    };
    let (between, tail) = rest.rsplit_once('*').unwrap_or(("", rest));
    for part in between.split('*').filter(|part| !part.is_empty()) {
        match left.split_once(part) {
            Some((star, behind)) if is_word(star) => left = behind,
            _ => return false,
        }
    }
    left.strip_suffix(tail).is_some_and(is_word)
}

fn is_word(text: &str) -> bool {
    let apart = |c: char| c.is_whitespace() || c.is_control() || matches!(c, ',' | ';');
    !text.contains(apart)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_star_stands_for_one_word() {
        let cases = [
            ("*@example.com", json!("ann@example.com"), true),
            ("*@example.com", json!("@example.com"), true),
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
