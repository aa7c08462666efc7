//! Schedule maths: parses and checks triggers, computes fires, describes schedules in English, and decides
//! about missed slots (misfire, backoff, pacing).
//!
//! Everything here is a pure function. Callers pass the current time and the host's time zone; nothing reads
//! a clock, a file or the environment, and time zone data is compiled in. Not here: storing decisions, and
//! everything that depends on other runs (overlap, budgets).

mod at;
mod backoff;
mod count;
mod cron;
mod duration;
mod error;
mod field;
mod fields;
mod fire_time;
mod item;
mod kind;
mod misfire;
mod parse;
mod phrase;
mod prose;
mod reminder;
mod schedule;
mod simulate;
mod spoken;
mod words;
mod zone;

pub use at::{instant_after, is_date, parse_at};
pub use backoff::{backoff, pace};
pub use cron::Cron;
pub use duration::{LengthError, from_seconds, hours, minutes, parse_duration, parse_length};
pub use error::Error;
pub use fire_time::FireTime;
pub use misfire::{Due, LATE, OmitReason, OmittedSlots, Rule, Slot, due};
pub use parse::{parse_future, parse_schedule};
pub use prose::{PhraseClock, PhraseField, days_at, read_phrase, spelled_length};
pub use reminder::{ReminderWords, split_reminder};
pub use schedule::Schedule;
pub use simulate::{Row, Simulation, SlotDecision, TimedSkill, simulate};
pub use spoken::{day_and_time, describe_time, length};
pub use zone::{parse_zone, show, zone_name};
