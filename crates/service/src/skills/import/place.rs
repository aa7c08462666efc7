//! Writes decided skills to the home. All files are first written to a temporary folder of the home, so that
//! a full disk changes nothing; then each skill is moved to its place, a new folder atomically.

use std::fs;
use std::path::{Path, PathBuf};

use deft_config::{Home, create_folder};
use deft_wire::{Done, Failure};

use super::decide::{ImportDecision, Verdict};
use super::layout::Part;
use super::scratch::ScratchFolder;
use crate::skills::files::{Effect, PlannedFile};

pub(super) fn place(decided: &[ImportDecision], home: &Home) -> Done<()> {
    home.ensure()?;
    let scratch = ScratchFolder::create_in(&home.path)?;
    let mut staged = Vec::new();
    for (at, one) in decided.iter().enumerate() {
        if one.verdict == Verdict::Write && one.changes() {
            staged.push(stage(one, &scratch.path().join(at.to_string()))?);
        }
    }
    staged.iter().try_for_each(StagedItem::apply)
}

/// An item whose files are in the temporary folder.
struct StagedItem<'a> {
    item: &'a ImportDecision,
    /// The temporary folder and the target, if the folder of the skill is new.
    new_folder: Option<(PathBuf, PathBuf)>,
    /// Each file with its temporary path.
    files: Vec<(&'a PlannedFile, PathBuf)>,
}

fn stage<'a>(one: &'a ImportDecision, scratch: &Path) -> Done<StagedItem<'a>> {
    let target = one.item.files.first().and_then(|file| file.path.parent());
    let own = matches!(one.item.part, Part::Owner(_) | Part::Agent);
    let folder = target.filter(|folder| own && folder.symlink_metadata().is_err());
    let mut files = Vec::new();
    let changed = one.item.files.iter().zip(&one.effects);
    for (at, (file, _)) in changed
        .filter(|(_, effect)| **effect != Effect::Same)
        .enumerate()
    {
        let below = match folder.map(|folder| file.path.strip_prefix(folder)) {
            Some(Ok(below)) => scratch.join(below),
            Some(Err(_)) | None => scratch.join(at.to_string()),
        };
        file.write_to(&below)?;
        files.push((file, below));
    }
    Ok(StagedItem {
        item: one,
        new_folder: folder.map(|folder| (scratch.to_path_buf(), folder.to_path_buf())),
        files,
    })
}

impl StagedItem<'_> {
    fn apply(&self) -> Done<()> {
        if !self.moved_as_a_whole()? {
            for (file, staged) in &self.files {
                move_file(file, staged)?;
            }
        }
        for path in &self.item.removed {
            fs::remove_file(path).map_err(|problem| Failure::file(path, "remove", &problem))?;
        }
        Ok(())
    }

    /// Moves the folder atomically. Returns false if there is no new folder or it is on another file system.
    fn moved_as_a_whole(&self) -> Done<bool> {
        let Some((from, to)) = &self.new_folder else {
            return Ok(false);
        };
        if let Some(parent) = to.parent() {
            create_folder(parent)?;
        }
        Ok(fs::rename(from, to).is_ok())
    }
}

fn move_file(file: &PlannedFile, staged: &Path) -> Done<()> {
    if let Some(parent) = file.path.parent() {
        create_folder(parent)?;
    }
    match fs::rename(staged, &file.path) {
        Ok(()) => Ok(()),
        // The skills may be on another file system than the rest of the home.
        Err(_) => file.write(),
    }
}
