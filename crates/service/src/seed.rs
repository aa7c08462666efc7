//! The content of a new home: default skills that wait for their tools, playbooks, and two examples that can
//! be run immediately (S0.86 to S0.95).
//!
//! Seeding happens once. Deleted files are not restored, and existing files are not changed.

use std::fs;
use std::path::{Path, PathBuf};

use deft_registry::read_text;

use deft_config::{Home, create_folder};
use deft_wire::{Done, Failure};

macro_rules! files {
    ($($path:literal),+ $(,)?) => {
        &[$(($path, include_str!(concat!("../defaults/", $path)))),+]
    };
}

/// All files of a new home, by their path under `skills`.
const FILES: &[(&str, &str)] = files![
    "examples/countdown.yaml",
    "skills/contact-lookup/SKILL.md",
    "skills/conversation-backfill/SKILL.md",
    "skills/cron-scheduling/SKILL.md",
    "skills/daily-briefing/SKILL.md",
    "skills/daily-email-classification/SKILL.md",
    "skills/email-classify/SKILL.md",
    "skills/email-compose/SKILL.md",
    "skills/email-processor/SKILL.md",
    "skills/email-triage/SKILL.md",
    "skills/evening-recap/SKILL.md",
    "skills/file-operations/SKILL.md",
    "skills/follow-up-tracker/SKILL.md",
    "skills/meeting-overload-warning/SKILL.md",
    "skills/memory-recall/SKILL.md",
    "skills/memory-synthesis/SKILL.md",
    "skills/message-cleanup/SKILL.md",
    "skills/morning-briefing/SKILL.md",
    "skills/pre-meeting-prep/SKILL.md",
    "skills/research-and-share/SKILL.md",
    "skills/schedule-meeting/SKILL.md",
    "skills/system-health-check/SKILL.md",
    "skills/telegram-conversation/SKILL.md",
    "skills/vercel-deployments/SKILL.md",
    "skills/web-browsing/SKILL.md",
    "skills/weekly-digest/SKILL.md",
];

/// Default skills that wait for the tools of servers. Their files disable them, and deft enables each when
/// its tools and a model are available (S0.86). Default skills that only need deft's own tools are enabled by
/// the user.
const WAITING: [&str; 8] = [
    "daily-email-classification",
    "email-processor",
    "evening-recap",
    "follow-up-tracker",
    "meeting-overload-warning",
    "morning-briefing",
    "pre-meeting-prep",
    "weekly-digest",
];

/// Returns the ids of the default skills that wait for tools.
pub fn waiting_defaults() -> Vec<String> {
    WAITING.map(str::to_owned).to_vec()
}

fn write_mark(mark: &Path, text: &str) -> Done<()> {
    fs::write(mark, text).map_err(|problem| Failure::file(mark, "write", &problem))
}

/// The content of the mark before the first start of a daemon; afterwards it is the version of deft that
/// started.
const NEVER_STARTED: &str = "never up\n";

/// The file that marks a home as seeded.
const MARK: &str = "data/seeded";

/// Whether a home was seeded and no daemon has started in it yet.
pub(crate) fn has_never_started(home: &Home) -> bool {
    read_text(&home.path.join(MARK), 1024).is_ok_and(|text| text == NEVER_STARTED)
}

/// Records that a daemon has started in a home.
pub(crate) fn mark_started(home: &Home) -> Done<()> {
    write_mark(
        &home.path.join(MARK),
        concat!(env!("CARGO_PKG_VERSION"), "\n"),
    )
}

/// Writes the default files into a home that was never seeded. Returns the number of files written.
pub fn seed_new_home(home: &Home) -> Done<usize> {
    let mark = home.path.join(MARK);
    if mark.exists() {
        return Ok(0);
    }
    let mut written = 0;
    for (path, text) in FILES {
        written += usize::from(write(&target(home, path), text)?);
    }
    if let Some(folder) = mark.parent() {
        create_folder(folder)?;
    }
    write_mark(&mark, NEVER_STARTED)?;
    Ok(written)
}

fn target(home: &Home, path: &str) -> PathBuf {
    let below = path.split_once('/').map_or(path, |(_, below)| below);
    home.skills().join(below)
}

fn write(path: &Path, text: &str) -> Done<bool> {
    if path.exists() {
        return Ok(false);
    }
    if let Some(folder) = path.parent() {
        create_folder(folder)?;
    }
    fs::write(path, text).map_err(|problem| Failure::file(path, "write", &problem))?;
    Ok(true)
}
