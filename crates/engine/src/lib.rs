//! The one meeting place: fires become runs here, and runs are driven to their end.
//!
//! [`Engine`] is the handle that every surface asks. A fire is admitted (`admit`), leased
//! (`claim`), driven (`drive`): the interpreter says what to do, `perform` does it, `record`
//! stores what came of it, and `finish` ends it. `recover` finds runs whose driver is gone.
//!
//! `ticker` settles slots that have come, `serve` stays around and does all of it when it is time.
//!
//! This crate does not do the maths of schedules, does not print, and interprets nothing itself:
//! what follows what is `deft-workflow`'s part.

mod admit;
mod aftermath;
mod agent;
mod ask;
mod authority;
mod cache;
mod changes;
mod claim;
mod clock;
mod commands;
mod courier;
mod drive;
mod engine;
mod error;
mod events;
mod finish;
mod grants;
mod health;
mod incident;
mod inputs;
mod jobs;
mod lookup;
mod loss;
mod model_health;
mod notice;
mod options;
mod overdue;
mod overlay;
mod overlays;
mod own_tools;
mod owner;
mod perform;
mod pool;
mod preflight;
mod prune;
mod pulse;
mod recall;
mod record;
mod records;
mod recover;
mod reply;
mod secrets;
mod serve;
mod session_log;
mod skills;
mod standing;
mod standing_grants;
mod summary;
mod surroundings;
mod sync;
mod ticker;
mod timed;
mod tools_ahead;
mod view;
mod waiting;

pub use admit::{Admission, Fire, Parent};
pub use agent::{
    AGENT_TOOLS, AgentOptions, AgentPause, Budgets, CHAT_SKILL, DayBudget, Hear, MEMORY_TOOLS,
    Said, Say, Stands, Unanswered,
};
pub use ask::{Answered, Asker, Attention, Question, Responds, Response};
pub use clock::{Clock, SystemClock};
pub use commands::{Command, CommandSkills, Commands};
pub use courier::{Channel, Delivered, Parcel, Undelivered};
pub use engine::{Engine, Parts};
pub use error::Error;
pub use health::{Check, CheckStatus, Checks};
pub use jobs::JOB_SKILL;
pub use notice::{Kind as NoticeKind, Notice};
pub use options::Options;
pub use overlays::{FileChange, changed_files};
pub use own_tools::{is_own_tool, show_own_tools};
pub use owner::Owner;
pub use pool::Pool;
pub use pulse::{Ahead, ClockCheck};
pub use recall::last_good;
pub use record::Published;
pub use records::Stored;
pub use recover::ResumeWith;
pub use reply::{answer_text, question_key};
pub use skills::{Skills, broken_file};
pub use standing_grants::allows_tool;
pub use surroundings::{check_tools, known_tools};
pub use sync::Synced;
pub use ticker::Ticked;
pub use timed::{StoredSchedule, stored_schedule};
pub use view::run_json;
