//! The memory of agents: lists and deletes facts on behalf of users.

use deft_store::{FactFilter, FactRow};
use deft_wire::fact::{FactList, FactView, ForgottenFact};
use deft_wire::{Done, Failure};

use crate::app::App;
use crate::store;

/// A query for facts.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FactQuery {
    /// Words that the fact contains.
    pub search: Option<String>,
    /// The category of the fact.
    pub category: Option<String>,
    /// The agent that stored the fact.
    pub agent: Option<String>,
    /// Maximum number of facts.
    pub limit: u32,
}

/// Lists facts.
pub fn list(app: &App, query: FactQuery) -> Done<FactList> {
    let filter = FactFilter {
        agent_id: query.agent,
        category: query.category,
        text: query.search,
        limit: Some(query.limit),
    };
    let rows = app.block_on(app.engine.store().facts(filter));
    let rows = rows.map_err(|error| store::failure(&error))?;
    Ok(FactList {
        facts: rows.into_iter().map(view).collect(),
    })
}

/// Deletes a fact.
pub fn forget(app: &App, id: i64) -> Done<ForgottenFact> {
    let deleted = app.block_on(app.engine.store().delete_fact(id));
    if deleted.map_err(|error| store::failure(&error))? {
        return Ok(ForgottenFact { forgotten: id });
    }
    let message = format!("unknown fact `{id}`");
    Err(Failure::input("unknown_fact", message).hint("`GET /api/v1/memory` lists the facts"))
}

fn view(row: FactRow) -> FactView {
    FactView {
        id: row.id,
        agent_id: row.fact.agent_id,
        category: row.fact.category,
        text: row.fact.text,
        source: row.fact.source,
        at: row.fact.at,
    }
}
