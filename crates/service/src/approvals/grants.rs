//! Grants: stored answers that approve later calls.

use std::cmp::Reverse;

use deft_store::Grant;
use deft_wire::Done;
use deft_wire::approval::GrantView;

use crate::app::App;
use crate::ids::IdKind;
use crate::shape::read_stored;
use crate::store;

/// Lists all grants.
pub fn grants(app: &App) -> Done<Vec<GrantView>> {
    rows(app)?.iter().map(view).collect()
}

/// Revokes the grant that `id` names: an id, a prefix of one, or `last`.
pub fn revoke(app: &App, id: &str) -> Done<GrantView> {
    let grant = find(app, id)?;
    let revoked = app.block_on(app.engine.store().revoke(&grant.id));
    if !revoked.map_err(|error| store::failure(&error))? {
        // Another process has revoked it meanwhile.
        return Err(IdKind::Grant.unknown(id));
    }
    view(&grant)
}

fn rows(app: &App) -> Done<Vec<Grant>> {
    let grants = app.block_on(app.engine.store().all_grants());
    grants.map_err(|error| store::failure(&error))
}

/// Finds the grant that `id` names: an id, a prefix of one, or `last`.
fn find(app: &App, id: &str) -> Done<Grant> {
    let mut grants = rows(app)?;
    grants.sort_by_key(|grant| Reverse(grant.at));
    let describe = |grant: &Grant| (grant.id.clone(), grant.describes.clone());
    IdKind::Grant.pick(id, grants, describe)
}

fn view(grant: &Grant) -> Done<GrantView> {
    let what = format!("grant `{}`", grant.id);
    let pattern = grant.pattern.as_deref();
    let pattern = pattern.map(|pattern| read_stored(&what, pattern));
    Ok(GrantView {
        id: grant.id.clone(),
        skill: grant.tool().is_none().then(|| grant.skill.clone()),
        tool: grant.tool().map(str::to_owned),
        revision: grant.revision.clone(),
        operation: grant.operation.clone(),
        pattern: pattern.transpose()?,
        describes: grant.describes.clone(),
        by: grant.by.clone(),
        granted_at: grant.at,
    })
}
