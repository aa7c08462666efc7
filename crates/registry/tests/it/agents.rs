//! Agents: loading, broken edits, and what they may use.

use std::collections::BTreeMap;
use std::path::Path;

use deft_model::{Agent, DEFAULT_AGENT, PromptEntry};
use deft_registry::discovery::{
    command_entries, domain_entries, skill_entries, skill_tool_spec, workflow_entries,
};
use deft_registry::{Options, Snapshot, State};

use crate::support::{FollowedRoots, World, moment, page, skill_md};

fn options(world: &World) -> Options {
    Options::new([world.path("skills")]).with_agents([world.path("agents"), world.path("more")])
}

fn load(world: &World) -> Snapshot {
    Snapshot::load(&options(world), &moment())
}

fn agent_md(name: &str) -> String {
    format!("---\nname: {name}\nallow_skills: true\n---\n\nYou are {name}.\n")
}

fn ids(snapshot: &Snapshot) -> Vec<&str> {
    let agents = snapshot.agents();
    agents.map(|loaded| loaded.agent.id.as_str()).collect()
}

#[test]
fn the_default_agent_exists_without_a_file() {
    let snapshot = load(&World::new());
    assert_eq!(ids(&snapshot), [DEFAULT_AGENT]);
    let agent = &snapshot.agent(DEFAULT_AGENT).unwrap().agent;
    assert!(agent.allow_skills && !agent.prompt.is_blank() && !agent.may_schedule);
    assert_eq!(
        (agent.name.as_str(), agent.tools.as_ref()),
        ("Thinker", None)
    );
}

#[test]
fn a_file_replaces_the_default_agent() {
    let world = World::new();
    world.write("agents/thinker/AGENT.md", agent_md("Mine"));
    world.write("agents/writer/AGENT.md", agent_md("Writer"));
    world.write("more/writer/AGENT.md", agent_md("Second"));
    world.write("agents/empty/notes.txt", "nothing");
    world.write("agents/loose.md", "nothing");
    world.write("agents/writer/deep/AGENT.md", agent_md("Deep"));
    world.write("skills/x/AGENT.md", agent_md("Lost"));
    let snapshot = load(&world);
    assert_eq!(ids(&snapshot), ["thinker", "writer"]);
    assert_eq!(snapshot.agent("thinker").unwrap().agent.name, "Mine");
    assert_eq!(snapshot.agent("writer").unwrap().agent.name, "Writer");
    assert_eq!(snapshot.skill_count(), 0);
    insta::assert_snapshot!(world.states(&snapshot));
}

/// A broken file may contain a limit, so no other agent replaces it.
#[test]
fn a_broken_agent_is_not_replaced_by_another() {
    let world = World::new();
    world.write(
        "agents/thinker/AGENT.md",
        "---\nname: Mine\ntool: []\n---\nHi.\n",
    );
    world.write("more/thinker/AGENT.md", agent_md("Second"));
    let snapshot = load(&world);
    assert!(snapshot.agent("thinker").is_none());
    insta::assert_snapshot!(world.states(&snapshot));
}

#[test]
fn valid_edits_are_loaded_and_broken_ones_are_not() {
    let world = World::new();
    let followed = FollowedRoots::open(options(&world));
    world.write("agents/writer/AGENT.md", agent_md("One"));
    let named = |name: &'static str| {
        move |s: &Snapshot| s.agent("writer").is_some_and(|one| one.agent.name == name)
    };
    followed.until("created", named("One"));
    world.write("agents/writer/AGENT.md", agent_md("Two"));
    followed.until("changed", named("Two"));
    world.write(
        "agents/writer/AGENT.md",
        "---\nname: Three\ntols: []\n---\nHi.\n",
    );
    let path = world.path("agents/writer/AGENT.md");
    let is_broken = |s: &Snapshot, path: &Path| {
        let mut files = s.files().iter();
        files.any(|file| {
            *file.path == *path && matches!(file.state, State::Broken { kept: Some(_) })
        })
    };
    let snapshot = followed.until("broken", |s| is_broken(s, &path));
    assert_eq!(snapshot.agent("writer").unwrap().agent.name, "Two");
    world.remove("agents/writer");
    followed.until("removed", |s| s.agent("writer").is_none());
}

fn names(entries: &[PromptEntry]) -> Vec<&str> {
    entries.iter().map(|entry| &*entry.name).collect()
}

#[test]
fn an_agent_sees_only_allowed_skills() {
    let world = World::new();
    for (id, about) in [
        ("email.send", "Send"),
        ("email.draft", "Draft"),
        ("email.read", "Read"),
        ("tasks.list", "List"),
    ] {
        let (domain, action) = id.split_once('.').unwrap();
        world.write(&format!("skills/{domain}/{action}.md"), page(id, about));
    }
    let usage = "\n## Usage\n\n```\nemail.send --to ADDR  --body TEXT\n```\n";
    world.write("skills/email/send.md", page("email.send", "Send") + usage);
    world.write(
        "skills/alpha/SKILL.md",
        skill_md("alpha", "First <of> all."),
    );
    world.write("skills/beta/SKILL.md", skill_md("beta", "Second."));
    let countdown = "name: countdown\ndescription: Counts.\nsteps:\n  - id: a\n    tool: log\n";
    world.write("skills/countdown.yaml", countdown);
    let snapshot = load(&world);
    let mut agent = Agent::new("a");
    assert!(skill_entries(&snapshot, &agent).is_empty());
    assert!(workflow_entries(&snapshot, &agent).is_empty());
    assert!(skill_tool_spec(&snapshot, &[], &agent, |_| true, 10_000).is_none());
    agent.allow_skills = true;
    assert_eq!(names(&skill_entries(&snapshot, &agent)), ["alpha", "beta"]);
    assert_eq!(
        names(&domain_entries(&snapshot, &agent)),
        ["email", "tasks"]
    );
    let uses = BTreeMap::from([("email.send".to_owned(), 7)]);
    let commands = command_entries(&snapshot, &agent, &uses, &|_| None);
    // The first two of a domain, and the used ones.
    assert_eq!(
        names(&commands),
        ["email.draft", "email.read", "email.send", "tasks.list"]
    );
    assert_eq!(
        names(&command_entries(
            &snapshot,
            &agent,
            &BTreeMap::new(),
            &|_| None
        )),
        ["email.draft", "email.read", "tasks.list"]
    );
    assert_eq!(&*commands[2].text, "  email.send --to ADDR --body TEXT\n");
    assert_eq!(&*commands[0].text, "  email.draft\n");
    let spec = skill_tool_spec(&snapshot, &[], &agent, |_| true, 60).unwrap();
    assert_eq!(
        spec.description,
        "Load and invoke a specialized skill. <skills>\n  <skill name=\"alpha\">First &lt;of&gt; all.</skill>\n</skills> 1 more skill is not listed; use get_skill to find it."
    );
    assert_eq!(
        spec.schema["properties"]["skill_name"]["enum"],
        serde_json::json!(["alpha"])
    );
    let playbook =
        skill_md("gamma", "Third.").replace("---\n\n", "metadata:\n  keywords: [inbox]\n---\n\n");
    world.write("skills/gamma/SKILL.md", playbook);
    let spec = skill_tool_spec(&load(&world), &[], &agent, |_| true, 10_000).unwrap();
    assert_eq!(
        spec.description,
        "Load and invoke a specialized skill. <skills>\n  <skill name=\"alpha\">First &lt;of&gt; all.</skill>\n  <skill name=\"beta\">Second.</skill>\n</skills> The other names are playbooks, which load by themselves."
    );
    assert_eq!(
        spec.schema["properties"]["skill_name"]["enum"],
        serde_json::json!(["alpha", "beta", "gamma"])
    );
    let workflows = workflow_entries(&snapshot, &agent);
    assert_eq!(names(&workflows), ["countdown"]);
    assert_eq!(
        &*workflows[0].about,
        "Counts. (a workflow: `skill_run` runs it)"
    );
    agent.skills = Some(vec!["countdown".to_owned()]);
    assert!(skill_entries(&snapshot, &agent).is_empty());
    assert_eq!(names(&workflow_entries(&snapshot, &agent)), ["countdown"]);
    agent.skills = Some(vec!["tasks".to_owned(), "beta".to_owned()]);
    assert!(workflow_entries(&snapshot, &agent).is_empty());
    assert_eq!(names(&skill_entries(&snapshot, &agent)), ["beta"]);
    assert_eq!(names(&domain_entries(&snapshot, &agent)), ["tasks"]);
}
