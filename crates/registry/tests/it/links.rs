//! Folders that links reach under several names are watched under each of them.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use deft_registry::{Options, Snapshot};

use crate::support::{World, description, moment, page, skill_md};

/// Regression: a link to its own folder stopped the events of that folder.
#[test]
fn a_link_cycle_does_not_stop_the_watcher() {
    let world = World::new();
    world.write("skills/email/send.md", page("email.send", "one"));
    symlink(".", world.path("skills/loop")).unwrap();
    let followed = world.follow();
    for text in ["two", "three"] {
        world.write("skills/email/send.md", page("email.send", text));
        world.write("skills/top/SKILL.md", skill_md("top", text));
        followed.until("edited", |s| {
            description(s, "email.send").as_deref() == Some(text)
                && description(s, "top").as_deref() == Some(text)
        });
    }
    // Creating and removing another loop later does no harm either.
    symlink(world.path("skills"), world.path("skills/email/again")).unwrap();
    world.write("skills/email/send.md", page("email.send", "four"));
    followed.until("edited beside a new circle", |s| {
        description(s, "email.send").as_deref() == Some("four")
    });
    fs::remove_file(world.path("skills/loop")).unwrap();
    fs::remove_file(world.path("skills/email/again")).unwrap();
    world.write("skills/email/send.md", page("email.send", "five"));
    world.write("skills/top/SKILL.md", skill_md("top", "five"));
    followed.until("edited without circles", |s| {
        description(s, "email.send").as_deref() == Some("five")
            && description(s, "top").as_deref() == Some("five")
    });
}

/// Both names are read again, whichever of them the operating system reports.
#[test]
fn a_folder_with_two_names_is_watched_under_both() {
    let world = World::new();
    world.write("skills/a/SKILL.md", "---\ndescription: one\n---\nDo it.\n");
    symlink(world.path("skills/a"), world.path("skills/b")).unwrap();
    let followed = world.follow();
    for text in ["two", "three"] {
        let page = format!("---\ndescription: {text}\n---\nDo it.\n");
        world.write("skills/a/SKILL.md", page);
        followed.until("edited", |s| {
            ["a", "b"]
                .iter()
                .all(|name| description(s, name).as_deref() == Some(text))
        });
    }
    fs::remove_file(world.path("skills/b")).unwrap();
    followed.until("the second name is gone", |s| s.skill("b").is_none());
    world.write("skills/a/SKILL.md", "---\ndescription: four\n---\nDo it.\n");
    followed.until("edited under the first name", |s| {
        description(s, "a").as_deref() == Some("four")
    });
}

fn pipe(path: &Path) {
    let made = Command::new("mkfifo").arg(path).status().unwrap();
    assert!(made.success());
}

/// A link must not make a file part of a skill that its owner never meant to share.
#[test]
fn links_outside_the_skill_folders_are_refused_with_a_reason() {
    let world = World::new();
    world.write("elsewhere/a/SKILL.md", skill_md("a", "outside"));
    world.write("elsewhere/key.txt", "secret");
    world.write("skills/good/SKILL.md", skill_md("good", "fine"));
    world.write("skills/good/references/own.md", "own");
    fs::create_dir(world.path("skills/text")).unwrap();
    let elsewhere = |below: &str| world.path("elsewhere").join(below);
    for (target, link) in [
        (elsewhere("a"), "skills/a"),
        (elsewhere("a/SKILL.md"), "skills/text/SKILL.md"),
        (elsewhere("key.txt"), "skills/good/key.txt"),
        (elsewhere("key.txt"), "skills/good/references/key.txt"),
        (elsewhere("key.txt"), "skills/good/page.md"),
        ("/proc/sys".into(), "skills/process"),
        ("/dev/zero".into(), "skills/good/zero.bin"),
    ] {
        symlink(target, world.path(link)).unwrap();
    }
    pipe(&world.path("skills/good/references/pipe.md"));
    let snapshot = world.load();
    let siblings: Vec<&str> = snapshot
        .skill("good")
        .unwrap()
        .siblings
        .iter()
        .map(|file| file.path.as_str())
        .collect();
    assert_eq!(siblings, ["references/own.md"]);
    assert_eq!(snapshot.skill_count(), 1);
    insta::assert_snapshot!(world.states(&snapshot));
}

#[test]
fn links_into_a_configured_folder_are_followed() {
    let world = World::new();
    world.write("elsewhere/a/SKILL.md", skill_md("a", "other root"));
    world.write("elsewhere/shared.txt", "shared");
    world.write("skills/b/SKILL.md", skill_md("b", "own"));
    symlink(world.path("elsewhere/a"), world.path("skills/a")).unwrap();
    symlink(
        world.path("elsewhere/shared.txt"),
        world.path("skills/b/shared.txt"),
    )
    .unwrap();
    let snapshot = Snapshot::load(&world.options_with("elsewhere"), &moment());
    assert_eq!(snapshot.skill("b").unwrap().siblings[0].path, "shared.txt");
    let path = &snapshot.skill("a").unwrap().path;
    assert_eq!(**path, world.path("skills/a/SKILL.md"));
}

/// Agents have rights, so the same rule applies to their files.
#[test]
fn agents_are_not_read_through_links_or_pipes() {
    let world = World::new();
    let agent = "---\nname: x\ndescription: x\n---\nBe kind.\n";
    world.write("elsewhere/out/AGENT.md", agent);
    fs::create_dir_all(world.path("agents/piped")).unwrap();
    symlink(world.path("elsewhere/out"), world.path("agents/out")).unwrap();
    pipe(&world.path("agents/piped/AGENT.md"));
    let options = world.options().with_agents([world.path("agents")]);
    let snapshot = Snapshot::load(&options, &moment());
    let ids: Vec<&str> = snapshot.agents().map(|one| one.agent.id.as_str()).collect();
    assert_eq!(ids, ["thinker"]);
    insta::assert_snapshot!(world.states(&snapshot));
}

#[test]
fn system_folders_are_not_skill_folders() {
    let world = World::new();
    let options = Options::new(["/proc", "/sys", "/dev"].map(Into::into));
    let snapshot = Snapshot::load(&options, &moment());
    let reasons: Vec<String> = snapshot
        .files()
        .iter()
        .map(|file| format!("{} {}", file.path.display(), file.diagnostics[0].message))
        .collect();
    let why = "the folder belongs to the system; it is not read";
    assert_eq!(
        reasons,
        [
            format!("/proc {why}"),
            format!("/sys {why}"),
            format!("/dev {why}")
        ]
    );
    drop(world);
}

/// Links multiply the number of folders; exceeding a limit is reported.
#[test]
fn a_scan_has_limits() {
    let world = World::new();
    for name in ["a", "b", "c", "d"] {
        world.write(
            &format!("skills/group/{name}/SKILL.md"),
            skill_md(name, "x"),
        );
    }
    symlink(world.path("skills/group"), world.path("skills/again")).unwrap();
    let count = |change: fn(&mut Options)| {
        let mut options = world.options();
        change(&mut options);
        let snapshot = Snapshot::load(&options, &moment());
        let told = snapshot
            .files()
            .iter()
            .flat_map(|file| file.diagnostics.iter());
        let mut told: Vec<String> = told
            .filter(|one| one.rule.id() == "too_many_folders")
            .map(|one| one.message.clone())
            .collect();
        told.dedup();
        (snapshot.skill_count(), told)
    };
    assert_eq!(count(|_| {}), (4, Vec::new()));
    let linked = count(|options| options.max_linked_folders = 1);
    let why = "links lead to more than 1 folders; the rest is not followed";
    assert_eq!(linked, (4, vec![why.to_owned()]));
    let (found, told) = count(|options| options.max_folders = 3);
    assert!(found <= 2, "{found}");
    assert_eq!(told, ["more than 3 folders; the rest is not read"]);
    let (found, told) = count(|options| options.max_scan_time = Duration::ZERO);
    assert_eq!(found, 0);
    assert_eq!(
        told,
        ["reading all folders takes longer than 0 s; the rest is not read"]
    );
}
