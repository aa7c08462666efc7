//! All folders below the roots, as last read.

use std::collections::{BTreeMap, HashSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use deft_skillfile::Moment;
use rayon::prelude::*;

use crate::options::Options;
use crate::scan::scan;
use crate::survey::{Folder, Survey, Visit};
use crate::unit::{Definition, LoadedSkill, Outcome, Unit};

/// Folders by path. Trees share unchanged folders, so that an update reads only what changed.
#[derive(Clone, Debug, Default)]
pub(crate) struct Tree {
    folders: BTreeMap<PathBuf, Arc<Folder>>,
}

/// Folders to read again, parents before children. The value says whether an event named the folder itself,
/// so that everything below it must be read too.
type FoldersToRead = BTreeMap<PathBuf, bool>;

impl Tree {
    /// Reads everything; folders that look unchanged keep their state. `live` means that files may be
    /// incomplete.
    pub(crate) fn rescan(&self, options: &Options, moment: &Moment, live: bool) -> Self {
        let forced = HashSet::new();
        let survey = Survey::new(options, moment, live, &forced);
        let roots = options.followed_folders().filter(|root| root.is_dir());
        let visits = roots.map(|root| Visit::root(root)).collect();
        Self {
            folders: self
                .visit_all(&survey, visits, VisitScope::Everything)
                .into_iter()
                .collect(),
        }
    }

    /// Reads the folders that contain `paths`, and new folders. Returns `None` if none of the paths is below
    /// a root.
    pub(crate) fn update(
        &self,
        options: &Options,
        moment: &Moment,
        paths: &HashSet<PathBuf>,
    ) -> Option<Self> {
        let survey = Survey::new(options, moment, true, paths);
        // An event need not name a root that has just been created.
        let new_roots = options
            .followed_folders()
            .filter(|root| !self.folders.contains_key(*root) && root.is_dir());
        let mut homes: FoldersToRead = new_roots.map(|root| (root.clone(), true)).collect();
        for path in paths {
            if let Some(home) = self.folder_to_read(options, path) {
                *homes.entry(home.to_path_buf()).or_default() |= home == path;
            }
        }
        if homes.is_empty() {
            return None;
        }
        let mut tree = self.clone();
        while let Some((path, named)) = homes.pop_first() {
            // The folder may have been removed by a previous iteration.
            if let Some(home) = tree.folder_to_read(options, &path).map(Path::to_path_buf) {
                let named = named && home == path;
                tree.reread(&survey, &home, named, &mut homes);
            }
        }
        Some(tree)
    }

    /// Restores the last valid definition of a broken file that was never loaded in this process.
    pub(crate) fn recall(&mut self, loaded: &Arc<LoadedSkill>) {
        let lost =
            |unit: &Unit| unit.path == loaded.path && matches!(unit.outcome, Outcome::Broken(None));
        let mut folders = self.folders.values_mut();
        if let Some(folder) = folders.find(|folder| folder.units.iter().any(lost)) {
            let units = &mut Arc::make_mut(folder).units;
            for unit in units.iter_mut().filter(|unit| lost(unit)) {
                unit.outcome = Outcome::Broken(Some(Definition::Skill(Arc::clone(loaded))));
            }
        }
    }

    /// Returns the folders at and below a path.
    pub(crate) fn folders_below<'a>(&'a self, path: &'a Path) -> impl Iterator<Item = &'a Folder> {
        let from = self.folders.range(path.to_path_buf()..);
        from.take_while(move |(below, _)| below.starts_with(path))
            .map(|(_, folder)| &**folder)
    }

    /// Returns all folders, by path.
    pub(crate) fn folders(&self) -> impl Iterator<Item = &Folder> {
        self.folders.values().map(|folder| &**folder)
    }

    /// Returns the folder to read when `path` changed: the nearest known folder, or a new root.
    fn folder_to_read<'a>(&self, options: &Options, path: &'a Path) -> Option<&'a Path> {
        path.ancestors()
            .find(|above| self.folders.contains_key(*above) || options.is_root(above))
    }

    /// Reads one folder again, and below it new folders, or all of them if they may have changed too.
    fn reread(&mut self, survey: &Survey<'_>, path: &Path, named: bool, homes: &mut FoldersToRead) {
        let old = self.folders.get(path).cloned();
        if !path.is_dir() {
            self.remove_below(path);
            self.schedule_parent(survey.options, path, homes);
            return;
        }
        let visit = old
            .as_ref()
            .map_or_else(|| Visit::root(path), |old| old.visit.clone());
        let (folder, visits) = scan(survey, visit, old.as_deref());
        let kind = |folder: &Folder| (folder.has_skill_md, folder.is_skill);
        let became_other = old.as_ref().map(|old| kind(old)) != Some(kind(&folder));
        let same = !named
            && old
                .as_ref()
                .is_some_and(|old| old.is_skill == folder.is_skill && old.below == folder.below);
        let scope = if same {
            VisitScope::NewFolders
        } else {
            VisitScope::Everything
        };
        // Read before anything is removed: a file that is broken now may have been valid before.
        let found = self.visit_all(survey, visits, scope);
        for gone in old.iter().flat_map(|old| &old.children) {
            if !same || folder.children.binary_search(gone).is_err() {
                self.remove_below(gone);
            }
        }
        self.folders.insert(path.to_path_buf(), Arc::new(folder));
        self.folders.extend(found);
        if named || became_other {
            self.schedule_parent(survey.options, path, homes);
        }
    }

    /// Schedules the parent of a folder that was added, removed or changed its kind: the folder may now be
    /// one of its children, or contain files of its skill.
    fn schedule_parent(&self, options: &Options, path: &Path, homes: &mut FoldersToRead) {
        if options.is_root(path) {
            return;
        }
        let above = path
            .parent()
            .and_then(|parent| self.folder_to_read(options, parent));
        if let Some(above) = above {
            homes.entry(above.to_path_buf()).or_default();
        }
    }

    fn remove_below(&mut self, path: &Path) {
        let gone: Vec<PathBuf> = self
            .folders_below(path)
            .map(|folder| folder.visit.path.clone())
            .collect();
        for path in gone {
            self.folders.remove(&path);
        }
    }

    /// Reads folders and everything below them, in parallel.
    fn visit_all(
        &self,
        survey: &Survey<'_>,
        visits: Vec<Visit>,
        scope: VisitScope,
    ) -> Vec<(PathBuf, Arc<Folder>)> {
        let wanted = |visit: &Visit| {
            scope == VisitScope::Everything || !self.folders.contains_key(&visit.path)
        };
        let visits: Vec<Visit> = visits.into_iter().filter(wanted).collect();
        let read = |visit: Visit| {
            let path = visit.path.clone();
            let (folder, visits) = scan(survey, visit, self.folders.get(&path).map(|old| &**old));
            let mut found = self.visit_all(survey, visits, scope);
            found.push((path, Arc::new(folder)));
            found
        };
        visits.into_par_iter().flat_map_iter(read).collect()
    }
}

/// The extent of a visit.
#[derive(Clone, Copy, PartialEq, Eq)]
enum VisitScope {
    Everything,
    NewFolders,
}
