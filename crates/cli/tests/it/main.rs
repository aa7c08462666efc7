//! The binary as a stranger would use it: exit code, stdout and stderr.

#![expect(
    clippy::wildcard_enum_match_arm,
    reason = "a test names the variants it is about, and fails on all others"
)]
#![expect(clippy::unwrap_used, reason = "helpers of tests may fail the test")]

mod api;
mod authority;
mod chaos;
mod chat;
mod chat_bot;
mod chat_budget;
mod chat_context;
mod chat_once;
mod chat_real_model;
mod chat_reminder;
mod chat_resume;
mod chat_screens;
mod chat_skill;
mod chat_support;
mod chat_terminal;
mod cmd;
mod config;
mod crash_demo;
mod daemon;
mod defaults;
mod desktop;
mod doctor;
mod doubts;
mod editor_commands;
mod export;
mod file_changes;
mod files;
mod folding;
mod help;
mod home;
mod hostile;
mod hostile_day;
mod ids;
mod import;
mod import_sources;
mod jobs;
mod keeping;
mod lent_sandbox;
mod long_lists;
mod lost_store;
mod mcp;
mod mcp_client;
mod mcp_install;
mod mcp_login;
mod mcp_sdks;
mod mcp_serve;
mod mcp_serve_hostile;
mod mcp_serve_referees;
mod mcp_serve_skills;
mod nested_compute;
mod records;
mod run_screens;
mod runs;
mod schedule;
mod screens;
mod secrets;
mod setup;
mod setup_terminal;
mod shell;
mod special;
mod standing;
mod status;
mod stored_schedule;
mod support;
mod tables;
mod telegram;
mod telemetry;
mod terminal;
mod tick;
mod tool_channel;
mod tools;
mod trash;
mod unannotated;
mod unwritable;
mod up;
mod validate;
mod values;
mod watch;
mod words;
mod zone_change;
