//! Checks arguments against the tool's JSON Schema before anything is sent.
//!
//! A schema is compiled once per tool, when it is first needed, and no reference is ever fetched: if a
//! schema refers to the network, its arguments are not checked here.

use std::sync::{Arc, OnceLock};

use deft_model::{Failure, FailureClass, Object, nearest};
use jsonschema::error::{TypeKind, ValidationErrorKind};
use jsonschema::{ValidationError, Validator};
use serde_json::Value;

use super::cost::{Cost, cost};
use super::schema::{cast, properties};
use crate::secret::Reveal;

/// The maximum number of problems to report at once.
const MAX_PROBLEMS: usize = 10;

/// Checks the arguments of one tool.
pub(crate) struct Checker {
    schema: Arc<Value>,
    compiled: OnceLock<Option<Validator>>,
}

impl Checker {
    pub(crate) fn new(schema: Arc<Value>) -> Self {
        Self {
            schema,
            compiled: OnceLock::new(),
        }
    }

    /// Returns a checker that accepts any arguments.
    pub(crate) fn lenient(schema: Arc<Value>) -> Self {
        Self {
            schema,
            compiled: OnceLock::from(None),
        }
    }

    pub(crate) fn schema(&self) -> &Arc<Value> {
        &self.schema
    }

    fn validator(&self) -> Option<&Validator> {
        let compile = || self.compile().ok().flatten();
        self.compiled.get_or_init(compile).as_ref()
    }

    /// Compiles the schema; `None` if it has references out of itself.
    fn compile(&self) -> Result<Option<Validator>, String> {
        match cost(&self.schema) {
            Cost::Bounded => {}
            Cost::Unknown => return Ok(None),
            Cost::TooHigh(problem) => return Err(problem.to_owned()),
        }
        match jsonschema::options().offline().build(&self.schema) {
            Ok(validator) => Ok(Some(validator)),
            Err(error) if matches!(error.kind(), ValidationErrorKind::Referencing(_)) => Ok(None),
            Err(error) => Err(error.to_string()),
        }
    }

    /// Returns why the schema is invalid, if it is. A schema that refers to the network is valid; its
    /// arguments are checked by the tool only.
    pub(crate) fn problem(&self) -> Option<String> {
        self.compile().err()
    }

    /// Casts scalars, then checks the arguments. Strings with a placeholder for a secret are not
    /// checked.
    pub(crate) fn check(
        &self,
        tool: &str,
        arguments: Object,
        reveal: &dyn Reveal,
    ) -> Result<Object, Failure> {
        let mut arguments = arguments;
        cast(&mut arguments, &self.schema);
        let Some(validator) = self.validator() else {
            return Ok(arguments);
        };
        let value = Value::Object(arguments);
        if validator.is_valid(&value) {
            return Ok(into_object(value));
        }
        let problems: Vec<Problem> = validator
            .iter_errors(&value)
            .filter(|error| !hides_secret(&value, error, reveal))
            .take(MAX_PROBLEMS)
            .flat_map(|error| describe(&error, &self.schema))
            .collect();
        if problems.is_empty() {
            return Ok(into_object(value));
        }
        Err(failure(tool, &problems))
    }
}

fn into_object(value: Value) -> Object {
    if let Value::Object(object) = value {
        return object;
    }
    Object::new()
}

/// Whether the invalid value is a placeholder, which says nothing about the secret.
fn hides_secret(value: &Value, error: &ValidationError<'_>, reveal: &dyn Reveal) -> bool {
    let place = error.instance_path().to_string();
    let text = value.pointer(&place).and_then(Value::as_str);
    text.is_some_and(|text| reveal.reveal(text) != text)
}

/// One problem, with a suggestion.
struct Problem {
    message: String,
    hint: Option<String>,
}

fn failure(tool: &str, problems: &[Problem]) -> Failure {
    let messages: Vec<&str> = problems
        .iter()
        .map(|problem| problem.message.as_str())
        .collect();
    let hints: Vec<&str> = problems
        .iter()
        .filter_map(|problem| problem.hint.as_deref())
        .collect();
    let failure = Failure::new(
        FailureClass::Invalid,
        format!("invalid arguments for `{tool}`: {}", messages.join("; ")),
    );
    if hints.is_empty() {
        failure
    } else {
        failure.hint(hints.join("; "))
    }
}

/// Converts an error of the validator to problems in deft's words.
#[expect(
    clippy::wildcard_enum_match_arm,
    reason = "the validator has a kind for every keyword of JSON Schema"
)]
fn describe(error: &ValidationError<'_>, schema: &Value) -> Vec<Problem> {
    let place = error.instance_path().to_string();
    let here = argument(&place);
    let plain = |message: String| {
        vec![Problem {
            message,
            hint: None,
        }]
    };
    match error.kind() {
        ValidationErrorKind::Required { property } => {
            let name = property.as_str().unwrap_or_default();
            plain(format!("{} is missing", join_name(&place, name)))
        }
        ValidationErrorKind::AdditionalProperties { unexpected }
        | ValidationErrorKind::UnevaluatedProperties { unexpected } => unexpected
            .iter()
            .map(|name| unknown(&place, name, schema))
            .collect(),
        ValidationErrorKind::Type { kind } => plain(format!("{here} must be {}", kinds(kind))),
        ValidationErrorKind::Enum { options } => {
            plain(format!("{here} must be one of {}", choices(options)))
        }
        ValidationErrorKind::Constant { expected_value } => {
            plain(format!("{here} must be `{expected_value}`"))
        }
        ValidationErrorKind::Pattern { pattern } => {
            plain(format!("{here} does not match the pattern `{pattern}`"))
        }
        ValidationErrorKind::Format { format } => {
            plain(format!("{here} is not of the form `{format}`"))
        }
        ValidationErrorKind::MinLength { limit } => {
            plain(format!("{here} is shorter than {limit} characters"))
        }
        ValidationErrorKind::MaxLength { limit } => {
            plain(format!("{here} is longer than {limit} characters"))
        }
        ValidationErrorKind::Minimum { limit } => plain(format!("{here} is less than {limit}")),
        ValidationErrorKind::Maximum { limit } => plain(format!("{here} is more than {limit}")),
        ValidationErrorKind::MinItems { limit } => {
            plain(format!("{here} has fewer than {limit} items"))
        }
        ValidationErrorKind::MaxItems { limit } => {
            plain(format!("{here} has more than {limit} items"))
        }
        // The validator's own messages quote the value, which deft's messages never do.
        other => plain(format!(
            "{here} violates the schema keyword `{}`",
            other.keyword()
        )),
    }
}

/// Formats the JSON pointer `/a/0/b` as the argument `a[0].b`.
fn argument(place: &str) -> String {
    let mut path = String::new();
    for part in place.split('/').skip(1) {
        let part = part.replace("~1", "/").replace("~0", "~");
        if part.parse::<usize>().is_ok() {
            path.push_str(&format!("[{part}]"));
        } else {
            if !path.is_empty() {
                path.push('.');
            }
            path.push_str(&part);
        }
    }
    if path.is_empty() {
        "the arguments object".to_owned()
    } else {
        format!("`{path}`")
    }
}

fn join_name(place: &str, name: &str) -> String {
    argument(&format!(
        "{place}/{}",
        name.replace('~', "~0").replace('/', "~1")
    ))
}

fn unknown(place: &str, name: &str, schema: &Value) -> Problem {
    let known = properties(schema).filter(|_| place.is_empty());
    let near = known.and_then(|known| nearest(name, known.keys().map(String::as_str)));
    Problem {
        message: format!("{} is unknown", join_name(place, name)),
        hint: near.map(|near| format!("did you mean `{near}`?")),
    }
}

fn kinds(kind: &TypeKind) -> String {
    match kind {
        TypeKind::Single(only) => with_article(&only.to_string()),
        TypeKind::Multiple(several) => {
            let words: Vec<String> = several
                .iter()
                .map(|kind| with_article(&kind.to_string()))
                .collect();
            words.join(" or ")
        }
    }
}

fn with_article(word: &str) -> String {
    match word {
        "null" => "null".to_owned(),
        "array" => "a list".to_owned(),
        "string" => "a string".to_owned(),
        "integer" => "a whole number".to_owned(),
        "object" => "an object".to_owned(),
        other => format!("a {other}"),
    }
}

fn choices(options: &Value) -> String {
    let options: Vec<String> = options
        .as_array()
        .into_iter()
        .flatten()
        .take(20)
        .map(|option| match option.as_str() {
            Some(text) => format!("`{text}`"),
            None => format!("`{option}`"),
        })
        .collect();
    options.join(", ")
}

#[cfg(test)]
mod tests {
    use std::borrow::Cow;

    use super::*;
    use crate::secret::Plain;
    use serde_json::json;

    struct Hidden;

    impl Reveal for Hidden {
        fn reveal<'a>(&self, text: &'a str) -> Cow<'a, str> {
            text.replace("<<token>>", "s3cret").into()
        }

        fn hide<'a>(&self, text: &'a str) -> Cow<'a, str> {
            text.replace("s3cret", "<<token>>").into()
        }
    }

    fn check(arguments: Value, reveal: &dyn Reveal) -> Result<Value, Failure> {
        let schema = json!({
            "type": "object",
            "additionalProperties": false,
            "required": ["message"],
            "properties": {
                "message": {"type": "string", "maxLength": 6},
                "count": {"type": "integer", "minimum": 1},
                "mode": {"enum": ["fast", "slow"]},
                "list": {"type": "array", "items": {"type": "object", "properties": {"x": {"type": "boolean"}}}}
            }
        });
        let checker = Checker::new(Arc::new(schema));
        checker
            .check("send", into_object(arguments), reveal)
            .map(Value::Object)
    }

    #[test]
    fn good_arguments_pass_and_numbers_are_cast() {
        assert_eq!(
            check(json!({"message": "hi", "count": "3"}), &Plain).unwrap(),
            json!({"message": "hi", "count": 3})
        );
    }

    #[test]
    fn each_problem_is_reported_once() {
        let given = json!({"mesage": "x", "count": 0, "mode": "medium", "list": [{"x": "no"}]});
        let failure = check(given, &Plain).unwrap_err();
        assert_eq!(failure.class, FailureClass::Invalid);
        assert!(!failure.in_doubt && !failure.blocked);
        for part in [
            "`message` is missing",
            "`mesage` is unknown",
            "`count` is less than 1",
            "`mode` must be one of `fast`, `slow`",
            "`list[0].x` must be a boolean",
        ] {
            assert!(
                failure.message.contains(part),
                "{part}: {}",
                failure.message
            );
        }
        assert_eq!(failure.hint.as_deref(), Some("did you mean `message`?"));
    }

    #[test]
    fn a_placeholder_is_not_checked_against_the_schema() {
        assert!(check(json!({"message": "<<token>>"}), &Hidden).is_ok());
        assert!(check(json!({"message": "too long"}), &Hidden).is_err());
    }

    #[test]
    fn a_remote_schema_is_never_fetched() {
        let schema = json!({"$ref": "http://127.0.0.1:9/schema.json"});
        let checker = Checker::new(Arc::new(schema));
        assert!(checker.check("x", Object::new(), &Plain).is_ok());
    }
}
