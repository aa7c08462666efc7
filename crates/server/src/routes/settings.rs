//! `/api/v1/settings` and `/api/v1/budget`: reading and changing the configuration.

use deft_service::budget::{self, BudgetKey, BudgetRequest};
use deft_service::settings;
use deft_wire::api::SettingRequest;
use deft_wire::budget::{BudgetChanged, BudgetView, ResumeAgentResult};
use deft_wire::requests::BudgetChange;
use deft_wire::setting::{SetSettingResult, SettingList, SettingProblems, SettingSection};
use deft_wire::token::TokenScope as Scope;
use deft_wire::{Done, Failure};

use crate::route::{Call, Nothing, Route, Verb};

pub(super) fn routes() -> Vec<Route> {
    use Scope::{Admin, Read};
    use Verb::{Get, Post, Put};
    vec![
        Route::new(
            Get,
            "/api/v1/settings",
            "List all settings with their origin",
            Read,
            list,
        ),
        Route::new(
            Get,
            "/api/v1/settings/problems",
            "List problems in the configuration",
            Read,
            validate,
        ),
        Route::new(
            Get,
            "/api/v1/settings/{key}",
            "Show a setting, or all settings of a section",
            Read,
            show,
        ),
        Route::new(
            Put,
            "/api/v1/settings/{key}",
            "Change a setting",
            Admin,
            change,
        ),
        Route::new(
            Get,
            "/api/v1/budget",
            "Show today's model usage and the limits",
            Read,
            show_budget,
        ),
        Route::new(
            Put,
            "/api/v1/budget",
            "Set limits on model usage",
            Admin,
            set_budget,
        ),
        Route::new(
            Post,
            "/api/v1/budget/{agent}/resume",
            "Resume a paused agent",
            Admin,
            resume_agent,
        ),
    ]
}

fn list(call: &Call) -> Done<SettingList> {
    Ok(settings::list(&call.server.workspace)?.view())
}

fn validate(call: &Call) -> Done<SettingProblems> {
    Ok(settings::validate(&call.server.workspace)?.view())
}

fn show(call: &Call) -> Done<SettingSection> {
    Ok(settings::find(&call.server.workspace, call.param())?.view())
}

fn change(call: &Call<Nothing, SettingRequest>) -> Done<SetSettingResult> {
    let changed = settings::set(&call.server.workspace, call.param(), &call.body.value)?;
    Ok(changed.view())
}

fn show_budget(call: &Call) -> Done<BudgetView> {
    budget::show(&call.server.workspace)
}

fn set_budget(call: &Call<Nothing, BudgetChange>) -> Done<BudgetChanged> {
    let body = &call.body;
    let given = [
        (BudgetKey::TokensPerDay, &body.tokens_per_day),
        (BudgetKey::UsdPerDay, &body.usd_per_day),
        (BudgetKey::OnExhausted, &body.on_exhausted),
        (BudgetKey::SpikeTokens, &body.spike_tokens),
        (BudgetKey::SpikeFactor, &body.spike_factor),
    ];
    let given = given.into_iter();
    let request = BudgetRequest {
        agent: body.agent.clone(),
        changes: given
            .filter_map(|(key, value)| Some((key, value.clone()?)))
            .collect(),
    };
    if request.changes.is_empty() {
        let message = "the request sets no limit";
        return Err(Failure::input("invalid_input", message));
    }
    budget::set(&call.server.workspace, &request)
}

fn resume_agent(call: &Call) -> Done<ResumeAgentResult> {
    budget::resume(&call.server.workspace, call.param())
}
