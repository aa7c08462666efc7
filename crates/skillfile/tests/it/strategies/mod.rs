//! Strategies for arbitrary skills: the parts shared by all dialects.

mod pages;
mod policy;
mod steps;

use std::time::Duration;

use deft_model::{
    Body, Choice, DetailAccessor, Details, Dialect, Object, OpenSpec, Skill, SkillEvent, SkillId,
    Text, Timing, Trigger,
};
use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;
use proptest::sample::select;
use serde_json::{Value, json};

pub(crate) use pages::{agentskills, manpage};
pub(crate) use policy::{expect, heals, policy};
pub(crate) use steps::{record, workflow};

/// Text that is not blank, without surrounding white space.
pub(crate) fn prose() -> impl Strategy<Value = String> {
    let words = select(vec![
        "plain words",
        "a: b",
        "- dash",
        "# hash",
        "\"quoted\"",
        "it's",
        "line\nbreak",
        "  indented\n\n\tdeeper",
        "--- rule",
        "true",
        "null",
        "~",
        "1.0",
        "0x1f",
        "[a, b]",
        "{a: b}",
        "é 🦀 \u{2028}",
        "back\\slash",
        "tab\tand \r\n return",
        "%",
        "@x",
        "`code`",
        "|",
        ">-",
        "\u{feff}",
        "\u{7}",
        "<<",
    ]);
    let any =
        prop_oneof![3 => vec(words, 1..3).prop_map(|parts| parts.join(" ")), 1 => "\\PC{1,20}"];
    any.prop_map(|text| text.trim().to_owned())
        .prop_filter("says something", |text| {
            // Parsers disagree whether a byte order mark is white space, and a template would have to be
            // valid.
            let markup = ["{{", "{%", "{#"].iter().any(|mark| text.contains(mark));
            !markup && !text.trim_matches('\u{feff}').trim().is_empty()
        })
}

/// A short plain word that is not reserved.
pub(crate) fn word() -> impl Strategy<Value = String> {
    "[a-z][a-z0-9_]{0,8}".prop_filter("not reserved", |word| {
        let reserved = ["inputs", "steps", "outputs", "secrets", "all", "help"];
        !reserved.contains(&word.as_str()) && !PYTHON.split(' ').any(|one| one == word)
    })
}

/// Keywords of Python.
const PYTHON: &str = "and as assert async await break class continue def del elif else except \
    finally for from global if import in is lambda nonlocal not or pass raise return try while \
    with yield";

/// Any JSON value, without templates.
pub(crate) fn value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        (-1.0e9..1.0e9_f64).prop_map(Value::from),
        prose().prop_map(Value::from),
        Just(json!("")),
    ];
    leaf.prop_recursive(3, 12, 4, |inner| {
        prop_oneof![
            vec(inner.clone(), 0..4).prop_map(Value::from),
            vec((prose(), inner), 0..4)
                .prop_map(|entries| Value::Object(entries.into_iter().collect())),
        ]
    })
}

/// A JSON object.
pub(crate) fn object() -> impl Strategy<Value = Value> {
    let entries = vec((prose(), value()), 0..4);
    entries.prop_map(|entries| Value::Object(entries.into_iter().collect()))
}

fn choice<C: Choice + std::fmt::Debug>() -> impl Strategy<Value = C> {
    select(
        C::WORDS
            .iter()
            .map(|(_, choice)| *choice)
            .collect::<Vec<C>>(),
    )
}

pub(crate) fn duration() -> impl Strategy<Value = Duration> {
    prop_oneof![
        (1..1_000_000_u64).prop_map(Duration::from_secs),
        (1..100_000_u64).prop_map(Duration::from_millis),
    ]
}

/// The times at which a skill fires.
pub(crate) fn timing() -> impl Strategy<Value = Option<Timing>> {
    let one = select(vec![
        json!({"schedule": "0 8 * * 1-5"}),
        json!({"schedule": "*/5 * * * *", "timezone": "America/New_York"}),
        json!({"interval_minutes": 30}),
        json!({"at": "2026-12-14T15:00:00"}),
        json!({"in_minutes": 10}),
        json!({"in_hours": 2}),
        json!({"in": "1h30m"}),
        json!({"event": "conversation_ended"}),
        json!({"hook": "deploys"}),
    ]);
    let timing = one.prop_map(|config| {
        let text = |key: &str| config[key].as_str().map(str::to_owned);
        let delay = match (&config["in_minutes"], &config["in_hours"], &config["in"]) {
            (Value::Number(_), _, _) => Some(600),
            (_, Value::Number(_), _) => Some(7200),
            (_, _, Value::String(_)) => Some(5400),
            _ => None,
        };
        Timing {
            schedule: text("schedule"),
            interval_minutes: config["interval_minutes"].as_u64().map(|_| 30),
            at: text("at"),
            delay_seconds: delay,
            event: config["event"]
                .as_str()
                .map(|_| SkillEvent::ConversationEnded),
            hook: text("hook"),
            timezone: text("timezone"),
            config: config.as_object().cloned().unwrap(),
        }
    });
    option::of(timing)
}

fn details() -> impl Strategy<Value = Details> {
    let value = (option::of(prose()), vec(prose(), 0..3));
    vec(value, Details::ROWS.len()).prop_map(|values| {
        let mut details = Details::default();
        for (row, (text, texts)) in Details::ROWS.iter().zip(values) {
            let short = |text: &String| {
                row.most
                    .is_none_or(|most| text.chars().count() <= most as usize)
            };
            match row.place {
                DetailAccessor::Text(place) => *place(&mut details) = text.filter(short),
                DetailAccessor::Texts(place) => {
                    *place(&mut details) = texts.into_iter().filter(short).collect();
                }
            }
        }
        details
    })
}

/// All fields of a skill except the body, for a dialect.
pub(crate) fn skill(
    dialect: Dialect,
    id: impl Strategy<Value = String>,
) -> impl Strategy<Value = Skill> {
    let names = (id, prose(), timing(), vec(prose(), 0..3), policy());
    let rest = (vec(prose(), 0..3), option::of(prose()));
    (names, details(), rest).prop_map(move |(names, details, rest)| {
        let (id, description, timing, keywords, mut policy) = names;
        if timing.is_some() {
            // Parsers copy the zone of a skill to its timing.
            policy.timezone = None;
        }
        let trigger = match (&timing, keywords.is_empty()) {
            (Some(timing), _) if timing.is_by_event() => Trigger::Event,
            (Some(_), _) => Trigger::Cron,
            (None, true) => Trigger::Manual,
            (None, false) => Trigger::Event,
        };
        Skill {
            id: SkillId::new(id.as_str()),
            name: id,
            description,
            domain: None,
            dialect,
            trigger,
            timing,
            keywords,
            priority: 0,
            details,
            required_tools: rest.0,
            body: Body::Instructions(Text::default()),
            policy: policy.into(),
            open: OpenSpec {
                license: rest.1,
                ..OpenSpec::default()
            },
            extra: Object::new(),
        }
    })
}
