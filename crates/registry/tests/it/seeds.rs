//! The tests required by the source documents: section 14 of the markdown-first document (S2.69 to S2.71) and
//! the checklist of the skill tool (S4.17), as far as they concern files and their presentation. One test per
//! line, in the same order; the name of a test is the text of its line.

use deft_registry::State;
use deft_registry::discovery::{Topic, get_skill, help, load_skill, skill_tool};
use deft_skillfile::Rule;

use crate::support::{World, description, page, skill_md};

/// Creates `email` with an index and two pages, and one skill of the open format.
fn world() -> World {
    let world = World::new();
    world.write(
        "skills/email/SKILL.md",
        "---\ndomain: email\ndescription: Email tools\n---\n\n# Email\n",
    );
    world.write("skills/email/send.md", page("email.send", "Send an email"));
    world.write(
        "skills/email/draft.md",
        page("email.draft", "Draft an email"),
    );
    world.write(
        "skills/brainstorming/SKILL.md",
        skill_md("brainstorming", "Turn ideas into designs"),
    );
    world
}

/// Returns the rules that a file with this content violates in a domain folder.
fn broken_rules(content: &str) -> Vec<Rule> {
    let world = World::new();
    world.write("skills/email/bad.md", content);
    let snapshot = world.load();
    assert!(matches!(
        snapshot.files()[0].state,
        State::Broken { kept: None }
    ));
    assert_eq!(snapshot.skill_count(), 0);
    snapshot.files()[0]
        .diagnostics
        .iter()
        .map(|found| found.rule)
        .collect()
}

// S2, 14.1, CLI.Help

#[test]
fn generates_correct_top_level_domain_listing() {
    let text = get_skill(&world().load(), &Topic::All).unwrap();
    assert!(text.starts_with("Available skill domains:\n\n  email        Email tools\n"));
    assert!(text.ends_with("Use: get_skill: <domain>.all to load all skills in a domain\n"));
}

#[test]
fn generates_skill_level_help_from_markdown_body() {
    let text = get_skill(&world().load(), &Topic::parse("email.send")).unwrap();
    assert_eq!(text, "# email.send\n\nThe page of email.send.");
}

#[test]
fn intercepts_help_commands_correctly() {
    let snapshot = world().load();
    assert_eq!(
        help(&snapshot, "email.send"),
        get_skill(&snapshot, &Topic::parse("email.send"))
    );
}

// S2, 14.1, Skills.Registry (S2.70)

/// S2.14.
#[test]
fn discovers_all_skill_files_in_directory_tree() {
    let snapshot = world().load();
    let ids: Vec<String> = snapshot
        .skills()
        .map(|loaded| loaded.skill.id.to_string())
        .collect();
    assert_eq!(ids, ["brainstorming", "email.draft", "email.send"]);
}

#[test]
fn parses_minimal_yaml_frontmatter_correctly() {
    assert_eq!(
        description(&world().load(), "email.send").as_deref(),
        Some("Send an email")
    );
}

#[test]
fn derives_domain_from_directory_path() {
    let snapshot = world().load();
    assert_eq!(
        snapshot
            .skill("email.send")
            .unwrap()
            .skill
            .domain
            .as_deref(),
        Some("email")
    );
    let ids: Vec<&str> = snapshot
        .domain("email")
        .unwrap()
        .skills
        .iter()
        .map(deft_model::SkillId::as_str)
        .collect();
    assert_eq!(ids, ["email.draft", "email.send"]);
}

/// S2.15.
#[test]
fn builds_lookup_by_skill_name() {
    let snapshot = world().load();
    assert!(snapshot.skill("email.send").is_some());
    assert!(snapshot.skill("email.nope").is_none());
}

/// S2.17; `watching` has more tests for each of the three.
#[test]
fn handles_hot_reload_on_file_create_modify_delete() {
    let world = world();
    let followed = world.follow();
    world.write("skills/email/read.md", page("email.read", "one"));
    followed.until("create", |s| s.skill("email.read").is_some());
    world.write("skills/email/read.md", page("email.read", "two"));
    followed.until("modify", |s| {
        description(s, "email.read").as_deref() == Some("two")
    });
    world.remove("skills/email/read.md");
    followed.until("delete", |s| s.skill("email.read").is_none());
}

/// S2.21, the five names.
#[test]
fn validates_skill_files_on_load() {
    let page = |name: &str| format!("---\nname: {name}\ndescription: d\n---\nbody\n");
    assert_eq!(broken_rules(&page("Email Send")), [Rule::InvalidName]);
    assert_eq!(broken_rules(&page("email.all")), [Rule::ReservedName]);
    assert_eq!(
        broken_rules("---\nname: email.bad\ndescription: d\n---\n"),
        [Rule::MissingBody]
    );
}

#[test]
fn rejects_invalid_files() {
    assert_eq!(
        broken_rules("---\ndescription: d\n---\nbody\n"),
        [Rule::MissingName]
    );
    assert_eq!(
        broken_rules("---\nname: email.bad\n---\nbody\n"),
        [Rule::MissingDescription]
    );
}

// S2, 14.2: created skills can be discovered (S2.23, S2.71); the builder itself comes with the domains.

#[test]
fn created_skills_are_discoverable_by_registry() {
    let world = world();
    let followed = world.follow();
    world.write(
        "skills/workflows/weekly.md",
        page("workflows.weekly", "Weekly report"),
    );
    let snapshot = followed.until("the new skill", |s| s.skill("workflows.weekly").is_some());
    assert!(
        get_skill(&snapshot, &Topic::parse("workflows"))
            .unwrap()
            .contains("| workflows.weekly | Weekly report |")
    );
}

// S4: the loader

/// S4.3, S4.5, S4.17: the id is the name of the folder; name and description come from the frontmatter.
#[test]
fn discover_skills_returns_valid_metadata() {
    let world = World::new();
    world.write(
        "skills/ideas/SKILL.md",
        skill_md("Brainstorming Ideas", "Turn ideas into designs"),
    );
    world.write("skills/broken/SKILL.md", "no frontmatter");
    world.write("skills/stray.txt", "not a folder");
    let snapshot = world.load();
    let found: Vec<(&str, &str, &str)> = snapshot
        .skills()
        .map(|l| {
            (
                l.skill.id.as_str(),
                l.skill.name.as_str(),
                l.skill.description.as_str(),
            )
        })
        .collect();
    assert_eq!(
        found,
        [("ideas", "Brainstorming Ideas", "Turn ideas into designs")]
    );
}

/// S4.6: the text is loaded on demand.
#[test]
fn load_skill_returns_the_content() {
    assert_eq!(
        load_skill(&world().load(), "brainstorming"),
        "# brainstorming\n\nDo it."
    );
}

/// S4.13, S4.17: an unknown skill is reported to the model as text, not as an error.
#[test]
fn an_unknown_skill_is_a_text_result() {
    let text = load_skill(&world().load(), "nope");
    assert_eq!(
        text,
        "Error: Skill 'nope' not found. It may have been removed or is unavailable."
    );
}

/// S4.12: one required parameter, an enum of ids.
#[test]
fn the_skill_tool_has_one_enum_parameter() {
    let tool = skill_tool(&world().load()).unwrap();
    assert_eq!(tool.name, "skill");
    let parameters = &tool.schema;
    assert_eq!(parameters["required"], serde_json::json!(["skill_name"]));
    assert_eq!(
        parameters["properties"]["skill_name"]["enum"],
        serde_json::json!(["brainstorming"])
    );
}

/// S4.10: the folder of skills is a setting.
#[test]
fn the_skills_path_is_a_setting() {
    let world = World::new();
    world.write("custom/path/a/SKILL.md", skill_md("a", "elsewhere"));
    let options = deft_registry::Options::new([world.path("custom/path")]);
    let snapshot = deft_registry::Snapshot::load(&options, &crate::support::moment());
    assert!(snapshot.skill("a").is_some());
}

/// S4.15: problems with one skill do not affect the others.
#[test]
fn other_features_keep_working() {
    let world = world();
    world.write("skills/a/SKILL.md", [0xff, 0xfe, 0x00]);
    world.write("skills/b/SKILL.md", "---\nname: [\n---\n");
    world.write("skills/c.yaml", "steps: {");
    let snapshot = world.load();
    assert_eq!(snapshot.skill_count(), 3);
    let broken = snapshot
        .files()
        .iter()
        .filter(|file| matches!(file.state, State::Broken { .. }));
    assert_eq!(broken.count(), 3);
}
