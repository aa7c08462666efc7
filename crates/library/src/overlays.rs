//! Skills of files with the overlays of the store applied.
//!
//! Everything in the engine reads file skills through this module. The overlays are read again when files are
//! synced, when agents look at all skills, after each change in this process, and when the row of a skill
//! shows that another process has changed it.

use std::collections::BTreeMap;
use std::sync::Arc;

use deft_base::Error;
use deft_model::SkillId;
use deft_registry::Snapshot;
use deft_skillfile::Moment;
use parking_lot::{Mutex, MutexGuard};

use crate::Library;
use crate::overlay::Overlay;

/// The overlays as they were last read.
#[derive(Default)]
pub(crate) struct Overlays(Mutex<State>);

#[derive(Default)]
struct State {
    /// Stored overlays by skill.
    texts: BTreeMap<String, String>,
    /// The snapshot of the files, and the snapshot with the overlays applied.
    made: Option<(Arc<Snapshot>, Arc<Snapshot>)>,
}

impl Overlays {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.0.lock()
    }
}

impl Library {
    /// Returns the file skills in effect now, without deleted ones.
    pub fn snapshot(&self) -> Arc<Snapshot> {
        let files = self.files.snapshot();
        let mut state = self.overlays.lock();
        if state.texts.is_empty() {
            return files;
        }
        if let Some((of, made)) = &state.made
            && Arc::ptr_eq(of, &files)
        {
            return Arc::clone(made);
        }
        let made = Arc::new(apply_overlays(
            &files,
            &state.texts,
            &self.base.moment(),
            DeletedSkills::Hide,
        ));
        state.made = Some((files, Arc::clone(&made)));
        made
    }

    /// Reads the overlays from the store again.
    pub async fn read_overlays(&self) -> Result<(), Error> {
        let texts = self.store().changed_files().await?;
        let texts: BTreeMap<String, String> = texts.into_iter().collect();
        let mut state = self.overlays.lock();
        if state.texts != texts {
            *state = State { texts, made: None };
        }
        Ok(())
    }

    /// Returns the stored overlay of a skill.
    pub(crate) fn overlay_text(&self, skill: &str) -> Option<String> {
        self.overlays.lock().texts.get(skill).cloned()
    }
}

/// Whether skills that tools deleted are left out.
#[derive(Clone, Copy, PartialEq, Eq)]
enum DeletedSkills {
    Hide,
    Keep,
}

fn apply_overlays(
    files: &Snapshot,
    texts: &BTreeMap<String, String>,
    moment: &Moment,
    deleted: DeletedSkills,
) -> Snapshot {
    let mut edited = BTreeMap::new();
    for (skill, text) in texts {
        let Some(file) = files.skill(skill) else {
            continue;
        };
        let overlay = Overlay::read(text);
        let loaded = if overlay.deleted && deleted == DeletedSkills::Hide {
            None
        } else {
            Some(overlay.apply_to(file, moment))
        };
        edited.insert(SkillId::new(skill.clone()), loaded);
    }
    files.with_edits(edited)
}

/// The changes of tools to a file skill, for people.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileChange {
    /// The changed fields that are in effect.
    pub fields: Vec<String>,
    /// The agent whose rights the skill has since the change.
    pub agent: Option<String>,
}

/// Returns the file skills for people: with the stored overlays applied, including deleted skills. The map
/// describes the changes by skill.
pub fn changed_files(
    texts: Vec<(String, String)>,
    files: Snapshot,
    moment: &Moment,
) -> (Snapshot, BTreeMap<String, FileChange>) {
    if texts.is_empty() {
        return (files, BTreeMap::new());
    }
    let texts: BTreeMap<String, String> = texts.into_iter().collect();
    let changes = texts.iter().filter_map(|(skill, text)| {
        let file = files.skill(skill)?;
        let overlay = Overlay::read(text);
        let change = FileChange {
            fields: overlay.fields_in_force(&file.skill),
            agent: overlay.authority.map(|authority| authority.agent),
        };
        Some((skill.clone(), change))
    });
    let changes = changes.collect();
    (
        apply_overlays(&files, &texts, moment, DeletedSkills::Keep),
        changes,
    )
}
