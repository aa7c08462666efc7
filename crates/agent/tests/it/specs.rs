//! The tools that every agent with skills has.

use deft_agent::prompt::{dispatch_agent, get_skill, is_read_only, use_skill};
use serde_json::json;

#[test]
fn tool_specs_follow_the_rules_of_providers() {
    let agents: Vec<(String, String)> = (0..60)
        .map(|at| (format!("a{at}"), format!("agent {at}\nand more")))
        .collect();
    let agents = agents
        .iter()
        .map(|(id, about)| (id.as_str(), about.as_str()));
    for spec in [get_skill(), use_skill(), dispatch_agent(agents)] {
        let fits = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-');
        assert!(spec.name.chars().all(fits), "{}", spec.name);
        assert_eq!(spec.schema["type"], "object");
        assert!(!spec.description.is_empty());
    }
    assert_eq!(use_skill().schema["required"], json!(["skill"]));
}

#[test]
fn the_description_lists_the_available_agents() {
    let none = dispatch_agent([]).description;
    assert!(!none.contains("Available agents"), "{none}");
    let two = dispatch_agent([("writer", "Writes letters."), ("reader", "")]).description;
    assert!(
        two.ends_with(" Available agents: `writer` (Writes letters.), `reader`."),
        "{two}"
    );
    let names: Vec<String> = (0..52).map(|at| at.to_string()).collect();
    let many = dispatch_agent(names.iter().map(|name| (name.as_str(), ""))).description;
    assert!(many.ends_with("`49`, and 2 more."), "{many}");
}

#[test]
fn read_only_tools_may_be_used_directly() {
    let cases = [
        ("tasks.search", None, true),
        ("tasks.get", None, true),
        ("tasks.list", None, true),
        ("tasks.read", None, true),
        ("tasks.create", None, false),
        ("email.send", None, false),
        ("research", None, false),
        ("tasks.list_and_delete", None, false),
        ("gmail_list", None, false),
        ("gmail_list", Some(true), true),
        ("tasks.search", Some(false), false),
        ("email.send", Some(true), true),
    ];
    for (name, hint, expected) in cases {
        assert_eq!(is_read_only(name, hint), expected, "{name} {hint:?}");
    }
}
