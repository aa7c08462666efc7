//! Skills whose file is broken, as they were before (X14): the store keeps the content of every
//! revision of a timed skill, so that a broken edit is survived by a restart too.
//!
//! Not here: which files are broken (that is the registry's), and reading them.

use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;

use deft_model::{Revision, SkillId};
use deft_registry::{Loaded, Snapshot, State};
use deft_skillfile::Moment;
use deft_store::{SkillFilter, SkillOrigin, SkillRow, Store};

use crate::skills::{decode, encode_file, is_called, path_of};
use crate::standing::is_gone;
use crate::sync::TOGETHER;
use crate::{Engine, Error};

/// The last good state of timed skills whose file is broken in this snapshot.
pub async fn last_good(
    store: &dyn Store,
    snapshot: &Snapshot,
    moment: &Moment,
) -> Result<Vec<Loaded>, Error> {
    let mut broken: HashMap<&Path, &Arc<Path>> = snapshot
        .files()
        .iter()
        .filter(|file| file.state == State::Broken { kept: None })
        .map(|file| (&*file.path, &file.path))
        .collect();
    if broken.is_empty() {
        return Ok(Vec::new());
    }
    let files = SkillFilter {
        origin: Some(SkillOrigin::File),
        ..SkillFilter::default()
    };
    let mut found = Vec::new();
    for row in store.skills(files).await? {
        // A file that was gone and is back has nothing that it could be kept as.
        let absent = snapshot.skill(&row.text.skill).is_none() && !is_gone(&row);
        if absent && let Some(loaded) = recall(store, &row, &broken, moment).await? {
            broken.remove(&*loaded.path);
            found.push(loaded);
        }
    }
    Ok(found)
}

/// A skill as its row knows it, if one of the broken files is its own.
async fn recall(
    store: &dyn Store,
    row: &SkillRow,
    broken: &HashMap<&Path, &Arc<Path>>,
    moment: &Moment,
) -> Result<Option<Loaded>, Error> {
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
    Ok(decode(&content, moment).map(|mut skill| {
        skill.id = SkillId::new(text.skill.clone());
        Loaded {
            skill,
            revision,
            path: Arc::clone(path),
            siblings: Vec::new(),
        }
    }))
}

impl Engine {
    /// Stores what skills are now, so that they can go on with it should their files break.
    pub(crate) async fn keep_contents(&self, skills: Vec<Arc<Loaded>>) -> Result<(), Error> {
        for some in skills.chunks(TOGETHER) {
            let contents = some.iter().filter_map(|loaded| encoded(loaded)).collect();
            self.store().keep_revisions(contents).await?;
        }
        Ok(())
    }
}

/// Revision and content of a skill. One that cannot be written down does not stop the others.
fn encoded(loaded: &Loaded) -> Option<(String, String)> {
    match encode_file(&loaded.skill, &loaded.path) {
        Ok(content) => Some((loaded.revision.to_string(), content)),
        Err(error) => {
            tracing::warn!(%error, "a broken edit of it would not be survived");
            None
        }
    }
}
