//! Hooks: other programs send signed deliveries, which fire the skills that name the hook.
//!
//! A delivery is checked (`signature.rs`, with the secret from `book.rs`), read (`payload.rs`) and handed to the scheduler, which queues a run per
//! skill under the key of the delivery. `trial.rs` sends one by hand. Not here: the server that takes deliveries.

mod book;
mod payload;
mod signature;
mod trial;

use std::collections::BTreeMap;
use std::sync::Arc;

use deft_config::{HookConfig, Secrets};
use deft_model::RunOrigin;
use deft_registry::LoadedSkill;
use deft_scheduler::{HookDelivery, HookFire};
use deft_tools::SecretSource;
use deft_wire::Done;
use deft_wire::hook::{HookList, HookReceipt, HookRun, HookView};
use jiff::Timestamp;
use serde_json::{Value, json};

pub use book::HookConfigs;
pub use trial::send_trial;

use crate::app::{self, App};
use crate::workspace::Workspace;

/// A delivery as it was received.
#[derive(Clone, Debug, Default)]
pub struct HookRequest {
    /// The name of the hook, from the end of the URL.
    pub hook: String,
    /// Headers by their lower-case names. A header that was sent twice is left out.
    pub headers: BTreeMap<String, String>,
    /// The body.
    pub body: Vec<u8>,
    /// Its origin, for the journals of the runs.
    pub origin: RunOrigin,
}

impl HookRequest {
    fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name).map(String::as_str)
    }
}

/// Verifies a delivery and queues a run for each skill that waits for it.
pub fn receive(app: &App, book: &HookConfigs, request: &HookRequest) -> Done<HookReceipt> {
    let hook = book.hook(&request.hook)?;
    let key = check_signature(book, &hook, request)?;
    let payload = payload::read(&hook, request)?;
    let kind = payload::kind(&hook, request, &payload);
    let mut receipt = HookReceipt {
        ok: true,
        hook: hook.name.clone(),
        delivery: key.clone(),
        repeated: false,
        ignored: None,
        runs: Vec::new(),
    };
    if !hook.events.is_empty() && !kind.as_ref().is_some_and(|kind| hook.events.contains(kind)) {
        receipt.ignored = Some("`events` of the hook does not list this kind".to_owned());
        return Ok(receipt);
    }
    let mut values = match &payload {
        Value::Object(fields) => fields.clone(),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_) => {
            serde_json::Map::new()
        }
    };
    values.insert("hook".to_owned(), json!(hook.name));
    values.insert("delivery".to_owned(), json!(key));
    values.insert("event".to_owned(), json!(kind));
    values.insert("payload".to_owned(), payload);
    let delivery = HookDelivery {
        hook: hook.name,
        key,
        values,
        origin: request.origin.clone(),
    };
    let fired = app.block_on(app.scheduler().fire_hook(&delivery));
    let fired = fired.map_err(|error| app::failure(&error))?;
    let is_old = |fire: &HookFire| matches!(&fire.run, Ok((_, true)));
    receipt.repeated = !fired.is_empty() && fired.iter().all(is_old);
    if fired.is_empty() {
        receipt.ignored = Some("no skill waits for this hook".to_owned());
    }
    receipt.runs = fired.into_iter().map(run_of).collect();
    Ok(receipt)
}

/// Returns the key of a signed delivery. A wrong signature may be right for a secret that was replaced a moment ago.
fn check_signature(book: &HookConfigs, hook: &HookConfig, request: &HookRequest) -> Done<String> {
    let secret = book.secret(hook)?;
    let now = Timestamp::now();
    signature::check(hook, &secret, request, now).or_else(|failure| {
        let renewed = book.secret_within(hook, book::RENEWAL_AGE)?;
        if renewed == secret {
            return Err(failure);
        }
        signature::check(hook, &renewed, request, now)
    })
}

fn run_of(fire: HookFire) -> HookRun {
    let skill = fire.skill;
    match fire.run {
        Ok((run, _)) => HookRun {
            skill,
            run: Some(run.to_string()),
            error: None,
        },
        Err(error) => {
            let why = app::failure(&error).message;
            tracing::warn!(%skill, "a delivery could not fire the skill: {why}");
            HookRun {
                skill,
                run: None,
                error: Some(why),
            }
        }
    }
}

/// A skill that names a hook.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct WaitingSkill {
    /// The id of the skill.
    pub(crate) skill: String,
    /// The name of the hook.
    pub(crate) hook: String,
}

fn waiting_skills(workspace: &Workspace) -> Done<Vec<WaitingSkill>> {
    let snapshot = workspace.load_kept(&workspace.library()?);
    let waiting = |loaded: &Arc<LoadedSkill>| {
        let timing = loaded.skill.timing.as_ref()?;
        Some(WaitingSkill {
            skill: loaded.skill.id.to_string(),
            hook: timing.hook.clone()?,
        })
    };
    Ok(snapshot.skills().filter_map(waiting).collect())
}

/// Returns the skills that wait for a hook missing from the configuration.
pub(crate) fn unknown(workspace: &Workspace) -> Done<Vec<WaitingSkill>> {
    let home = workspace.home_to_read()?;
    let mut waiting = waiting_skills(workspace)?;
    waiting.retain(|one| {
        let mut known = home.config.hooks.iter();
        known.all(|hook| hook.name != one.hook)
    });
    Ok(waiting)
}

/// Lists the hooks of a home, each with the skills that it fires.
pub fn list(workspace: &Workspace) -> Done<HookList> {
    let home = workspace.home_to_read()?;
    let secrets = Secrets::new(&home.config);
    let waiting = waiting_skills(workspace)?;
    let view = |hook: &HookConfig| {
        let skills = waiting.iter().filter(|one| one.hook == hook.name);
        HookView {
            name: hook.name.clone(),
            path: format!("/hooks/{}", hook.name),
            scheme: hook.scheme.word().to_owned(),
            events: hook.events.clone(),
            skills: skills.map(|one| one.skill.clone()).collect(),
            problem: secrets.secret(&hook.secret).err(),
        }
    };
    Ok(HookList {
        hooks: home.config.hooks.iter().map(view).collect(),
    })
}
