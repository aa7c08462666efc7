//! The choice of the skill that a name refers to, for all callers. A record replaces a file with its id.
//!
//! Not here: reading rows. The library asks the store for one key at a time, because a million records are
//! not kept in memory; a caller that has all rows uses [`choose`].

use std::sync::Arc;

use deft_registry::{LoadedSkill, Snapshot};
use deft_skillfile::slug;
use deft_store::{SkillOrigin, SkillRow};

/// The skill that a name refers to.
#[derive(Clone, Debug)]
pub enum NamedSkill {
    /// A record, by its row.
    Record(SkillRow),
    /// A file skill as changed by tools, with its row if it has one.
    File(Arc<LoadedSkill>, Option<SkillRow>),
    /// The row of a skill whose file was removed.
    FileMissing(SkillRow),
}

impl NamedSkill {
    /// Returns the skill of a row and of the file with the same id; `None` if there is neither.
    pub(crate) fn from_parts(
        row: Option<SkillRow>,
        file: Option<Arc<LoadedSkill>>,
    ) -> Option<Self> {
        match (row, file) {
            (Some(row), _) if row.text.origin == SkillOrigin::Record => Some(Self::Record(row)),
            (Some(row), None) => Some(Self::FileMissing(row)),
            (row, Some(file)) => Some(Self::File(file, row)),
            (None, None) => None,
        }
    }
}

/// A way to find the row of a skill.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum RowKey {
    /// By its id.
    Id(String),
    /// By its number.
    Number(i64),
    /// By its name, if no other row has the name.
    Name(String),
}

/// Returns the keys of the row that `name` refers to; the first key with a row decides. `file` is the file
/// skill with this name.
pub(crate) fn row_keys(name: &str, file: Option<&LoadedSkill>) -> Vec<RowKey> {
    let by_id = RowKey::Id(name.to_owned());
    match file.map(|file| file.skill.id.as_str()) {
        Some(id) if id == name => vec![by_id],
        Some(id) => vec![by_id, RowKey::Id(id.to_owned())],
        None => [by_id]
            .into_iter()
            .chain(name.parse().ok().map(RowKey::Number))
            .chain([RowKey::Name(name.to_owned()), RowKey::Id(slug(name))])
            .collect(),
    }
}

/// Returns the skill called `name` among the rows and files given.
pub fn choose(name: &str, rows: &[SkillRow], files: &Snapshot) -> Option<NamedSkill> {
    let file = files.find(name);
    let keys = row_keys(name, file.map(|file| &**file));
    let row = keys.iter().find_map(|key| find_row(rows, key));
    let file = row.map_or(file, |row| files.skill(&row.text.skill));
    NamedSkill::from_parts(row.cloned(), file.cloned())
}

fn find_row<'a>(rows: &'a [SkillRow], key: &RowKey) -> Option<&'a SkillRow> {
    let mut found = rows.iter().filter(|row| match key {
        RowKey::Id(id) => row.text.skill == *id,
        RowKey::Number(number) => row.id == *number,
        RowKey::Name(name) => row.text.name == *name,
    });
    found.next().filter(|_| found.next().is_none())
}
