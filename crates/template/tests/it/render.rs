//! Templates compared with results recorded from Jinja2, and behaviour of our own: secrets and missing
//! values.

use std::path::Path;

use deft_template::{EvalKind, Template};
use serde_json::json;

use crate::evaluate::recorded;
use crate::world::{World, context};

/// Intended differences from Jinja2.
const DIFFERENT: [(&str, &str); 2] = [
    ("{% do nums %}x", "minijinja's parser wants a call"),
    (
        "{% autoescape true %}{{ '<b>' }}{% endautoescape %}",
        "nothing is escaped, as arguments of tools are no pages",
    ),
];

#[test]
fn jinja2_agrees() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cases/render");
    let scope = World(context());
    let cases = recorded(&folder);
    let (mut wrong, mut unsupported) = (Vec::new(), Vec::new());
    for (text, expected) in &cases {
        if DIFFERENT.iter().any(|(different, _)| different == text) {
            continue;
        }
        let outcome = match Template::parse(text) {
            Ok(template) => template
                .render(&scope)
                .map_err(|error| (error.message, error.kind)),
            Err(error) => Err((error.message, EvalKind::Other)),
        };
        match (&outcome, expected.get("value")) {
            (Ok(ours), Some(value)) if ours == value => {}
            (Err((_, EvalKind::Unsupported)), _) => unsupported.push(text),
            (Err(_), None) => {}
            _ => wrong.push(format!(
                "{text}\n  ours:   {outcome:?}\n  jinja2: {expected}"
            )),
        }
    }
    assert!(cases.len() > 200, "{}", cases.len());
    assert!(
        wrong.is_empty(),
        "{} wrong\n{}",
        wrong.len(),
        wrong.join("\n")
    );
    assert!(unsupported.len() * 20 < cases.len(), "{unsupported:#?}");
}

/// The templates of the seed render to the values that its text promises.
#[test]
fn seeds_render() {
    let scope = World(json!({
        "inputs": {"issue_key": "AAP-12345"},
        "get_issue": {"branch": "b-1"},
        "branch_name": "feature/AAP-12345",
        "issue_data": {"fields": {"customfield_123": 7}},
        "pod_analysis": {"unhealthy_pods": ["a", "b"]},
        "issues": [{"key": "A-1"}],
        "summary": "Add Billing",
    }));
    let expected = [
        ("{{ inputs.issue_key }}", json!("AAP-12345")),
        ("{{ get_issue.branch }}", json!("b-1")),
        (
            "{{ issue_data }}",
            json!({"fields": {"customfield_123": 7}}),
        ),
        ("{{ issue_data.fields.customfield_123 }}", json!(7)),
        (
            "Create branch {{ branch_name }}?",
            json!("Create branch feature/AAP-12345?"),
        ),
        ("{{ pod_analysis.unhealthy_pods }}", json!(["a", "b"])),
        ("{{ issues }}", json!([{"key": "A-1"}])),
        ("{{ namespace | default('default') }}", json!("default")),
        (
            "{{ summary | lower | replace(' ', '-') }}",
            json!("add-billing"),
        ),
        ("app=myapp", json!("app=myapp")),
    ];
    for (text, value) in expected {
        assert_eq!(
            Template::parse(text).unwrap().render(&scope),
            Ok(value),
            "{text}"
        );
    }
}

/// A template can be parsed once and rendered by many threads.
#[test]
fn templates_are_shared() {
    fn check<T: Clone + Send + Sync + std::fmt::Debug>(_: &T) {}
    let template = Template::parse("{{ inputs.issue_key | lower }}").unwrap();
    check(&template);
    std::thread::scope(|threads| {
        for _ in 0..4 {
            threads.spawn(|| {
                let value = template.clone().render(&World(context()));
                assert_eq!(value, Ok(json!("aap-12345")));
            });
        }
    });
}

#[test]
fn text_without_markup_is_unchanged() {
    let scope = World(context());
    let text = |source: &str| Template::parse(source).unwrap().render_text(&scope);
    assert_eq!(text("{{ nums }}").unwrap(), "[3, 1, 2]");
    assert_eq!(text("plain").unwrap(), "plain");
    assert_eq!(text("{{ secrets.TOKEN }}").unwrap(), "⟦TOKEN⟧");
    assert_eq!(text("{{ absent_step }}").unwrap(), "None");
}
