//! `deft skills export --to cursor|claude`: a command file of the editor for each exposed skill (S3.31).

use crate::daemon::used_home;
use crate::support::{SKILL, World};

const NOTES: &str = "name: release_notes\ndescription: Writes the notes of a release\nexpose: true\ninputs:\n  - {name: version, type: string, required: true, description: The version}\n  - {name: style, enum: [short, long], default: short}\nsteps:\n  - {id: note, tool: log, args: {message: \"{{ version }}\"}}\n";
const PLAIN: &str =
    "name: tidy\ndescription: Tidies up\nsteps:\n  - {id: note, tool: log, args: {message: x}}\n";

fn world() -> World {
    let world = used_home();
    world
        .write("home/skills/release_notes.yaml", NOTES)
        .write("home/skills/tidy.yaml", PLAIN)
        .write("home/skills/greet/SKILL.md", SKILL);
    world
}

/// S3.31
#[test]
fn exposed_skills_become_commands_of_cursor() {
    let world = world();
    let shown = world.run(&["skills", "export", "--to", "cursor", "--dry-run"]);
    insta::assert_snapshot!(shown);
    assert!(!world.path(".cursor").exists());
    insta::assert_snapshot!(world.run(&["skills", "export", "--to", "cursor"]));
    insta::assert_snapshot!(world.read(".cursor/commands/release-notes.md"));
    // A named skill need not be exposed.
    assert_eq!(
        world.code(&["skills", "export", "--to", "cursor", "tidy"]),
        0
    );
    assert!(world.path(".cursor/commands/tidy.md").exists());
    assert!(world.path(".cursor/commands/release-notes.md").exists());
}

#[test]
fn only_files_of_deft_are_replaced_and_removed() {
    let world = world();
    world
        .write(".cursor/commands/mine.md", "# Mine\n")
        .write(".cursor/commands/release-notes.md", "# My own notes\n");
    let done = world.json(&["skills", "export", "--to", "cursor", "--json"]);
    assert_eq!(done["ok"], false, "{done:#}");
    assert_eq!(
        world.read(".cursor/commands/release-notes.md"),
        "# My own notes\n"
    );
    assert_eq!(
        world.code(&["skills", "export", "--to", "cursor", "--force"]),
        0
    );
    assert!(
        world
            .read(".cursor/commands/release-notes.md")
            .contains("skill_run")
    );
    // A file written by deft is updated without `--force`.
    let changed = NOTES.replace("Writes the notes", "Collects the notes");
    world.write("home/skills/release_notes.yaml", changed);
    assert_eq!(world.code(&["skills", "export", "--to", "cursor"]), 0);
    assert!(
        world
            .read(".cursor/commands/release-notes.md")
            .contains("Collects")
    );
    world.write(
        "home/skills/release_notes.yaml",
        NOTES.replace("expose: true\n", ""),
    );
    let done = world.json(&["skills", "export", "--to", "cursor", "--json"]);
    let stale = world.path(".cursor/commands/release-notes.md");
    assert_eq!(
        done["removed"],
        serde_json::json!([".cursor/commands/release-notes.md"])
    );
    assert!(!stale.exists());
    assert_eq!(world.read(".cursor/commands/mine.md"), "# Mine\n");
}

/// Claude Code gets exposed skills as commands, and the others as skill folders. If a command and a folder
/// have the same name, Claude Code shows the folder.
#[test]
fn exposed_skills_become_commands_of_claude() {
    let world = world();
    assert_eq!(world.code(&["skills", "export", "--to", "claude"]), 0);
    insta::assert_snapshot!(world.read(".claude/commands/release-notes.md"));
    assert!(!world.path("user/.claude/skills/release-notes").exists());
    assert!(world.path("user/.claude/skills/tidy/SKILL.md").exists());
    let only = [
        "skills",
        "export",
        "--to",
        "claude",
        "--commands",
        "--dir",
        "project",
    ];
    assert_eq!(world.code(&only), 0);
    assert!(
        world
            .path("project/.claude/commands/release-notes.md")
            .exists()
    );
    assert!(!world.path("project/tidy").exists());
}
