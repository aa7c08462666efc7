//! Decides what to do with each gathered skill before anything is written, so that a dry run is exact.

use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};

use deft_registry::{Options, Snapshot, State};

use super::ImportRequest;
use super::gather::Item;
use super::layout::{Layout, Part};
use crate::skills::files::{Effect, PlannedFile, conflict};
use deft_config::Home;

/// The decision about a skill.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Verdict {
    Write,
    /// The skill already exists in this file and is not to be changed.
    Keep(PathBuf),
    Refuse(String),
    /// Refused, but `--force` would permit it.
    Conflict(String),
    /// An earlier item of the same import has the same files.
    Again,
}

/// A skill with its decision.
pub(super) struct ImportDecision {
    pub item: Item,
    pub verdict: Verdict,
    /// The effect of writing each file.
    pub effects: Vec<Effect>,
    /// Files of the existing version that the new version lacks.
    pub removed: Vec<PathBuf>,
    /// Another file of the home with the same id, which is not changed.
    pub also: Option<PathBuf>,
}

impl ImportDecision {
    /// Whether the import changes anything in the home.
    pub(super) fn changes(&self) -> bool {
        let changed = self.effects.iter().any(|effect| *effect != Effect::Same);
        self.verdict == Verdict::Write && (changed || !self.removed.is_empty())
    }
}

pub(super) fn decide(
    items: Vec<Item>,
    home: &Home,
    request: &ImportRequest,
) -> Vec<ImportDecision> {
    let options = Options::new(home.roots()).with_agents([home.agents()]);
    let snapshot = Snapshot::load(&options, &home.moment());
    let mut judge = Judge {
        layout: Layout::from_snapshot(&snapshot, &home.skills()),
        snapshot: &snapshot,
        request,
        decided: Vec::new(),
        planned: HashMap::new(),
    };
    for item in items {
        judge.add(item);
    }
    let mut decided = judge.decided;
    if request.force {
        remove_stale(&mut decided, &snapshot, &home.skills());
    }
    decided
}

struct Judge<'a> {
    snapshot: &'a Snapshot,
    layout: Layout,
    request: &'a ImportRequest,
    decided: Vec<ImportDecision>,
    /// All files to be written: each with the index of its item, and its index there.
    planned: HashMap<PathBuf, (usize, usize)>,
}

impl Judge<'_> {
    fn add(&mut self, item: Item) {
        let verdict = self.verdict(&item);
        let mut effects = Vec::new();
        let mut also = None;
        if verdict == Verdict::Write {
            effects = item.files.iter().map(PlannedFile::effect).collect();
            also = self.elsewhere(&item);
            self.plan(&item);
        }
        self.decided.push(ImportDecision {
            item,
            verdict,
            effects,
            removed: Vec::new(),
            also,
        });
    }

    fn plan(&mut self, item: &Item) {
        if let Some(first) = item.files.first() {
            self.layout.add(&first.path, &item.part);
        }
        for (at, file) in item.files.iter().enumerate() {
            let place = (self.decided.len(), at);
            self.planned.insert(file.path.clone(), place);
        }
    }

    fn verdict(&self, item: &Item) -> Verdict {
        self.compare_with_earlier(item)
            .or_else(|| self.keep(item))
            .or_else(|| self.find_shadow(item))
            .or_else(|| self.conflict(item))
            .unwrap_or(Verdict::Write)
    }

    /// Compares the item with earlier items of the same import.
    fn compare_with_earlier(&self, item: &Item) -> Option<Verdict> {
        let same = |file: &&PlannedFile| {
            let earlier = self.earlier(file);
            earlier.is_some_and(|(_, other)| other.content == file.content)
        };
        let mut clashes = item.files.iter().filter(|file| !same(file));
        if item.files.iter().all(|file| same(&file)) {
            return Some(Verdict::Again);
        }
        let first = item.files.first().and_then(|file| self.earlier(file));
        if let Some((owner, _)) = first.or_else(|| clashes.find_map(|file| self.earlier(file))) {
            let source = owner.item.source.display();
            let reason = format!("`{source}` is imported to the same place");
            return Some(Verdict::Refuse(reason));
        }
        let mut written = self
            .decided
            .iter()
            .filter(|one| one.verdict == Verdict::Write);
        let twin = written.find(|one| is_same_thing(&one.item, item))?;
        let source = twin.item.source.display();
        let reason = format!("`{source}` defines the same skill");
        Some(Verdict::Refuse(reason))
    }

    /// Returns the earlier item with a file at the same path.
    fn earlier(&self, file: &PlannedFile) -> Option<(&ImportDecision, &PlannedFile)> {
        let (owner, at) = self.planned.get(&file.path)?;
        let owner = self.decided.get(*owner)?;
        Some((owner, owner.item.files.get(*at)?))
    }

    fn keep(&self, item: &Item) -> Option<Verdict> {
        let path = self.existing_skill(item).filter(|_| self.request.keep)?;
        let verdict = Verdict::Keep(path);
        let known = self.decided.iter().any(|one| one.verdict == verdict);
        Some(if known { Verdict::Again } else { verdict })
    }

    fn find_shadow(&self, item: &Item) -> Option<Verdict> {
        let file = item.files.first()?;
        let reason = self.layout.objection(&file.path, &item.part)?;
        Some(Verdict::Refuse(reason))
    }

    fn conflict(&self, item: &Item) -> Option<Verdict> {
        if let Some(path) = self.elsewhere(item).filter(|_| !self.request.force) {
            let reason = format!("`{}` is already defined in `{}`", item.id, path.display());
            return Some(Verdict::Conflict(reason));
        }
        let found = conflict(&item.files, self.request.force)?;
        Some(if found.force_helps {
            Verdict::Conflict(found.reason)
        } else {
            Verdict::Refuse(found.reason)
        })
    }

    /// Returns the file of the home that defines the same skill, agent or domain.
    fn defined_file(&self, item: &Item) -> Option<PathBuf> {
        let path = match item.part {
            Part::Index => {
                let mut files = self.snapshot.files().iter();
                let index = files.find(|file| file.state == State::Index(item.id.clone()))?;
                &index.path
            }
            Part::Agent => self.snapshot.agent(&item.id)?.path.as_ref()?,
            Part::Owner(_) | Part::Page => &self.snapshot.skill(&item.id)?.path,
        };
        Some(path.to_path_buf())
    }

    fn elsewhere(&self, item: &Item) -> Option<PathBuf> {
        let target = &item.files.first()?.path;
        self.defined_file(item).filter(|path| path != target)
    }

    /// Returns the existing skill, whether it is loaded, shadowed or broken.
    fn existing_skill(&self, item: &Item) -> Option<PathBuf> {
        let target = &item.files.first()?.path;
        let in_place = || target.symlink_metadata().is_ok().then(|| target.clone());
        self.defined_file(item).or_else(in_place)
    }
}

/// A domain or an agent may have the same name as a skill.
fn is_same_thing(one: &Item, other: &Item) -> bool {
    let is_skill = |item: &Item| !matches!(item.part, Part::Index | Part::Agent);
    one.id == other.id && (one.part == other.part || (is_skill(one) && is_skill(other)))
}

/// Marks the files of replaced skills for removal that the new version lacks.
fn remove_stale(decided: &mut [ImportDecision], snapshot: &Snapshot, skills: &Path) {
    let planned: HashSet<PathBuf> = decided
        .iter()
        .flat_map(|one| one.item.files.iter().map(|file| file.path.clone()))
        .collect();
    for one in decided {
        if one.verdict == Verdict::Write && matches!(one.item.part, Part::Owner(_)) {
            let mut stale = stale(&one.item, snapshot, skills);
            stale.retain(|path| !planned.contains(path));
            one.removed = stale;
        }
    }
}

/// Returns the regular files beside the loaded skill that the new version lacks. If the folder is a link out
/// of the skills folder, its files belong to another owner and are kept.
fn stale(item: &Item, snapshot: &Snapshot, skills: &Path) -> Vec<PathBuf> {
    let target = item.files.first().map(|file| file.path.as_path());
    let mut loaded = snapshot.skills().filter(|old| Some(&*old.path) == target);
    let Some((old, folder)) = loaded.next().zip(target.and_then(Path::parent)) else {
        return Vec::new();
    };
    let real = folder.canonicalize().ok().zip(skills.canonicalize().ok());
    if !real.is_some_and(|(folder, skills)| folder.starts_with(skills)) {
        return Vec::new();
    }
    // Refused files exist in the new version; they are only not copied.
    let from = item.source.parent().unwrap_or(Path::new(""));
    let refused: HashSet<&Path> = item
        .left_out
        .iter()
        .filter_map(|file| file.path.strip_prefix(from).ok())
        .collect();
    let beside = old.siblings.iter().map(|file| Path::new(&file.path));
    beside
        .filter(|path| !refused.contains(path))
        .map(|path| folder.join(path))
        .filter(|path| path.symlink_metadata().is_ok_and(|found| found.is_file()))
        .collect()
}
