//! The set of all loaded skills, domains and agents at one instant.

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use deft_model::{DomainIndex, SkillId};
use deft_skillfile::{Diagnostic, Moment, Rule, has_errors, slug};

use crate::agents::Agents;
use crate::domain::{self, Domain};
use crate::file::file_name;
use crate::options::Options;
use crate::report::{FileReport, State};
use crate::survey::Folder;
use crate::tree::Tree;
use crate::unit::{Definition, LoadedAgent, LoadedSkill, Outcome, Unit};

/// All loaded skills, domains and agents: immutable, shared by all readers, replaced as a whole.
#[derive(Debug, Default)]
pub struct Snapshot {
    skills: BTreeMap<SkillId, Arc<LoadedSkill>>,
    domains: BTreeMap<String, Domain>,
    agents: Agents,
    files: Vec<FileReport>,
    tree: Tree,
}

impl Snapshot {
    /// Adds skills that do not come from files. Each replaces a file with the same id.
    #[must_use]
    pub fn join(mut self, others: impl IntoIterator<Item = LoadedSkill>) -> Self {
        let others = others.into_iter();
        let others = others.map(|other| (other.skill.id.clone(), Arc::new(other)));
        self.skills.extend(others);
        self
    }

    /// Returns a copy with changed contents for some skills; `None` removes a skill. The copy cannot be
    /// compared with the file system any more.
    #[must_use]
    pub fn with_edits(&self, edited: BTreeMap<SkillId, Option<LoadedSkill>>) -> Self {
        let mut skills = self.skills.clone();
        let mut domains = self.domains.clone();
        for (id, loaded) in edited {
            match loaded {
                Some(loaded) => drop(skills.insert(id, Arc::new(loaded))),
                None => {
                    skills.remove(&id);
                    let domains = domains.values_mut();
                    domains.for_each(|domain| domain.skills.retain(|skill| *skill != id));
                }
            }
        }
        Self {
            skills,
            domains,
            agents: self.agents.clone(),
            files: self.files.clone(),
            tree: Tree::default(),
        }
    }

    /// Restores the last valid state of skills whose files are broken, if it is in `last_good`.
    #[must_use]
    pub fn with_last_good(self, options: &Options, last_good: Vec<LoadedSkill>) -> Self {
        if last_good.is_empty() {
            return self;
        }
        let mut tree = self.tree;
        for loaded in last_good {
            tree.recall(&Arc::new(loaded));
        }
        Self::index(tree, options)
    }

    /// Reads all roots once, without watching them.
    pub fn load(options: &Options, moment: &Moment) -> Self {
        Self::index(Tree::default().rescan(options, moment, false), options)
    }

    /// Compares everything with the file system and reads what changed.
    #[must_use]
    pub fn rescan(&self, options: &Options, moment: &Moment) -> Self {
        Self::index(self.tree.rescan(options, moment, false), options)
    }

    /// Like [`rescan`](Self::rescan), for use right after watches were set, when files may still be changing.
    pub(crate) fn catch_up(&self, options: &Options, moment: &Moment) -> Self {
        Self::index(self.tree.rescan(options, moment, true), options)
    }

    /// Reads what may have changed at `paths`. Returns `None` if none of them is below a root.
    pub(crate) fn update(
        &self,
        options: &Options,
        moment: &Moment,
        paths: &HashSet<PathBuf>,
    ) -> Option<Self> {
        let tree = self.tree.update(options, moment, paths)?;
        Some(Self::index(tree, options))
    }

    /// Returns every folder in which changes matter.
    pub(crate) fn watched_folders(&self) -> impl Iterator<Item = &Path> {
        self.tree.folders().flat_map(|folder| {
            let inner = folder.inner.iter().map(PathBuf::as_path);
            std::iter::once(folder.visit.path.as_path()).chain(inner)
        })
    }

    /// Returns the skills, by id.
    pub fn skills(&self) -> impl Iterator<Item = &Arc<LoadedSkill>> {
        self.skills.values()
    }

    /// Returns the number of skills.
    pub fn skill_count(&self) -> usize {
        self.skills.len()
    }

    /// Returns the skill with this id.
    pub fn skill(&self, id: &str) -> Option<&Arc<LoadedSkill>> {
        self.skills.get(id)
    }

    /// Returns the skill with this id, or with this name if it is unique, or whose id results from the words
    /// in `name`, such as `Morning Briefing`.
    pub fn find(&self, name: &str) -> Option<&Arc<LoadedSkill>> {
        let by_name = || {
            let mut same = self
                .skills()
                .filter(|loaded| loaded.skill.name.eq_ignore_ascii_case(name));
            same.next().filter(|_| same.next().is_none())
        };
        let by_words = || self.skill(&slug(name));
        self.skill(name).or_else(by_name).or_else(by_words)
    }

    /// Returns the domains, by name.
    pub fn domains(&self) -> impl Iterator<Item = (&str, &Domain)> {
        self.domains
            .iter()
            .map(|(name, domain)| (name.as_str(), domain))
    }

    /// Returns the domain with this name.
    pub fn domain(&self, name: &str) -> Option<&Domain> {
        self.domains.get(name)
    }

    /// Returns the agents, by id, including the default agent unless a file overrides it.
    pub fn agents(&self) -> impl Iterator<Item = &Arc<LoadedAgent>> {
        self.agents.iter()
    }

    /// Returns the agent with this id. `None` for an agent whose file is broken and was never valid, even if
    /// a later file or the default agent has the same id.
    pub fn agent(&self, id: &str) -> Option<&Arc<LoadedAgent>> {
        self.agents.get(id)
    }

    /// Returns the result for each file, and for folders with problems, by root and path.
    pub fn files(&self) -> &[FileReport] {
        &self.files
    }

    /// Decides which files are in effect: roots in their order; within a root, files whose path matches the
    /// name before others (S2.12), and then by path.
    pub(crate) fn index(tree: Tree, options: &Options) -> Self {
        let mut snapshot = Self::default();
        let mut indexes = BTreeMap::new();
        for root in options.followed_folders() {
            let root: &Arc<Path> = &Arc::from(root.as_path());
            // A root inside a root is handled as a separate root.
            let folders = || {
                tree.folders_below(root)
                    .filter(|folder| folder.visit.root == *root)
            };
            let units = || folders().flat_map(|folder| &folder.units);
            let (misnamed, named): (Vec<&Unit>, Vec<&Unit>) =
                units().partition(|unit| unit.is_misnamed());
            let mut reports: HashMap<&Path, FileReport> = HashMap::new();
            for unit in named.into_iter().chain(misnamed) {
                let report = snapshot.add(unit, root, &mut indexes);
                reports.insert(&unit.path, report);
            }
            for folder in folders() {
                snapshot.add_problems(folder, root);
                let units = folder.units.iter();
                let reports = units.filter_map(|unit| reports.remove(&*unit.path));
                snapshot.files.extend(reports);
            }
            if options.roots.iter().any(|one| **one == **root) {
                snapshot.files.extend(empty_folders(&tree, root));
            }
        }
        snapshot.domains = domain::group(snapshot.skills.values(), indexes);
        snapshot.tree = tree;
        snapshot
    }

    fn add_problems(&mut self, folder: &Folder, root: &Arc<Path>) {
        if !folder.problems.is_empty() {
            self.files.push(FileReport {
                path: Arc::from(folder.visit.path.as_path()),
                root: Arc::clone(root),
                state: if has_errors(&folder.problems) {
                    State::Broken { kept: None }
                } else {
                    State::Ignored
                },
                diagnostics: folder.problems.as_slice().into(),
            });
        }
        let left_out = |(path, why): &(PathBuf, Diagnostic)| FileReport {
            path: Arc::from(path.as_path()),
            root: Arc::clone(root),
            state: State::Ignored,
            diagnostics: vec![why.clone()].into(),
        };
        self.files.extend(folder.left_out.iter().map(left_out));
    }

    fn add(
        &mut self,
        unit: &Unit,
        root: &Arc<Path>,
        indexes: &mut BTreeMap<String, (Arc<DomainIndex>, Arc<Path>)>,
    ) -> FileReport {
        let state = match unit.outcome.live() {
            Some(Definition::Skill(loaded)) => self.add_skill(loaded),
            Some(Definition::Domain(index)) => match indexes.entry(index.domain.clone()) {
                Entry::Vacant(free) => {
                    free.insert((Arc::clone(index), Arc::clone(&unit.path)));
                    State::Index(index.domain.clone())
                }
                Entry::Occupied(taken) => State::Shadowed {
                    id: index.domain.clone(),
                    by: Arc::clone(&taken.get().1),
                },
            },
            Some(Definition::Agent(loaded)) => self.agents.add(loaded),
            None => State::Ignored,
        };
        if matches!(unit.outcome, Outcome::Broken(None)) {
            self.agents.miss(&unit.path);
        }
        let state = match (&unit.outcome, state) {
            (Outcome::Broken(_), State::Loaded(id)) => State::Broken { kept: Some(id) },
            (Outcome::Broken(_), State::Agent(id)) => State::Broken {
                kept: Some(SkillId::new(id)),
            },
            (Outcome::Broken(_), _) => State::Broken { kept: None },
            (Outcome::Good(_) | Outcome::Ignored, state) => state,
        };
        FileReport {
            path: Arc::clone(&unit.path),
            root: Arc::clone(root),
            diagnostics: shadow_note(&state, &unit.diagnostics),
            state,
        }
    }

    fn add_skill(&mut self, loaded: &Arc<LoadedSkill>) -> State {
        let id = loaded.skill.id.clone();
        match self.skills.entry(id.clone()) {
            Entry::Vacant(free) => {
                free.insert(Arc::clone(loaded));
                State::Loaded(id)
            }
            Entry::Occupied(taken) => State::Shadowed {
                id: id.to_string(),
                by: Arc::clone(&taken.get().path),
            },
        }
    }
}

/// Adds a diagnostic to a file that is shadowed by another one.
fn shadow_note(state: &State, found: &Arc<[Diagnostic]>) -> Arc<[Diagnostic]> {
    let State::Shadowed { id, by } = state else {
        return Arc::clone(found);
    };
    let message = format!(
        "`{id}` is already defined in {}, which comes first",
        by.display()
    );
    let note =
        Diagnostic::new(Rule::DuplicateId, message).with_help("rename or remove one of them");
    found.iter().cloned().chain([note]).collect()
}

/// Reports folders directly below a root that contain nothing to load (S4.8).
fn empty_folders<'a>(tree: &'a Tree, root: &'a Arc<Path>) -> impl Iterator<Item = FileReport> + 'a {
    let children = tree
        .folders_below(root)
        .next()
        .filter(|folder| folder.visit.path == **root);
    let children = children
        .into_iter()
        .filter(|folder| !folder.is_skill)
        .flat_map(|root| &root.children);
    let hidden = |path: &Path| file_name(path).is_none_or(|name| name.starts_with('.'));
    let is_empty = move |path: &&PathBuf| {
        !hidden(path)
            && tree
                .folders_below(path)
                .all(|folder| folder.units.is_empty() && folder.problems.is_empty())
    };
    children.filter(is_empty).map(move |path| {
        let name = file_name(path).unwrap_or_default();
        let note = Diagnostic::new(Rule::MissingSkillMd, format!("No SKILL.md found in {name}"))
            .with_help("add one, or move the folder away from the skills");
        FileReport {
            path: Arc::from(path.as_path()),
            root: Arc::clone(root),
            state: State::Ignored,
            diagnostics: Arc::from([note]),
        }
    })
}
