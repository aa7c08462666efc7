//! Steps that wait for a time (`wait:`).
//!
//! The end of a wait is decided once, when the step begins, and recorded, so that a restart does not change
//! it. During a wait the deadlines of nested skills are paused. The driver of the run sleeps or parks;
//! nothing here knows which.

use deft_model::{Failure, FailureClass};
use deft_schedule::{LengthError, instant_after, parse_at, parse_length};
use deft_template::Template;
use jiff::tz::TimeZone;
use jiff::{SignedDuration, Timestamp};
use serde_json::{Value, json};

use crate::Path;
use crate::event::Event;
use crate::machine::Machine;
use crate::scope::NameScope;
use crate::state::{Position, TryState};
use crate::value_kind::describe;

impl Machine {
    /// Returns the end of a wait that begins now.
    pub(crate) fn wait_until(
        &self,
        now: Timestamp,
        view: &NameScope<'_>,
        (until, text): (bool, &Template),
    ) -> Result<Timestamp, Failure> {
        let value = text.render(view).map_err(|error| {
            let mut failure = Failure::new(FailureClass::Invalid, format!("wait: {error}"));
            failure.hint.clone_from(&error.hint);
            failure
        })?;
        if until {
            instant(&value, &self.zone_of(view))
        } else {
            length(&value).and_then(|length| instant_after(now, length).map_err(|e| unreadable(&e)))
        }
    }

    fn zone_of(&self, view: &NameScope<'_>) -> TimeZone {
        let named = view.frame.plan.timezone.as_deref();
        let named = named.and_then(|name| TimeZone::get(name).ok());
        named.unwrap_or_else(|| self.rules.zone.clone())
    }

    /// Returns the end of the wait at `path`, if that is a `wait:` step that has begun.
    pub fn waits_until(&self, path: &Path) -> Option<Timestamp> {
        let at = self.locate(path).ok()?;
        self.try_state(at).and_then(wait_of)
    }

    /// Returns the event that ends a wait.
    pub fn wait_end_event(&self, path: &Path, now: Timestamp) -> Option<Event> {
        let at = self.locate(path).ok()?;
        let tried = self.frames[at.frame].steps[at.step]
            .tries
            .get(at.item.unwrap_or(0))?;
        let TryState::Calling { at: since, .. } = &tried.state else {
            return None;
        };
        let until = wait_of(&tried.state)?;
        let ms = crate::progress::elapsed_ms(*since, now);
        let value = json!(until.to_string());
        Some(self.end_call(path, tried.attempts, Ok(value), now, ms, false))
    }

    /// Whether a try is a `wait:`, so that it ends by itself when the run is stopped.
    pub(crate) fn is_wait(&self, at: Position) -> bool {
        self.try_state(at).and_then(wait_of).is_some()
    }
}

fn wait_of(state: &TryState) -> Option<Timestamp> {
    let TryState::Calling { call, .. } = state else {
        return None;
    };
    call.waits_until()
}

/// Parses a duration: seconds as a number, or text such as `1h30m`.
pub(crate) fn length(value: &Value) -> Result<SignedDuration, Failure> {
    let text = match value {
        Value::String(text) => text.trim(),
        Value::Number(_) => &value.to_string(),
        Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_) => {
            return Err(no_length(value));
        }
    };
    match parse_length(text) {
        Ok(length) => SignedDuration::try_from(length).map_err(|_| no_length(value)),
        // A template may find that no time is left to wait.
        Err(LengthError::Zero) => Ok(SignedDuration::ZERO),
        Err(LengthError::Seconds) => Err(no_length(value)),
        Err(LengthError::Words(error)) => Err(unreadable(&error)),
    }
}

/// Parses an instant: an ISO timestamp, in the zone of the skill if it has no offset.
pub(crate) fn instant(value: &Value, zone: &TimeZone) -> Result<Timestamp, Failure> {
    match value {
        Value::String(text) => parse_at(text, zone).map_err(|error| unreadable(&error)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Array(_) | Value::Object(_) => {
            let what = describe(value);
            let message = format!("`wait.until` needs an instant, not {what}");
            Err(Failure::new(FailureClass::Invalid, message)
                .hint("an instant is text such as `2026-02-14T15:00`"))
        }
    }
}

fn no_length(value: &Value) -> Failure {
    let what = match value {
        Value::Number(number) => format!("`{number}`"),
        other @ (Value::Null
        | Value::Bool(_)
        | Value::String(_)
        | Value::Array(_)
        | Value::Object(_)) => describe(other).to_owned(),
    };
    let message = format!("`wait` needs a duration, not {what}");
    Failure::new(FailureClass::Invalid, message).hint("write seconds, or `15m`, `2h`, `90d`")
}

fn unreadable(error: &deft_schedule::Error) -> Failure {
    let mut failure = Failure::new(FailureClass::Invalid, format!("wait: {}", error.message));
    failure.hint.clone_from(&error.hint);
    failure
}
