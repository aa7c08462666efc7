//! Steps that let time pass (`wait:`).
//!
//! The instant is decided once, when the step begins, and recorded, so that a wait survives restarts
//! and is as long as it was meant to be. While it lasts, the time of nested skills stands still. The
//! driver of the run sleeps or parks; nothing here knows which.

use deft_model::{Failure, FailureClass};
use deft_schedule::{LengthError, after, parse_at, parse_length};
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
    /// When a wait that begins now is over.
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
            length(&value).and_then(|length| after(now, length).map_err(|e| unreadable(&e)))
        }
    }

    fn zone_of(&self, view: &NameScope<'_>) -> TimeZone {
        let named = view.frame.plan.timezone.as_deref();
        let named = named.and_then(|name| TimeZone::get(name).ok());
        named.unwrap_or_else(|| self.rules.zone.clone())
    }

    /// Until when a step waits, if it is one that lets time pass and has begun.
    pub fn waits_until(&self, path: &Path) -> Option<Timestamp> {
        let at = self.locate(path).ok()?;
        self.try_state(at).and_then(wait_of)
    }

    /// The event that ends a wait whose time has come.
    pub fn waited(&self, path: &Path, now: Timestamp) -> Option<Event> {
        let at = self.locate(path).ok()?;
        let tried = self.frames[at.frame].steps[at.step]
            .tries
            .get(at.item.unwrap_or(0))?;
        let TryState::Calling { at: since, .. } = &tried.state else {
            return None;
        };
        let until = wait_of(&tried.state)?;
        let ms = crate::progress::elapsed(*since, now);
        let value = json!(until.to_string());
        Some(self.end_call(path, tried.attempts, Ok(value), now, ms, false))
    }

    /// Whether a try lets time pass, so that it ends by itself when the run is stopped.
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

/// A length of time: seconds as a number, or words such as `1h30m`.
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
        // A template may find that there is nothing left to wait for.
        Err(LengthError::Zero) => Ok(SignedDuration::ZERO),
        Err(LengthError::Seconds) => Err(no_length(value)),
        Err(LengthError::Words(error)) => Err(unreadable(&error)),
    }
}

/// An instant: an ISO timestamp, without an offset in the zone of the skill.
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
    let message = format!("`wait` needs a length of time, not {what}");
    Failure::new(FailureClass::Invalid, message).hint("write seconds, or `15m`, `2h`, `90d`")
}

fn unreadable(error: &deft_schedule::Error) -> Failure {
    let mut failure = Failure::new(FailureClass::Invalid, format!("wait: {}", error.message));
    failure.hint.clone_from(&error.hint);
    failure
}
