//! The home itself: its state, its checks, its settings, its secrets by name, its memory, and what models cost.

use deft_service::memory::{self, FactQuery};
use deft_service::{budget, doctor, secrets, settings, status};
use deft_wire::api::{FactListQuery, SettingRequest};
use deft_wire::budget::BudgetView;
use deft_wire::check::CheckList;
use deft_wire::fact::{FactList, ForgottenFact};
use deft_wire::secret::SecretList;
use deft_wire::setting::{SettingChanged, SettingList};
use deft_wire::status::StatusView;
use deft_wire::token::TokenScope as Scope;
use deft_wire::{Done, Failure};

use super::page_size;
use crate::route::{Call, Nothing, Route, Verb};

pub(super) fn routes() -> Vec<Route> {
    use Scope::{Admin, Read};
    use Verb::{Delete, Get, Put};
    vec![
        Route::new(
            Get,
            "/api/v1/status",
            "The state of the home",
            Read,
            show_status,
        ),
        Route::new(
            Get,
            "/api/v1/doctor",
            "Check the home; nothing is repaired",
            Read,
            examine,
        ),
        Route::new(
            Get,
            "/api/v1/settings",
            "All settings with their origin",
            Read,
            list_settings,
        ),
        Route::new(
            Put,
            "/api/v1/settings/{key}",
            "Change a setting",
            Admin,
            change_setting,
        ),
        Route::new(
            Get,
            "/api/v1/secrets",
            "Secrets by name; never their values",
            Read,
            list_secrets,
        ),
        Route::new(
            Get,
            "/api/v1/memory",
            "Facts that agents remember",
            Read,
            list_facts,
        ),
        Route::new(
            Delete,
            "/api/v1/memory/{id}",
            "Forget a fact",
            Admin,
            forget_fact,
        ),
        Route::new(
            Get,
            "/api/v1/budget",
            "What models used today, and the limits",
            Read,
            show_budget,
        ),
    ]
}

fn show_status(call: &Call) -> Done<StatusView> {
    status::status(&call.server.workspace)
}

fn examine(call: &Call) -> Done<CheckList> {
    doctor::examine(&call.server.workspace, false)
}

fn list_settings(call: &Call) -> Done<SettingList> {
    Ok(settings::list(&call.server.workspace)?.view())
}

fn change_setting(call: &Call<Nothing, SettingRequest>) -> Done<SettingChanged> {
    let changed = settings::set(&call.server.workspace, call.param(), &call.body.value)?;
    Ok(changed.view())
}

fn list_secrets(call: &Call) -> Done<SecretList> {
    secrets::list(&call.server.workspace)
}

fn show_budget(call: &Call) -> Done<BudgetView> {
    budget::show(&call.server.workspace)
}

fn list_facts(call: &Call<FactListQuery>) -> Done<FactList> {
    let query = &call.query;
    let wanted = FactQuery {
        search: query.search.clone(),
        category: query.category.clone(),
        agent: query.agent.clone(),
        limit: page_size(query.limit),
    };
    memory::list(&call.server.app, wanted)
}

fn forget_fact(call: &Call) -> Done<ForgottenFact> {
    let id = call.param().parse().map_err(|_| {
        let message = format!("`{}` is not the number of a fact", call.param());
        Failure::input("invalid_input", message)
    })?;
    memory::forget(&call.server.app, id)
}
