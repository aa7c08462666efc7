//! Which folders belong to a single skill. A `SKILL.md` with a name owns all files below it, so pages there
//! are not separate skills.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use deft_registry::{FileReport, Snapshot, State};
use deft_skillfile::FileKind;

/// The role of a file in its folder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::skills) enum Part {
    /// A `SKILL.md` that makes the folder that of one skill.
    Owner(String),
    /// The `SKILL.md` that describes a domain.
    Index,
    /// A man page or a workflow.
    Page,
    /// The `AGENT.md` of an agent, which is outside the skill folders.
    Agent,
}

/// The skill files below a folder.
#[derive(Debug)]
pub(in crate::skills) struct Layout {
    root: PathBuf,
    /// The folders with a `SKILL.md`, each with the skill that owns it, if any.
    folders: BTreeMap<PathBuf, Option<String>>,
    pages: BTreeSet<PathBuf>,
}

impl Layout {
    pub(in crate::skills) fn from_snapshot(snapshot: &Snapshot, root: &Path) -> Self {
        let mut layout = Self {
            root: root.to_path_buf(),
            folders: BTreeMap::new(),
            pages: BTreeSet::new(),
        };
        for file in snapshot.files() {
            if let Some(part) = part(file) {
                layout.add(&file.path, &part);
            }
        }
        layout
    }

    pub(in crate::skills) fn add(&mut self, file: &Path, part: &Part) {
        let folder = file.parent().unwrap_or(&self.root).to_path_buf();
        match part {
            Part::Owner(id) => drop(self.folders.insert(folder, Some(id.clone()))),
            Part::Index => drop(self.folders.insert(folder, None)),
            Part::Page => drop(self.pages.insert(file.to_path_buf())),
            Part::Agent => {}
        }
    }

    /// Returns why a file must not be added: it would hide pages, or be hidden.
    pub(in crate::skills) fn objection(&self, file: &Path, part: &Part) -> Option<String> {
        match part {
            Part::Owner(id) => {
                let folder = file.parent()?;
                let hides = self.pages.iter().any(|page| self.is_hidden(page, folder));
                hides.then(|| self.reason(folder, id))
            }
            Part::Index | Part::Agent => None,
            Part::Page => {
                let above = file.ancestors().skip(1);
                let mut above = above.take_while(|folder| folder.starts_with(&self.root));
                let (folder, owner) =
                    above.find_map(|folder| Some((folder, self.folders.get(folder)?)))?;
                owner.as_ref().map(|id| self.reason(folder, id))
            }
        }
    }

    /// Whether a page would become part of the skill in `folder`: it is below it, with no other `SKILL.md` in
    /// between.
    fn is_hidden(&self, page: &Path, folder: &Path) -> bool {
        let mut between = page
            .ancestors()
            .skip(1)
            .take_while(|above| *above != folder);
        page.starts_with(folder) && between.all(|above| !self.folders.contains_key(above))
    }

    fn reason(&self, folder: &Path, id: &str) -> String {
        let below = folder.strip_prefix(&self.root).unwrap_or(folder);
        let file = below.join("SKILL.md");
        let below = match below.display().to_string() {
            empty if empty.is_empty() => ".".to_owned(),
            named => named,
        };
        let file = file.display();
        format!("`{file}` makes everything in `{below}/` part of the skill `{id}`")
    }
}

fn part(file: &FileReport) -> Option<Part> {
    let kind = file
        .path
        .file_name()?
        .to_str()
        .and_then(FileKind::from_name)?;
    match (kind, &file.state) {
        (_, State::Ignored | State::Agent(_))
        | (FileKind::AgentMd, _)
        | (FileKind::SkillMd, State::Broken { .. }) => None,
        (FileKind::SkillMd, State::Loaded(id)) => Some(Part::Owner(id.to_string())),
        (FileKind::SkillMd, State::Shadowed { id, .. }) => Some(Part::Owner(id.clone())),
        (FileKind::SkillMd, State::Index(_)) => Some(Part::Index),
        (FileKind::Markdown | FileKind::Workflow | FileKind::Record, _) => Some(Part::Page),
    }
}
