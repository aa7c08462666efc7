//! The example skill `hello-deft`: stored when a daemon first starts in a home, removed after a few fires.

use std::time::Duration;

use deft_config::Home;
use deft_engine::{Engine, Notice, NoticeKind};
use deft_model::{Object, Outcome};
use deft_records::Target;
use deft_store::{RunFilter, SkillOrigin};
use deft_tools::desktop::LOCAL_TARGET;
use deft_wire::{Done, Failure};
use serde_json::Value;

use crate::{app, seed};

/// The record as an assistant would store it: one call, no model. Its notices stay on this host.
const HELLO: &str = include_str!("../../defaults/examples/hello-deft.json");

/// The id of the example skill.
const NAME: &str = "hello-deft";

/// Number of successful runs after which it is removed.
const FIRES: u64 = 3;

/// The text of the notice when it is removed.
const GOODBYE: &str = "deft works: schedules run and notices arrive. `hello-deft` ran three times \
                       and was removed.";

/// Stores the example skill if no daemon has run in this home yet. Returns whether this is the first start.
pub(super) async fn store_hello(home: &Home, engine: &Engine) -> Done<bool> {
    if !seed::has_never_started(home) {
        return Ok(false);
    }
    match engine.library().store_skill(&record()?).await {
        // A home with a skill of this name has already shown that deft works.
        Ok(_) | Err(deft_engine::Error::NameTaken { .. }) => {}
        Err(error) => return Err(app::failure(&error)),
    }
    seed::mark_started(home)?;
    Ok(true)
}

fn record() -> Done<Object> {
    serde_json::from_str(HELLO)
        .map_err(|error| Failure::input("defaults", format!("hello-deft: {error}")))
}

/// Pause between checks: many runs may end in one second, and one check covers them.
const POLL_INTERVAL: Duration = Duration::from_secs(1);

/// Removes the example skill after its last fire and posts a notice. Waits for the bell and not for events,
/// because an engine without listeners publishes none.
pub(super) async fn retire_hello(engine: Engine) {
    loop {
        let ended = engine.base().bells().runs.notified();
        match retire_if_seen(&engine).await {
            Ok(Hello::Fires) => {}
            Ok(Hello::Gone) => return,
            Err(failure) => {
                let why = failure.message;
                tracing::warn!(%why, "`hello-deft` cannot be removed");
                return;
            }
        }
        ended.await;
        tokio::time::sleep(POLL_INTERVAL).await;
    }
}

/// The state of the example skill.
enum Hello {
    Fires,
    /// It was removed or replaced by another skill.
    Gone,
}

async fn retire_if_seen(engine: &Engine) -> Done<Hello> {
    if !is_as_stored(engine).await? {
        return Ok(Hello::Gone);
    }
    let fired = RunFilter {
        skill: Some(NAME.to_owned()),
        outcomes: vec![Outcome::Success],
        ..RunFilter::default()
    };
    let fired = engine.store().count_runs(fired).await;
    if fired.map_err(store_failure)? < FIRES {
        return Ok(Hello::Fires);
    }
    let notice = Notice {
        kind: NoticeKind::Message,
        title: NAME.to_owned(),
        text: GOODBYE.to_owned(),
        skill: Some(NAME.to_owned()),
        run: None,
        target: Some(LOCAL_TARGET.to_owned()),
        approval: None,
        always: false,
    };
    // Post the notice first, so the skill never disappears without one.
    let posted = engine.outbox().post("hello-deft removed", &notice).await;
    posted.map_err(|error| app::failure(&error))?;
    let target = Target::Name(NAME.to_owned());
    let deleted = engine.library().delete_skill(&target).await;
    deleted.map_err(|error| app::failure(&error))?;
    Ok(Hello::Gone)
}

/// Whether the skill is still the example: a person or an assistant may have changed it.
async fn is_as_stored(engine: &Engine) -> Done<bool> {
    let row = engine.store().skill(NAME).await.map_err(store_failure)?;
    let Some(row) = row.filter(|row| row.text.origin == SkillOrigin::Record) else {
        return Ok(false);
    };
    let content = engine.library().content(&row).await;
    let content = content.map_err(|error| app::failure(&error))?;
    let first = record()?;
    let schedule = |record: &Object| -> Option<Value> {
        Some(record.get("trigger_config")?.get("schedule")?.clone())
    };
    Ok(content.get("description") == first.get("description")
        && schedule(&content) == schedule(&first))
}

fn store_failure(error: deft_store::Error) -> Failure {
    app::failure(&deft_engine::Error::from(error))
}
