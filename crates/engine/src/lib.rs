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
mod agent;
mod ask;
mod cache;
mod claim;
mod drive;
mod engine;
mod events;
mod finish;
mod health;
mod inputs;
mod jobs;
mod loss;
mod model_health;
mod options;
mod overdue;
mod own_tools;
mod owner;
mod perform;
mod pool;
mod preflight;
mod prune;
mod pulse;
mod ready;
mod record;
mod recover;
mod reply;
mod secrets;
mod serve;
mod session_log;
mod summary;
mod ticker;
mod tools_ahead;
mod view;
mod waiting;

pub use admit::{Admission, Fire, Parent};
pub use agent::{Hear, Said, Say, Stands, Unanswered};
pub use ask::{Answered, Asker, Attention, Question, Responds, Response};
pub use deft_agents::{
    AGENT_TOOLS, AgentOptions, AgentPause, Agents, Budgets, DayBudget, MEMORY_TOOLS, allows_tool,
};
pub use deft_base::{Clock, Error, SystemClock};
pub use deft_library::{
    CHAT_SKILL, Command, CommandSkills, Commands, FileChange, JOB_SKILL, Library, Skills, Stored,
    StoredSchedule, Synced, broken_file, changed_files, check_tools, known_tools, last_good,
    stored_schedule,
};
pub use deft_outbox::{
    Channel, Delivered, Kind as NoticeKind, Notice, Outbox, Parcel, Undelivered,
};
pub use engine::{Engine, Parts};
pub use health::{Check, CheckStatus, Checks};
pub use options::Options;
pub use own_tools::{is_own_tool, show_own_tools};
pub use owner::Owner;
pub use pool::Pool;
pub use pulse::{Ahead, ClockCheck};
pub use record::Published;
pub use recover::ResumeWith;
pub use reply::{answer_text, question_key};
pub use ticker::Ticked;
pub use view::run_json;
