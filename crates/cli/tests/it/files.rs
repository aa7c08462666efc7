//! `deft skills import` and `export`.

use crate::support::{PAGE, SKILL, WORKFLOW, World};

const RECORD: &str = r#"{
  "name": "Drink water reminder", "trigger_type": "cron", "trigger_config": {"schedule": "0 * * * *"},
  "instructions": "Send a reminder", "execution_plan": [
    {"id": "step1", "toolName": "telegram_send_message", "parameters": {"message": "Drink water!"}}]
}"#;

fn world() -> World {
    let world = World::new();
    world
        .write("from/greet/SKILL.md", SKILL)
        .write("from/greet/scripts/run.sh", "echo\n")
        .write(
            "from/email/SKILL.md",
            "---\ndomain: email\ndescription: Mail\n---\n# Mail\n",
        )
        .write("from/email/send.md", PAGE)
        .write("from/flows/report.yaml", WORKFLOW)
        .write("from/broken.yaml", "name: x\ndescription: y\nsteps: []\n")
        .write("record.json", RECORD);
    world
}

#[test]
fn import_copies_what_loads() {
    let world = world();
    insta::assert_snapshot!(world.run(&["skills", "import", "from", "--dry-run"]));
    assert!(!world.path("home").exists());
    insta::assert_snapshot!(world.run(&["skills", "import", "from", "record.json"]));
    assert_eq!(world.read("home/skills/greet/scripts/run.sh"), "echo\n");
    insta::assert_snapshot!(world.run(&["skills", "list"]));
}

#[test]
fn import_again_changes_nothing_and_replaces_nothing() {
    let world = world();
    assert_eq!(world.code(&["skills", "import", "from/greet"]), 0);
    insta::assert_snapshot!(world.run(&["skills", "import", "from/greet"]));
    world.write("from/greet/SKILL.md", SKILL.replace("hello", "goodbye"));
    insta::assert_snapshot!(world.run(&["skills", "import", "from/greet"]));
    assert!(world.read("home/skills/greet/SKILL.md").contains("hello"));
    assert_eq!(
        world.code(&["skills", "import", "from/greet", "--force"]),
        0
    );
    assert!(world.read("home/skills/greet/SKILL.md").contains("goodbye"));
}

#[test]
fn import_takes_single_files() {
    let world = world();
    assert_eq!(
        world.code(&[
            "skills",
            "import",
            "from/email/send.md",
            "from/flows/report.yaml",
            "from/greet/SKILL.md"
        ]),
        0
    );
    insta::assert_snapshot!(world.run(&["skills", "list"]));
    assert!(world.path("home/skills/email/send.md").exists());
}

#[test]
fn import_of_nothing_says_so() {
    let world = World::new();
    world.write("empty/x.txt", "x");
    insta::assert_snapshot!(world.run(&["skills", "import", "empty"]));
}

/// Whatever is exported comes back as the same skill.
#[test]
fn export_in_every_dialect() {
    let world = world();
    assert_eq!(
        world.code(&[
            "skills",
            "import",
            "from/greet",
            "from/email",
            "from/flows",
            "record.json"
        ]),
        0
    );
    insta::assert_snapshot!(world.run(&[
        "skills",
        "export",
        "email.send",
        "--format",
        "agentskills"
    ]));
    insta::assert_snapshot!(world.run(&["skills", "export", "report", "--format", "agentskills"]));
    insta::assert_snapshot!(world.run(&["skills", "export", "greet", "--format", "record"]));
    insta::assert_snapshot!(world.run(&["skills", "export", "report", "--format", "workflow"]));
    insta::assert_snapshot!(world.run(&["skills", "export", "greet", "--format", "workflow"]));
    insta::assert_snapshot!(world.run(&["skills", "export", "greet", "--format", "manpage"]));
    insta::assert_snapshot!(world.run(&["skills", "export", "greet"]));
    insta::assert_snapshot!(world.run(&["skills", "export", "greet", "email.send", "--to", "out"]));
    assert_eq!(world.read("out/greet/SKILL.md"), SKILL);
    assert_eq!(world.read("out/email/send.md"), PAGE);
}

#[test]
fn what_is_exported_for_the_open_format_passes_its_validator() {
    let world = world();
    assert_eq!(
        world.code(&[
            "skills",
            "import",
            "from/greet",
            "from/email",
            "from/flows",
            "record.json"
        ]),
        0
    );
    let names = ["greet", "email.send", "report", "drink-water-reminder"];
    for name in names {
        assert_eq!(
            world.code(&[
                "skills",
                "export",
                name,
                "--format",
                "agentskills",
                "--to",
                "out"
            ]),
            0,
            "{name}"
        );
    }
    insta::assert_snapshot!(world.run(&["skills", "validate", "out", "--profile", "agentskills"]));
}
