//! A set of skill folders in a temporary directory.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::mpsc::Receiver;
use std::time::Duration;

use deft_registry::{Change, Options, Registry, Snapshot, State};
use deft_skillfile::Moment;
use jiff::tz::TimeZone;
use tempfile::TempDir;

/// Timeout for a change to become visible. An upper bound for a loaded machine, not a measurement; benches
/// measure.
const CHANGE_TIMEOUT: Duration = Duration::from_secs(20);

pub(crate) struct World {
    folder: TempDir,
}

pub(crate) fn moment() -> Moment {
    Moment {
        now: "2026-11-15T12:00:00Z".parse().unwrap(),
        zone: TimeZone::UTC,
    }
}

impl World {
    pub(crate) fn new() -> Self {
        let world = Self {
            folder: tempfile::tempdir().unwrap(),
        };
        fs::create_dir(world.path("skills")).unwrap();
        world
    }

    pub(crate) fn path(&self, below: &str) -> PathBuf {
        // Temporary folders may be behind a link; events name the real path.
        self.folder.path().canonicalize().unwrap().join(below)
    }

    pub(crate) fn write(&self, below: &str, content: impl AsRef<[u8]>) {
        let path = self.path(below);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, content).unwrap();
    }

    pub(crate) fn remove(&self, below: &str) {
        let path = self.path(below);
        if path.is_dir() {
            fs::remove_dir_all(path).unwrap();
        } else {
            fs::remove_file(path).unwrap();
        }
    }

    pub(crate) fn rename(&self, from: &str, to: &str) {
        fs::rename(self.path(from), self.path(to)).unwrap();
    }

    pub(crate) fn options(&self) -> Options {
        Options::new([self.path("skills")])
    }

    /// Returns the options with another folder, as `paths` in the configuration adds it.
    pub(crate) fn options_with(&self, other: &str) -> Options {
        Options::new([self.path("skills"), self.path(other)])
    }

    pub(crate) fn load(&self) -> Snapshot {
        Snapshot::load(&self.options(), &moment())
    }

    pub(crate) fn follow(&self) -> FollowedRoots {
        FollowedRoots::open(self.options())
    }

    /// Lists every file with its state, one per line.
    pub(crate) fn states(&self, snapshot: &Snapshot) -> String {
        let base = self.path("");
        let short = |path: &Path| {
            path.strip_prefix(&base)
                .unwrap_or(path)
                .display()
                .to_string()
        };
        let mut out = String::new();
        for file in snapshot.files() {
            let state = match &file.state {
                State::Loaded(id) => format!("loaded as {id}"),
                State::Agent(id) => format!("agent {id}"),
                State::Index(domain) => format!("index of {domain}"),
                State::Shadowed { id, by } => format!("shadowed: {id} by {}", short(by)),
                State::Broken { kept: Some(id) } => format!("broken, {id} kept"),
                State::Broken { kept: None } => "broken".to_owned(),
                State::Ignored => "ignored".to_owned(),
            };
            out.push_str(&format!("{} {state}\n", short(&file.path)));
            for found in file.diagnostics.iter() {
                let message = found.message.replace(&base.display().to_string(), "");
                out.push_str(&format!(
                    "    {} {}: {message}\n",
                    found.severity.word(),
                    found.rule
                ));
            }
        }
        out
    }
}

/// A registry that is watching its roots.
pub(crate) struct FollowedRoots {
    pub registry: Registry,
    changes: Receiver<Arc<[Change]>>,
}

impl FollowedRoots {
    pub(crate) fn open(options: Options) -> Self {
        let registry = Registry::open(options, moment);
        let changes = registry.subscribe();
        Self { registry, changes }
    }

    /// Waits until the snapshot fulfils a condition.
    pub(crate) fn until(&self, what: &str, wanted: impl Fn(&Snapshot) -> bool) -> Arc<Snapshot> {
        loop {
            let snapshot = self.registry.snapshot();
            if wanted(&snapshot) {
                return snapshot;
            }
            self.changes
                .recv_timeout(CHANGE_TIMEOUT)
                .unwrap_or_else(|_| panic!("never saw: {what}"));
        }
    }

    /// Waits for the next batch of changes.
    pub(crate) fn next(&self) -> Arc<[Change]> {
        self.changes.recv_timeout(CHANGE_TIMEOUT).unwrap()
    }
}

/// A skill of the open format.
pub(crate) fn skill_md(name: &str, description: &str) -> String {
    format!("---\nname: {name}\ndescription: {description}\n---\n\n# {name}\n\nDo it.\n")
}

/// A man page.
pub(crate) fn page(name: &str, description: &str) -> String {
    format!(
        "---\nname: {name}\ndescription: {description}\n---\n\n# {name}\n\nThe page of {name}.\n"
    )
}

/// A workflow.
pub(crate) fn workflow(name: &str) -> String {
    format!(
        "name: {name}\ndescription: Runs {name}\nsteps:\n  - id: say_it\n    tool: log\noutputs:\n  done: true\n"
    )
}

pub(crate) fn description(snapshot: &Snapshot, id: &str) -> Option<String> {
    snapshot
        .skill(id)
        .map(|loaded| loaded.skill.description.clone())
}
