//! Presentation of skills to people and models.

use deft_registry::Snapshot;
use deft_registry::discovery::{
    Query, Topic, get_skill, help, listing, load_skill, search, skill_tool,
};

use crate::support::{World, page, skill_md, workflow};

fn world() -> World {
    let world = World::new();
    world.write("skills/email/SKILL.md", "---\ndomain: email\ndescription: Email tools for Gmail integration\n---\n\n# Email\n\nThe index.\n");
    world.write("skills/email/send.md", page("email.send", "Send an email"));
    world.write(
        "skills/email/draft.md",
        page("email.draft", "Draft an email"),
    );
    world.write(
        "skills/tasks/search.md",
        page("tasks.search", "Search tasks").replace("---\n\n#", "tags: [todo, work]\n---\n\n#"),
    );
    world.write(
        "skills/code-review/SKILL.md",
        skill_md("code-review", "Reviews <code> & \"more\"."),
    );
    world.write(
        "skills/triage/SKILL.md",
        skill_md("triage", "Sorts mail.")
            .replace("---\n\n", "metadata:\n  keywords: [inbox]\n---\n\n"),
    );
    world.write(
        "skills/secret/SKILL.md",
        skill_md("secret", "Hidden.").replace("---\n\n", "disable-model-invocation: true\n---\n\n"),
    );
    world.write("skills/report.yaml", workflow("report"));
    world
}

fn ask(snapshot: &Snapshot, path: &str) -> String {
    match get_skill(snapshot, &Topic::parse(path)) {
        Ok(text) => text,
        Err(unknown) => format!(
            "{} ({}, near {:?})",
            unknown,
            unknown.code(),
            unknown.near()
        ),
    }
}

/// S2.24 to S2.27, S2.30, S2.31.
#[test]
fn get_skill_in_four_levels() {
    let world = world();
    let snapshot = world.load();
    insta::assert_snapshot!("level_1", ask(&snapshot, ""));
    insta::assert_snapshot!("level_2", ask(&snapshot, "email"));
    insta::assert_snapshot!("level_2_generated", ask(&snapshot, "tasks"));
    insta::assert_snapshot!("level_3", ask(&snapshot, "email.send"));
    insta::assert_snapshot!("level_3b", ask(&snapshot, "email.all"));
    insta::assert_snapshot!("level_3_workflow", ask(&snapshot, "report"));
    assert_eq!(
        ask(&snapshot, "emial"),
        "Unknown domain: emial (unknown_domain, near Some(\"email\"))"
    );
    assert_eq!(
        ask(&snapshot, "email.sned"),
        "Unknown skill: email.sned (unknown_skill, near Some(\"email.send\"))"
    );
    assert_eq!(
        ask(&snapshot, "nope.all"),
        "Unknown domain or no skills: nope (unknown_domain, near None)"
    );
}

/// S2.28, S2.29: `get_skill` and `--help` show the same page.
#[test]
fn help_shows_the_same_page() {
    let world = world();
    let snapshot = world.load();
    assert_eq!(
        help(&snapshot, "email.send").unwrap(),
        ask(&snapshot, "email.send")
    );
}

/// S0.18: skills with keywords are not listed, and a note reports what was left out.
#[test]
fn the_listing_fits_its_budget() {
    let world = World::new();
    for at in 0..40 {
        let priority = if at == 33 {
            "metadata:\n  priority: 9\n"
        } else {
            ""
        };
        let text = skill_md(&format!("skill-{at:02}"), "Does one thing well.")
            .replace("---\n\n", &format!("{priority}---\n\n"));
        world.write(&format!("skills/skill-{at:02}/SKILL.md"), text);
    }
    let snapshot = world.load();
    let all = listing(&snapshot, usize::MAX);
    assert_eq!((all.listed.len(), all.left_out.len()), (40, 0));
    for budget in [200, 500, 1000, 3000, 5000] {
        let list = listing(&snapshot, budget);
        assert!(list.text.chars().count() <= budget, "{budget}");
        assert_eq!(list.listed.len() + list.left_out.len(), 40);
        assert!(list.text.contains(&format!(
            "{} more skills are not listed",
            list.left_out.len()
        )));
    }
    assert_eq!(listing(&snapshot, 1000).listed[0].as_str(), "skill-33");
}

#[test]
fn playbooks_and_hidden_skills_are_not_listed() {
    let world = world();
    let list = listing(&world.load(), usize::MAX);
    let ids: Vec<&str> = list
        .listed
        .iter()
        .map(deft_model::SkillId::as_str)
        .collect();
    assert_eq!(ids, ["code-review"]);
}

/// S4.11 to S4.13, X13: the shown names are the accepted names.
#[test]
fn the_skill_tool() {
    let world = world();
    let snapshot = world.load();
    insta::assert_json_snapshot!(skill_tool(&snapshot).unwrap());
    assert_eq!(
        load_skill(&snapshot, "code-review"),
        "# code-review\n\nDo it."
    );
    assert_eq!(
        load_skill(&snapshot, "secret"),
        "Error: Skill 'secret' not found. It may have been removed or is unavailable."
    );
}

/// S4.14: no skills, no tool.
#[test]
fn the_skill_tool_needs_skills() {
    assert_eq!(skill_tool(&World::new().load()), None);
}

/// S2.33: tags match, and names rank higher.
#[test]
fn search_ranks() {
    let world = world();
    let snapshot = world.load();
    let find = |words: &[&str]| {
        let query = Query {
            words: words.iter().map(|word| (*word).to_owned()).collect(),
            ..Query::default()
        };
        search(&snapshot, &query)
            .iter()
            .map(|l| l.skill.id.to_string())
            .collect::<Vec<_>>()
    };
    assert_eq!(find(&["todo"]), ["tasks.search"]);
    assert_eq!(find(&["mail"]), ["email.draft", "email.send", "triage"]);
    assert_eq!(find(&["email", "draft"]), ["email.draft"]);
    assert_eq!(find(&["inbox"]), ["triage"]);
    assert!(find(&["nothing-like-it"]).is_empty());
}

/// S2.33: tags match regardless of case; an unknown tag is reported.
#[test]
fn get_skill_by_tag() {
    let world = world();
    let snapshot = world.load();
    let found = "Skills with the tag todo:\n\n  tasks.search Search tasks\n\n\
                 Use: get_skill: <domain>.<command> for specific skill details\n";
    assert_eq!(ask(&snapshot, "tag:todo"), found);
    assert_eq!(ask(&snapshot, "#todo"), found);
    assert_eq!(ask(&snapshot, "todo"), found);
    assert_eq!(
        ask(&snapshot, "tag: WORK"),
        found.replace("the tag todo", "the tag WORK")
    );
    assert_eq!(
        ask(&snapshot, "tag:tood"),
        "Unknown tag: tood (unknown_tag, near Some(\"todo\"))"
    );
}

/// The tags of a domain find its skills.
#[test]
fn get_skill_by_tag_of_a_domain() {
    let world = world();
    let index = "---\ndomain: email\ndescription: Email\ntags: [post]\n---\n\n# Email\n";
    world.write("skills/email/SKILL.md", index);
    let snapshot = world.load();
    let found = ask(&snapshot, "tag:Post");
    assert!(found.contains("email.draft"), "{found}");
    assert!(found.contains("email.send"), "{found}");
    assert!(!found.contains("tasks.search"), "{found}");
    let near = "Unknown tag: pots (unknown_tag, near Some(\"post\"))";
    assert_eq!(ask(&snapshot, "tag:pots"), near);
}

/// S2.31, S2.45: a page whose handler is missing mentions it wherever it is shown.
#[test]
fn pages_with_missing_handlers_have_a_note() {
    let world = World::new();
    let missing = page("drive.list", "List files")
        .replace("---\n\n#", "handler: drive.list\ntags: [files]\n---\n\n#");
    world.write("skills/drive/list.md", missing);
    world.write("skills/drive/read.md", page("drive.read", "Read a file"));
    let snapshot = world.load();
    let why = "the handler `drive.list` is not available in this version";
    let note = format!("\n\nNot available now: {why}");
    let single = ask(&snapshot, "drive.list");
    assert!(single.ends_with(&note), "{single}");
    assert_eq!(help(&snapshot, "drive.list").unwrap(), single);
    let whole = ask(&snapshot, "drive.all");
    assert_eq!(whole.matches(&note).count(), 1, "{whole}");
    let domain = ask(&snapshot, "drive");
    let listed = format!("\n\nNot available now:\n\n- `drive.list`: {why}");
    assert!(domain.ends_with(&listed), "{domain}");
    let tagged = ask(&snapshot, "tag:files");
    assert!(
        tagged.contains(&format!("(not available now: {why})")),
        "{tagged}"
    );
    assert!(!ask(&snapshot, "drive.read").contains("Not available"));
}
