//! `deft skills import`, `export` and `new`: the files they write, and those they do not.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};

use crate::support::{PAGE, SKILL, WORKFLOW, World};

const RECORD: &str = r#"{
  "name": "Drink water reminder", "trigger_type": "cron", "trigger_config": {"schedule": "0 * * * *"},
  "instructions": "Send a reminder", "execution_plan": [
    {"id": "step1", "toolName": "telegram_send_message", "parameters": {"message": "Drink water!"}}]
}"#;

const IMPORT: [&str; 6] = [
    "skills",
    "import",
    "from/greet",
    "from/email",
    "from/flows",
    "record.json",
];

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
fn import_copies_valid_skills() {
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
fn an_empty_import_is_reported() {
    let world = World::new();
    world.write("empty/x.txt", "x");
    insta::assert_snapshot!(world.run(&["skills", "import", "empty"]));
}

/// An exported skill is the same skill when imported again.
#[test]
fn export_in_every_dialect() {
    let world = world();
    assert_eq!(world.code(&IMPORT), 0);
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
fn open_format_exports_pass_the_validator() {
    let world = world();
    assert_eq!(world.code(&IMPORT), 0);
    let names = ["greet", "email.send", "report", "drink-water-reminder"];
    for name in names {
        let export = ["skills", "export", name, "--format", "agentskills"];
        let export = [export.as_slice(), &["--to", "out"]].concat();
        assert_eq!(world.code(&export), 0, "{name}");
    }
    insta::assert_snapshot!(world.run(&["skills", "validate", "out", "--profile", "agentskills"]));
}

const INDEX: &str = "---\ndomain: email\ndescription: Mail\n---\n# Mail\n";

fn skill(name: &str) -> String {
    SKILL.replace("greet", name)
}

/// A link must not expose files outside the skill.
#[test]
fn links_that_lead_outside_are_refused() {
    let world = World::new();
    world
        .write("secret", "secret\n")
        .write("ex/SKILL.md", skill("ex"))
        .write("ex/a.txt", "a\n");
    symlink(world.path("secret"), world.path("ex/pw")).unwrap();
    symlink("a.txt", world.path("ex/b.txt")).unwrap();
    insta::assert_snapshot!(world.run(&["skills", "import", "ex"]));
    assert!(!world.path("home/skills/ex/pw").exists());
    let copy = world.path("home/skills/ex/b.txt");
    assert!(copy.symlink_metadata().unwrap().is_file());
    insta::assert_snapshot!(world.run(&["skills", "export", "ex", "--root", ".", "--to", "out"]));
    assert!(!world.path("out/ex/pw").exists());
    assert_eq!(world.read("out/ex/b.txt"), "a\n");
}

#[test]
fn scripts_stay_executable() {
    let world = world();
    let set = |mode| {
        let script = world.path("from/greet/scripts/run.sh");
        fs::set_permissions(script, fs::Permissions::from_mode(mode)).unwrap();
    };
    let mode = |path: &str| world.path(path).metadata().unwrap().permissions().mode() & 0o777;
    set(0o755);
    assert_eq!(world.code(&["skills", "import", "from/greet"]), 0);
    assert_eq!(mode("home/skills/greet/scripts/run.sh"), 0o755);
    assert_eq!(world.code(&["skills", "export", "greet", "--to", "out"]), 0);
    assert_eq!(mode("out/greet/scripts/run.sh"), 0o755);
    set(0o644);
    assert_eq!(world.code(&["skills", "import", "from/greet"]), 1);
    assert_eq!(
        world.code(&["skills", "import", "from/greet", "--force"]),
        0
    );
    assert_eq!(mode("home/skills/greet/scripts/run.sh"), 0o644);
}

#[test]
fn imports_with_the_same_target_are_not_mixed() {
    let world = World::new();
    world
        .write("a/x/SKILL.md", skill("x"))
        .write("b/x/SKILL.md", skill("x").replace("hello", "goodbye"))
        .write("c/x.yaml", WORKFLOW.replace("name: report", "name: x"));
    insta::assert_snapshot!(world.run(&["skills", "import", "a", "a/x", "b", "c"]));
    assert_eq!(world.read("home/skills/x/SKILL.md"), skill("x"));
}

#[test]
fn import_does_not_replace_another_skill_with_the_same_id() {
    let world = World::new();
    world
        .write("home/skills/news/SKILL.md", skill("news"))
        .write("news.yaml", WORKFLOW.replace("name: report", "name: news"))
        .write("good/SKILL.md", skill("good"));
    insta::assert_snapshot!(world.run(&["skills", "import", "news.yaml", "good"]));
    assert!(!world.path("home/skills/news.yaml").exists());
    assert!(world.path("home/skills/good/SKILL.md").exists());
    insta::assert_snapshot!(world.run(&["skills", "import", "news.yaml", "--force"]));
}

/// A skill that cannot be imported does not block the others, and a dry run reports the same.
#[test]
fn conflicts_are_refused_one_by_one() {
    let world = world();
    world
        .write("home/skills/greet/scripts/run.sh", "mine\n")
        .write("bad.json", "{")
        .write("latin.json", b"\xff");
    let args = ["from", "bad.json", "latin.json", "record.json"];
    let import = [["skills", "import"].as_slice(), &args].concat();
    let dry = world.output(&[import.as_slice(), &["--dry-run"]].concat());
    let real = world.run(&import);
    assert_eq!(dry.status.code(), Some(1));
    let dry = String::from_utf8(dry.stdout).unwrap();
    let place = world.path("").display().to_string();
    assert!(real.contains(&dry.replace(&place, "[world]/")), "{dry}");
    insta::assert_snapshot!(real);
    assert!(!world.path("home/skills/greet/SKILL.md").exists());
    assert_eq!(world.read("home/skills/greet/scripts/run.sh"), "mine\n");
}

#[test]
fn a_replaced_skill_leaves_no_files() {
    let world = world();
    world
        .write("home/skills/greet/SKILL.md", skill("greet"))
        .write("home/skills/greet/stale.txt", "old\n")
        .write("home/skills/greet/nested/SKILL.md", skill("nested"))
        .write("home/skills/other.txt", "mine\n");
    symlink("../other.txt", world.path("home/skills/greet/link")).unwrap();
    insta::assert_snapshot!(world.run(&["skills", "import", "from/greet", "--force"]));
    assert!(!world.path("home/skills/greet/stale.txt").exists());
    for kept in ["greet/nested/SKILL.md", "greet/link", "other.txt"] {
        assert!(world.path("home/skills").join(kept).exists(), "{kept}");
    }
}

#[test]
fn keep_does_not_replace_existing_skills() {
    let world = world();
    let import =
        |paths: &[&str]| world.run(&[["skills", "import", "--keep"].as_slice(), paths].concat());
    world.write("home/skills/greet/SKILL.md", skill("greet") + "Mine.\n");
    insta::assert_snapshot!(import(&["from/greet", "from/greet", "from/email"]));
    assert!(world.read("home/skills/greet/SKILL.md").contains("Mine."));
    assert!(!world.path("home/skills/greet/scripts").exists());
    assert_eq!(
        world.code(&["skills", "import", "x", "--keep", "--force"]),
        2
    );
}

#[test]
fn a_bare_name_refers_to_the_current_folder() {
    let world = world();
    let mut command = world.command(&["skills", "import", "SKILL.md", "--json"]);
    command.current_dir(world.path("from/greet"));
    assert!(command.output().unwrap().status.success());
    assert!(world.path("home/skills/greet/scripts/run.sh").exists());
}

#[test]
fn nested_skills_stay_nested() {
    let world = World::new();
    world
        .write("all/deep/monitoring/SKILL.md", skill("monitoring"))
        .write(
            "all/deep/monitoring/parts/debugging/SKILL.md",
            skill("debugging"),
        );
    insta::assert_snapshot!(world.run(&["skills", "import", "all"]));
}

#[test]
fn skills_do_not_hide_pages() {
    let world = World::new();
    world
        .write("home/skills/email/send.md", PAGE)
        .write("home/skills/tasks/SKILL.md", skill("tasks"))
        .write("email/SKILL.md", skill("email"))
        .write("index/SKILL.md", INDEX)
        .write(
            "pages/tasks/add.md",
            PAGE.replace("email.send", "tasks.add"),
        );
    insta::assert_snapshot!(world.run(&["skills", "import", "email", "pages", "--force"]));
    insta::assert_snapshot!(world.run(&["skills", "new", "email"]));
    insta::assert_snapshot!(world.run(&["skills", "new", "tasks.add"]));
    assert_eq!(world.code(&["skills", "import", "index"]), 0);
    assert_eq!(world.code(&["skills", "new", "email.read"]), 0);
}

#[test]
fn each_skill_is_counted_once() {
    let world = world();
    assert_eq!(world.code(&["skills", "import", "from/greet"]), 0);
    let import = ["skills", "import", "from/greet", "from/email", "--json"];
    let report = world.json(&import);
    assert_eq!(report["skills"], serde_json::json!(["email.send"]));
    assert_eq!(report["unchanged"], serde_json::json!(["greet"]));
    let report = world.json(&import);
    assert_eq!(report["skills"], serde_json::json!([]));
}

#[test]
fn export_reports_omitted_fields() {
    let world = world();
    world
        .write("from/greet/logo.png", b"\x89PNG\xff")
        .write(
            "from/email/drop.md",
            PAGE.replace("email.send", "email.drop")
                .replace("tags:", "handler: tool:drop\ntags:"),
        )
        .write(
            "from/host/SKILL.md",
            skill("host").replace(
                "---\n\n",
                "license: MIT\nmetadata:\n  hue: red\n  tags: x\n---\n\n",
            ),
        );
    let export = |args: &[&str]| {
        world.run(&[["skills", "export", "--root", "from"].as_slice(), args].concat())
    };
    insta::assert_snapshot!(export(&["greet", "--format", "agentskills", "--to", "out"]));
    insta::assert_snapshot!(export(&["greet", "--format", "agentskills"]));
    insta::assert_snapshot!(export(&["host", "--format", "record"]));
    insta::assert_snapshot!(export(&["report", "--format", "agentskills", "--json"]));
    insta::assert_snapshot!(export(&["report", "--format", "manpage"]));
    insta::assert_snapshot!(export(&["email.drop", "--format", "record"]));
    insta::assert_snapshot!(export(&["greet", "--json"]));
}

#[test]
fn new_explains_invalid_names() {
    let world = World::new();
    insta::assert_snapshot!(world.run(&["skills", "new", "日本"]));
    insta::assert_snapshot!(world.run(&["skills", "new", &"x".repeat(70)]));
    assert!(!world.path("home").exists());
}

/// Reading a pipe would block until a process writes.
#[test]
fn pipes_are_not_read() {
    let world = world();
    for pipe in ["pipe.json", "out/greet/SKILL.md"] {
        fs::create_dir_all(world.path(pipe).parent().unwrap()).unwrap();
        let made = std::process::Command::new("mkfifo")
            .arg(world.path(pipe))
            .status();
        assert!(made.unwrap().success());
    }
    insta::assert_snapshot!(world.run(&["skills", "import", "pipe.json"]));
    insta::assert_snapshot!(world.run(&[
        "skills", "export", "greet", "--root", "from", "--to", "out", "--force"
    ]));
}
