//! The lookup of skills: files with the overlays of assistants, and the state in the store.
//!
//! Nothing is written. A home without a database has no records, and folders named by the caller belong to no
//! home.

use std::collections::{BTreeMap, HashMap};

use deft_engine::{Error, FileChange, NamedSkill};
use deft_model::{DisabledReason, Skill, nearest};
use deft_registry::{LoadedAgent, LoadedSkill, Snapshot};
use deft_skillfile::{Diagnostic, Moment, Surroundings};
use deft_store::{Grant, SkillFilter, SkillOrigin, SkillRow, SkillState};
use deft_tools::{Router, ToolLookup};
use deft_wire::skill::StoredSkill;
use deft_wire::{Done, Failure};
use jiff::{SignedDuration, Timestamp};

use super::view::NEXT;
use crate::app::{self, App};
use crate::library::Library;
use crate::store;
use crate::workspace::Workspace;

/// The skills of a workspace.
pub struct SkillCatalog {
    pub(crate) library: Library,
    pub(crate) snapshot: Snapshot,
    changes: BTreeMap<String, FileChange>,
    /// The home, opened for reading; `None` for folders named by the caller.
    home: Option<App>,
    rows: Vec<SkillRow>,
    /// The index of each row in `rows`, by skill.
    places: HashMap<String, usize>,
    /// The tools in the stored catalogs.
    tools: Surroundings,
}

impl SkillCatalog {
    /// Reads the files and the store of a workspace.
    pub fn open(workspace: &Workspace) -> Done<Self> {
        let mut catalog = Self::open_files(workspace)?;
        catalog.read_store(workspace)?;
        Ok(catalog)
    }

    /// Reads the files only.
    pub(crate) fn open_files(workspace: &Workspace) -> Done<Self> {
        let library = workspace.library()?;
        let (snapshot, changes) = workspace.load_changed(&library);
        Ok(Self {
            library,
            snapshot,
            changes,
            home: None,
            rows: Vec::new(),
            places: HashMap::new(),
            tools: Surroundings::default(),
        })
    }

    /// Reads the store.
    pub(crate) fn read_store(&mut self, workspace: &Workspace) -> Done<()> {
        if !workspace.roots.is_empty() {
            return Ok(());
        }
        let app = App::to_read(workspace)?;
        let rows = app.block_on(app.engine.library().list_skills(SkillFilter::default()));
        self.rows = rows.map_err(|error| app::failure(&error))?;
        let rows = self.rows.iter().enumerate();
        self.places = rows.map(|(at, row)| (row.text.skill.clone(), at)).collect();
        self.tools = deft_engine::known_tools(app.engine.router());
        self.home = Some(app);
        Ok(())
    }

    pub(crate) fn moment(&self) -> &Moment {
        &self.library.moment
    }

    /// Returns the router with the stored catalogs of the home.
    pub(crate) fn router(&self) -> Option<&Router> {
        self.home.as_ref().map(|home| home.engine.router())
    }

    /// Returns the stored grants of the home.
    pub(super) fn grants(&self) -> Done<Vec<Grant>> {
        let Some(app) = &self.home else {
            return Ok(Vec::new());
        };
        let grants = app.block_on(app.engine.store().all_grants());
        grants.map_err(|error| store::failure(&error))
    }

    /// Returns all rows of the store, by name.
    pub(crate) fn rows(&self) -> &[SkillRow] {
        &self.rows
    }

    /// Returns the skill called `name`, by the same rule as a run of it.
    pub(super) fn choose(&self, name: &str) -> Option<NamedSkill> {
        deft_engine::choose(name, &self.rows, &self.snapshot)
    }

    /// Like [`choose`](Self::choose), and fails if the name is unknown.
    pub(crate) fn look_up(&self, name: &str) -> Done<NamedSkill> {
        let found = self.choose(name);
        found.ok_or_else(|| unknown_skill(&self.snapshot, name))
    }

    /// Returns the failure for a skill whose file was removed: a tool deleted it, or the file was removed.
    pub(super) fn missing_file(&self, name: &str, row: &SkillRow) -> Failure {
        if row.standing.disabled == Some(DisabledReason::Deleted) {
            let skill = row.text.skill.clone();
            return app::failure(&Error::DeletedSkill { skill });
        }
        unknown_skill(&self.snapshot, name)
    }

    /// Returns the file skill called `name`.
    pub(crate) fn find_file(&self, name: &str) -> Done<&LoadedSkill> {
        find_file(&self.snapshot, name)
    }

    fn record_rows(&self) -> impl Iterator<Item = &SkillRow> {
        let record = |row: &&SkillRow| row.text.origin == SkillOrigin::Record;
        self.rows.iter().filter(record)
    }

    /// Returns all records, by name.
    pub(super) fn records(&self) -> Done<Vec<StoredSkill>> {
        self.record_rows()
            .map(|row| self.stored_view(row))
            .collect()
    }

    /// Converts a row for output as JSON.
    pub(super) fn stored_view(&self, row: &SkillRow) -> Done<StoredSkill> {
        match &self.home {
            Some(app) => Ok(StoredSkill {
                replaces_file: self.replaced_file(row),
                ..stored_skill(app, row)?
            }),
            None => Err(Failure::internal("store", "a row without a store")),
        }
    }

    fn row(&self, id: &str) -> Option<&SkillRow> {
        self.places.get(id).and_then(|at| self.rows.get(*at))
    }

    /// Returns the row of a file skill. A row that marks the file as removed is stale and counts as missing.
    pub(super) fn file_row(&self, id: &str) -> Option<&SkillRow> {
        let gone = Some(DisabledReason::FileRemoved);
        self.row(id)
            .filter(|row| row.standing.disabled != gone && row.text.origin == SkillOrigin::File)
    }

    /// Returns the state of a file skill, if the store has it.
    pub(super) fn standing(&self, id: &str) -> Option<&SkillState> {
        self.file_row(id).map(|row| &row.standing)
    }

    /// Returns the overlay that assistants made for a file skill.
    pub(super) fn change(&self, id: &str) -> Option<&FileChange> {
        self.changes.get(id)
    }

    /// Returns the unknown tools and wrong arguments of a skill.
    pub(super) fn check_tools(&self, skill: &Skill) -> Vec<Diagnostic> {
        deft_engine::check_tools(skill, &self.tools)
    }

    /// Returns the number of the record with the same name as a file skill. In a clash, the record fires and
    /// the file does not.
    pub(super) fn clash(&self, id: &str) -> Option<i64> {
        let row = self.row(id)?;
        (row.text.origin == SkillOrigin::Record).then_some(row.id)
    }

    /// Returns the path of the file whose name a record has.
    fn replaced_file(&self, record: &SkillRow) -> Option<String> {
        let file = self.snapshot.skill(&record.text.skill)?;
        Some(file.path.display().to_string())
    }

    /// Returns the names that both a file and a record have, each as a message and a remedy.
    pub(super) fn clashes(&self) -> Vec<(String, String)> {
        let clash = |loaded: &LoadedSkill| {
            let id = &loaded.skill.id;
            let record = self.clash(id.as_str())?;
            // A disabled file may leave its name to a record.
            if !loaded.skill.policy.enabled {
                return None;
            }
            let path = loaded.path.display();
            let message =
                format!("`{id}` is both `{path}` and record {record}: the file does not fire");
            let hint = format!(
                "give the file another name, or delete the record with `deft skills delete {record}`"
            );
            Some((message, hint))
        };
        let skills = self.snapshot.skills();
        skills.filter_map(|loaded| clash(loaded)).collect()
    }

    /// Returns the required tools of a file skill that no known server provides.
    pub(super) fn missing_tools(&self, row: &SkillRow) -> Vec<String> {
        self.router()
            .map_or_else(Vec::new, |router| missing_tools(row, router))
    }

    /// Returns the next fires of a file skill, from its row. `None` if the store does not have this revision
    /// of the file.
    pub(super) fn next_fires(&self, loaded: &LoadedSkill) -> Done<Option<Vec<String>>> {
        let Some(row) = self.file_row(loaded.skill.id.as_str()) else {
            return Ok(None);
        };
        if row.standing.disabled.is_some() {
            return Ok(Some(Vec::new()));
        }
        if row.text.revision != loaded.revision.to_string() {
            return Ok(None);
        }
        let moment = self.moment();
        let plan = deft_engine::stored_schedule(row, &moment.zone);
        let Some(plan) = plan.map_err(|error| app::failure(&error))? else {
            return Ok(None);
        };
        // Slots before the end of a backoff are skipped.
        let rest = row.standing.backoff_until;
        let rest = rest.and_then(|until| until.checked_sub(SignedDuration::from_nanos(1)).ok());
        let from = rest.map_or(moment.now, |rest| rest.max(moment.now));
        let next = plan.schedule.next(from, NEXT);
        let show = |at: &Timestamp| deft_schedule::show(*at, &plan.zone);
        Ok(Some(next.iter().map(show).collect()))
    }

    /// Joins the file skills and the records, which models cannot tell apart.
    pub(crate) fn into_joined(self) -> Done<(Snapshot, Option<App>)> {
        let Some(app) = self.home else {
            return Ok((self.snapshot, None));
        };
        let records = app.block_on(app.engine.library().record_skills());
        let records = records.map_err(|error| app::failure(&error))?;
        Ok((self.snapshot.join(records), Some(app)))
    }
}

/// Returns the file skill called `name`.
pub(crate) fn find_file<'a>(snapshot: &'a Snapshot, name: &str) -> Done<&'a LoadedSkill> {
    let file = snapshot.find(name).map(|loaded| &**loaded);
    file.ok_or_else(|| unknown_skill(snapshot, name))
}

fn unknown_skill(snapshot: &Snapshot, name: &str) -> Failure {
    if let Some(agent) = snapshot.agent(name) {
        return named_agent(agent);
    }
    let ids = snapshot.skills().map(|loaded| loaded.skill.id.as_str());
    let hint = match nearest(name, ids) {
        Some(near) => format!("did you mean `{near}`?"),
        None => "`deft skills list` shows all skills".to_owned(),
    };
    Failure::input("unknown_skill", format!("unknown skill `{name}`")).hint(hint)
}

/// The failure for the name of an agent where a skill is expected.
fn named_agent(agent: &LoadedAgent) -> Failure {
    let name = &agent.agent.id;
    let failure = Failure::input(
        "unknown_skill",
        format!("`{name}` is an agent, not a skill"),
    );
    failure.hint(format!(
        "`deft skills doctor` lists agents with their files; `deft chat --agent {name}` talks to it"
    ))
}

/// Converts a row for output as JSON. The engine uses the same format for its own tools.
pub(super) fn stored_skill(app: &App, row: &SkillRow) -> Done<StoredSkill> {
    app.block_on(app.engine.stored_skill(row))
        .map_err(|error| app::failure(&error))
}

/// Returns the required tools that no known server provides.
pub(super) fn missing_tools(row: &SkillRow, router: &Router) -> Vec<String> {
    let tools = row.text.required_tools.iter();
    let provided = |tool: &str| matches!(router.find(tool), ToolLookup::Tool(_));
    tools.filter(|tool| !provided(tool)).cloned().collect()
}
