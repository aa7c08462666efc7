//! Strategies for skills of the open format and man pages.

use deft_model::{Body, Dialect, Flag, FlagValue, OpenSpec, Skill, Text};
use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;
use serde_json::Value;

use super::{prose, skill, value, word};

/// A Markdown page without surrounding white space.
fn page() -> impl Strategy<Value = String> {
    vec(prose(), 1..4).prop_map(|parts| parts.join("\n\n"))
}

/// A skill of the open format.
pub(crate) fn agentskills() -> impl Strategy<Value = Skill> {
    let id = "[a-z0-9]{1,6}(-[a-z0-9]{1,6}){0,2}";
    let open = (
        option::of(prose()),
        option::of(allowed()),
        vec((key(), value()), 0..3),
    );
    let all = (skill(Dialect::AgentSkills, id), page(), open, any::<i32>());
    all.prop_map(|(skill, page, open, priority)| Skill {
        body: Body::Instructions(Text::from(page.as_str())),
        priority: priority.into(),
        open: OpenSpec {
            compatibility: open.0,
            allowed_tools: open.1,
            metadata: open.2.into_iter().collect(),
            ..skill.open
        },
        ..skill
    })
}

/// A key that deft does not read.
fn key() -> impl Strategy<Value = String> {
    prose().prop_map(|text| format!("x-{text}"))
}

fn allowed() -> impl Strategy<Value = Value> {
    prop_oneof![
        prose().prop_map(Value::from),
        vec(prose(), 1..3).prop_map(Value::from),
    ]
}

/// A man page with the flags that its text describes.
pub(crate) fn manpage() -> impl Strategy<Value = Skill> {
    let id = (word(), word()).prop_map(|(domain, action)| format!("{domain}.{action}"));
    let flags = prop::collection::btree_map("[a-z][a-z-]{0,8}", flag(), 0..4);
    let all = (
        skill(Dialect::ManPage, id),
        flags,
        option::of(word().prop_map(|name| format!("tool:{name}"))),
        vec((key(), value()), 0..3),
    );
    all.prop_map(|(skill, flags, handler, extra)| {
        let flags: Vec<Flag> = flags
            .into_iter()
            .map(|(name, flag)| Flag { name, ..flag })
            .collect();
        let mut page = format!("# {}\n\nText.\n\n## Flags\n", skill.id);
        for flag in &flags {
            page += &format!("\n--{}   {}", flag.name, flag.description);
        }
        let page = page.trim_end();
        // The flags that the page was generated from are parsed from it.
        assert_eq!(deft_skillfile::flags(page), flags);
        assert_eq!(
            deft_skillfile::sections(page),
            crate::support::sections(page)
        );
        Skill {
            domain: skill.id.as_str().split('.').next().map(str::to_owned),
            body: Body::Manual {
                handler,
                text: Text::from(page),
            },
            extra: extra.into_iter().collect(),
            ..skill
        }
    })
}

/// A flag and its line in the page.
fn flag() -> impl Strategy<Value = Flag> {
    let words = || prop::collection::btree_set("[a-z]{1,6}", 2..4).prop_map(Vec::from_iter);
    let value = prop_oneof![
        Just(FlagValue::Any),
        Just(FlagValue::Date),
        Just(FlagValue::Presence),
        words().prop_map(FlagValue::OneOf),
        words().prop_map(FlagValue::SomeOf),
    ];
    (value, any::<bool>(), any::<bool>()).prop_map(|(value, required, with_default)| {
        let mut text = "What it is for".to_owned();
        let mut default = Vec::new();
        match &value {
            FlagValue::Any => default.push("20".to_owned()),
            FlagValue::Presence => text += " (boolean flag)",
            FlagValue::Date => text += " (YYYY-MM-DD)",
            FlagValue::OneOf(words) => {
                text += &format!(". One of: {}", words.join(", "));
                default.push(words[0].clone());
            }
            FlagValue::SomeOf(words) => {
                text += &format!(". One or more of: {}", words.join(", "));
                default.clone_from(words);
            }
        }
        if required {
            text += " (required)";
        }
        default.retain(|_| with_default);
        if !default.is_empty() {
            text += &format!(" (default: {})", default.join(", "));
        }
        Flag {
            name: String::new(),
            description: text,
            required,
            value,
            default,
        }
    })
}
