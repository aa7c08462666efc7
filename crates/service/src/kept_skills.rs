//! Loading of the skills of a home for commands: a skill with a broken file in its last good version, and,
//! for people, skills with the changes that tools made.
//!
//! Not here: how a daemon follows files (`daemon/`), and what is wrong with a file (`validate`).

use std::collections::BTreeMap;

use deft_config::Home;
use deft_engine::FileChange;
use deft_registry::{Snapshot, State};

use crate::library::Library;
use crate::{runtime, store};

/// Returns a warning of one line if the last good version of `skill` is used because its file is broken.
/// `None` covers all skills.
pub(crate) fn broken_warning(snapshot: &Snapshot, skill: Option<&str>) -> Option<String> {
    let wanted = skill.map(|name| snapshot.find(name).map(|loaded| loaded.skill.id.clone()));
    let kept: Vec<_> = snapshot
        .files()
        .iter()
        .filter_map(|file| match &file.state {
            State::Broken { kept: Some(id) } => Some((id, &file.path)),
            State::Loaded(_)
            | State::Index(_)
            | State::Agent(_)
            | State::Shadowed { .. }
            | State::Broken { .. }
            | State::Ignored => None,
        })
        .filter(|(id, _)| match &wanted {
            Some(wanted) => wanted.as_ref() == Some(id),
            None => true,
        })
        .filter(|(_, path)| !path.ends_with("AGENT.md"))
        .collect();
    let (what, path) = match kept.as_slice() {
        [] => return None,
        [(id, path)] => (
            format!("the file of `{id}` has errors; its last good version is in use"),
            path,
        ),
        [(_, path), ..] => {
            let ids: Vec<String> = kept.iter().map(|(id, _)| format!("`{id}`")).collect();
            let ids = ids.join(", ");
            (
                format!("the files of {ids} have errors; their last good versions are in use"),
                path,
            )
        }
    };
    let path = path.display();
    Some(format!(
        "warning: {what}; hint: `deft skills validate {path}` shows the problems"
    ))
}

/// Loads the skills of a home, with the last good version of those whose file is broken (X14, S2.18). A skill
/// whose last good version cannot be read stays broken.
pub(crate) fn load_kept(home: &Home, library: &Library) -> Snapshot {
    let snapshot = library.load();
    let lost = |file: &deft_registry::FileReport| file.state == State::Broken { kept: None };
    if !snapshot.files().iter().any(lost) {
        return snapshot;
    }
    let (Ok(runtime), Ok(store)) = (runtime::start(), store::read(home)) else {
        return snapshot;
    };
    let last_good = deft_engine::last_good(&*store, &snapshot, &library.moment);
    match runtime.block_on(last_good) {
        Ok(last_good) => snapshot.with_last_good(&library.options, last_good),
        Err(error) => {
            tracing::warn!(%error, "the last good versions of broken skills cannot be read");
            snapshot
        }
    }
}

/// Like [`load_kept`], with the changes that tools made to skills with a file, and with deleted skills. Also
/// returns these changes, by skill. If the store cannot be read, skills are as in their files.
pub(crate) fn load_changed(
    home: &Home,
    library: &Library,
) -> (Snapshot, BTreeMap<String, FileChange>) {
    let snapshot = load_kept(home, library);
    let (Ok(runtime), Ok(store)) = (runtime::start(), store::read(home)) else {
        return (snapshot, BTreeMap::new());
    };
    match runtime.block_on(store.changed_files()) {
        Ok(texts) => deft_engine::changed_files(texts, snapshot, &library.moment),
        Err(error) => {
            tracing::warn!(%error, "the overlays of skills cannot be read");
            (snapshot, BTreeMap::new())
        }
    }
}
