//! Parsing of JSON in the store. An unreadable text is an error that names its row: a default in its place
//! would hide the damage, and would overwrite what a person could still repair.

use std::fmt::Display;

use deft_model::Failure;
use deft_store::{RunRow, Store};
use jiff::Timestamp;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::Error;

/// Parses JSON from the store; `what` names the row for the error.
pub fn read_stored<T: DeserializeOwned>(
    text: &str,
    what: impl FnOnce() -> String,
) -> Result<T, Error> {
    serde_json::from_str(text).map_err(|error| Error::Unreadable {
        what: what(),
        why: error.to_string(),
    })
}

/// Reads a setting that is stored as JSON; `None` if it was never stored.
pub async fn read_setting<T: DeserializeOwned>(
    store: &dyn Store,
    name: &str,
) -> Result<Option<T>, Error> {
    let stored = store.setting(name).await?;
    let read = |text: String| read_stored(&text, || format!("the setting `{name}`"));
    stored.map(read).transpose()
}

/// Reads a setting that is stored as an instant; `None` if it was never stored.
pub async fn read_instant(store: &dyn Store, name: &str) -> Result<Option<Timestamp>, Error> {
    let stored = store.setting(name).await?;
    let read = |text: String| {
        text.parse()
            .map_err(|error: jiff::Error| Error::Unreadable {
                what: format!("the setting `{name}`"),
                why: error.to_string(),
            })
    };
    stored.map(read).transpose()
}

/// Returns the value of a read that its caller can go on without. An error is logged, with the missing part.
pub fn read_or_log<T, E: Display>(read: Result<T, E>, what: &str) -> Option<T> {
    let logged = read.inspect_err(|error| tracing::warn!(%error, "could not read {what}"));
    logged.ok()
}

/// Parses the inputs of a run.
pub fn run_inputs<T: DeserializeOwned>(run: &RunRow) -> Result<T, Error> {
    read_stored(&run.inputs, || format!("the inputs of run `{}`", run.id))
}

/// Parses the outputs of a run; `None` if it has no outputs yet.
pub fn run_outputs(run: &RunRow) -> Result<Option<Value>, Error> {
    let read = |text: &str| read_stored(text, || format!("the outputs of run `{}`", run.id));
    run.outputs.as_deref().map(read).transpose()
}

/// Parses the failure of a run; `None` if it has not failed.
pub fn run_failure(run: &RunRow) -> Result<Option<Failure>, Error> {
    let read = |text: &str| read_stored(text, || format!("the error of run `{}`", run.id));
    run.error.as_deref().map(read).transpose()
}
