//! Deleted data, kept in `trash/` of the home until it is restored or expires.
//!
//! Commands first copy the data to the trash and then delete it: a crash in between leaves an extra copy and
//! loses nothing. Not here: deletions by assistants with a tool, and retention, which deletes old runs
//! permanently.

mod bin;

use std::fs;
use std::path::Path;

use deft_engine::Engine;
use deft_model::RunId;
use deft_store::TrashItem;
use deft_wire::trash::{TrashEntry, TrashKind, UndoResult};
use deft_wire::{Done, Failure};

use crate::app::{self, App};
use crate::words::format_count;
use crate::workspace::Workspace;
use bin::{KeptEntry, NewEntry, TrashBin};

/// Number of rows read and written at once.
const PIECE: usize = 200;

/// Lists the trash, latest entry first.
pub fn list(workspace: &Workspace) -> Done<Vec<TrashEntry>> {
    let kept = TrashBin::new(&workspace.locate()?).entries()?;
    Ok(kept.into_iter().map(|kept| kept.manifest.entry).collect())
}

/// Restores the latest entry.
pub fn undo(workspace: &Workspace) -> Done<UndoResult> {
    let bin = TrashBin::new(&workspace.locate()?);
    let kept = bin.entries()?.into_iter().next().ok_or_else(|| {
        Failure::input("nothing_to_undo", "the trash is empty")
            .hint("`skills delete`, `chat delete` and `runs prune` fill it")
    })?;
    match kept.manifest.entry.kind {
        TrashKind::SkillFile => {
            kept.move_back()?;
            workspace.note_written();
        }
        TrashKind::SkillRecord | TrashKind::Conversation | TrashKind::Runs => {
            let app = App::standing(workspace)?;
            let restored = app.block_on(restore(&app.engine, &kept));
            app.close();
            restored?;
        }
    }
    let undone = kept.manifest.entry.clone();
    kept.remove()?;
    Ok(UndoResult { undone })
}

async fn restore(engine: &Engine, kept: &KeptEntry) -> Done<()> {
    let store = engine.store();
    let trash = store.trash().ok_or_else(no_trash)?;
    let mut restored = 0;
    for lines in kept.pieces(PIECE)? {
        restored += trash.restore(lines).await.map_err(store_failure)?;
    }
    let entry = &kept.manifest.entry;
    if restored == 0 && entry.kind != TrashKind::Runs {
        let message = format!("{} already exists under the same name", entry.what);
        return Err(Failure::input("exists", message)
            .hint("rename or delete the new one, then `deft undo` again"));
    }
    kept.move_results_back(&engine.options().spill)?;
    if let Some(skill) = &kept.manifest.fires {
        // Enable it anew, so that its slots start now and not when it was deleted.
        let enabled = engine.library().enable(skill).await;
        enabled.map_err(|error| app::failure(&error))?;
    }
    Ok(())
}

/// Moves the file or folder of a skill to the trash.
pub(crate) fn put_file(home: &Path, path: &Path, skill: &str) -> Done<()> {
    let what = format!("skill `{skill}` (`{}`)", path.display());
    let new = TrashBin::new(home).add(TrashKind::SkillFile, what)?;
    new.move_in(path)
}

/// Copies the rows of a record to the trash. The caller deletes them.
pub(crate) async fn put_record(engine: &Engine, home: &Path, skill: &str, id: i64) -> Done<()> {
    let row = engine
        .store()
        .skill_by_id(id)
        .await
        .map_err(store_failure)?;
    let enabled = row.is_some_and(|row| row.standing.disabled.is_none());
    let mut new =
        TrashBin::new(home).add(TrashKind::SkillRecord, format!("stored skill `{skill}`"))?;
    new.fires = enabled.then(|| skill.to_owned());
    write(engine, &new, TrashItem::Skill(id)).await?;
    new.finish()
}

/// Copies a conversation to the trash. The caller deletes it.
pub(crate) async fn put_conversation(engine: &Engine, home: &Path, id: &str) -> Done<()> {
    let row = engine
        .store()
        .conversation(id)
        .await
        .map_err(store_failure)?;
    let Some(row) = row else {
        return Ok(());
    };
    let messages = usize::try_from(row.message_count).unwrap_or(usize::MAX);
    let what = format!("chat `{id}` with {}", format_count(messages, "message"));
    let new = TrashBin::new(home).add(TrashKind::Conversation, what)?;
    write(engine, &new, TrashItem::Conversation(id.to_owned())).await?;
    new.finish()
}

/// Copies runs and their results to the trash. The caller deletes them.
pub(crate) async fn put_runs(engine: &Engine, home: &Path, runs: &[RunId]) -> Done<()> {
    let what = format_count(runs.len(), "run");
    let new = TrashBin::new(home).add(TrashKind::Runs, what)?;
    for piece in runs.chunks(PIECE) {
        write(engine, &new, TrashItem::Runs(piece.to_vec())).await?;
    }
    new.move_results_in(&engine.options().spill, runs)?;
    new.finish()
}

async fn write(engine: &Engine, new: &NewEntry, what: TrashItem) -> Done<()> {
    let store = engine.store();
    let trash = store.trash().ok_or_else(no_trash)?;
    new.append(&trash.lines(what).await.map_err(store_failure)?)
}

fn no_trash() -> Failure {
    Failure::internal("no_trash", "this store cannot restore deleted rows")
}

fn store_failure(error: deft_store::Error) -> Failure {
    app::failure(&deft_engine::Error::from(error))
}

/// Returns the relative paths of all files below a path, sorted, for a question to the user.
pub(crate) fn files_below(path: &Path) -> Vec<String> {
    fn walk(folder: &Path, root: &Path, names: &mut Vec<String>) {
        for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
            let path = entry.path();
            let is_folder = entry.file_type().is_ok_and(|kind| kind.is_dir());
            if is_folder {
                walk(&path, root, names);
            } else {
                let name = path.strip_prefix(root).unwrap_or(&path);
                names.push(name.display().to_string());
            }
        }
    }
    let mut names = Vec::new();
    walk(path, path, &mut names);
    names.sort();
    names
}
