//! The log lines of reloads.

use std::sync::{Arc, Mutex};

use deft_registry::State;

use crate::support::{World, description, skill_md};

/// S2.20: the log has one line per accepted reload, with the wording of the source documents.
#[test]
fn each_accepted_reload_is_logged_once() {
    let log = logged();
    let world = World::new();
    let followed = world.follow();
    world.write("skills/logged/SKILL.md", skill_md("logged", "one"));
    followed.until("loaded", |s| s.skill("logged").is_some());
    world.write("skills/logged/SKILL.md", "---\nname: [\n---\n");
    followed.until("broken", |s| {
        matches!(s.files()[0].state, State::Broken { .. })
    });
    drop(followed);
    let text = String::from_utf8(log.lock().unwrap().clone()).unwrap();
    let path = world.path("skills/logged/SKILL.md").display().to_string();
    let count = |line: &str| text.matches(line).count();
    assert_eq!(
        count(&format!("Reloaded skill: logged from {path}")),
        1,
        "{text}"
    );
    assert_eq!(count(&format!("Invalid skill file {path}")), 1, "{text}");
}

/// An editor may save in several steps; only the last state is logged.
#[test]
fn a_file_that_is_saved_in_steps_is_logged_once() {
    let log = logged();
    let world = World::new();
    let followed = world.follow();
    for text in ["one", "two", "three", "four", "five"] {
        world.write("skills/steps/SKILL.md", skill_md("steps", text));
        followed.until(text, |s| description(s, "steps").as_deref() == Some(text));
    }
    drop(followed);
    let text = String::from_utf8(log.lock().unwrap().clone()).unwrap();
    assert_eq!(text.matches("Reloaded skill: steps").count(), 1, "{text}");
}

/// Captures the log of this process. Other tests may write to it too, so the names here are unique.
fn logged() -> Arc<Mutex<Vec<u8>>> {
    let log = Arc::new(Mutex::new(Vec::new()));
    let writer = Arc::clone(&log);
    let write = move || Log(Arc::clone(&writer));
    let init = tracing_subscriber::fmt()
        .with_writer(write)
        .with_ansi(false)
        .try_init();
    drop(init);
    log
}

struct Log(Arc<Mutex<Vec<u8>>>);

impl std::io::Write for Log {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().unwrap().write(bytes)
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}
