//! Properties that hold for every input.

use deft_command::{
    Problem, Route, cast_by_schema, check, extract, fill, from_json, join, quote, route, split,
};
use deft_model::Flag;
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::cases::start;

const PAGE: &str = "## Flags\n\n--to  Who (required)\n--sort  Sort by: a, b (default: a)\n\
    --status  One or more of: x, y\n--all  (boolean flag)\n";

fn table() -> Vec<Flag> {
    deft_skillfile::flags(PAGE)
}

/// Quotes, joins and splits words. Quoting keeps the first word from becoming a comment.
fn texts(words: &[String]) -> Vec<Vec<String>> {
    let lines = split(&join(words.iter().map(String::as_str)));
    let texts = lines.into_iter().map(|line| {
        let words = line.expect("a line").words.into_iter();
        words.map(|word| word.text).collect()
    });
    texts.collect()
}

fn well_formed(text: &str, problem: &Problem) {
    let message = problem.to_string();
    assert!(!message.is_empty() && !message.ends_with('.'), "{message}");
    assert!(!message.contains('\n'), "{message}");
    if let Some(span) = &problem.span {
        assert!(text.get(span.clone()).is_some(), "{span:?} of {text:?}");
    }
}

/// Passes a text through every stage and checks the invariants.
fn follow(text: &str) {
    let mut last = 0;
    for line in split(text) {
        let line = match line {
            Ok(line) => line,
            Err(problem) => {
                well_formed(text, &problem);
                continue;
            }
        };
        assert!(line.span.start >= last && !line.words.is_empty());
        last = line.span.end;
        assert_eq!(text.get(line.span.clone()), Some(line.raw.as_str()));
        for flags in [Vec::new(), table()] {
            let routed = route(&line, |_| Ok(flags.clone()));
            let checked = match routed {
                Ok(Route::Command(command)) => check(&flags, command.flags),
                Ok(Route::GetSkill { .. }) => continue,
                Err(problems) => Err(problems),
            };
            if let Err(problems) = checked {
                assert!(!problems.is_empty());
                problems
                    .iter()
                    .for_each(|problem| well_formed(text, problem));
            }
        }
    }
    let found = extract(text);
    assert!(
        found
            .blocks
            .iter()
            .all(|block| text.get(block.span.clone()).is_some())
    );
    let lines = found.lines().into_iter().map(|line| match line {
        Ok(line) => (Some(line.raw), None),
        Err(problem) => (None, Some(problem)),
    });
    let unclosed = found.unclosed.clone().map(|problem| (None, Some(problem)));
    let expected: Vec<_> = lines.chain(unclosed).collect();
    let written: Vec<_> = found.written_commands();
    assert!(written.iter().all(|(line, _)| !line.is_empty()));
    let readable = |(line, problem): (String, Option<Problem>)| match problem {
        None => (Some(line), None),
        problem => (None, problem),
    };
    let written: Vec<_> = written.into_iter().map(readable).collect();
    assert_eq!(written, expected);
    fill(text, &start());
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn quoted_text_is_read_back(words in prop::collection::vec("(?s).{0,12}", 1..6)) {
        prop_assert_eq!(texts(&words), vec![words]);
    }

    #[test]
    fn special_values_are_read_back(
        words in prop::collection::vec("[-\"'\\\\|&;<>$(` \n#=a“]{0,8}", 1..6),
    ) {
        prop_assert_eq!(texts(&words), vec![words]);
    }

    #[test]
    fn a_quoted_value_stays_a_value(value in "(?s)-{0,3}.{0,12}") {
        let text = format!("a.b --to {}", quote(&value));
        let line = split(&text).remove(0).expect("a line");
        let Ok(Route::Command(command)) = route(&line, |_| Ok(Vec::new())) else {
            panic!("not a command: {text}");
        };
        prop_assert_eq!(&command.flags["to"], &Value::from(value));
    }

    #[test]
    fn json_commands_keep_their_values(
        one in "(?s).{0,12}", several in prop::collection::vec("(?s).{0,8}", 2..4),
    ) {
        let call = json!({"skill": "a.b", "flags": {"one": one, "several": several, "on": true}});
        let Ok(Route::Command(command)) = from_json(&call, |_| Ok(Vec::new())) else {
            panic!("not a command: {call}");
        };
        prop_assert_eq!(Value::Object(command.flags), call["flags"].clone());
    }

    #[test]
    fn any_text_gets_a_result(text in "(?s).{0,80}") {
        follow(&text);
    }

    #[test]
    fn text_like_commands_gets_a_result(
        text in "(a\\.b|get_skill:?|```cmd\n|\n```\n|> |--to|--sort|--all|--status|--|-1|-x|=|[a-y]|[\"'\\\\ \n|&;>#{}]|today){0,24}",
    ) {
        follow(&text);
    }

    #[test]
    fn any_value_is_cast_or_refused(
        text in "(?s)(-?[0-9]{0,20}(\\.[0-9]{1,3})?|true|null|\\[.{0,6}\\]|\\{.{0,6}\\}|.{0,8})",
        kind in prop::sample::select(vec![
            "string", "integer", "number", "boolean", "array", "object", "null", "other",
        ]),
    ) {
        let schema = json!({"properties": {"x": {"type": kind, "items": {"$ref": "#/properties/x"}}}});
        let flags = json!({"x": text}).as_object().expect("an object").clone();
        if let Err(problems) = cast_by_schema(flags, &schema) {
            problems.iter().for_each(|problem| well_formed(&text, problem));
        }
    }
}

#[test]
fn recursive_schemas_terminate() {
    let schemas = [
        json!({"$ref": "#"}),
        json!({"properties": {"x": {"$ref": "#/properties/x"}}}),
        json!({"properties": {"x": {"anyOf": [{"$ref": "#/properties/x"}, {"$ref": "#/properties/x"}]}}}),
        json!({"properties": {"x": {"type": "array", "items": {"$ref": "#/properties/x"}}}}),
        json!({"properties": {"x": {"anyOf": []}}}),
        json!({"properties": 5}),
        json!(null),
    ];
    for schema in schemas {
        for value in [json!("[[[1]]]"), json!("x"), json!(true), json!([["a"]])] {
            let flags = json!({"x": value}).as_object().expect("an object").clone();
            let answer = cast_by_schema(flags, &schema);
            assert!(answer.is_ok() || answer.is_err_and(|problems| problems.len() == 1));
        }
    }
}

#[test]
fn long_texts_get_a_result() {
    for piece in [
        "a ", "--x ", "\"", "'", "\\", "\n", "# ", "{today}", "```cmd\n", "> ", "|",
    ] {
        follow(&piece.repeat(20_000));
    }
}
