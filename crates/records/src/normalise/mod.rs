//! What models get wrong, mended before a record is read (S0.34 to S0.41).
//!
//! The normaliser is a list of small functions. Each mends one kind of mistake
//! and notes what it did; none of them refuses anything. What cannot be mended
//! without guessing stays as it is, for `check` to say so.

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

/// A record made of what a model sent.
#[derive(Clone, Debug, PartialEq)]
pub struct NormalisedRecord {
    /// The record.
    pub record: Object,
    /// What was changed to get there, in the order in which it was done.
    pub applied: Vec<String>,
    /// Whether its times got the zone of the host.
    pub zone_added: bool,
}

/// A record on its way, with the notes of what was done to it.
pub(crate) struct Draft<'a> {
    pub record: Object,
    pub applied: Vec<String>,
    /// Whether its times got the zone of the host.
    pub zone_added: bool,
    pub moment: &'a Moment,
    /// The zone of times that name none: the host's, or that of the record
    /// that is being changed.
    pub zone: TimeZone,
    /// Whether these are the changes of an update, in which nothing at all
    /// takes a field away.
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

    /// Notes what was done.
    pub(crate) fn note(&mut self, note: impl Into<String>) {
        self.applied.push(note.into());
    }

    /// The notes, each once: the same may have been done to several steps.
    fn notes(&self) -> Vec<String> {
        let mut notes: Vec<String> = Vec::new();
        for note in &self.applied {
            if !notes.contains(note) {
                notes.push(note.clone());
            }
        }
        notes
    }

    /// `trigger_config`, if it is a mapping.
    pub(crate) fn config(&self) -> Option<&Object> {
        self.record.get("trigger_config").and_then(Value::as_object)
    }

    pub(crate) fn config_mut(&mut self) -> Option<&mut Object> {
        let config = self.record.get_mut("trigger_config");
        config.and_then(Value::as_object_mut)
    }

    /// Whether the record says when it fires.
    pub(crate) fn is_timed(&self) -> bool {
        let timed = |config: &Object| config.keys().any(|key| crate::names::says_when(key));
        self.config().is_some_and(timed)
    }

    /// Mends until nothing is left to be mended, because one mistake can hide
    /// another. What never settles is given up; `check` will refuse it.
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

/// Mends one kind of mistake and notes it.
pub(crate) type Fix = fn(&mut Draft<'_>);

/// Brings what was sent into the shape of a record; for updates too, because
/// nothing here depends on a field that is not there.
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

/// Adds what follows from the rest of a record.
pub(crate) const COMPLETE: &[Fix] = &[
    timing::add_zone,
    defaults::trigger_type,
    defaults::lower_plan,
    defaults::agent,
    defaults::description,
];

/// Makes a record of the arguments of `memory_store_skill`.
pub fn normalise(args: &Object, moment: &Moment) -> NormalisedRecord {
    let mut draft = Draft::new(args.clone(), moment);
    draft.mend(&[SHAPE, COMPLETE]);
    // Only a new record gets a check by its name; later the choice is the
    // owner's, who has seen it (X20).
    defaults::preflight(&mut draft);
    draft.finish()
}
