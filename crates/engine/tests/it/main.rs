//! The engine with its real parts around a manual clock.
#![expect(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test stops at the first surprise"
)]
#![expect(
    clippy::large_futures,
    clippy::needless_pass_by_value,
    reason = "what is short to write counts more in tests than what is quick to move"
)]

mod cancels;
mod control;
mod crash;
mod daemons;
mod deadlines;
mod dry;
mod grants;
mod leases;
mod limits;
mod runs;
mod taken_over;
mod time;
mod time_clock;
mod time_jobs;
mod time_lives;
mod time_model;
mod time_outbox;
mod time_waits;
mod time_world;
mod trouble;
mod world;
