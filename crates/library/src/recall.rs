//! The last good versions of skills whose file is broken (X14, S2.18): the store keeps the content of every
//! skill file when it was last readable, so that a broken edit survives a restart and works for one-shot
//! commands.
//!
//! Not here: which files are broken (that is the registry's), and reading them.

use std::collections::{HashMap, HashSet};
use std::path::Path;
use std::sync::Arc;

use deft_base::{Error, read_or_log};
use deft_model::{Revision, SkillId};
use deft_registry::{LoadedSkill, Snapshot, State};
use deft_skillfile::Moment;
use deft_store::{ReadableFile, SkillFilter, SkillOrigin, SkillRow, Store};

use crate::Library;
use crate::skills::{decode, encode_file, is_called, path_of};
use crate::standing::is_file_removed;
use crate::sync::BATCH_SIZE;

/// Returns the last good version of the skills whose file is broken in `snapshot`.
pub async fn last_good(
    store: &dyn Store,
    snapshot: &Snapshot,
    moment: &Moment,
) -> Result<Vec<LoadedSkill>, Error> {
    let mut broken: HashMap<&Path, &Arc<Path>> = snapshot
        .files()
        .iter()
        .filter(|file| file.state == State::Broken { kept: None })
        .map(|file| (&*file.path, &file.path))
        .collect();
    if broken.is_empty() {
        return Ok(Vec::new());
    }
    let mut found = Vec::new();
    for file in store.good_files().await? {
        let Some(path) = broken.get(Path::new(&file.path)).copied() else {
            continue;
        };
        if snapshot.skill(&file.skill).is_none()
            && let Some(loaded) = read_good(store, &file, path, moment).await?
        {
            broken.remove(&**path);
            found.push(loaded);
        }
    }
    // A store written by an older deft has only those of timed skills, in their rows.
    let files = SkillFilter {
        origin: Some(SkillOrigin::File),
        ..SkillFilter::default()
    };
    for row in store.skills(files).await? {
        // A skill whose file was removed and came back broken has no version that may be used.
        let found_before = |loaded: &LoadedSkill| loaded.skill.id.as_str() == row.text.skill;
        let absent = snapshot.skill(&row.text.skill).is_none() && !is_file_removed(&row);
        let absent = absent && !found.iter().any(found_before);
        if absent && let Some(loaded) = recall(store, &row, &broken, moment).await? {
            broken.remove(&*loaded.path);
            found.push(loaded);
        }
    }
    Ok(found)
}

/// Reads the stored skill of a file.
async fn read_good(
    store: &dyn Store,
    file: &ReadableFile,
    path: &Arc<Path>,
    moment: &Moment,
) -> Result<Option<LoadedSkill>, Error> {
    let content = store.revision(&file.revision).await?;
    let read = |content: String| {
        let skill = decode(&content, moment);
        read_or_log(skill, "the last readable content of a skill file")
    };
    let skill = content.and_then(read);
    let (Some(mut skill), Some(revision)) = (skill, Revision::from_hex(&file.revision)) else {
        return Ok(None);
    };
    skill.id = SkillId::new(file.skill.clone());
    Ok(Some(LoadedSkill {
        skill,
        revision,
        path: Arc::clone(path),
        siblings: Vec::new(),
    }))
}

/// Returns the skill of a row, if one of the broken files belongs to it.
async fn recall(
    store: &dyn Store,
    row: &SkillRow,
    broken: &HashMap<&Path, &Arc<Path>>,
    moment: &Moment,
) -> Result<Option<LoadedSkill>, Error> {
    let text = &row.text;
    let Some(content) = store.revision(&text.revision).await? else {
        return Ok(None);
    };
    let own = path_of(&content);
    let own = own.and_then(|path| broken.get(Path::new(&path)).copied());
    let likely = || {
        let mut files = broken.values();
        files.find(|path| is_called(path, &text.skill)).copied()
    };
    let (Some(path), Some(revision)) = (own.or_else(likely), Revision::from_hex(&text.revision))
    else {
        return Ok(None);
    };
    let skill = read_or_log(
        decode(&content, moment),
        "the last readable content of a skill",
    );
    Ok(skill.map(|mut skill| {
        skill.id = SkillId::new(text.skill.clone());
        LoadedSkill {
            skill,
            revision,
            path: Arc::clone(path),
            siblings: Vec::new(),
        }
    }))
}

impl Library {
    /// Stores the content of every skill file that has changed, and forgets removed files. Reads the
    /// store once if nothing has changed.
    pub async fn keep_good_files(&self) -> Result<(), Error> {
        let snapshot = self.files.snapshot();
        let known = self.store().good_files().await?;
        let known: HashMap<&str, &str> = known
            .iter()
            .map(|file| (file.path.as_str(), file.revision.as_str()))
            .collect();
        let mut here = HashSet::new();
        let mut fresh = Vec::new();
        for file in snapshot.files() {
            let Some(path) = file.path.to_str() else {
                continue;
            };
            here.insert(path);
            let State::Loaded(id) = &file.state else {
                continue;
            };
            let loaded = snapshot.skill(id.as_str());
            let revision = loaded.map(|loaded| loaded.revision.to_string());
            if let (Some(loaded), Some(revision)) = (loaded, revision)
                && known.get(path) != Some(&revision.as_str())
                && let Some((_, content)) = encode_skill(loaded)
            {
                let good = ReadableFile {
                    path: path.to_owned(),
                    skill: id.to_string(),
                    revision,
                };
                fresh.push((good, content));
            }
        }
        let gone = known.keys().filter(|path| !here.contains(**path));
        let mut gone: Vec<String> = gone.map(|path| (*path).to_owned()).collect();
        while !fresh.is_empty() || !gone.is_empty() {
            let some = fresh.drain(..fresh.len().min(BATCH_SIZE)).collect();
            let store = self.store();
            store
                .keep_good_files(some, std::mem::take(&mut gone))
                .await?;
        }
        Ok(())
    }

    /// Stores skills that are in use although their files are broken, so that rows can refer to their
    /// revisions.
    pub(crate) async fn keep_contents(&self, skills: Vec<Arc<LoadedSkill>>) -> Result<(), Error> {
        for some in skills.chunks(BATCH_SIZE) {
            let contents = some
                .iter()
                .filter_map(|loaded| encode_skill(loaded))
                .collect();
            self.store().keep_revisions(contents).await?;
        }
        Ok(())
    }
}

/// Returns the revision and content of a skill. A skill that cannot be encoded is logged and does not stop
/// the others.
fn encode_skill(loaded: &LoadedSkill) -> Option<(String, String)> {
    match encode_file(&loaded.skill, &loaded.path) {
        Ok(content) => Some((loaded.revision.to_string(), content)),
        Err(error) => {
            tracing::warn!(%error, "the last good version could not be stored; a broken edit would disable this skill");
            None
        }
    }
}
