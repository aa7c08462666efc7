//! The number of skills of a home, and of its broken files.

use deft_registry::State;
use deft_wire::Done;
use deft_wire::skill_files::Overview;

use crate::library::Library;
use crate::workspace::Workspace;

/// Counts the skills of the home.
pub fn overview(workspace: &Workspace) -> Done<Overview> {
    let home = workspace.home_to_read()?;
    let snapshot = Library::of_home(&home).load();
    let files = snapshot.files().iter();
    let broken = files.filter(|file| matches!(file.state, State::Broken { .. }));
    Ok(Overview {
        broken: broken.count(),
        home: home.path.display().to_string(),
        skills: snapshot.skill_count(),
        models: home.config.models.len(),
    })
}
