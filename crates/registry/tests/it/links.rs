//! Folders that links lead to under several names are followed under each of them.

use std::fs;
use std::os::unix::fs::symlink;

use crate::support::{World, description, page, skill_md};

/// A link to the folder that it is in took the events of that folder with it.
#[test]
fn a_circle_does_not_end_the_watching() {
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
    // One that is made later does no harm either, nor does its going.
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

/// Both names are read again, whichever of them the system tells of.
#[test]
fn a_folder_with_two_names_is_followed_under_both() {
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
