//! Checks files against the home: the tools in the stored catalogs, and other skills.
//!
//! No server is started. A home that does not exist, or whose servers were never queried, has no known tools,
//! and then no tool is reported as unknown.

use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};

use deft_engine::known_tools;
use deft_model::Body;
use deft_registry::{LoadedSkill, Snapshot, State};
use deft_skillfile::{Diagnostic, Surroundings, check_against, check_page, skills_run_by};
use deft_wire::Done;

use super::finding::read_text;
use crate::app::{self, App};
use crate::workspace::Workspace;

/// Returns the problems with unknown tools and skills, by file. `others` has further known skills. Fails if
/// the home or its store cannot be read.
pub(super) fn check_surroundings(
    workspace: &Workspace,
    snapshot: &Snapshot,
    others: Option<&Snapshot>,
) -> Done<HashMap<PathBuf, Vec<Diagnostic>>> {
    let known = gather(workspace, snapshot, others)?;
    let mut found: HashMap<PathBuf, Vec<Diagnostic>> = HashMap::new();
    let mut add = |path: &Path, diagnostics: Vec<Diagnostic>| {
        if !diagnostics.is_empty() {
            found
                .entry(path.to_path_buf())
                .or_default()
                .extend(diagnostics);
        }
    };
    for loaded in snapshot.skills() {
        let text = read_text(&loaded.path);
        add(&loaded.path, check_against(&text, &loaded.skill, &known));
        if matches!(loaded.skill.body, Body::Manual { .. }) {
            add(&loaded.path, check_page(&text, &known, None));
        }
    }
    for file in snapshot.files() {
        if let State::Index(domain) = &file.state {
            let found = check_page(&read_text(&file.path), &known, Some(domain));
            add(&file.path, found);
        }
    }
    Ok(found)
}

fn gather(
    workspace: &Workspace,
    snapshot: &Snapshot,
    others: Option<&Snapshot>,
) -> Done<Surroundings> {
    let mut skills: BTreeMap<String, Vec<String>> = BTreeMap::new();
    let mut add = |loaded: &LoadedSkill| {
        let run = skills_run_by(&loaded.skill);
        skills.insert(loaded.skill.id.to_string(), run);
    };
    let files = snapshot
        .skills()
        .chain(others.into_iter().flat_map(Snapshot::skills));
    files.for_each(|loaded| add(loaded));
    let mut known = Surroundings::default();
    if workspace.locate().is_ok_and(|home| home.is_dir()) {
        let app = App::to_read(workspace)?;
        known = known_tools(app.engine.router());
        let records = app.block_on(app.engine.library().record_skills());
        let records = records.map_err(|error| app::failure(&error))?;
        records.iter().for_each(&mut add);
    }
    known.skills = Some(skills);
    Ok(known)
}
