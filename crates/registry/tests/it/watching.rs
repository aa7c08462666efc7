//! Watching: valid edits become visible, broken ones do not, and no edit is missed.

use std::fs;
use std::time::Duration;

use deft_registry::{Change, Options, State, Watch, WatchMode};

use crate::support::{FollowedRoots, World, description, page, skill_md, workflow};

/// S2.17, S2.70: create, modify, delete.
#[test]
fn create_modify_delete() {
    let world = World::new();
    let followed = world.follow();
    world.write("skills/email/send.md", page("email.send", "one"));
    followed.until("created", |s| {
        description(s, "email.send").as_deref() == Some("one")
    });
    world.write("skills/email/send.md", page("email.send", "two"));
    followed.until("modified", |s| {
        description(s, "email.send").as_deref() == Some("two")
    });
    world.remove("skills/email/send.md");
    followed.until("deleted", |s| s.skill("email.send").is_none());
}

/// S2.18, X14: an invalid edit is reported, and the last valid revision stays in use.
#[test]
fn a_broken_file_is_repaired() {
    let world = World::new();
    world.write("skills/report.yaml", workflow("report"));
    let followed = world.follow();
    let good = followed
        .registry
        .snapshot()
        .skill("report")
        .unwrap()
        .revision;
    world.write("skills/report.yaml", "name: report\ndescription: [\n");
    let snapshot = followed.until("broken", |s| {
        matches!(s.files()[0].state, State::Broken { .. })
    });
    assert_eq!(snapshot.skill("report").unwrap().revision, good);
    assert_eq!(
        world.states(&snapshot).lines().next().unwrap(),
        "skills/report.yaml broken, report kept"
    );
    world.write(
        "skills/report.yaml",
        workflow("report").replace("Runs", "Runs again"),
    );
    let snapshot = followed.until("mended", |s| {
        description(s, "report").as_deref() == Some("Runs again report")
    });
    assert_ne!(snapshot.skill("report").unwrap().revision, good);
}

#[test]
fn a_new_broken_file_is_reported() {
    let world = World::new();
    let followed = world.follow();
    world.write(
        "skills/email/send.md",
        "---\ndescription: no name\n---\nbody\n",
    );
    let changes = followed.next();
    let [
        Change::Broken {
            kept: None, reason, ..
        },
    ] = &changes[..]
    else {
        panic!("{changes:?}")
    };
    assert_eq!(reason, "`name` is missing");
}

#[test]
fn renaming_a_folder_moves_its_skill() {
    let world = World::new();
    world.write(
        "skills/old/SKILL.md",
        "---\ndescription: Moves.\n---\nDo it.\n",
    );
    world.write("skills/old/references/a.md", "a");
    let followed = world.follow();
    world.rename("skills/old", "skills/new");
    let snapshot = followed.until("renamed", |s| {
        s.skill("new").is_some() && s.skill("old").is_none()
    });
    assert_eq!(
        snapshot.skill("new").unwrap().siblings[0].path,
        "references/a.md"
    );
}

#[test]
fn renaming_a_domain_folder_moves_all_its_pages() {
    let world = World::new();
    for action in ["send", "read", "draft"] {
        world.write(
            &format!("skills/email/{action}.md"),
            page(&format!("email.{action}"), "x"),
        );
    }
    let followed = world.follow();
    world.rename("skills/email", "skills/mail");
    let snapshot = followed.until("renamed", |s| {
        s.files()
            .iter()
            .all(|f| f.path.to_string_lossy().contains("/mail/"))
    });
    // Names decide; paths are only compared with them.
    assert_eq!(snapshot.skill_count(), 3);
    assert!(world.states(&snapshot).contains("name_path_mismatch"));
}

/// Editors write a new file and move it over the old one.
#[test]
fn replace_by_rename() {
    let world = World::new();
    world.write("skills/a/SKILL.md", skill_md("a", "one"));
    let followed = world.follow();
    for round in 0..20 {
        let text = format!("round {round}");
        world.write("skills/a/.SKILL.md.swp", skill_md("a", &text));
        world.rename("skills/a/.SKILL.md.swp", "skills/a/SKILL.md");
        followed.until("replaced", |s| {
            description(s, "a").as_deref() == Some(&text)
        });
    }
}

#[test]
fn a_sibling_file_is_part_of_the_revision() {
    let world = World::new();
    world.write("skills/a/SKILL.md", skill_md("a", "one"));
    world.write("skills/a/scripts/run.sh", "echo 1");
    let followed = world.follow();
    let first = followed.registry.snapshot().skill("a").unwrap().revision;
    // By renaming: a file that is being written is empty for a moment, and that is a revision too.
    world.write("new.sh", "echo 2");
    world.rename("new.sh", "skills/a/scripts/run.sh");
    let snapshot = followed.until("edited", |s| s.skill("a").unwrap().revision != first);
    let second = snapshot.skill("a").unwrap().revision;
    world.write("skills/a/assets/deep/logo.svg", "<svg/>");
    let snapshot = followed.until("added", |s| s.skill("a").unwrap().revision != second);
    assert_eq!(snapshot.skill("a").unwrap().siblings.len(), 2);
    world.remove("skills/a/assets");
    let snapshot = followed.until("removed", |s| s.skill("a").unwrap().siblings.len() == 1);
    assert_eq!(snapshot.skill("a").unwrap().revision, second);
}

#[test]
fn a_thousand_edits_in_a_burst() {
    let world = World::new();
    for at in 0..50 {
        world.write(
            &format!("skills/s{at}/SKILL.md"),
            skill_md(&format!("s{at}"), "before"),
        );
    }
    let followed = world.follow();
    for edit in 0..1000 {
        let at = edit % 50;
        world.write(
            &format!("skills/s{at}/SKILL.md"),
            skill_md(&format!("s{at}"), &format!("edit {edit}")),
        );
    }
    let snapshot = followed.until("the last edits", |s| {
        (0..50).all(|at| {
            description(s, &format!("s{at}")).as_deref() == Some(&format!("edit {}", 950 + at))
        })
    });
    assert_eq!(snapshot.skill_count(), 50);
}

#[test]
fn a_root_created_later_is_watched() {
    let world = World::new();
    world.remove("skills");
    let followed = world.follow();
    assert_eq!(followed.registry.snapshot().skill_count(), 0);
    world.write("skills/a/SKILL.md", skill_md("a", "late"));
    followed.until("the new root", |s| s.skill("a").is_some());
    world.write("skills/b/SKILL.md", skill_md("b", "later"));
    followed.until("an edit below the new root", |s| s.skill("b").is_some());
}

#[test]
fn a_root_created_with_its_parents_is_watched() {
    let world = World::new();
    let followed = FollowedRoots::open(Options::new([world.path("one/two/skills")]));
    fs::create_dir(world.path("one")).unwrap();
    fs::create_dir(world.path("one/two")).unwrap();
    world.write("one/two/skills/a/SKILL.md", skill_md("a", "far"));
    followed.until("the far root", |s| s.skill("a").is_some());
}

#[test]
fn a_replaced_root_is_watched() {
    let world = World::new();
    world.write("skills/a/SKILL.md", skill_md("a", "first"));
    world.write("other/b/SKILL.md", skill_md("b", "second"));
    let followed = world.follow();
    world.rename("skills", "away");
    followed.until("the root gone", |s| s.skill_count() == 0);
    world.rename("other", "skills");
    followed.until("the other root", |s| s.skill("b").is_some());
    world.write("skills/c/SKILL.md", skill_md("c", "third"));
    followed.until("an edit below it", |s| s.skill("c").is_some());
}

#[test]
fn an_index_that_becomes_a_skill_changes_the_pages_below() {
    let world = World::new();
    world.write(
        "skills/email/SKILL.md",
        "---\ndomain: email\ndescription: Mail.\n---\n# Mail\n",
    );
    world.write("skills/email/send.md", page("email.send", "x"));
    let followed = world.follow();
    assert!(followed.registry.snapshot().skill("email.send").is_some());
    world.write(
        "skills/email/SKILL.md",
        skill_md("email", "All about mail."),
    );
    let snapshot = followed.until("the skill", |s| s.skill("email").is_some());
    assert!(snapshot.skill("email.send").is_none());
    assert_eq!(snapshot.skill("email").unwrap().siblings[0].path, "send.md");
}

#[test]
fn a_domain_index_is_watched() {
    let world = World::new();
    world.write("skills/email/send.md", page("email.send", "x"));
    let followed = world.follow();
    assert!(
        followed
            .registry
            .snapshot()
            .domain("email")
            .unwrap()
            .generated
    );
    world.write(
        "skills/email/SKILL.md",
        "---\ndomain: email\ndescription: Mail.\n---\n# Mail\n",
    );
    let snapshot = followed.until("the index", |s| !s.domain("email").unwrap().generated);
    assert_eq!(snapshot.domain("email").unwrap().index.description, "Mail.");
}

/// Without events, everything is compared periodically.
#[test]
fn polling_finds_the_same_changes() {
    let world = World::new();
    world.write("skills/a/SKILL.md", skill_md("a", "one"));
    let mut options = world.options();
    options.watch = Watch::Poll;
    options.poll_every = Duration::from_millis(20);
    let followed = FollowedRoots::open(options);
    assert_eq!(
        followed.registry.watch_mode(),
        WatchMode::Polling("asked for".to_owned())
    );
    world.write("skills/a/SKILL.md", skill_md("a", "a longer text"));
    followed.until("modified", |s| {
        description(s, "a").as_deref() == Some("a longer text")
    });
    world.rename("skills/a", "skills/b");
    followed.until("renamed", |s| {
        s.skill("b").is_some() && s.skill("a").is_none()
    });
    world.remove("skills/b");
    followed.until("deleted", |s| s.skill_count() == 0);
}

/// A snapshot held by a reader does not change.
#[test]
fn a_snapshot_does_not_change_under_its_reader() {
    let world = World::new();
    world.write("skills/a/SKILL.md", skill_md("a", "one"));
    let followed = world.follow();
    let held = followed.registry.snapshot();
    world.write("skills/a/SKILL.md", skill_md("a", "two"));
    followed.until("modified", |s| {
        description(s, "a").as_deref() == Some("two")
    });
    assert_eq!(description(&held, "a").as_deref(), Some("one"));
}

/// S2.20: one announcement per accepted reload, none for a save that changes nothing.
#[test]
fn each_accepted_reload_is_announced_once() {
    let world = World::new();
    world.write("skills/a/SKILL.md", skill_md("a", "one"));
    world.write("skills/b/SKILL.md", skill_md("b", "one"));
    let followed = world.follow();
    world.write("skills/a/SKILL.md", skill_md("a", "one"));
    world.write("skills/b/SKILL.md", skill_md("b", "two"));
    let changes = followed.next();
    let [Change::Loaded { id, path, .. }] = &changes[..] else {
        panic!("{changes:?}")
    };
    assert_eq!(id.as_str(), "b");
    assert_eq!(**path, world.path("skills/b/SKILL.md"));
}

/// The folder's inode may be reused immediately, so its identity proves nothing.
#[test]
fn a_recreated_root_is_watched() {
    let world = World::new();
    world.write("skills/a/SKILL.md", skill_md("a", "first"));
    let followed = world.follow();
    world.remove("skills");
    world.write("skills/b/SKILL.md", skill_md("b", "second"));
    followed.until("the new root", |s| {
        s.skill("b").is_some() && s.skill("a").is_none()
    });
    world.write("skills/c/SKILL.md", skill_md("c", "third"));
    followed.until("an edit below it", |s| s.skill("c").is_some());
}

#[test]
fn an_inner_root_does_not_hide_the_outer_one() {
    let world = World::new();
    world.write("skills/team/a/SKILL.md", skill_md("a", "one"));
    world.write("skills/x/SKILL.md", skill_md("x", "one"));
    let followed = FollowedRoots::open(Options::new([
        world.path("skills/team"),
        world.path("skills"),
    ]));
    assert_eq!(followed.registry.snapshot().files().len(), 2);
    world.write("skills/x/SKILL.md", skill_md("x", "two"));
    followed.until("an edit of the outer root", |s| {
        description(s, "x").as_deref() == Some("two")
    });
    world.write("skills/team/a/SKILL.md", skill_md("a", "two"));
    followed.until("an edit of the inner root", |s| {
        description(s, "a").as_deref() == Some("two")
    });
}

#[test]
fn a_linked_folder_is_watched() {
    let world = World::new();
    world.write("elsewhere/x/SKILL.md", skill_md("x", "one"));
    let followed = FollowedRoots::open(world.options_with("elsewhere"));
    std::os::unix::fs::symlink(world.path("elsewhere/x"), world.path("skills/x")).unwrap();
    followed.until("the link", |s| s.skill("x").is_some());
    world.write("elsewhere/x/SKILL.md", skill_md("x", "two"));
    followed.until("an edit behind the link", |s| {
        description(s, "x").as_deref() == Some("two")
    });
}

/// Restoring the previous text of a broken file is announced as well.
#[test]
fn a_repaired_file_is_announced() {
    let world = World::new();
    world.write("skills/a/SKILL.md", skill_md("a", "one"));
    let followed = world.follow();
    world.write("skills/a/SKILL.md", "---\n---\n");
    assert!(matches!(followed.next()[..], [Change::Broken { .. }]));
    world.write("skills/a/SKILL.md", skill_md("a", "one"));
    assert!(matches!(followed.next()[..], [Change::Loaded { .. }]));
}

/// Temporary files of editors next to a skill do not change its revision.
#[test]
fn temporary_files_are_not_part_of_a_revision() {
    let world = World::new();
    world.write("skills/a/SKILL.md", skill_md("a", "one"));
    let before = world.load().skill("a").unwrap().revision;
    for name in [
        ".SKILL.md.swp",
        "SKILL.md~",
        ".DS_Store",
        "#SKILL.md#",
        ".#SKILL.md",
        "4913",
    ] {
        world.write(&format!("skills/a/{name}"), "x");
    }
    world.write("skills/a/__pycache__/x.pyc", "x");
    assert_eq!(world.load().skill("a").unwrap().revision, before);
}

/// A file that is created first and filled later is not reported as broken in between.
#[test]
fn a_partially_written_file_is_not_loaded() {
    let world = World::new();
    world.write("skills/email/send.md", page("email.send", "x"));
    let followed = world.follow();
    world.write("skills/email/SKILL.md", "");
    world.write("skills/new/SKILL.md", "");
    world.write("skills/other/SKILL.md", skill_md("other", "x"));
    let snapshot = followed.until("the one that is whole", |s| s.skill("other").is_some());
    assert!(snapshot.skill("email.send").is_some());
    assert!(
        !snapshot
            .files()
            .iter()
            .any(|file| matches!(file.state, State::Broken { .. }))
    );
    world.write("skills/new/SKILL.md", skill_md("new", "x"));
    followed.until("the one that was in the making", |s| {
        s.skill("new").is_some()
    });
    // A fresh load reports an empty file.
    assert!(
        world
            .states(&world.load())
            .contains("skills/email/SKILL.md broken")
    );
}

/// S0.12: a file edited behind a link causes no event here; the rescan detects the change.
#[test]
fn the_rescan_finds_changes_without_events() {
    let world = World::new();
    world.write("elsewhere/text.md", skill_md("a", "one"));
    std::fs::create_dir(world.path("skills/a")).unwrap();
    std::os::unix::fs::symlink(
        world.path("elsewhere/text.md"),
        world.path("skills/a/SKILL.md"),
    )
    .unwrap();
    let mut options = world.options_with("elsewhere");
    options.rescan_every = Duration::from_millis(50);
    let followed = FollowedRoots::open(options);
    assert_eq!(followed.registry.watch_mode(), WatchMode::Events);
    world.write("elsewhere/text.md", skill_md("a", "two"));
    followed.until("the edit", |s| {
        description(s, "a").as_deref() == Some("two")
    });
}
