//! Skills that the store knows: records, and how file skills stand.
//!
//! Read only: a home without a database has none, and `--root` looks at no home at all.

use std::collections::HashMap;

use deft_model::{DisabledReason, Skill};
use deft_registry::{Loaded, Snapshot};
use deft_skillfile::{Diagnostic, Moment, Surroundings, is_meant};
use deft_store::{SkillFilter, SkillOrigin, SkillRow, Standing};
use deft_tools::{Found, Router};
use jiff::SignedDuration;
use serde_json::{Value, json};

use crate::app::{self, App};
use crate::args::{Global, Roots};
use crate::failure::Done;
use crate::view;

/// The skills of files and the records of the store, which models see alike.
pub(crate) fn join(snapshot: Snapshot, global: &Global, roots: &Roots) -> Done<Snapshot> {
    if !roots.roots.is_empty() {
        return Ok(snapshot);
    }
    join_with(snapshot, &App::to_read(global)?)
}

/// The same with a home that is open already.
pub(crate) fn join_with(snapshot: Snapshot, app: &App) -> Done<Snapshot> {
    let records = app.block_on(app.engine.library().record_skills());
    let records = records.map_err(|error| app::failure(&error))?;
    Ok(snapshot.joined(records))
}

/// What the store says about skills.
#[derive(Default)]
pub(crate) struct Stored {
    rows: HashMap<String, SkillRow>,
    /// Tools that skills need and nobody offers, as far as is known.
    missing: HashMap<String, Vec<String>>,
    /// Records as listings show them, by name.
    pub(crate) records: Vec<Value>,
    /// Tools as servers last listed them.
    tools: Surroundings,
}

impl Stored {
    pub(crate) fn read(global: &Global, roots: &Roots) -> Done<Self> {
        if !roots.roots.is_empty() {
            return Ok(Self::default());
        }
        let app = App::to_read(global)?;
        app.block_on(async {
            let rows = app
                .engine
                .library()
                .list_skills(SkillFilter::default())
                .await;
            let rows = rows.map_err(|error| app::failure(&error))?;
            let mut records = Vec::new();
            for row in rows
                .iter()
                .filter(|row| row.text.origin == SkillOrigin::Record)
            {
                let shown = app.engine.record_json(row).await;
                records.push(shown.map_err(|error| app::failure(&error))?);
            }
            let router = app.engine.router();
            let missing = rows
                .iter()
                .map(|row| (row.text.skill.clone(), missing(row, router)))
                .collect();
            let rows = rows.into_iter().map(|row| (row.text.skill.clone(), row));
            Done::Ok(Self {
                rows: rows.collect(),
                missing,
                records,
                tools: deft_engine::known_tools(router),
            })
        })
    }

    /// The row of a file skill, unless the file came back since anybody looked.
    fn row(&self, id: &str) -> Option<&SkillRow> {
        let gone = Some(DisabledReason::FileRemoved);
        self.rows
            .get(id)
            .filter(|row| row.standing.disabled != gone && row.text.origin == SkillOrigin::File)
    }

    /// What is wrong with a skill of a file as far as it is about tools.
    pub(crate) fn check_tools(&self, skill: &Skill) -> Vec<Diagnostic> {
        deft_engine::check_tools(skill, &self.tools)
    }

    /// The number of the record that has the name of a file skill: its slots are those of the
    /// record, and the file has none.
    pub(crate) fn clash(&self, id: &str) -> Option<i64> {
        let row = self.rows.get(id)?;
        (row.text.origin == SkillOrigin::Record).then_some(row.id)
    }

    /// What is wrong with names that a file and a record have both, and what mends it.
    pub(crate) fn clashes(&self, snapshot: &Snapshot) -> Vec<(String, String)> {
        let clash = |loaded: &Loaded| {
            let id = &loaded.skill.id;
            let record = self.clash(id.as_str())?;
            // A file that is off may leave its name to a record.
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
        snapshot
            .skills()
            .filter_map(|loaded| clash(loaded))
            .collect()
    }

    /// How a file skill stands, put over what the file says.
    pub(crate) fn overlay(&self, loaded: &Loaded, moment: &Moment, shown: &mut Value) {
        if let Some(record) = self.clash(loaded.skill.id.as_str()) {
            shown["clashes_with"] = record.into();
            shown["enabled"] = false.into();
            shown["trigger"]["next"] = json!([]);
        }
        let Some(row) = self.row(loaded.skill.id.as_str()) else {
            return;
        };
        if let Some(next) = self.next(loaded, moment) {
            shown["trigger"]["next"] = next.into();
        }
        let standing = &row.standing;
        let time = |at: Option<jiff::Timestamp>| at.map(|at| at.to_string());
        let known = json!({
            "record_id": row.id,
            "missing_tools": self.missing_tools(&row.text.skill),
            "enabled": standing.disabled.is_none(),
            "disabled_reason": standing.disabled,
            "failures": standing.streak,
            "backoff_until": time(standing.backoff_until),
            "last_run_at": time(standing.last_run_at),
            "last_run_status": standing.last_run_status,
            "last_run_summary": standing.last_run_summary,
        });
        if let (Value::Object(shown), Value::Object(known)) = (shown, known) {
            shown.extend(known);
        }
    }

    /// Tools that a file skill needs and nobody offers.
    pub(crate) fn missing_tools(&self, id: &str) -> &[String] {
        self.missing.get(id).map_or(&[], Vec::as_slice)
    }

    /// How a file skill stands, if the store knows it.
    pub(crate) fn standing(&self, id: &str) -> Option<&Standing> {
        self.row(id).map(|row| &row.standing)
    }

    /// When a file skill fires next, with its grid where it really is. None if the store does not
    /// know the file as it is now.
    pub(crate) fn next(&self, loaded: &Loaded, moment: &Moment) -> Option<Vec<String>> {
        let row = self.row(loaded.skill.id.as_str())?;
        if row.standing.disabled.is_some() {
            return Some(Vec::new());
        }
        if row.text.revision != loaded.revision.to_string() {
            return None;
        }
        let plan = deft_engine::stored_schedule(row, &moment.zone)?;
        // Slots within a rest bring no run.
        let rest = row.standing.backoff_until;
        let rest = rest.and_then(|until| until.checked_sub(SignedDuration::from_nanos(1)).ok());
        let from = rest.map_or(moment.now, |rest| rest.max(moment.now));
        let next = plan.schedule.next(from, view::NEXT);
        let show = |at: &jiff::Timestamp| deft_schedule::show(*at, &plan.zone);
        Some(next.iter().map(show).collect())
    }

    /// A record by its id, number or name.
    pub(crate) fn find(&self, name: &str) -> Option<&Value> {
        let number: Option<i64> = name.parse().ok();
        let fits = |record: &&Value| {
            let text = |key: &str| record[key].as_str().unwrap_or_default();
            let numbered = number.is_some() && record["record_id"].as_i64() == number;
            numbered || is_meant(name, text("id"), text("name"))
        };
        self.records.iter().find(fits)
    }
}

/// Tools that a skill needs and nobody offers, as far as is known.
pub(super) fn missing(row: &SkillRow, router: &Router) -> Vec<String> {
    let tools: Vec<String> = serde_json::from_str(&row.text.required_tools).unwrap_or_default();
    let there = |tool: &String| matches!(router.find(tool), Found::Tool(_));
    tools.into_iter().filter(|tool| !there(tool)).collect()
}
