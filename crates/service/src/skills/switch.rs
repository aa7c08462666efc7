//! Enables, disables, restores and deletes skills.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use deft_config::Home;
use deft_engine::{Error, NamedSkill, read_or_log};
use deft_records::Target;
use deft_store::SkillRow;
use deft_wire::skill::StoredSkill;
use deft_wire::{Done, Failure};

use super::catalog::{SkillCatalog, missing_tools, stored_skill};
use crate::app::{self, App};
use crate::library::Library;
use crate::trash;
use crate::workspace::Workspace;

/// A skill whose row was changed.
#[derive(Clone, Debug)]
pub struct ChangedSkill {
    /// The new state of the skill.
    pub skill: StoredSkill,
    /// Required tools that no known server provides.
    pub missing_tools: Vec<String>,
    /// Tools of its steps that the configuration disables.
    pub switched_off: Vec<SwitchedOffTool>,
}

/// A tool that a skill needs and that the configuration disables.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SwitchedOffTool {
    /// The name.
    pub tool: String,
    /// Why it is disabled.
    pub message: String,
    /// The setting that enables it.
    pub hint: Option<String>,
}

/// The place that a skill was deleted from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DeletedFrom {
    /// The file.
    File(PathBuf),
    /// The record with this number.
    Record(i64),
}

/// Enables a skill and resets its failure count.
pub fn enable(workspace: &Workspace, name: &str) -> Done<ChangedSkill> {
    let app = App::standing(workspace)?;
    let row = app.block_on(app.engine.library().enable(name));
    switch_result(app, row)
}

/// Disables a skill.
pub fn disable(workspace: &Workspace, name: &str) -> Done<ChangedSkill> {
    let app = App::standing(workspace)?;
    let row = app.block_on(app.engine.library().disable(name));
    switch_result(app, row)
}

/// Removes the overlay of a file skill, so that its file is in effect again.
pub fn restore(workspace: &Workspace, name: &str) -> Done<ChangedSkill> {
    let app = App::standing(workspace)?;
    let row = app.block_on(app.engine.library().restore_file(name));
    match row.transpose() {
        Some(row) => switch_result(app, row),
        None => {
            let message = format!("no assistant has changed the file skill `{name}`");
            Err(Failure::input("unchanged", message)
                .hint(format!("`deft skills show {name}` shows it")))
        }
    }
}

fn switch_result(app: App, row: Result<SkillRow, Error>) -> Done<ChangedSkill> {
    let row = row.map_err(|error| app::failure(&error))?;
    let switched_off = find_disabled_tools(&app, &row);
    let mut missing_tools = missing_tools(&row, app.engine.router());
    missing_tools.retain(|tool| switched_off.iter().all(|off| off.tool != *tool));
    let switched = ChangedSkill {
        skill: stored_skill(&app, &row)?,
        missing_tools,
        switched_off,
    };
    app.close();
    Ok(switched)
}

/// Returns the disabled tools that a skill requires or its steps call.
fn find_disabled_tools(app: &App, row: &SkillRow) -> Vec<SwitchedOffTool> {
    let library = app.engine.library();
    let pinned = app.block_on(library.find_pinned(&row.text.skill, &row.text.revision));
    let mut tools: BTreeSet<&str> = row.text.required_tools.iter().map(String::as_str).collect();
    let pinned = read_or_log(pinned, "the steps of the changed skill");
    if let Some(pinned) = &pinned {
        tools.extend(pinned.plan.tools());
    }
    let router = app.engine.router();
    let off = |tool: &str| {
        let off = router.failure_if_disabled(tool)?;
        Some(SwitchedOffTool {
            tool: tool.to_owned(),
            message: off.message,
            hint: off.hint,
        })
    };
    tools.into_iter().filter_map(off).collect()
}

/// The result of `delete`, or what it would delete.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Deletion {
    /// The id of the skill.
    pub skill: String,
    /// The file or record.
    pub from: DeletedFrom,
    /// The files in the skill's folder.
    pub files: Vec<String>,
}

/// Returns what `delete` would delete: a record of the store, or a file of the home. Fails for files outside
/// the home.
pub fn find_deletion(workspace: &Workspace, name: &str) -> Done<Deletion> {
    let home = workspace.home()?;
    let snapshot = Library::of_home(&home).load();
    let record = find_record(workspace, name)?;
    if let Some(loaded) = snapshot.find(name)
        && record
            .as_ref()
            .is_none_or(|row| loaded.skill.id.as_str() == row.text.skill)
    {
        let path = loaded.path.to_path_buf();
        let skill = loaded.skill.id.to_string();
        if let Some(record) = record {
            return Err(ambiguous(&skill, &path, record.id));
        }
        let path = deletable(&home, path)?;
        let files = trash::files_below(&path);
        let from = DeletedFrom::File(path);
        return Ok(Deletion { skill, from, files });
    }
    if let Some(row) = record {
        return Ok(record_deletion(row));
    }
    let app = App::without_skills(workspace)?;
    let target = Target::Name(name.to_owned());
    let found = app.block_on(app.engine.library().look_up_target(&target));
    app.close();
    match found.map_err(|error| app::failure(&error))? {
        NamedSkill::Record(row) | NamedSkill::FileMissing(row) => Ok(record_deletion(row)),
        NamedSkill::File(loaded, _) => Err(not_ours(&loaded.path)),
    }
}

/// Returns the record that `name` refers to, by the same rule as a run of it.
fn find_record(workspace: &Workspace, name: &str) -> Done<Option<SkillRow>> {
    let catalog = SkillCatalog::open(workspace)?;
    Ok(match catalog.choose(name) {
        Some(NamedSkill::Record(row)) => Some(row),
        Some(NamedSkill::File(..) | NamedSkill::FileMissing(_)) | None => None,
    })
}

fn record_deletion(row: SkillRow) -> Deletion {
    Deletion {
        skill: row.text.skill,
        from: DeletedFrom::Record(row.id),
        files: Vec::new(),
    }
}

/// Moves a skill to the trash.
pub fn delete(workspace: &Workspace, name: &str) -> Done<Deletion> {
    let found = find_deletion(workspace, name)?;
    let home = workspace.locate()?;
    match &found.from {
        DeletedFrom::File(path) => {
            trash::put_file(&home, path, &found.skill)?;
            workspace.note_written();
        }
        DeletedFrom::Record(id) => {
            let app = App::without_skills(workspace)?;
            let deleted = app.block_on(delete_record(&app, &home, &found.skill, *id));
            app.close();
            deleted?;
        }
    }
    Ok(found)
}

async fn delete_record(app: &App, home: &Path, skill: &str, id: i64) -> Done<()> {
    trash::put_record(&app.engine, home, skill, id).await?;
    let deleted = app.engine.library().delete_skill(&Target::Id(id)).await;
    deleted.map(drop).map_err(|error| app::failure(&error))
}

fn ambiguous(skill: &str, path: &Path, record: i64) -> Failure {
    let message = format!(
        "`{skill}` is both the file `{}` and record {record}",
        path.display()
    );
    let hint = format!(
        "`deft skills delete {record}` deletes the record; to delete the file, remove it yourself"
    );
    Failure::input("ambiguous", message).hint(hint)
}

/// Returns the path to delete for a file: the folder of a `SKILL.md`, else the file.
fn deletable(home: &Home, path: PathBuf) -> Done<PathBuf> {
    if !path.starts_with(home.skills()) {
        return Err(not_ours(&path));
    }
    let folder = path.parent().filter(|folder| *folder != home.skills());
    let is_folder_skill = path
        .file_name()
        .is_some_and(|name| name.eq_ignore_ascii_case("skill.md"));
    Ok(match folder {
        Some(folder) if is_folder_skill => folder.to_path_buf(),
        _ => path,
    })
}

fn not_ours(path: &Path) -> Failure {
    let message = format!("`{}` is not in the skills of this home", path.display());
    Failure::input("not_ours", message).hint("delete the file at its source")
}
