//! Costs of models, by day.

use std::collections::BTreeMap;

use deft_model::{SpendSubject, Usd};
use deft_store::{SpendScope, SpentFilter, SpentRow};
use deft_wire::Done;
use deft_wire::stats::{DaySpend, ScopeSpend, SpendStats};
use jiff::civil::Date;

use super::Days;
use crate::app::App;
use crate::store;

/// Returns the costs of models on each of the last `days`.
pub fn spending(app: &App, days: Option<u32>) -> Done<SpendStats> {
    let days = Days::last(app, days)?;
    let rows = app.engine.store().list_spent(SpentFilter::default());
    let rows = app.block_on(rows).map_err(|error| store::failure(&error))?;
    let mut found: BTreeMap<Date, Vec<ScopeSpend>> = BTreeMap::new();
    for row in rows {
        let Some(SpendScope {
            subject,
            day: Some(day),
        }) = SpendScope::from_name(&row.scope)
        else {
            continue;
        };
        if row.calls > 0 && day >= days.from && day <= days.to {
            found.entry(day).or_default().push(view(subject, &row));
        }
    }
    let day = |(day, mut scopes): (Date, Vec<ScopeSpend>)| {
        scopes.sort_by_key(|scope| scope.scope != SpendSubject::All);
        DaySpend {
            day: day.to_string(),
            scopes,
        }
    };
    Ok(SpendStats {
        from: days.from.to_string(),
        to: days.to.to_string(),
        days: found.into_iter().map(day).collect(),
    })
}

fn view(scope: SpendSubject, row: &SpentRow) -> ScopeSpend {
    ScopeSpend {
        scope,
        calls: row.calls,
        input_tokens: row.tokens_in,
        output_tokens: row.tokens_out,
        cost_usd: Usd::from_micros(row.micros),
    }
}
