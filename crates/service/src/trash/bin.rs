//! The folder `trash/`: each entry is a folder with `entry.json` and the deleted data, as files (`content`),
//! as rows (`rows.jsonl`) or as results of runs (`results/`).

use std::fs::{self, OpenOptions};
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};

use deft_config::{create_folder, write_private};
use deft_model::RunId;
use deft_registry::{open_regular, read_text};
use deft_wire::trash::{TrashEntry, TrashKind};
use deft_wire::{Done, Failure};
use jiff::civil::DateTime;
use jiff::tz::TimeZone;
use jiff::{SignedDuration, Timestamp};
use serde::{Deserialize, Serialize};

/// Entries older than this are removed when a new one is added.
const KEPT_FOR: SignedDuration = SignedDuration::from_hours(30 * 24);

/// Maximum number of entries.
const MAX_ENTRIES: usize = 50;

/// The ids of entries, which are the names of their folders.
const ID_FORMAT: &str = "%Y%m%dT%H%M%S%.6f";

const MANIFEST: &str = "entry.json";
/// Maximum size of a manifest.
const MANIFEST_BYTES: u64 = 64 * 1024;
const CONTENT: &str = "content";
const ROWS: &str = "rows.jsonl";
const RESULTS: &str = "results";

/// The prefix of the first row of a run.
const RUN_ROW: &str = r#"{"table":"run","#;

/// The content of `entry.json`.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Manifest {
    #[serde(flatten)]
    pub(super) entry: TrashEntry,
    /// The original path of the content.
    #[serde(skip_serializing_if = "Option::is_none")]
    from: Option<PathBuf>,
    /// The skill to enable again.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) fires: Option<String>,
}

pub(super) struct TrashBin {
    folder: PathBuf,
}

/// An entry that is being written.
pub(super) struct NewEntry {
    folder: PathBuf,
    entry: TrashEntry,
    pub(super) fires: Option<String>,
}

/// An entry that can be restored.
pub(super) struct KeptEntry {
    folder: PathBuf,
    pub(super) manifest: Manifest,
}

impl TrashBin {
    pub(super) fn new(home: &Path) -> Self {
        Self {
            folder: home.join("trash"),
        }
    }

    /// Creates an entry, and removes expired and incomplete ones.
    pub(super) fn add(&self, kind: TrashKind, what: String) -> Done<NewEntry> {
        let deleted_at = Timestamp::now();
        self.purge(deleted_at)?;
        let id = deleted_at.strftime(ID_FORMAT).to_string();
        let folder = self.folder.join(&id);
        create_folder(&folder)?;
        Ok(NewEntry {
            folder,
            entry: TrashEntry {
                id,
                kind,
                what,
                deleted_at,
            },
            fires: None,
        })
    }

    /// Returns all entries, latest first. A folder without a manifest is incomplete; its data was not
    /// deleted.
    pub(super) fn entries(&self) -> Done<Vec<KeptEntry>> {
        let mut entries = Vec::new();
        for folder in self.folders()? {
            entries.extend(read(folder)?);
        }
        entries.sort_by(|a, b| b.manifest.entry.id.cmp(&a.manifest.entry.id));
        Ok(entries)
    }

    fn folders(&self) -> Done<Vec<PathBuf>> {
        if !self.folder.exists() {
            return Ok(Vec::new());
        }
        let found = fs::read_dir(&self.folder);
        let found = found.map_err(|problem| Failure::file(&self.folder, "read", &problem))?;
        Ok(found.flatten().map(|entry| entry.path()).collect())
    }

    fn purge(&self, now: Timestamp) -> Done<()> {
        let is_old = |at: Timestamp| now.duration_since(at) > KEPT_FOR;
        for (place, kept) in self.entries()?.into_iter().enumerate() {
            if place + 1 >= MAX_ENTRIES || is_old(kept.manifest.entry.deleted_at) {
                kept.remove()?;
            }
        }
        for folder in self.folders()? {
            // Another process may still write a young one.
            if created_at(&folder).is_some_and(is_old) && read(folder.clone())?.is_none() {
                remove(&folder)?;
            }
        }
        Ok(())
    }
}

/// Returns when the folder of an entry was created; `None` for any other folder.
fn created_at(folder: &Path) -> Option<Timestamp> {
    let id = folder.file_name()?.to_str()?;
    let at = DateTime::strptime(ID_FORMAT, id).ok()?;
    Some(at.to_zoned(TimeZone::UTC).ok()?.timestamp())
}

fn remove(folder: &Path) -> Done<()> {
    fs::remove_dir_all(folder).map_err(|problem| Failure::file(folder, "remove", &problem))
}

fn read(folder: PathBuf) -> Done<Option<KeptEntry>> {
    let path = folder.join(MANIFEST);
    if !path.exists() {
        return Ok(None);
    }
    let text = read_text(&path, MANIFEST_BYTES);
    let text = text.map_err(|problem| Failure::file(&path, "read", &problem))?;
    let manifest: Manifest = serde_json::from_str(&text).map_err(|problem| {
        let hint = format!("remove the folder `{}`", folder.display());
        Failure::unusable(&path, "read", &problem).hint(hint)
    })?;
    let lost = manifest.entry.kind == TrashKind::SkillFile && !folder.join(CONTENT).exists();
    Ok((!lost).then_some(KeptEntry { folder, manifest }))
}

impl NewEntry {
    /// Moves a file or folder into the entry.
    pub(super) fn move_in(self, path: &Path) -> Done<()> {
        let content = self.folder.join(CONTENT);
        self.write_manifest(Some(path.to_path_buf()))?;
        fs::rename(path, content).map_err(|problem| Failure::file(path, "move to trash", &problem))
    }

    /// Appends rows.
    pub(super) fn append(&self, lines: &[String]) -> Done<()> {
        let path = self.folder.join(ROWS);
        let mut text = lines.join("\n");
        text.push('\n');
        let file = OpenOptions::new().create(true).append(true).open(&path);
        let written = file.and_then(|mut file| file.write_all(text.as_bytes()));
        written.map_err(|problem| Failure::file(&path, "write", &problem))
    }

    /// Completes the entry, so that it can be restored.
    pub(super) fn finish(self) -> Done<KeptEntry> {
        let manifest = self.write_manifest(None)?;
        Ok(KeptEntry {
            folder: self.folder,
            manifest,
        })
    }

    fn write_manifest(&self, from: Option<PathBuf>) -> Done<Manifest> {
        let manifest = Manifest {
            entry: self.entry.clone(),
            from,
            fires: self.fires.clone(),
        };
        let text = serde_json::to_string_pretty(&manifest);
        let text = text.map_err(|problem| Failure::internal("json", problem.to_string()))?;
        write_private(&self.folder.join(MANIFEST), &text)?;
        Ok(manifest)
    }
}

impl KeptEntry {
    /// Moves the results of runs that were too large for the store into the entry.
    pub(super) fn move_results_in(&self, results: &Path, runs: &[RunId]) -> Done<()> {
        for run in runs {
            let from = results.join(run.as_str());
            if from.exists() {
                let to = self.folder.join(RESULTS);
                create_folder(&to)?;
                let moved = fs::rename(&from, to.join(run.as_str()));
                moved.map_err(|problem| Failure::file(&from, "move to trash", &problem))?;
            }
        }
        Ok(())
    }

    /// Moves the content back to its original path.
    pub(super) fn move_back(&self) -> Done<()> {
        let to = self.manifest.from.clone().unwrap_or_default();
        if to.exists() {
            let message = format!("`{}` already exists", to.display());
            return Err(
                Failure::input("exists", message).hint("move it away, then `deft undo` again")
            );
        }
        if let Some(parent) = to.parent() {
            create_folder(parent)?;
        }
        let moved = fs::rename(self.folder.join(CONTENT), &to);
        moved.map_err(|problem| Failure::file(&to, "write", &problem))
    }

    /// Returns the rows in batches of about `size` rows. The rows of one run are never split.
    pub(super) fn pieces(&self, size: usize) -> Done<Vec<Vec<String>>> {
        let path = self.folder.join(ROWS);
        let wrong = |problem: std::io::Error| Failure::file(&path, "read", &problem);
        let mut pieces: Vec<Vec<String>> = vec![Vec::new()];
        for line in BufReader::new(open_regular(&path).map_err(wrong)?).lines() {
            let line = line.map_err(wrong)?;
            let full = pieces.last().is_none_or(|piece| piece.len() >= size);
            if full && line.starts_with(RUN_ROW) {
                pieces.push(Vec::new());
            }
            if let Some(piece) = pieces.last_mut().filter(|_| !line.is_empty()) {
                piece.push(line);
            }
        }
        Ok(pieces)
    }

    /// Moves results of runs back to their original paths.
    pub(super) fn move_results_back(&self, results: &Path) -> Done<()> {
        for entry in fs::read_dir(self.folder.join(RESULTS))
            .into_iter()
            .flatten()
            .flatten()
        {
            create_folder(results)?;
            let to = results.join(entry.file_name());
            let moved = fs::rename(entry.path(), &to);
            moved.map_err(|problem| Failure::file(&to, "write", &problem))?;
        }
        Ok(())
    }

    pub(super) fn remove(self) -> Done<()> {
        remove(&self.folder)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(bin: &TrashBin) -> Vec<String> {
        let folders = bin.folders().unwrap().into_iter();
        let names = folders.map(|folder| folder.file_name().unwrap().display().to_string());
        let mut names: Vec<String> = names.collect();
        names.sort();
        names
    }

    #[test]
    fn incomplete_folders_are_removed_when_they_are_old() {
        let home = tempfile::tempdir().unwrap();
        let bin = TrashBin::new(home.path());
        let young = bin.add(TrashKind::Runs, "1 run".to_owned()).unwrap();
        let young = young.entry.id;
        let add_old = |id: &str, manifest: Option<TrashKind>| {
            let folder = home.path().join("trash").join(id);
            create_folder(&folder).unwrap();
            if let Some(kind) = manifest {
                let deleted_at = created_at(&folder).unwrap();
                let (id, what) = (id.to_owned(), "it".to_owned());
                let entry = TrashEntry {
                    id,
                    kind,
                    what,
                    deleted_at,
                };
                let fires = None;
                NewEntry {
                    folder,
                    entry,
                    fires,
                }
                .finish()
                .unwrap();
            }
        };
        add_old("20200101T000000.000000", None);
        // Its file was never moved.
        add_old("20200102T000000.000000", Some(TrashKind::SkillFile));
        add_old("20200103T000000.000000", Some(TrashKind::Runs));
        add_old("not of deft", None);
        let next = bin.add(TrashKind::Runs, "2 runs".to_owned()).unwrap();
        assert_eq!(
            names(&bin),
            [young, next.entry.id, "not of deft".to_owned()]
        );
    }
}
