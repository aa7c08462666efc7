//! Enables, disables, restores and deletes skills.

use std::fs;
use std::path::{Path, PathBuf};

use deft_config::Home;
use deft_engine::Error;
use deft_records::Target;
use deft_store::SkillRow;
use deft_wire::skill::StoredSkill;
use deft_wire::{Done, Failure};

use super::catalog::{SkillCatalog, missing_tools, stored_skill};
use crate::app::{self, App};
use crate::library::Library;
use crate::workspace::Workspace;

/// A skill whose row was changed.
#[derive(Clone, Debug)]
pub struct SwitchedSkill {
    /// The skill as it is now.
    pub skill: StoredSkill,
    /// Required tools that no server is known to provide.
    pub missing_tools: Vec<String>,
}

/// Where a skill was deleted from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DeletedFrom {
    /// Its file.
    File(PathBuf),
    /// The record with this number.
    Record(i64),
}

/// Enables a skill and resets its failure count.
pub fn enable(workspace: &Workspace, name: &str) -> Done<SwitchedSkill> {
    let app = App::standing(workspace)?;
    let row = app.block_on(app.engine.library().enable(name));
    switched(app, row)
}

/// Disables a skill.
pub fn disable(workspace: &Workspace, name: &str) -> Done<SwitchedSkill> {
    let app = App::standing(workspace)?;
    let row = app.block_on(app.engine.library().disable(name));
    switched(app, row)
}

/// Drops the changes of tools to a skill of a file, so that the file counts again.
pub fn restore(workspace: &Workspace, name: &str) -> Done<SwitchedSkill> {
    let app = App::standing(workspace)?;
    let row = app.block_on(app.engine.library().restore_file(name));
    match row.transpose() {
        Some(row) => switched(app, row),
        None => {
            let message = format!("no assistant has changed the file skill `{name}`");
            Err(Failure::input("unchanged", message)
                .hint(format!("`deft skills show {name}` says what it is")))
        }
    }
}

fn switched(app: App, row: Result<SkillRow, Error>) -> Done<SwitchedSkill> {
    let row = row.map_err(|error| app::failure(&error))?;
    let switched = SwitchedSkill {
        skill: stored_skill(&app, &row)?,
        missing_tools: missing_tools(&row, app.engine.router()),
    };
    app.close();
    Ok(switched)
}

/// Deletes a record from the store, or a file of the home from the disk. Other files are not deft's to
/// delete. The result names the skill.
pub fn delete(workspace: &Workspace, name: &str) -> Done<(String, DeletedFrom)> {
    let home = workspace.home()?;
    let snapshot = Library::of_home(&home).load();
    if let Some(loaded) = snapshot.find(name) {
        let path = loaded.path.to_path_buf();
        let skill = loaded.skill.id.to_string();
        if let Some(record) = SkillCatalog::open(workspace)?.clash(&skill) {
            return Err(ambiguous(&skill, &path, record));
        }
        delete_file(&home, &path)?;
        return Ok((skill, DeletedFrom::File(path)));
    }
    let app = App::without_skills(workspace)?;
    let target = Target::Name(name.to_owned());
    let row = app.block_on(app.engine.library().delete_skill(&target));
    let row = row.map_err(|error| app::failure(&error))?;
    app.close();
    Ok((row.text.skill, DeletedFrom::Record(row.id)))
}

fn ambiguous(skill: &str, path: &Path, record: i64) -> Failure {
    let message = format!(
        "`{skill}` is both the file `{}` and record {record}",
        path.display()
    );
    let hint =
        format!("`deft skills delete {record}` deletes the record; the file is yours to delete");
    Failure::input("ambiguous", message).hint(hint)
}

fn delete_file(home: &Home, path: &Path) -> Done<()> {
    if !path.starts_with(home.skills()) {
        let message = format!("`{}` is not in the skills of this home", path.display());
        return Err(Failure::input("not_ours", message).hint("delete the file where it is kept"));
    }
    let folder = path.parent().filter(|folder| *folder != home.skills());
    let is_folder_skill = path
        .file_name()
        .is_some_and(|name| name.eq_ignore_ascii_case("skill.md"));
    let removed = match folder {
        Some(folder) if is_folder_skill => fs::remove_dir_all(folder),
        _ => fs::remove_file(path),
    };
    removed.map_err(|problem| Failure::file(path, "delete", &problem))
}
