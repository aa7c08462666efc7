//! `deft skills import` of files from other programs. Each folder of `tests/import` is a case: `args` has the
//! arguments, `in` the files to import, and the snapshot the report and every written file.

use std::fs;
use std::path::Path;

use deft_service::Workspace;
use deft_service::skills::import_crontab;

use crate::support::World;

fn copy(from: &Path, world: &World, below: &str) {
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let name = format!("{below}/{}", entry.file_name().to_string_lossy());
        if entry.path().is_dir() {
            copy(&entry.path(), world, &name);
        } else {
            world.write(&name, fs::read(entry.path()).unwrap());
        }
    }
}

/// Returns every file below a folder with its content, sorted by name.
fn tree(folder: &Path, below: &str) -> String {
    let Ok(entries) = fs::read_dir(folder) else {
        return String::new();
    };
    let mut entries: Vec<_> = entries.map(|entry| entry.unwrap().path()).collect();
    entries.sort();
    let shown = |path: &Path| {
        let name = format!("{below}/{}", path.file_name().unwrap().to_string_lossy());
        if path.is_dir() {
            return tree(path, &name);
        }
        format!("=== {name}\n{}", fs::read_to_string(path).unwrap())
    };
    entries.iter().map(|path| shown(path)).collect()
}

fn written(world: &World) -> String {
    let home = world.path("home");
    tree(&home.join("agents"), "agents") + &tree(&home.join("skills"), "skills")
}

fn case(path: &Path) -> World {
    let world = World::new();
    copy(&path.parent().unwrap().join("in"), &world, "in");
    world
}

/// Returns the arguments of a case. `*` stands for all files of a folder.
fn arguments(path: &Path, world: &World) -> Vec<String> {
    let text = fs::read_to_string(path).unwrap();
    let mut args: Vec<String> = vec!["skills".into(), "import".into()];
    for word in text.split_whitespace() {
        let Some((folder, ending)) = word.split_once("/*") else {
            args.push(word.to_owned());
            continue;
        };
        let entries = fs::read_dir(world.path(folder)).unwrap();
        let names = entries.map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned());
        let mut names: Vec<String> = names.filter(|name| name.ends_with(ending)).collect();
        names.sort();
        args.extend(names.iter().map(|name| format!("{folder}/{name}")));
    }
    args
}

#[test]
fn cases() {
    insta::glob!("../import", "*/args", |path| {
        let world = case(path);
        let args = arguments(path, &world);
        let args: Vec<&str> = args.iter().map(String::as_str).collect();
        let dry = world.output(&[args.as_slice(), &["--dry-run"]].concat());
        assert!(!world.path("home").exists(), "a dry run writes nothing");
        let report = world.run(&args);
        let dry = String::from_utf8(dry.stdout).unwrap();
        let place = format!(
            "{}/",
            world.path("").display().to_string().trim_end_matches('/')
        );
        assert!(report.contains(&dry.replace(&place, "[world]/")), "{dry}");
        insta::assert_snapshot!(report + &written(&world));
        // All written files load.
        if world.path("home/skills").exists() {
            let found = world.json(&["skills", "validate", "home", "--json"]);
            assert_eq!(found["ok"], true, "{found:#}");
        }
        // Importing again changes nothing.
        let before = written(&world);
        let again = world.json(&[args.as_slice(), &["--json"]].concat());
        assert_eq!(written(&world), before);
        if before.is_empty() {
            return;
        }
        assert_eq!(again["skills"], serde_json::json!([]), "{again:#}");
        assert_eq!(again["agents"], serde_json::json!([]), "{again:#}");
    });
}

fn crontab_world(lines: &str) -> World {
    let world = World::new();
    world.write("my.crontab", lines);
    world
}

/// A crontab line keeps its skill when other lines are added or removed, or the person edits the skill.
#[test]
fn crontab_lines_keep_their_skills() {
    let world = crontab_world("1 2 * * * sync one\n");
    assert_eq!(world.code(&["skills", "import", "my.crontab"]), 0);
    let first = world.read("home/skills/cron-sync.yaml");
    world.write("my.crontab", "5 5 * * * sync two\n1 2 * * * sync one\n");
    assert_eq!(world.code(&["skills", "import", "my.crontab"]), 0);
    assert_eq!(world.read("home/skills/cron-sync.yaml"), first);
    assert!(
        world
            .read("home/skills/cron-sync-2.yaml")
            .contains("sync two")
    );
    world.write(
        "home/skills/cron-sync.yaml",
        first.replace("        sync one\n", "        sync all\n"),
    );
    let report = world.json(&["skills", "import", "my.crontab", "--keep", "--json"]);
    assert_eq!(report["kept"].as_array().unwrap().len(), 2);
    assert!(
        world
            .read("home/skills/cron-sync.yaml")
            .contains("sync all")
    );
    assert!(!world.path("home/skills/cron-sync-3.yaml").exists());
}

/// Tests the function that `deft setup` calls.
#[test]
fn a_crontab_is_imported_by_one_request() {
    let world = World::new();
    let workspace = Workspace {
        home: Some(world.path("home")),
        roots: Vec::new(),
        tell: |_| {},
        quiet: true,
        live: None,
    };
    let text = "0 4 * * * /bin/true\n@reboot x\n";
    let planned = import_crontab(&workspace, text, true).unwrap();
    assert_eq!(planned.report.skills, ["cron-true"]);
    assert!(!world.path("home/skills").exists());
    let done = import_crontab(&workspace, text, false).unwrap();
    assert_eq!(
        (done.report.skills.len(), done.report.refused.len()),
        (1, 1)
    );
    let again = import_crontab(&workspace, text, false).unwrap();
    assert_eq!(again.report.kept, ["cron-true"]);
}

/// Imported jobs are disabled until a person enables them, then run as under cron.
#[test]
fn an_imported_job_runs_after_it_is_accepted() {
    let world = crontab_world(
        "GREETING=\"it's {{ me }}\"\n0 4 * * * cat; echo \"$GREETING\" `basename \"$PWD\"` 50\\%%from%stdin\n",
    );
    world
        .write("home/config.toml", "[tools.shell]\nenabled = true\n")
        .write("user/x", "");
    assert_eq!(world.code(&["skills", "import", "my.crontab"]), 0);
    let skill =
        |world: &World| world.json(&["skills", "show", "cron-cat", "--json"])["skill"].clone();
    assert_eq!(skill(&world)["enabled"], false);
    assert_eq!(world.code(&["skills", "enable", "cron-cat"]), 0);
    assert_eq!(skill(&world)["enabled"], true);
    let run = world.json(&["run", "cron-cat", "--json"]);
    let stdout = run["steps"][0]["result"]["stdout"]
        .as_str()
        .unwrap_or_default();
    assert_eq!(stdout, "from\nstdin\nit's {{ me }} user 50%\n", "{run:#}");
}

/// The import source `crontab` reads the output of `crontab -l`.
#[test]
fn the_crontab_of_the_user_is_read() {
    use std::os::unix::fs::PermissionsExt;
    let world = World::new();
    world.write(
        "bin/crontab",
        "#!/bin/sh\n[ \"$1\" = -l ] && echo '0 4 * * * /bin/true'\n",
    );
    let program = fs::Permissions::from_mode(0o755);
    fs::set_permissions(world.path("bin/crontab"), program).unwrap();
    let import = |path: &str| {
        let mut command = world.command(&["skills", "import", "crontab"]);
        command.env("PATH", world.path(path)).output().unwrap()
    };
    let missing = import("empty");
    assert_eq!(missing.status.code(), Some(2));
    insta::assert_snapshot!(String::from_utf8(missing.stderr).unwrap());
    let found = import("bin");
    insta::assert_snapshot!(String::from_utf8([found.stdout, found.stderr].concat()).unwrap());
}

/// An imported n8n workflow gives the same result in deft.
#[test]
fn an_imported_n8n_workflow_runs() {
    let world = World::new();
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/import/n8n-maps/in");
    copy(&folder, &world, "in");
    world.write("home/config.toml", "[tools.shell]\nenabled = true\n");
    assert_eq!(world.code(&["skills", "import", "in/route.json"]), 0);
    let run = world.json(&["run", "route", "--json"]);
    assert_eq!(run["outcome"], "success", "{run:#}");
    let step = |id: &str| {
        let steps = run["steps"].as_array().unwrap();
        steps.iter().find(|step| step["id"] == id).unwrap().clone()
    };
    assert_eq!(step("shorten")["result"]["text"], "another da");
    assert_eq!(step("broken")["status"], "skipped");
    assert_eq!(step("together")["result"]["stdout"], "done\n");
}

#[test]
fn import_accepts_a_format() {
    let world = World::new();
    world
        .write("jobs", "0 4 * * * /bin/true\n")
        .write("crontab", "0 5 * * * /bin/false\n")
        .write("record.json", "{}");
    assert_eq!(
        world.code(&["skills", "import", "--from", "crontab", "jobs", "./crontab"]),
        0
    );
    assert!(world.path("home/skills/cron-true.yaml").exists());
    assert!(world.path("home/skills/cron-false.yaml").exists());
    insta::assert_snapshot!(world.run(&["skills", "import", "--from", "n8n", "record.json"]));
    insta::assert_snapshot!(world.run(&["skills", "import", "./crontab"]));
}

/// Invalid YAML in frontmatter is reported with its line, whether or not the file could be read.
#[test]
fn broken_frontmatter_is_named() {
    let world = World::new();
    world
        .write(
            "in/colon/SKILL.md",
            "---\nname: colon\ndescription: Use when: asked\n---\n\nText.\n",
        )
        .write(
            "in/broken/SKILL.md",
            "---\nname: broken\n\tdescription: [a\n---\n\nText.\n",
        );
    insta::assert_snapshot!(world.run(&["skills", "import", "in"]));
}

/// The summary counts every agent, including unchanged ones.
#[test]
fn unchanged_agents_are_reported_as_a_number() {
    let world = World::new();
    world.write(
        "in/.claude/agents/tester.md",
        "---\nname: tester\ndescription: Runs tests\n---\n\nRun them.\n",
    );
    let first = world.run(&["skills", "import", "in"]);
    assert!(first.contains("0 skills and 1 agent imported\n"), "{first}");
    let second = world.run(&["skills", "import", "in"]);
    assert!(
        second.contains("0 skills imported, 1 unchanged\n"),
        "{second}"
    );
}
