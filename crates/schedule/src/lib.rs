//! Schedule maths: parse and check triggers, find the next fires, say them in words.
//!
//! Everything here is a pure function. The present moment and the host's zone come in as arguments;
//! nothing reads a clock, a file or the environment, and zone data is compiled in. What to do about
//! a fire that was missed or failed (misfire, backoff, pacing) is policy and is not decided here.

mod at;
mod cron;
mod error;
mod field;
mod item;
mod schedule;
mod words;
mod zone;

pub use at::{after, hours, minutes, parse_at, parse_duration};
pub use cron::Cron;
pub use error::Error;
pub use schedule::Schedule;
pub use zone::{parse_zone, show, zone_name};
