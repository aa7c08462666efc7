//! The one meeting place: fires become runs here, and runs are driven to their end.
//!
//! [`Engine`] is the handle that every surface asks. A fire is admitted (`admit`), leased
//! (`claim`), driven (`drive`): the interpreter says what to do, `perform` does it, `record`
//! stores what came of it, and `finish` ends it. `recover` finds runs whose driver is gone.
//!
//! This crate does not decide when a skill fires, does not print, and interprets nothing itself:
//! what follows what is `deft-workflow`'s part.

mod admit;
mod ask;
mod claim;
mod clock;
mod drive;
mod engine;
mod error;
mod finish;
mod inputs;
mod options;
mod owner;
mod perform;
mod prune;
mod record;
mod recover;
mod secrets;
mod session_log;
mod skills;
mod view;

pub use admit::{Admission, Fire};
pub use ask::{Answered, Asker, Attention, Question};
pub use clock::{Clock, SystemClock};
pub use engine::{Engine, Parts};
pub use error::Error;
pub use options::Options;
pub use owner::Owner;
pub use record::Published;
pub use recover::ResumeWith;
pub use skills::{Skills, broken_file};
pub use view::run_json;
