//! Skills that the store knows: records, and how file skills stand.
//!
//! Read only: a home without a database has none, and `--root` looks at no home at all.

use std::collections::HashMap;

use deft_store::{SkillFilter, SkillOrigin, SkillRow};
use serde_json::{Value, json};

use crate::app::{self, App};
use crate::args::{Global, Roots};
use crate::failure::Done;

/// What the store says about skills.
#[derive(Default)]
pub(crate) struct Stored {
    rows: HashMap<String, SkillRow>,
    /// Records as listings show them, by name.
    pub(crate) records: Vec<Value>,
}

impl Stored {
    pub(crate) fn read(global: &Global, roots: &Roots) -> Done<Self> {
        if !roots.roots.is_empty() {
            return Ok(Self::default());
        }
        let app = App::to_read(global)?;
        app.block_on(async {
            let rows = app.engine.list_skills(SkillFilter::default()).await;
            let rows = rows.map_err(|error| app::failure(&error))?;
            let mut records = Vec::new();
            for row in rows
                .iter()
                .filter(|row| row.text.origin == SkillOrigin::Record)
            {
                let shown = app.engine.record_json(row).await;
                records.push(shown.map_err(|error| app::failure(&error))?);
            }
            let rows = rows.into_iter().map(|row| (row.text.skill.clone(), row));
            Done::Ok(Self {
                rows: rows.collect(),
                records,
            })
        })
    }

    /// How a file skill stands, put over what the file says.
    pub(crate) fn overlay(&self, id: &str, shown: &mut Value) {
        let Some(row) = self.rows.get(id) else {
            return;
        };
        let standing = &row.standing;
        let time = |at: Option<jiff::Timestamp>| at.map(|at| at.to_string());
        let known = json!({
            "record_id": row.id,
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

    /// What the store knows of a file skill.
    pub(crate) fn row(&self, id: &str) -> Option<&SkillRow> {
        self.rows.get(id)
    }

    /// A record by its id, number or name.
    pub(crate) fn find(&self, name: &str) -> Option<&Value> {
        let fits = |record: &&Value| {
            record["id"] == name
                || record["name"] == name
                || record["record_id"]
                    .as_i64()
                    .map(|id| id.to_string())
                    .as_deref()
                    == Some(name)
        };
        self.records.iter().find(fits)
    }
}
