//! Fixes for common mistakes of models, applied before a record is parsed (S0.34 to S0.41).
//!
//! The normaliser is a list of small functions. Each one fixes one kind of mistake and notes what it did;
//! none returns an error. Whatever cannot be fixed without guessing is left for `check` to report.

mod defaults;
mod fields;
mod lists;
mod plan;
mod timing;
mod trigger;

use deft_model::Object;
use deft_skillfile::Moment;
use jiff::tz::TimeZone;
use serde_json::Value;

pub(crate) use defaults::first_sentence;
pub(crate) use lists::truth;
pub(crate) use plan::{shape_steps, tools as plan_tools};

/// A record built from the input of a model.
#[derive(Clone, Debug, PartialEq)]
pub struct NormalisedRecord {
    /// The record.
    pub record: Object,
    /// Notes about the changes, in the order in which they were made.
    pub applied: Vec<String>,
    /// Whether the host's time zone was added to the timing.
    pub zone_added: bool,
}

/// A record that is being normalised, with notes about the changes.
pub(crate) struct Draft<'a> {
    pub record: Object,
    pub applied: Vec<String>,
    /// Whether the host's time zone was added to the timing.
    pub zone_added: bool,
    pub moment: &'a Moment,
    /// The time zone of times without one: the host's, or that of the record being updated.
    pub zone: TimeZone,
    /// Whether this is an update, in which null removes a field.
    pub changes: bool,
}

impl<'a> Draft<'a> {
    pub(crate) fn new(record: Object, moment: &'a Moment) -> Self {
        Self {
            record,
            applied: Vec::new(),
            zone_added: false,
            moment,
            zone: moment.zone.clone(),
            changes: false,
        }
    }

    /// Adds a note about a change.
    pub(crate) fn note(&mut self, note: impl Into<String>) {
        self.applied.push(note.into());
    }

    /// Returns the notes without duplicates: the same change may have been made to several steps.
    fn notes(&self) -> Vec<String> {
        let mut notes: Vec<String> = Vec::new();
        for note in &self.applied {
            if !notes.contains(note) {
                notes.push(note.clone());
            }
        }
        notes
    }

    /// Returns `trigger_config` if it is a mapping.
    pub(crate) fn config(&self) -> Option<&Object> {
        self.record.get("trigger_config").and_then(Value::as_object)
    }

    pub(crate) fn config_mut(&mut self) -> Option<&mut Object> {
        let config = self.record.get_mut("trigger_config");
        config.and_then(Value::as_object_mut)
    }

    /// Whether the record has a timing.
    pub(crate) fn is_timed(&self) -> bool {
        let timed = |config: &Object| config.keys().any(|key| crate::names::sets_timing(key));
        self.config().is_some_and(timed)
    }

    /// Applies all fixes until nothing changes, because one mistake can hide another. Gives up after 8
    /// rounds; `check` then rejects the record.
    pub(crate) fn mend(&mut self, fixes: &[&[Fix]]) {
        const ROUNDS: usize = 8;
        for _ in 0..ROUNDS {
            let before = self.record.clone();
            for fix in fixes.iter().copied().flatten() {
                fix(self);
            }
            if self.record == before {
                break;
            }
        }
    }

    pub(crate) fn finish(self) -> NormalisedRecord {
        NormalisedRecord {
            applied: self.notes(),
            zone_added: self.zone_added,
            record: self.record,
        }
    }
}

/// A function that fixes one kind of mistake and notes it.
pub(crate) type Fix = fn(&mut Draft<'_>);

/// Fixes that bring the input into the shape of a record. They also apply to updates, because none of them
/// depends on missing fields.
pub(crate) const SHAPE: &[Fix] = &[
    fields::unwrap,
    fields::drop_kept,
    fields::rename,
    fields::find_instructions,
    fields::drop_blanks,
    fields::trim,
    fields::parse_texts,
    plan::from_root,
    trigger::split,
    trigger::wrap,
    trigger::nest,
    trigger::rename,
    trigger::hoist,
    trigger::drop_blanks,
    trigger::spell,
    lists::read,
    lists::prose,
    lists::counts,
    lists::truths,
    timing::clean,
    timing::zone,
    timing::combine,
    timing::delays,
    timing::intervals,
    timing::words,
    timing::instants,
    plan::shape,
];

/// Fixes that add values derived from the rest of the record.
pub(crate) const DEFAULT_FIXES: &[Fix] = &[
    timing::add_zone,
    defaults::trigger_type,
    defaults::lower_plan,
    defaults::agent,
    defaults::description,
];

/// Converts the arguments of `memory_store_skill` to a record.
pub fn normalise(args: &Object, moment: &Moment) -> NormalisedRecord {
    let mut draft = Draft::new(args.clone(), moment);
    draft.mend(&[SHAPE, DEFAULT_FIXES]);
    // Only a new record gets a preflight check because of its name; later it is the owner's choice (X20).
    defaults::preflight(&mut draft);
    draft.finish()
}
