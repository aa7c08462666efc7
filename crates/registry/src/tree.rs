//! All folders below the roots, as they were last read.

use std::collections::{BTreeMap, HashSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use deft_skillfile::Moment;
use rayon::prelude::*;

use crate::options::Options;
use crate::scan::{Folder, Survey, Visit, scan};

/// Folders by path. Folders are shared between trees, so that a change costs
/// what changed.
#[derive(Clone, Debug, Default)]
pub(crate) struct Tree {
    folders: BTreeMap<PathBuf, Arc<Folder>>,
}

impl Tree {
    /// Reads everything; what looks as it did in `self` is kept.
    pub(crate) fn rescan(&self, options: &Options, moment: &Moment) -> Self {
        let forced = HashSet::new();
        let survey = Survey {
            options,
            moment,
            forced: &forced,
        };
        let roots: Vec<Visit> = options
            .roots
            .iter()
            .filter(|root| root.is_dir())
            .map(|r| root(r))
            .collect();
        Self {
            folders: self
                .visit_all(&survey, roots, Reach::Everything)
                .into_iter()
                .collect(),
        }
    }

    /// Reads the folders that hold `paths`, and folders that are new.
    pub(crate) fn update(
        &self,
        options: &Options,
        moment: &Moment,
        paths: &HashSet<PathBuf>,
    ) -> Self {
        let survey = Survey {
            options,
            moment,
            forced: paths,
        };
        let mut tree = self.clone();
        let touched: HashSet<PathBuf> = paths
            .iter()
            .filter_map(|path| tree.home_of(options, path))
            .collect();
        for path in touched {
            tree.reread(&survey, &path);
        }
        tree
    }

    /// The folders at and below a root.
    pub(crate) fn below<'a>(&'a self, root: &'a Path) -> impl Iterator<Item = &'a Folder> {
        let from = self.folders.range(root.to_path_buf()..);
        from.take_while(move |(path, _)| path.starts_with(root))
            .map(|(_, folder)| &**folder)
    }

    /// The folder that has to be read when something at `path` changed: the
    /// nearest one that is known, or the root if it has just appeared.
    fn home_of(&self, options: &Options, path: &Path) -> Option<PathBuf> {
        let known = path
            .ancestors()
            .find(|above| self.folders.contains_key(*above));
        let is_root = |above: &&Path| options.roots.iter().any(|root| root == above);
        known
            .or_else(|| path.ancestors().find(is_root))
            .map(Path::to_path_buf)
    }

    /// Reads one folder again, and what is new below it.
    fn reread(&mut self, survey: &Survey<'_>, path: &Path) {
        let old = self.folders.get(path).cloned();
        let visit = old
            .as_ref()
            .map_or_else(|| root(path), |old| old.visit.clone());
        if !path.is_dir() {
            self.remove_below(path);
            return;
        }
        let (folder, visits) = scan(survey, visit, old.as_deref());
        // A folder that became that of a skill, or stopped being it, or moved
        // to another domain, changes the meaning of everything below.
        let same = old.as_ref().is_some_and(|old| {
            let domain =
                |folder: &Folder| folder.units.first().and_then(|unit| unit.domain.clone());
            old.is_skill == folder.is_skill && domain(old) == domain(&folder)
        });
        let reach = if same {
            Reach::NewFolders
        } else {
            Reach::Everything
        };
        for gone in old.iter().flat_map(|old| &old.children) {
            if !folder.children.contains(gone) || !same {
                self.remove_below(gone);
            }
        }
        let found = self.visit_all(survey, visits, reach);
        self.folders.insert(path.to_path_buf(), Arc::new(folder));
        self.folders.extend(found);
    }

    fn remove_below(&mut self, path: &Path) {
        let gone: Vec<PathBuf> = self
            .below(path)
            .map(|folder| folder.visit.path.clone())
            .collect();
        for path in gone {
            self.folders.remove(&path);
        }
    }

    /// Reads folders and everything below them, on all cores.
    fn visit_all(
        &self,
        survey: &Survey<'_>,
        visits: Vec<Visit>,
        reach: Reach,
    ) -> Vec<(PathBuf, Arc<Folder>)> {
        let wanted =
            |visit: &Visit| reach == Reach::Everything || !self.folders.contains_key(&visit.path);
        let visits: Vec<Visit> = visits.into_iter().filter(wanted).collect();
        let read = |visit: Visit| {
            let path = visit.path.clone();
            let (folder, visits) = scan(survey, visit, self.folders.get(&path).map(|old| &**old));
            let mut found = self.visit_all(survey, visits, reach);
            found.push((path, Arc::new(folder)));
            found
        };
        visits.into_par_iter().flat_map_iter(read).collect()
    }
}

/// How far a visit goes.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Reach {
    Everything,
    NewFolders,
}

fn root(path: &Path) -> Visit {
    Visit {
        path: path.to_path_buf(),
        depth: 0,
        domain: None,
        above: Arc::default(),
    }
}
