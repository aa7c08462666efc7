//! Folding of sentences and pages between words at 80 columns; code and JSON are not broken.

use deft_testkit::Script;
use serde_json::json;

use crate::screens::assert_fits;
use crate::support::{World, server};
use crate::terminal::Terminal;

const LONG: &str = "Looks at the tide tables of every harbour along the coast and tells which of them can be entered before dark";

fn world() -> World {
    let world = crate::daemon::used_home();
    let tool = json!({"text": LONG, "description": LONG, "annotations": {"readOnlyHint": true}});
    let script = Script::new().tool("tide", tool);
    world.write("home/config.toml", server(&world, &script));
    let workflow = format!(
        "name: harbour\ndescription: {LONG}\nsteps:\n  - {{id: look, tool: tide}}\n  - {{id: say, tool: log, args: {{message: \"{LONG}\"}}}}\noutputs: {{said: \"{{{{ look }}}}\"}}\n"
    );
    world.write("home/skills/harbour.yaml", workflow);
    let playbook = format!(
        "---\nname: pilot\ndescription: {LONG}\n---\n\n# Pilot\n\n{LONG}.\n\n- {LONG}\n\n```sh\necho {LONG}\n```\n"
    );
    world.write("home/skills/pilot/SKILL.md", playbook);
    assert_eq!(world.code(&["run", "harbour"]), 0);
    world
}

fn shown(world: &World, args: &[&str]) -> String {
    Terminal::sized(world, args, 80).end().1
}

#[test]
fn pages_break_between_words() {
    let world = world();
    for args in [
        &["skills", "show", "harbour"][..],
        &["skills", "doctor"],
        &["tools", "show", "tide"],
        &["doctor"],
    ] {
        let screen = shown(&world, args);
        assert!(screen.lines().count() > 1, "{args:?}: {screen}");
        assert_fits(&screen, 80);
    }
    let logged = shown(&world, &["run", "harbour"]);
    let folded = "coast and tells\nwhich of them can be entered before dark\n";
    assert!(logged.contains(folded), "{logged}");
    // In a pipe lines are not folded.
    let piped = world.run(&["tools", "show", "tide"]);
    assert!(piped.contains(LONG), "{piped}");
}

/// Values continue below values, list items below their text, and code is unchanged.
#[test]
fn continuation_lines_are_indented() {
    let world = world();
    let page = shown(&world, &["skills", "show", "pilot"]);
    let folded = "description  Looks at the tide tables of every harbour along the coast and tells\n             which of them can be entered before dark\n";
    assert!(page.contains(folded), "{page}");
    let item = "- Looks at the tide tables of every harbour along the coast and tells which of\n  them can be entered before dark\n";
    assert!(page.contains(item), "{page}");
    assert!(page.contains(&format!("echo {LONG}\n")), "{page}");
    let story = shown(&world, &["runs", "show", "last"]);
    assert!(story.contains("them can be entered before dark"), "{story}");
    let events = shown(&world, &["runs", "logs", "last"]);
    for line in events.lines().filter(|line| line.chars().count() > 80) {
        let is_one_word = !line.trim().contains(' ');
        let only = "only JSON and long words";
        assert!(
            is_one_word || line.contains('{'),
            "{only}: {line}\n\n{events}"
        );
    }
}
