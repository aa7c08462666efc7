//! Deleted data, kept in `trash/` of the home until it is restored or expires.
//!
//! Commands first copy rows to the trash, complete the entry, and then delete them: a crash in between leaves an extra
//! copy and loses nothing. Files are moved into a complete entry. Not here: deletions by assistants with a tool, and retention, which deletes old runs
//! permanently.

mod bin;

use std::fs;
use std::path::Path;

use deft_engine::Engine;
use deft_model::RunId;
use deft_store::{PruneResult, TrashItem};
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
    new.finish().map(drop)
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
    new.finish().map(drop)
}

/// Moves runs and their results to the trash. Runs that may not be deleted any more stay where they are.
pub(crate) async fn move_runs(engine: &Engine, home: &Path, runs: &[RunId]) -> Done<PruneResult> {
    let what = format_count(runs.len(), "run");
    let new = TrashBin::new(home).add(TrashKind::Runs, what)?;
    for piece in runs.chunks(PIECE) {
        write(engine, &new, TrashItem::Runs(piece.to_vec())).await?;
    }
    let kept = new.finish()?;
    let mut all = PruneResult::default();
    for piece in runs.chunks(PIECE) {
        let deleted = engine.store().prune_runs(piece.to_vec()).await;
        let deleted = deleted.map_err(store_failure)?;
        all.runs.extend(deleted.runs);
        all.events += deleted.events;
    }
    kept.move_results_in(&engine.options().spill, &all.runs)?;
    Ok(all)
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

#[cfg(test)]
mod tests {
    use deft_engine::{Admission, Attention, Fire};

    use super::*;

    const SKILL: &str =
        "name: s\ndescription: d\nsteps:\n  - {id: only, tool: log, args: {message: hi}}\n";

    fn fire() -> Fire {
        Fire {
            skill: "s".to_owned(),
            ..Fire::default()
        }
    }

    fn id(admission: &Admission) -> RunId {
        admission.run().id.clone()
    }

    #[test]
    fn only_deleted_runs_and_their_results_move_to_the_trash() {
        let home = tempfile::tempdir().unwrap();
        fs::create_dir(home.path().join("skills")).unwrap();
        fs::write(home.path().join("skills/s.yaml"), SKILL).unwrap();
        let workspace = Workspace::for_test(home.path());
        let app = App::open(&workspace).unwrap();
        let engine = &app.engine;
        let run = || {
            let admission = app.block_on(engine.run(fire(), Attention::default()));
            id(&admission.unwrap())
        };
        let (first, later) = (run(), run());
        let queued = id(&app.block_on(engine.admit(fire())).unwrap());
        let spill = engine.options().spill.clone();
        for run in [&first, &later, &queued] {
            fs::create_dir_all(spill.join(run.as_str())).unwrap();
        }
        let list = [first.clone(), queued.clone()];
        let moved = app.block_on(move_runs(engine, home.path(), &list)).unwrap();
        assert_eq!(moved.runs, std::slice::from_ref(&first));
        let results = || [&first, &later, &queued].map(|run| spill.join(run.as_str()).exists());
        assert_eq!(results(), [false, true, true]);
        app.close();
        undo(&workspace).unwrap();
        assert_eq!(results(), [true, true, true]);
        let app = App::open(&workspace).unwrap();
        for run in [first, later, queued] {
            let row = app.block_on(app.engine.store().run(&run)).unwrap();
            assert!(row.is_some(), "{run}");
        }
        app.close();
    }
}
