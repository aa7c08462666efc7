//! The home itself: its state, its checks, its settings, its secrets by name, and what models cost.

use deft_service::{budget, doctor, secrets, settings, status};
use deft_wire::Done;
use deft_wire::api::SettingRequest;
use deft_wire::budget::BudgetView;
use deft_wire::check::CheckList;
use deft_wire::secret::SecretList;
use deft_wire::setting::{SettingChanged, SettingList};
use deft_wire::status::StatusView;

use crate::route::{Call, Nothing, Route, Verb};
use deft_wire::token::TokenScope as Scope;

pub(super) fn routes() -> Vec<Route> {
    use Scope::{Admin, Read};
    use Verb::{Get, Put};
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
