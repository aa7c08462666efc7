//! The engine with its real parts around a manual clock.

#![expect(
    clippy::wildcard_enum_match_arm,
    reason = "a test names the variants it is about, and fails on all others"
)]
#![expect(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test stops at the first surprise"
)]

mod agent;
mod agent_budgets;
mod agent_budgets_apart;
mod agent_calls;
mod agent_case;
mod agent_injection;
mod agent_lines;
mod agent_resume;
mod agent_story;
mod bells;
mod bounds;
mod cancels;
mod chaos_slots;
mod control;
mod crash;
mod crash_agents;
mod daemons;
mod damaged;
mod deadlines;
mod dry;
mod file_names;
mod file_skills;
mod grants;
mod health;
mod incidents;
mod leases;
mod limits;
mod model_health;
mod records;
mod replies;
mod routes;
mod runs;
mod sync;
mod taken_over;
mod thinker;
mod time;
mod time_clock;
mod time_events;
mod time_jobs;
mod time_lives;
mod time_model;
mod time_outbox;
mod time_preflight;
mod time_resilience;
mod time_waits;
mod time_world;
mod tools_back;
mod trouble;
mod wait_steps;
mod world;
