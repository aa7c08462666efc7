//! Runs: fires become runs here, and runs are driven to their end.
//!
//! [`Engine`] is the handle for all front ends. A fire is admitted (`admit`), leased (`claim`), driven
//! (`drive`): the interpreter decides what to do, `perform` does it, `record` stores the result, and `finish`
//! ends the run. `recover` finds runs whose driver process has exited.
//!
//! Not here: the library of skills (`deft-library`), rights of agents (`deft-agents`), when skills fire
//! (`deft-scheduler`), and the order of steps in a run (`deft-workflow`).

mod admit;
mod agent;
mod agent_result;
mod answerer;
mod ask;
mod attention;
mod cache;
mod claim;
mod drive;
mod driver_error;
mod engine;
mod event_json;
mod finish;
mod fire;
mod grant_request;
mod inputs;
mod jobs;
mod options;
mod own_tools;
mod owner;
mod perform;
mod preflight;
mod prune;
mod published_event;
mod question;
mod record;
mod recover;
mod reply;
mod run_document;
mod run_view;
#[cfg(test)]
mod run_view_tests;
mod secrets;
mod session_log;
mod stored_skill;
mod summary;
mod tools_ahead;
mod trace;
mod transcript;
mod waiting;

pub use admit::{AdmittedRun, LeasedRun, new_run_id};
pub use agent::{AnswerState, ChatAnswer, NewChatMessage, UnansweredMessage, UndoneExchange, tier};
pub use ask::AnswerReceipt;
pub use attention::{Asker, Attention, DeltaListener, PendingResponse, Response};
pub use deft_agents::{
    AgentOptions, AgentPause, AgentTool, Agents, Budgets, DayBudget, MemoryTool, OwnTool,
    RecordTool, allows_skill, allows_tool, approve_skill, forget_skill, is_for_skill, skill_grant,
};
pub use deft_base::{Clock, Error, SystemClock, read_or_log, read_setting};
pub use deft_library::{
    CHAT_SKILL, Command, CommandSkills, Commands, DISPATCH_SKILL, FileChange, JOB_SKILL, Library,
    NamedSkill, SkillSet, Skills, StoredSchedule, StoredSkill, SyncReport, broken_file,
    changed_files, check_tools, choose, known_tools, last_good, stored_schedule,
};
pub use deft_outbox::{
    Channel, Delivery, DeliveryError, DeliveryResult, Kind as NoticeKind, Notice, Outbox,
};
pub use drive::DriveOutcome;
pub use engine::{Engine, Parts};
pub use fire::{Admission, Fire, Parent};
pub use options::Options;
pub use own_tools::{needs_engine, show_own_tools};
pub use owner::Owner;
pub use published_event::PublishedEvent;
pub use question::Question;
pub use recover::{RerunWith, ResumeWith};
pub use reply::{answer_text, question_key};
pub use run_document::EventPage;
pub use run_view::run_view;
pub use stored_skill::{add_state, skill_standing};
pub use transcript::Transcript;
