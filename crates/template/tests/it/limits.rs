//! Deep and long inputs give an error or a tree, and never overflow the 2 MB stack of a test thread.

use deft_template::{Condition, Template};
use serde_json::json;

use crate::world::World;

/// Ways to nest: opening, middle, closing.
const CONDITIONS: [(&str, &str, &str); 21] = [
    ("(", "a", ")"),
    ("(", "", ""),
    ("[", "a", "]"),
    ("{", "a", "}"),
    ("{1:", "a", "}"),
    ("f(", "a", ")"),
    ("a[", "a", "]"),
    ("not ", "a", ""),
    ("-", "a", ""),
    ("a if b else ", "a", ""),
    ("lambda: ", "a", ""),
    ("lambda a, b: ", "a", ""),
    ("a ** ", "a", ""),
    ("a + ", "a", ""),
    ("a and ", "a", ""),
    ("a < ", "a", ""),
    ("a.", "a", ""),
    ("[a for a in ", "a", "]"),
    ("[1 for ", "a in b", ""),
    ("(a and not b < -c + ", "a", ")"),
    ("f'{", "a", "}'"),
];

const TEMPLATES: [(&str, &str, &str); 18] = [
    ("(", "a", ")"),
    ("(", "", ""),
    ("[", "a", "]"),
    ("{1:", "a", "}"),
    ("f(", "a", ")"),
    ("a[", "a", "]"),
    ("not ", "a", ""),
    ("-", "a", ""),
    ("a if b else ", "a", ""),
    ("a ** ", "a", ""),
    ("a + ", "a", ""),
    ("a and ", "a", ""),
    ("a < ", "a", ""),
    ("a.", "a", ""),
    ("a|d|", "lower", ""),
    ("a is odd or ", "a", ""),
    ("a(1)[", "a", "]"),
    ("a ~ ", "a", ""),
];

fn deep((open, middle, close): (&str, &str, &str), levels: usize) -> String {
    format!("{}{middle}{}", open.repeat(levels), close.repeat(levels))
}

fn small_world() -> World {
    World(json!({"a": 1, "b": [1, 2], "c": 2}))
}

fn render(text: &str) {
    drop(Template::parse(text).map(|template| template.render(&small_world())));
}

#[test]
fn deep_conditions_do_not_overflow() {
    for form in CONDITIONS {
        for levels in [10, 30, 50, 59, 110, 199, 100_000] {
            let outcome = Condition::parse(&deep(form, levels));
            drop(outcome.map(|condition| {
                drop(condition.evaluate(&small_world()));
                condition.expr().clone()
            }));
        }
    }
}

#[test]
fn mixed_depth_does_not_overflow() {
    let inner = format!("{}a{}", "a and not b < -c + (".repeat(24), ")".repeat(24));
    let tall = format!("{inner}{}", "+ a".repeat(150));
    let condition = Condition::parse(&tall).unwrap();
    assert_eq!(condition.names().len(), 24 * 3 + 1 + 150);
    drop(condition.evaluate(&small_world()));
}

#[test]
fn depth_is_an_error_of_the_whole_template() {
    let error = Condition::parse(&deep(("(", "a", ")"), 1000)).unwrap_err();
    assert_eq!(error.message, "nested more than 60 levels deep");
    assert_eq!(error.span, 0..2001);
    let error = Condition::parse(&deep(("a + ", "a", ""), 1000)).unwrap_err();
    assert_eq!(error.message, "more than 200 operators");
    assert!(Condition::parse(&deep(("a and ", "a", ""), 10_000)).is_ok());
}

#[test]
fn deep_templates_do_not_overflow() {
    for form in TEMPLATES {
        for levels in [10, 60, 70, 149, 290, 301, 100_000] {
            let expr = deep(form, levels);
            render(&format!("{{{{ {expr} }}}}"));
            render(&format!("{{% if {expr} %}}{{% endif %}}"));
            render(&format!("{{% for x in {expr} %}}{{% endfor %}}"));
        }
    }
}

#[test]
fn deep_blocks_do_not_overflow() {
    let tags = [
        ("{% if a %}", "{% endif %}"),
        ("{% for a in b %}", "{% endfor %}"),
        ("{% if a %}{% else %}", "{% endif %}"),
        ("{% with a = 1 %}", "{% endwith %}"),
        ("{% set a %}", "{% endset %}"),
        ("{% filter lower %}", "{% endfilter %}"),
    ];
    for (open, close) in tags {
        for levels in [10, 140, 160, 100_000] {
            render(&deep((open, "{{ a + (a * (a)) }}", close), levels));
            drop(Template::parse(&deep((open, "x", ""), levels)));
        }
    }
    let branches = format!(
        "{{% if a %}}{}{{% endif %}}",
        "{% elif a %}".repeat(100_000)
    );
    let error = Template::parse(&branches).unwrap_err();
    assert_eq!(error.message, "more than 300 `elif` branches");
    let set = format!(
        "{{% set {}a{} = 1 %}}",
        "(".repeat(100_000),
        ")".repeat(100_000)
    );
    assert!(Template::parse(&set).is_err());
}

#[test]
fn long_templates_are_accepted() {
    let long = "{{ inputs.a | default('x') }} and {% if b %}{{ b.c }}{% endif %}\n".repeat(2_000);
    let template = Template::parse(&long).unwrap();
    assert_eq!(template.names().len(), 6_000);
    let scope = World(json!({"inputs": {}, "b": {"c": 1}}));
    let text = template.render_text(&scope).unwrap();
    assert!(text.starts_with("x and 1\nx and 1\n"));
}
