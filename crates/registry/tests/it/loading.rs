//! Loading of folders, including unusual files in them.

use std::fs;
use std::os::unix::fs::symlink;
use std::process::Command;

use deft_registry::{Options, Snapshot};

use crate::support::{World, description, moment, page, skill_md, workflow};

#[test]
fn every_dialect_is_found() {
    let world = World::new();
    world.write(
        "skills/code-review/SKILL.md",
        skill_md("code-review", "Reviews."),
    );
    world.write(
        "skills/code-review/references/rules.md",
        "---\nname: not.a_skill\n---\n",
    );
    world.write(
        "skills/email/SKILL.md",
        "---\ndomain: email\ndescription: Mail.\n---\n# Mail\n",
    );
    world.write("skills/email/send.md", page("email.send", "Sends."));
    world.write("skills/ops/deploy.yaml", workflow("deploy"));
    world.write("skills/report.yml", workflow("report"));
    world.write("skills/README.md", "# Readme\n");
    insta::assert_snapshot!(world.states(&world.load()));
}

#[test]
fn roots_have_an_order_and_shadowing_is_reported() {
    let world = World::new();
    world.write("skills/a/SKILL.md", skill_md("a", "first"));
    world.write("more/a/SKILL.md", skill_md("a", "second"));
    world.write("more/b/SKILL.md", skill_md("b", "only here"));
    let snapshot = Snapshot::load(
        &Options::new([world.path("skills"), world.path("more")]),
        &moment(),
    );
    assert_eq!(snapshot.skill("a").unwrap().skill.description, "first");
    insta::assert_snapshot!(world.states(&snapshot));
    let snapshot = Snapshot::load(
        &Options::new([world.path("more"), world.path("skills")]),
        &moment(),
    );
    assert_eq!(snapshot.skill("a").unwrap().skill.description, "second");
}

#[test]
fn the_same_id_twice_in_one_root_is_reported() {
    let world = World::new();
    world.write("skills/x/one.yaml", workflow("same"));
    world.write("skills/y/two.yaml", workflow("same"));
    insta::assert_snapshot!(world.states(&world.load()));
}

#[test]
fn nested_skills_are_separate_skills() {
    let world = World::new();
    world.write("skills/outer/SKILL.md", skill_md("outer", "Outer."));
    world.write("skills/outer/notes.md", "notes");
    world.write("skills/outer/inner/SKILL.md", skill_md("inner", "Inner."));
    world.write("skills/outer/inner/data.csv", "1,2");
    let snapshot = world.load();
    let siblings = |id: &str| {
        snapshot
            .skill(id)
            .unwrap()
            .siblings
            .iter()
            .map(|f| f.path.clone())
            .collect::<Vec<_>>()
    };
    assert_eq!(siblings("outer"), ["notes.md"]);
    assert_eq!(siblings("inner"), ["data.csv"]);
}

#[test]
fn siblings_have_size_and_hash() {
    let world = World::new();
    world.write("skills/a/SKILL.md", skill_md("a", "x"));
    world.write("skills/a/scripts/hello.txt", "hello\n");
    let snapshot = world.load();
    let file = &snapshot.skill("a").unwrap().siblings[0];
    assert_eq!(file.path, "scripts/hello.txt");
    assert_eq!(file.size_bytes, 6);
    let hash = file.sha256.unwrap().to_string();
    assert_eq!(
        hash,
        "5891b5b522d5df086d0ff0b110fbd9d21bb4fc7163af34d08286a2e846f6be03"
    );
}

/// S4.5, S4.8: a folder without a skill is reported, other files are not.
#[test]
fn a_folder_without_skill_md_is_reported() {
    let world = World::new();
    world.write("skills/empty/notes.txt", "nothing");
    world.write("skills/.hidden/notes.txt", "nothing");
    fs::create_dir(world.path("skills/bare")).unwrap();
    world.write("skills/stray.txt", "nothing");
    insta::assert_snapshot!(world.states(&world.load()));
}

/// S4.7: a missing folder gives no skills and no error.
#[test]
fn a_missing_root_is_empty() {
    let world = World::new();
    world.remove("skills");
    assert_eq!(world.load().skill_count(), 0);
}

#[test]
fn invalid_files_do_not_affect_others() {
    let world = World::new();
    world.write("skills/good/SKILL.md", skill_md("good", "fine"));
    world.write(
        "skills/latin/SKILL.md",
        b"---\nname: latin\ndescription: caf\xe9\n---\n",
    );
    world.write("skills/huge/SKILL.md", vec![b'x'; 1024 * 1024 + 1]);
    world.write("skills/empty-file/SKILL.md", "");
    fs::create_dir(world.path("skills/pipe")).unwrap();
    let made = Command::new("mkfifo")
        .arg(world.path("skills/pipe/SKILL.md"))
        .status()
        .unwrap();
    assert!(made.success());
    fs::create_dir(world.path("skills/dangling")).unwrap();
    symlink("nowhere", world.path("skills/dangling/SKILL.md")).unwrap();
    fs::create_dir_all(world.path("skills/folder/SKILL.md")).unwrap();
    insta::assert_snapshot!(world.states(&world.load()));
}

#[test]
fn links_are_followed_without_cycles() {
    let world = World::new();
    world.write("skills/deep/down/a/SKILL.md", skill_md("a", "linked"));
    symlink(world.path("skills/deep/down/a"), world.path("skills/a")).unwrap();
    fs::create_dir(world.path("skills/loop")).unwrap();
    symlink(world.path("skills"), world.path("skills/loop/again")).unwrap();
    let snapshot = world.load();
    assert!(snapshot.skill("a").is_some());
    insta::assert_snapshot!(world.states(&snapshot));
}

#[test]
fn depth_is_limited() {
    let world = World::new();
    let deep = vec!["d"; 14].join("/");
    world.write(&format!("skills/{deep}/SKILL.md"), skill_md("d", "deep"));
    let snapshot = world.load();
    assert_eq!(snapshot.skill_count(), 0);
    assert!(
        world
            .states(&snapshot)
            .contains("nested_too_deep: folders deeper than 12 levels are not read")
    );
}

#[test]
fn repositories_and_modules_are_not_searched() {
    let world = World::new();
    world.write("skills/.git/a/SKILL.md", skill_md("a", "x"));
    world.write("skills/node_modules/b/SKILL.md", skill_md("b", "x"));
    assert_eq!(world.load().skill_count(), 0);
}

/// The index may name the domain of its folder (S2.13).
#[test]
fn an_index_names_its_domain() {
    let world = World::new();
    world.write(
        "skills/post/SKILL.md",
        "---\ndomain: mail\ndescription: Mail.\n---\n# Mail\n",
    );
    world.write("skills/post/send.md", page("mail.send", "Sends."));
    let snapshot = world.load();
    assert_eq!(snapshot.domain("mail").unwrap().skills.len(), 1);
    assert!(snapshot.domain("post").is_none());
    assert!(!world.states(&snapshot).contains("name_path_mismatch"));
}

/// A revision depends only on the content and names of files.
#[test]
fn revisions_are_stable() {
    let (one, two) = (World::new(), World::new());
    for world in [&one, &two] {
        world.write("skills/a/SKILL.md", skill_md("a", "x"));
        world.write("skills/a/b.txt", "b");
    }
    let revision = |world: &World| world.load().skill("a").unwrap().revision;
    assert_eq!(revision(&one), revision(&two));
    two.rename("skills/a/b.txt", "skills/a/c.txt");
    assert_ne!(revision(&one), revision(&two));
}

/// Pages next to a named SKILL.md are part of that skill; a diagnostic reports them.
#[test]
fn pages_inside_a_skill_folder_are_reported() {
    let world = World::new();
    world.write(
        "skills/email/SKILL.md",
        skill_md("email", "All about mail."),
    );
    world.write("skills/email/send.md", page("email.send", "Sends."));
    world.write("skills/email/notes.md", "# Notes\n");
    insta::assert_snapshot!(world.states(&world.load()));
}

#[test]
fn names_that_are_not_utf8_are_reported() {
    use std::os::unix::ffi::OsStrExt;
    let world = World::new();
    world.write("skills/good/SKILL.md", skill_md("good", "fine"));
    let odd = world
        .path("skills")
        .join(std::ffi::OsStr::from_bytes(b"caf\xe9"));
    fs::create_dir(&odd).unwrap();
    fs::write(odd.join("SKILL.md"), skill_md("odd", "odd")).unwrap();
    let snapshot = world.load();
    assert_eq!(snapshot.skill_count(), 1);
    insta::assert_snapshot!(world.states(&snapshot));
}

/// The same root twice, or one inside another, shadows nothing.
#[test]
fn roots_may_overlap() {
    let world = World::new();
    world.write("skills/team/a/SKILL.md", skill_md("a", "one"));
    world.write("skills/x/SKILL.md", skill_md("x", "one"));
    let (inner, outer) = (world.path("skills/team"), world.path("skills"));
    for roots in [
        vec![inner.clone(), outer.clone(), outer.clone()],
        vec![outer, inner],
    ] {
        let snapshot = Snapshot::load(&Options::new(roots), &moment());
        assert_eq!(snapshot.skill_count(), 2);
        assert!(
            snapshot
                .files()
                .iter()
                .all(|file| matches!(file.state, deft_registry::State::Loaded(_)))
        );
    }
}

/// Multiplying links end soon.
#[test]
fn nested_links_terminate() {
    let world = World::new();
    for at in 0..8 {
        fs::create_dir(world.path(&format!("skills/d{at}"))).unwrap();
        for link in 0..3 {
            symlink(
                format!("../d{}", at + 1),
                world.path(&format!("skills/d{at}/l{link}")),
            )
            .unwrap();
        }
    }
    world.write("skills/d8/SKILL.md", skill_md("d8", "deep"));
    assert!(world.load().skill("d8").is_some());
}

/// S2.16: readers during a reload see complete snapshots, never an older one than before, and keep the one
/// they hold.
#[test]
fn readers_do_not_wait_for_a_reload() {
    let world = World::new();
    let edit = |number: u32| world.write("skills/a/SKILL.md", skill_md("a", &number.to_string()));
    edit(0);
    let followed = world.follow();
    let kept = followed.registry.snapshot();
    let registry = &followed.registry;
    let read = || {
        let mut last = 0;
        for _ in 0..20_000 {
            let found = description(&registry.snapshot(), "a").unwrap();
            let number: u32 = found.parse().unwrap();
            assert!(number >= last, "{number} came after {last}");
            last = number;
        }
    };
    std::thread::scope(|scope| {
        let readers = [scope.spawn(read), scope.spawn(read)];
        for number in 1..=10 {
            edit(number);
            followed.until("the edit", |snapshot| {
                description(snapshot, "a") == Some(number.to_string())
            });
        }
        for reader in readers {
            reader.join().unwrap();
        }
    });
    assert_eq!(description(&kept, "a").as_deref(), Some("0"));
}

/// S2.12: the file whose path matches its name takes precedence over a mis-named one, wherever that is.
#[test]
fn the_file_at_the_right_path_wins() {
    for misnamed in [
        "skills/aaa/other.md",
        "skills/email/a.md",
        "skills/zzz/other.md",
    ] {
        let world = World::new();
        world.write(misnamed, page("email.send", "mis-named"));
        world.write("skills/email/send.md", page("email.send", "at its path"));
        let snapshot = world.load();
        let loaded = snapshot.skill("email.send").unwrap();
        assert_eq!(loaded.skill.description, "at its path", "{misnamed}");
        let states: Vec<(bool, String)> = snapshot
            .files()
            .iter()
            .map(|file| {
                let shadowed = matches!(file.state, deft_registry::State::Shadowed { .. });
                (shadowed, file.path.display().to_string())
            })
            .collect();
        let paths: Vec<&String> = states.iter().map(|(_, path)| path).collect();
        assert!(paths.is_sorted(), "{paths:?}");
        let shadowed: Vec<bool> = states.iter().map(|(shadowed, _)| *shadowed).collect();
        let first = misnamed < "skills/email/send.md";
        assert_eq!(shadowed, [first, !first], "{misnamed}");
        // Without the other file, the mis-named file defines the skill of its name.
        world.remove("skills/email/send.md");
        let snapshot = world.load();
        assert_eq!(
            snapshot.skill("email.send").unwrap().skill.description,
            "mis-named"
        );
    }
}
