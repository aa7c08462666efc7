//! Conversion of n8n expressions, including those that are refused.

use super::*;
use serde_json::json;

struct FixedScope(Data, Data);

impl Scope for FixedScope {
    fn input(&self) -> &Data {
        &self.0
    }

    fn node(&self, name: &str) -> Option<&Data> {
        (name == "Get user").then_some(&self.1)
    }
}

fn step(id: &str, below: Option<&'static str>) -> Data {
    Data::Step {
        id: id.to_owned(),
        below,
        is_shell: id == "shell",
    }
}

#[test]
fn paths_are_converted() {
    let scope = FixedScope(step("last", None), step("get_user", Some("body")));
    let shown = |text: &str| template(&parts(&json!(text), &scope).unwrap());
    assert_eq!(shown("plain {{ x }}"), "plain {{ '{{' }} x }}");
    assert_eq!(shown("=Hi {{ $json.a.b }}!"), "Hi {{ last.a.b }}!");
    assert_eq!(shown("={{ $json['a b'][0] }}"), "{{ last[\"a b\"][0] }}");
    assert_eq!(
        shown("={{ $('Get user').item.json.name }}{{ $node[\"Get user\"].json.id }}"),
        "{{ get_user.body.name }}{{ get_user.body.id }}"
    );
    let shell = FixedScope(step("shell", None), Data::None);
    let exit = parts(&json!("={{ $json.exitCode }}"), &shell).unwrap();
    assert_eq!(template(&exit), "{{ shell.exit_code }}");
}

#[test]
fn code_is_not_converted() {
    let scope = FixedScope(step("last", None), Data::None);
    for code in [
        "$json.a.toUpperCase()",
        "1 + 1",
        "$json.a + 1",
        "$now",
        "$jsonx.a",
        "$json.list.length",
    ] {
        let found = parts(&json!(format!("={{{{ {code} }}}}")), &scope);
        assert!(found.unwrap_err().contains(code));
    }
    let trigger = FixedScope(Data::None, Data::None);
    let found = parts(&json!("={{ $json.a }}"), &trigger).unwrap_err();
    assert!(found.contains("trigger"), "{found}");
    let found = parts(&json!("={{ $('Gone').item.json.a }}"), &trigger).unwrap_err();
    assert!(found.contains("no earlier node"), "{found}");
}

#[test]
fn values_become_python() {
    let scope = FixedScope(step("last", Some("body")), Data::None);
    let shown = |value: Value| python(&value, &scope, true).unwrap();
    assert_eq!(shown(json!("={{ $json.a }}")), "last[\"body\"][\"a\"]");
    assert_eq!(
        shown(json!("=n {{ $json.a }}")),
        "\"n \" + str(last[\"body\"][\"a\"])"
    );
    assert_eq!(
        shown(json!({"a": [true, null, 1.5, "x\"y"]})),
        "{\"a\": [True, None, 1.5, \"x\\\"y\"]}"
    );
}
